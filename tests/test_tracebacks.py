"""Tracebacks of users' mistakes: they end at the caller, unless somebody asks for all of them."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.config import config
from weft.errors import LoweringError, NotationError, WeftError
from weft.tracebacks import ends_at_caller

A = weft.asarray(np.eye(3), format="csr")
PACKAGE = Path(weft.__file__).parent
MISTAKES = {
    "evaluate": lambda: weft.evaluate("y(i) = A(i,j) x(j)", A=A, x=[1.0, 2.0, 3.0]),
    "evaluate, shapes": lambda: weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=[1.0]),
    "einsum": lambda: weft.einsum("ij,j->k", A, np.ones(3)),
    "einsum_path": lambda: weft.einsum_path("ij,j->k", A, np.ones(3)),
    "compile": lambda: weft.compile("y(i) = A(i,j)*x(j", A="csr"),
    "a kernel": lambda: weft.compile("y(i) = A(i,j)*x(j)", A="csr")(A, np.ones(2)),
    "explain": lambda: weft.explain("y(i) = A(i,j)*x(j)", A="crs"),
    "query": lambda: weft.query("select [i] -> count(j) as", A),
    "asarray": lambda: weft.asarray(["a"]),
    "asformat": lambda: A.asformat("crs"),
    "Format": lambda: weft.Format("(i,j) -> (j-,i)", [weft.Compressed()] * 2),
    "from_coords": lambda: weft.from_coords([[5]], [1.0], (3,)),
    "from_levels": lambda: weft.from_levels((3, 3), "csr", [None], [1.0]),
    "random": lambda: weft.random((3, 3), format="crs"),
    "load": lambda: weft.load("tensor.txt"),
    "save": lambda: weft.save("tensor.txt", A),
    "A @ x": lambda: A @ np.ones(2),
    "A + B": lambda: np.ones((2, 2)) + A,
    "np.linalg.solve": lambda: np.linalg.solve(A, np.ones(3)),
    "A += B": lambda: A.__iadd__(np.ones((2, 2))),
}


def inside(error: BaseException) -> list[str]:
    return [
        frame.name for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in Path(frame.filename).parents
    ]


@pytest.mark.parametrize("name", MISTAKES)
def test_tracebacks_end_at_the_caller(name):
    with pytest.raises(WeftError) as caught:
        MISTAKES[name]()
    assert inside(caught.value) == []
    assert type(caught.value).__module__ == "weft.errors"
    with config.override(full_tracebacks=True), pytest.raises(WeftError) as caught:
        MISTAKES[name]()
    assert inside(caught.value)


def test_causes_stay_and_bugs_keep_their_frames():
    @ends_at_caller
    def failing(kind):
        try:
            raise KeyError("k")
        except KeyError as error:
            raise kind("text") from error

    with pytest.raises(NotationError) as caught:
        failing(NotationError)
    assert isinstance(caught.value.__cause__, KeyError)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-1] != "failing"
    assert str(pickle.loads(pickle.dumps(caught.value))) == "text"
    with pytest.raises(LoweringError) as caught:
        failing(LoweringError)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "failing"
