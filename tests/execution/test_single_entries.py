"""Fibres of one entry skip the workspace, and no bit of a result changes."""

import numpy as np
import pytest

import weft
from weft.config import config

SHAPE, RANK = (4, 5, 6), 3


def fibres(dtype):
    """A tensor with fibres of no, one, two and three entries; each sum of a row has bits of its own."""
    rows = {"pos": [0, 3], "crd": [0, 1, 3]}
    columns = {"pos": [0, 3, 4, 6], "crd": [0, 1, 3, 4, 2, 3]}
    entries = {"pos": [0, 1, 3, 3, 4, 7, 8], "crd": [0, 2, 3, 5, 0, 1, 5, 3]}
    floats = np.dtype(dtype).kind in "fc"
    values = np.array([-0.0, 1.5, 2, np.nan, 3, np.inf, 0, -1] if floats else range(1, 9))
    return weft.from_levels(SHAPE, "csf", [rows, columns, entries], values.astype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int16", "bool"])
def test_fibres_of_one_entry_give_the_bits_of_the_workspace(dtype):
    B = fibres(dtype)
    rng = np.random.default_rng(0)
    C, D = (rng.integers(-2, 3, (n, RANK)).astype(dtype) for n in SHAPE[1:])
    with np.errstate(invalid="ignore"):
        result = weft.evaluate("A(i,r) = B(i,j,k)*C(j,r)*D(k,r)", B=B, C=C, D=D, format="dense")
    with config.override(disable={"single-entries"}):
        other = weft.evaluate("A(i,r) = B(i,j,k)*C(j,r)*D(k,r)", B=B, C=C, D=D, format="dense")
    result, other = np.asarray(result), np.asarray(other)
    assert result.dtype == other.dtype
    assert result.tobytes() == other.tobytes()
