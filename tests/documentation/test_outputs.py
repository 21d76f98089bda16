"""Output that pages show: that of Python blocks, which the pages' own tests compare, and that of commands."""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.__main__ import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROOT = DOCS.parent


@pytest.mark.parametrize(("shown", "status"), [("3", 0), ("4", 1), ("3\ncompiled: in memory", 0)])
def test_a_page_that_shows_another_output_fails(shown, status, tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"))
    (tmp_path / "page.md").write_text(f"```python\nprint(1 + 2)\n```\n\n```text\n{shown}\n```\n")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "page.md"]
    path = os.environ | {"PYTHONPATH": str(ROOT)}  # where the configuration finds what tests share
    done = subprocess.run(run, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.returncode == status, done.stdout


COMMAND = re.compile(r"^\$ weft (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def test_output_of_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weft.save("small.mtx", weft.from_coords([[0, 0, 1, 3, 3], [0, 1, 1, 0, 3]], np.arange(1.0, 6), (4, 4)))
    text = (DOCS / "reference" / "command_line.md").read_text("utf-8")
    commands = [
        found for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S) for found in COMMAND.findall(block)
    ]
    assert len(commands) > 5
    for command, shown in commands:
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            main(shlex.split(command))
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(shown.rstrip() + "\n", out.getvalue().rstrip() + "\n", flags), (
            command
        )
