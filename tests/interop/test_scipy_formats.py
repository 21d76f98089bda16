"""scipy's dia, bsr, dok and lil: shared where the layout is the same, and computed on as they are."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import FormatError
from weft.storage import check

rng = np.random.default_rng(3)
D = np.where(rng.random((6, 9)) < 0.4, rng.integers(1, 9, (6, 9)), 0).astype(float)
KINDS = ["csr", "csc", "coo", "dia", "bsr", "dok", "lil"]
MAKERS = [getattr(sp, f"{kind}_{what}") for kind in KINDS for what in ("array", "matrix")]


def made(maker):
    return maker(D, blocksize=(2, 3)) if maker in (sp.bsr_array, sp.bsr_matrix) else maker(D)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda m: m.__name__)
def test_in_and_out(maker):
    S = made(maker)
    A = weft.asarray(S)
    check(A._storage)
    np.testing.assert_array_equal(A.todense(), D)
    back = A.to_scipy_sparse()
    assert back.format == S.format
    np.testing.assert_array_equal(back.toarray(), D)
    for kind in KINDS:
        found = A.to_scipy_sparse(kind)
        assert found.format == kind
        np.testing.assert_array_equal(found.toarray(), D)


@pytest.mark.parametrize("maker", [m for m in MAKERS if m.__name__[:3] in ("dia", "bsr")], ids=lambda m: m.__name__)
def test_memory_is_shared_both_ways(maker):
    S = made(maker)
    back = weft.asarray(S).to_scipy_sparse()
    for name in ("data", "offsets") if S.format == "dia" else ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(back, name), getattr(S, name)), name


def test_diagonals_in_any_order():
    offsets, data = np.array([2, -1, 0]), rng.random((3, 5))
    S = sp.dia_array((data, offsets), shape=(4, 6))
    A = weft.asarray(S)
    check(A._storage)
    assert not A.layout.levels[0].ordered
    np.testing.assert_array_equal(A.todense(), S.toarray())
    np.testing.assert_allclose(A @ np.ones(6), S @ np.ones(6))
    np.testing.assert_array_equal(A.asformat("csr").todense(), S.toarray())
    np.testing.assert_array_equal((A + A).todense(), 2 * S.toarray())


def test_blocks_in_any_order_and_twice():
    indptr, indices = np.array([0, 3, 4]), np.array([2, 0, 2, 1])
    data = rng.random((4, 2, 3))
    S = sp.bsr_array((data, indices, indptr), shape=(4, 9))
    A = weft.asarray(S)
    check(A._storage)
    assert not A.layout.levels[1].ordered
    assert not A.layout.levels[1].unique
    np.testing.assert_allclose(A.todense(), S.toarray())
    np.testing.assert_allclose(A @ np.ones(9), S @ np.ones(9))
    np.testing.assert_allclose(A.asformat("csr").todense(), S.toarray())


@pytest.mark.parametrize("maker", MAKERS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("other", ["csr", "dia", "bsr", "coo"])
def test_operators_mix(maker, other):
    S, A = made(maker), weft.asarray(made(maker))
    P = sp.csr_array(D * 2).asformat(other)
    B = weft.asarray(P)
    np.testing.assert_allclose((A + B).todense(), 3 * D)
    np.testing.assert_allclose((A * B).todense(), 2 * D * D)
    np.testing.assert_allclose((A @ B.T).todense(), 2 * D @ D.T)
    np.testing.assert_allclose((A + P).todense(), 3 * D)
    np.testing.assert_allclose((B @ sp.csr_array(S).T).todense(), 2 * D @ D.T)
    x, z = rng.random(9), rng.random(6)
    np.testing.assert_allclose(A @ x, D @ x)
    np.testing.assert_allclose(z @ A, z @ D)
    np.testing.assert_allclose(weft.einsum("ij,j->i", S, x), D @ x)


def test_spellings_and_options():
    A = weft.asarray(D)
    for name, kind in {"todia": "dia", "tolil": "lil", "todok": "dok", "tocsr": "csr"}.items():
        assert str(getattr(A, name)().format) == kind
    assert A.tobsr((3, 3)).to_scipy_sparse().blocksize == (3, 3)
    assert A.asformat("bsr", blocksize=[2, 3]).nnz % 6 == 0
    with pytest.raises(FormatError, match="takes blocksize, not"):
        A.asformat("bsr", block=2)
    with pytest.raises(FormatError, match="takes no options"):
        A.asformat("csr", blocksize=2)
    with pytest.raises(FormatError, match="go with a name"):
        A.asformat("ds", blocksize=2)
    with pytest.raises(FormatError, match="sizes of 1 or more"):
        A.asformat("bsr", blocksize=0)
