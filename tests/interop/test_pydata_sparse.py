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


def _dense(x):
    return x.todense() if hasattr(x, "todense") else np.asarray(x)


# NumPy asks the first operand, unless another is of a subclass; what sparse declines it asks of weft.
MIXED = {
    "matmul": lambda a, b: a[0] @ b[0].T,
    "matmul of batches": lambda a, b: a @ b.transpose((0, 2, 1)),
    "matmul of vectors": lambda a, b: a[0, 0] @ b[0, 0],
    "einsum": lambda a, b: np.einsum("ijk,ijk->i", a, b),
    "where": lambda a, b: np.where(a, a, b),
    "where not": lambda a, b: np.where(b, a, b),
    "vstack": lambda a, b: np.vstack([a, b]),
    "hstack": lambda a, b: np.hstack([a, b]),
    "dstack": lambda a, b: np.dstack([a, b]),
    "append": lambda a, b: np.append(a, b, axis=0),
    "vdot": lambda a, b: np.vdot(a, b),
    "vecdot": lambda a, b: np.vecdot(a, b),
    "inner": lambda a, b: np.inner(a[0], b[0]),
    "outer": lambda a, b: np.outer(a[0, 0], b[0, 0]),
    "add": lambda a, b: a + b,
    "less": lambda a, b: a < b,
    "maximum": lambda a, b: np.maximum(a, b),
    "clip": lambda a, b: np.clip(a, None, b),
    "isclose": lambda a, b: np.isclose(a, b),
    "array_equal": lambda a, b: np.array_equal(a, b),
    "broadcast_arrays": lambda a, b: np.broadcast_arrays(a, b[0])[1],
}
WEFT_FIRST = {
    "tensordot": lambda np, a, b: np.tensordot(a, b, axes=((1, 2), (1, 2))),
    "dot": lambda np, a, b: np.dot(a[0], b[0].T),
    "matmul": lambda np, a, b: np.matmul(a[0], b[0].T),
    "kron": lambda np, a, b: np.kron(a, b),
    "concatenate": lambda np, a, b: np.concatenate([a, b]),
    "stack": lambda np, a, b: np.stack([a, b]),
}


@pytest.fixture(scope="module")
def pair():
    A = weft.random((3, 4, 5), density=0.3, rng=0)
    return A, A.to_pydata_sparse(), A.todense()


@pytest.mark.parametrize("name", MIXED)
def test_mixed_operands_in_any_order(pair, name):
    A, S, x = pair
    for a, b in ((A, S), (S, A)):
        found = MIXED[name](a, b)
        assert not isinstance(found, sparse.SparseArray)
        np.testing.assert_allclose(_dense(found), MIXED[name](x, x))


@pytest.mark.parametrize("name", WEFT_FIRST)
def test_functions_that_sparse_takes_for_itself(pair, name):
    A, S, x = pair
    np.testing.assert_allclose(_dense(WEFT_FIRST[name](np, A, S)), WEFT_FIRST[name](np, x, x))
    for a, b in ((A, S), (S, A)):
        np.testing.assert_allclose(_dense(WEFT_FIRST[name](weft, a, b)), WEFT_FIRST[name](np, x, x))


@pytest.mark.parametrize("kind", ["coo", "gcxs"])
@pytest.mark.parametrize("format", ["csr", "coo"])
def test_products_with_either_first(kind, format):
    A = weft.random((4, 5), density=0.4, rng=1, format=format)
    S, x = A.to_pydata_sparse(kind), A.todense()
    np.testing.assert_allclose((S @ A.T).todense(), x @ x.T)
    np.testing.assert_allclose((A @ S.T).todense(), x @ x.T)


def test_sparse_is_told_what_to_be_given(pair):
    A, S, _ = pair
    for take in (sparse.COO, sparse.as_coo, sparse.asarray):
        for tensor in (A, A[0], A[0, 0]):
            with pytest.raises(weft.errors.DensifyError, match="to_pydata_sparse"):
                take(tensor)
    with pytest.raises(NotImplementedError, match="to_pydata_sparse"):
        np.matmul(S[0].T, A[0])
    assert [row.shape for row in A] == [(4, 5)] * 3


def test_numba_is_told_of_no_type_but_by_sparse(pair):
    numba = pytest.importorskip("numba")
    A, _, _ = pair

    @numba.jit(forceobj=True)
    def entries(tensor):
        return tensor.nnz

    assert entries(A) == A.nnz
    assert not hasattr(A, "_numba_type_")


@pytest.mark.parametrize(
    "make",
    [
        lambda shape: weft.COO(np.eye(2), shape=shape),
        lambda shape: weft.COO(weft.asarray(np.eye(2)), shape=shape),
        lambda shape: weft.GCXS(np.eye(2), shape=shape),
        lambda shape: weft.DOK(shape, np.eye(2)),
    ],
    ids=["COO", "COO of a tensor", "GCXS", "DOK"],
)
def test_a_shape_beside_an_array_is_that_of_the_array(make):
    np.testing.assert_array_equal(make((2, 2)).todense(), np.eye(2))
    with pytest.raises(weft.errors.ShapeError, match=r"array of shape \(2, 2\) .* shape=\(3, 3\); omit shape"):
        make((3, 3))
