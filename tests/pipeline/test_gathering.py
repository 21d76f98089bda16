"""Workspaces of whole results: with a list where few coordinates come up, with marks alone where most do."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.pipeline.kernel import Kernel
from weft.storage import check

TEXT = "y(j) = A(i,j)*x(i)"


def matrix(columns):
    """Sums that cancel, NaN and infinity, a column of explicit zeros and columns of nothing."""
    rows = np.array([0, 1, 2, 2, 3, 3, 4])
    cols = np.array([1, 1, 3, 4, 5, 0, columns - 1])
    values = np.array([2.0, -2.0, np.nan, np.inf, 0.0, 1.5, 4.0])
    A = sp.csr_array((values, (rows, cols)), shape=(5, columns))
    return weft.asarray(A), A


@pytest.mark.parametrize(("columns", "crowded"), [(8, True), (48, True), (49, False), (5000, False)])
def test_few_or_most(columns, crowded, monkeypatch):
    A, peer = matrix(columns)
    x = np.ones(5)
    seen = []
    marked = Kernel._marked.func
    monkeypatch.setattr(Kernel, "_marked", property(lambda self: seen.append(True) or marked(self)))
    y = weft.evaluate(TEXT, A=A, x=x, format="coo")
    assert bool(seen) == crowded
    check(y._storage)
    coords, values = y.to_coo()
    assert coords[0].tolist() == [0, 1, 3, 4, 5, columns - 1]  # what is stored is what was summed, zeros too
    np.testing.assert_array_equal(values, [1.5, 0.0, np.nan, np.inf, 0.0, 4.0])
    np.testing.assert_array_equal(y.todense(), peer.T @ x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtypes(dtype):
    dense = np.array([[0, 3, 0, 1], [2, 3, 0, 0], [0, 0, 0, 1]]).astype(dtype)
    A = weft.asarray(dense, format="csr")
    found = weft.evaluate("y(j) = A(i,j)", A=A, format="coo")
    expected = weft.evaluate("y(j) = A(i,j)", A=A, format="dense")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.todense(), expected.todense())
    assert found.nnz == 3
