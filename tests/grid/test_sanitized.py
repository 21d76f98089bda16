"""The grid's kernels under AddressSanitizer and UndefinedBehaviorSanitizer.

A sample of every operation by default; ``WEFT_SANITIZE_ALL=1`` runs every case of every grid.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .operations import GRIDS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from tests.grid.grid import EXTENTS, run
from tests.grid.operations import GRIDS

extents = dict.fromkeys(EXTENTS, 4)
for name in sys.argv[2:]:
    cases = list(GRIDS[name].cases())
    stride = 1 if sys.argv[1] == "all" else max(1, len(cases) // 4)
    run(GRIDS[name].text, cases[::stride], extents=extents, optimization=1)
    run(GRIDS[name].text, cases[1::stride * 2], extents=dict.fromkeys(EXTENTS, 0), optimization=1)
    run(GRIDS[name].text, cases[2::stride * 2], extents=dict.fromkeys(EXTENTS, 12), threads=2, optimization=1)
"""


def runtime_library(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.mark.parametrize("part", range(4))
def test_no_reports(part):
    names = list(GRIDS)[part::4]
    environ = {
        **os.environ,
        "WEFT_SANITIZE": "1",
        "LD_PRELOAD": f"{runtime_library('libasan.so')} {runtime_library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    how = "all" if os.environ.get("WEFT_SANITIZE_ALL") else "sample"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how, *names], env=environ, capture_output=True, text=True, cwd=ROOT
    )
    report = (done.stdout + done.stderr)[-4000:]
    assert done.returncode == 0, report
    assert "runtime error" not in report, report
    assert "AddressSanitizer" not in report, report
