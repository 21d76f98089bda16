"""Printed output that pages show: a ``text`` block behind a ``python`` block is what the block prints."""

import doctest
import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.__main__ import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n*^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
PAGES = [
    path
    for folder in ("explanation", "reference", "development")
    for path in sorted((DOCS / folder).glob("*.md"))
    if "```python\n" in path.read_text("utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_output_is_that_of_the_block_above(page):
    namespace = {}
    for code, shown in BLOCK.findall(page.read_text("utf-8")):
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(code, str(page), "exec"), namespace)
        if shown:
            assert out.getvalue().rstrip().splitlines() == shown.rstrip().splitlines(), f"{page.name}:\n{code}"


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
