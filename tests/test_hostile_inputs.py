"""Hostile inputs end in an error of a stated type or in a tensor that works: no crash, no hang, nothing wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile_inputs import CLASSES

ROOT = Path(__file__).resolve().parents[1]
SEEDS = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 64  # of each of the eight classes


@pytest.mark.parametrize("part", range(2))
def test_hostile_inputs(part):
    run = [sys.executable, "-m", "tests.hostile_inputs", "0", str(SEEDS), *list(CLASSES)[part::2]]
    environ = {**os.environ, "WEFT_NUM_THREADS": "1"}
    done = subprocess.run(run, capture_output=True, text=True, env=environ, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
