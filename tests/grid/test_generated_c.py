"""The C of many kernels, by digest, and the public names with their signatures: a move of files changes neither."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_c_and_public_names(golden):
    command = [sys.executable, "-m", "tests.grid.generated_c"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    golden("generated_c.txt", done.stdout)
