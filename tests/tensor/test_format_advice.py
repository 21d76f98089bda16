"""Formats that are suggested: each for what it is made for, and with reasons."""

import numpy as np
import pytest

import weft

RNG = np.random.default_rng(0)
STENCIL = sum(np.eye(60, k=k) for k in (-6, -1, 0, 1, 6))
BLOCKS = np.kron(RNG.random((20, 20)) < 0.1, np.ones((3, 3)))
ROWS = np.stack([RNG.permutation(np.arange(200) < 4) for _ in range(50)]).astype(float)
SKEWED = np.where(np.arange(100)[:, None] * RNG.random((100, 100)) < 1.5, 1.0, 0)
FEW = np.zeros((100, 100))
FEW[[3, 50], [7, 7]] = 1


@pytest.mark.parametrize(
    ("dense", "op", "format"),
    [
        (STENCIL, "spmv", "dia"), (BLOCKS, "spmv", "bsr"), (ROWS, "spmv", "ell"), (SKEWED, "spmv", "csr"),
        (FEW, "spmv", "dcsr"), (STENCIL, "spgemm", "csr"), (STENCIL, "insert", "dok"),
        (np.ones((4, 4)), "spmv", "dense"),
        (np.zeros((3, 3, 3)), "spmv", "csf"), (np.zeros((3, 3, 3)), "add", "coo"), (np.zeros(9), "spmv", "coo"),
    ],
)  # fmt: skip
def test_suggestions(dense, op, format):
    A = weft.asarray(dense, format="coo")
    found = A.suggest_format(op)
    assert found.format == format
    assert found.reasons
    assert str(found).splitlines()[0].startswith(format)
    np.testing.assert_array_equal(A.asformat(found.format, **found.options).todense(), dense)


def test_blocks_are_named():
    assert weft.asarray(BLOCKS, format="csr").suggest_format().options == {"blocksize": (3, 3)}


def test_an_unknown_operation():
    with pytest.raises(weft.errors.FormatError, match=r"'sort'.*spmv"):
        weft.eye(3).suggest_format("sort")
