from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import FormatError
from weft.storage import check

sparse = pytest.importorskip("sparse")


@pytest.mark.parametrize("kind", ["coo", "gcxs", "dok"])
def test_in_and_out(kind):
    rng = np.random.default_rng(0)
    x = rng.random((3, 4, 5)) * (rng.random((3, 4, 5)) < 0.3)
    S = sparse.COO.from_numpy(x).asformat(kind)
    A = weft.asarray(S)
    assert A.shape == x.shape
    assert str(A.format) == kind
    check(A._storage)
    np.testing.assert_array_equal(A.todense(), x)
    np.testing.assert_array_equal(A.to_pydata_sparse().todense(), x)


def test_fill_values_go_along():
    A = weft.asarray(sparse.COO.from_numpy(np.array([1.0, 2.0, 1.0]), fill_value=1.0))
    assert A.fill_value == 1.0
    assert A.nnz == 1
    assert A.to_pydata_sparse().fill_value == 1.0


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), (0, 2), (1, 2)])
def test_gcxs_shares_memory(axes):
    rng = np.random.default_rng(1)
    x = rng.random((3, 4, 5)) * (rng.random((3, 4, 5)) < 0.3)
    S = sparse.GCXS.from_numpy(x, compressed_axes=axes, fill_value=0.0)
    A = weft.asarray(S)
    check(A._storage)
    np.testing.assert_array_equal(A.todense(), x)
    back = A.to_pydata_sparse()
    assert back.compressed_axes == axes
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(back, name), getattr(S, name)), name
    np.testing.assert_array_equal(back.todense(), x)
    np.testing.assert_allclose(
        weft.evaluate("T(i,j) = A(i,j,k)*c(k)", A=S, c=np.ones(5), format="csr").todense(), x.sum(2)
    )


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "csf"])
def test_out_in_every_format(format):
    x = np.eye(4, 6)
    A = weft.asarray(x, format=format)
    for kind in (None, "coo", "gcxs", "dok"):
        S = A.to_pydata_sparse(kind)
        np.testing.assert_array_equal(S.todense(), x)
        assert kind is None or type(S).__name__.lower() == kind
    with pytest.raises(FormatError, match="coo, gcxs and dok, not csr"):
        A.to_pydata_sparse("csr")


def test_operands_as_they_come():
    S = sparse.random((6, 5), density=0.4, random_state=0)
    A = weft.asarray(S.asformat("gcxs"))
    np.testing.assert_allclose((A + S).todense(), 2 * S.todense())
    np.testing.assert_allclose(A @ np.ones(5), S.todense().sum(1))
