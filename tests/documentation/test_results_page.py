"""The table of results: each expression has the format that the page gives it."""

import re

import numpy as np
import pytest
from tests.documentation.test_reference_pages import PAGES, code, rows

import weft

N = 60
x, X = np.ones(N), np.ones((N, N))


def operand(name, seed):
    if name in ("x", "X"):
        return {"x": x, "X": X}[name]
    if name == "dia":
        return weft.eye(N, k=seed, format="dia") * 2.0
    return weft.random((N, N), density=0.05, rng=seed, format=name)


def binary():
    table = (PAGES / "explanation" / "results.md").read_text("utf-8").split("\n## ")[0]
    for cell, result in rows(table):
        for text in code(cell):
            if found := re.fullmatch(r"(\w+) ([@+*/]) (\w+)", text):
                left, op, right = found.groups()
                if {left, right} <= {*weft.formats, "x", "X"}:
                    yield pytest.param(left, op, right, left if result == "the same format" else result, id=text)


CASES = list(binary())


def test_most_lines_are_checked():
    assert len(CASES) > 20


@pytest.mark.users_thresholds
@pytest.mark.parametrize(("left", "op", "right", "expected"), CASES)
def test_formats_of_results(left, op, right, expected):
    result = eval(f"a {op} b", {"a": operand(left, 0), "b": operand(right, 1)})
    found = "ndarray" if isinstance(result, np.ndarray) else result.format
    assert found == expected
