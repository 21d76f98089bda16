"""The solvers of scipy.sparse.linalg take a SparseTensor in place of a matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

pytestmark = pytest.mark.compiles_alone  # solvers of SciPy hold locks of theirs while they multiply

N = 30
S = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(N, N)).tocsr()
b = np.random.default_rng(0).random(N)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr", "ell", "csf"])
def test_solvers(format):
    A = weft.asarray(S, format=format)
    for solver in (sla.cg, sla.gmres, sla.bicgstab, sla.minres):
        x, info = solver(A, b)
        assert info == 0
        np.testing.assert_allclose(S @ x, b, atol=1e-3)
    found = np.sort(sla.eigsh(A, k=3, return_eigenvectors=False))
    np.testing.assert_allclose(found, np.sort(np.linalg.eigvalsh(S.toarray()))[-3:], rtol=1e-6)


def test_svds_of_a_rectangle():
    D = np.random.default_rng(1).random((12, 8)) * (np.random.default_rng(2).random((12, 8)) < 0.5)
    A = weft.asarray(D, format="csr")
    found = np.sort(sla.svds(A, k=3, return_singular_vectors=False))
    np.testing.assert_allclose(found, np.sort(np.linalg.svd(D, compute_uv=False))[-3:], rtol=1e-6)


def test_operator():
    rng = np.random.default_rng(3)
    D = rng.random((5, 4)) + 1j * rng.random((5, 4))
    operator = sla.aslinearoperator(weft.asarray(D, format="csc"))
    x, y = rng.random(4), rng.random(5) + 1j
    np.testing.assert_allclose(operator.matvec(x), D @ x)
    np.testing.assert_allclose(operator.rmatvec(y), D.conj().T @ y)
    np.testing.assert_allclose(operator.matmat(rng.random((4, 3)) * 0 + 1), D @ np.ones((4, 3)))
    np.testing.assert_allclose(operator.H @ y, D.conj().T @ y)


def test_direct_solvers_take_what_it_converts_to():
    A = weft.asarray(S, format="ell")
    np.testing.assert_allclose(S @ sla.spsolve(A.to_scipy_sparse("csc"), b), b)
