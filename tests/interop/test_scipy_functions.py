"""``weft.linalg`` and ``weft.csgraph`` beside scipy.sparse's own functions, on matrices of five kinds and formats."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg as sla

import weft
from weft.interop.scipy_functions import CSGRAPH, LINALG, taking_tensors

pytestmark = pytest.mark.compiles_alone  # solvers of SciPy hold locks of theirs while they multiply

rng = np.random.default_rng(5)
N = 24
SPREAD = sp.random_array((N, N), density=0.1, rng=rng)
LINE = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(N, N))
MATRICES = {
    "csr": sp.csr_array(SPREAD + sp.eye_array(N) * 3),
    "csc": sp.csc_array(sp.kronsum(LINE.tocsr()[:6, :6], LINE.tocsr()[:4, :4])),
    "dia": sp.csc_array(LINE),
    "ell": sp.csc_array(sp.eye_array(N) * 2 + sp.eye_array(N, k=3) + 1j * sp.eye_array(N, k=-2)),
    "bsr": sp.csc_array(sp.block_diag([sp.csc_array(np.arange(1.0, 5).reshape(2, 2) + 4 * np.eye(2))] * (N // 2))),
}
SYMMETRIC = ("csc", "dia")
b, few = rng.random(N), rng.random((N, 2))


def same(found, wanted):
    """Compare what a function gives with what SciPy's gives for SciPy's arrays."""
    if isinstance(wanted, tuple):
        assert type(found) is type(wanted)
        for x, y in zip(found, wanted, strict=True):
            same(x, y)
    elif sp.issparse(wanted):
        assert isinstance(found, weft.SparseTensor)
        np.testing.assert_allclose(found.todense(), wanted.toarray(), atol=1e-10)
    else:
        assert type(found) is type(wanted)
        np.testing.assert_allclose(found, wanted, atol=1e-7)


def lower(S):
    return sp.csr_array(sp.tril(S))


CALLS = {
    "aslinearoperator": lambda f, A: f(A).matvec(b),
    "bicg": lambda f, A: f(A, b, rtol=1e-10),
    "bicgstab": lambda f, A: f(A, b, rtol=1e-10),
    "cgs": lambda f, A: f(A, b, rtol=1e-10),
    "eigs": lambda f, A: np.sort_complex(f(A, k=3, sigma=0.1, v0=b)[0]),
    "expm": lambda f, A: f(A),
    "expm_multiply": lambda f, A: f(A, b),
    "factorized": lambda f, A: f(A)(b),
    "funm_multiply_krylov": lambda f, A: f(np.exp, A, b),
    "gcrotmk": lambda f, A: f(A, b, rtol=1e-10),
    "gmres": lambda f, A: f(A, b, rtol=1e-10, restart=N),
    "inv": lambda f, A: f(A),
    "is_sptriangular": lambda f, A: f(A),
    "lgmres": lambda f, A: f(A, b, rtol=1e-10),
    "lsmr": lambda f, A: f(A, b.astype(A.dtype), atol=1e-12, btol=1e-12)[0],
    "lsqr": lambda f, A: f(A, b.astype(A.dtype), atol=1e-12, btol=1e-12)[0],
    "onenormest": lambda f, A: f(A),
    "qmr": lambda f, A: f(A, b, rtol=1e-10),
    "spbandwidth": lambda f, A: f(A),
    "spilu": lambda f, A: f(A, drop_tol=0).solve(b.astype(A.dtype)),
    "splu": lambda f, A: f(A).solve(b.astype(A.dtype)),
    "spsolve": lambda f, A: f(A, b),
    "spsolve_triangular": lambda f, A: f(lower(A) if sp.issparse(A) else weft.tril(A), b),
    "svds": lambda f, A: np.sort(f(A, k=3, v0=b.astype(A.dtype), return_singular_vectors=False)),
    "tfqmr": lambda f, A: f(A, b, rtol=1e-10),
}
OF_SYMMETRIC = {
    "cg": lambda f, A: f(A, b, rtol=1e-10),
    "eigsh": lambda f, A: f(A, k=3, sigma=0, v0=b)[0],
    "lobpcg": lambda f, A: np.sort(f(A, few.copy(), maxiter=60, tol=1e-9)[0]),
    "minres": lambda f, A: f(A, b, rtol=1e-10),
}


@pytest.mark.parametrize("format", MATRICES)
def test_every_function_of_linalg(format):
    S = MATRICES[format]
    A = weft.asarray(S).asformat(format)
    assert A.format == format
    for name, call in {**CALLS, **(OF_SYMMETRIC if format in SYMMETRIC else {})}.items():
        if hasattr(sla, name):
            with warnings.catch_warnings():
                if name == "lobpcg":
                    warnings.simplefilter("ignore", UserWarning)  # which says how near it came
                found = call(getattr(weft.linalg, name), A)
                warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
                wanted = call(getattr(sla, name), S)
            same(found, wanted)


def test_factors_are_tensors():
    S = MATRICES["csc"]
    for factors, wanted in ((weft.linalg.splu(weft.asarray(S)), sla.splu(S)), (weft.linalg.spilu(S), sla.spilu(S))):
        same((factors.L, factors.U), (wanted.L, wanted.U))
        assert (factors.shape, factors.nnz, factors.perm_r.tolist()) == (
            wanted.shape,
            wanted.nnz,
            wanted.perm_r.tolist(),
        )
        same(factors.solve(weft.asarray(few, format="csr")), wanted.solve(few))
        same(factors.solve(b, "T"), wanted.solve(b, trans="T"))
        assert {"L", "U", "solve", "perm_c"} <= {*dir(factors)}
        with pytest.raises(AttributeError, match="no attribute 'sove'"):
            factors.sove  # noqa: B018


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("format", ["dia", "csr", "coo", "ell"])
@pytest.mark.filterwarnings("ignore:k >= N:RuntimeWarning", "ignore:The problem size:UserWarning")
def test_all_eigenvalues_of_small_matrices(format, n):
    """SciPy takes small matrices densely, and refuses sparse ones that it does not make dense itself."""
    S = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    A, wanted = weft.asarray(S).asformat(format), np.linalg.eigvalsh(S.toarray())
    for k in {1, n // 2 or 1, n}:
        X = np.eye(n)[:, :k] + 0.1
        np.testing.assert_allclose(weft.linalg.lobpcg(A, X, largest=True, maxiter=500)[0], wanted[::-1][:k], rtol=1e-5)
        found = np.sort(weft.linalg.eigsh(A, k=k, which="LA", return_eigenvectors=False))
        np.testing.assert_allclose(found, wanted[-k:], rtol=1e-9)
        if k >= n - 1:
            np.testing.assert_allclose(np.sort(weft.linalg.eigs(A, k)[0].real), wanted, rtol=1e-9)
            np.testing.assert_allclose(np.sort(weft.linalg.eigsh(A, n, sigma=0)[0]), wanted, rtol=1e-9)


def test_the_table_has_what_scipy_has():
    elsewhere = {"norm", "matrix_power"}  # weft's own
    modules = {"dsolve", "eigen", "interface", "isolve", "matfuncs"}  # SciPy's old names of places
    assert {*LINALG} | elsewhere >= {*sla.__all__} - modules
    assert {name for name, hand in LINALG.items() if hand != "as it is"} <= {*CALLS, *OF_SYMMETRIC}
    assert {*CSGRAPH} == {*scipy.sparse.csgraph.__all__} == {*dir(weft.csgraph)}
    assert {*LINALG} <= {*dir(weft.linalg)} & {*weft.linalg.__all__}


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf, 2])
def test_norm(ord):
    for format, S in MATRICES.items():
        A = weft.asarray(S).asformat(format)
        np.testing.assert_allclose(weft.linalg.norm(A, ord), sla.norm(S, ord), rtol=1e-6)
    row, nothing = weft.asarray(S[[0]]), weft.zeros((3, 4))
    np.testing.assert_allclose(weft.linalg.norm(row, ord), np.linalg.norm(S[[0]].toarray(), ord))
    assert weft.linalg.norm(nothing, ord) == 0


EDGES = [3, 1, 2, 7, 1, 4, 2], ([0, 0, 1, 2, 3, 4, 5], [1, 2, 3, 1, 4, 5, 3])
GRAPH = sp.csr_array(EDGES, shape=(7, 7), dtype=float)
GRAPH.indices, GRAPH.indptr = GRAPH.indices.astype(np.int32), GRAPH.indptr.astype(np.int32)  # which yen asks for
WHOLE = sp.csr_array(GRAPH.astype(np.int32))
SQUARE = sp.csr_array(rng.random((5, 5)))
GRAPH_CALLS = {
    **{
        name: lambda f, A: f(A)
        for name in (
            "connected_components", "csgraph_to_dense", "csgraph_to_masked", "floyd_warshall", "johnson", "laplacian",
            "minimum_spanning_tree", "reverse_cuthill_mckee", "shortest_path", "structural_rank", "bellman_ford",
        )
    },
    **{
        name: lambda f, A: f(A, 0)
        for name in ("breadth_first_order", "breadth_first_tree", "depth_first_order", "depth_first_tree")
    },
    "dijkstra": lambda f, A: f(A, indices=[0, 2], return_predecessors=True),
    "yen": lambda f, A: f(A, 0, 3, 2),
    "construct_dist_matrix": lambda f, A: f(A, scipy.sparse.csgraph.shortest_path(GRAPH, return_predecessors=True)[1]),
    "reconstruct_path": lambda f, A: f(A, scipy.sparse.csgraph.breadth_first_order(GRAPH, 0)[1]),
    "maximum_bipartite_matching": lambda f, A: f(A),
}  # fmt: skip


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_every_function_of_csgraph(format):
    """Padding is no edge: whole diagonals, bands and blocks that a format stores; nor are zeros of dense tensors."""
    A = weft.asarray(GRAPH).asformat(format)
    for name, call in GRAPH_CALLS.items():
        S = GRAPH.toarray() if A.layout.is_dense and CSGRAPH[name] == "csr" else GRAPH
        same(call(getattr(weft.csgraph, name), A), call(getattr(scipy.sparse.csgraph, name), S))
    np.testing.assert_array_equal(A.todense(), GRAPH.toarray())
    found = weft.csgraph.maximum_flow(weft.asarray(WHOLE).asformat(format), 0, 4)
    wanted = scipy.sparse.csgraph.maximum_flow(WHOLE, 0, 4)
    assert found.flow_value == wanted.flow_value
    same(found.flow, wanted.flow)
    full = weft.asarray(SQUARE).asformat(format)
    same(
        weft.csgraph.min_weight_full_bipartite_matching(full),
        scipy.sparse.csgraph.min_weight_full_bipartite_matching(SQUARE),
    )


@pytest.mark.parametrize("format", ["csr", "coo", "dcsc", "ell", "hyb", "jad", "csb", "hicoo", "hash", "dok", "lil"])
def test_a_stored_zero_is_an_edge_where_only_entries_are_stored(format):
    S = GRAPH.copy()
    S.data[2] = 0
    A = weft.asarray(S).asformat(format)
    assert A.nnz == S.nnz
    same(weft.csgraph.shortest_path(A), scipy.sparse.csgraph.shortest_path(S))
    assert len(A.to_coo()[1]) == A.to_scipy_sparse("csc").nnz == S.nnz


def test_dense_graphs():
    D = GRAPH.toarray()
    same(weft.csgraph.csgraph_from_dense(weft.asarray(D)), scipy.sparse.csgraph.csgraph_from_dense(D))
    masked = scipy.sparse.csgraph.csgraph_masked_from_dense(D)
    same(weft.csgraph.csgraph_from_masked(masked), scipy.sparse.csgraph.csgraph_from_masked(masked))
    assert np.ma.allequal(weft.csgraph.csgraph_masked_from_dense(weft.asarray(D)), masked)


def test_what_is_handed_over_shares_memory(monkeypatch):
    seen = []
    monkeypatch.setattr(sla, "spsolve", lambda A, b: seen.append((A, b)))
    solve = taking_tensors("scipy.sparse.linalg", "spsolve", "csr or csc")
    for format in ("csr", "csc"):
        A = weft.asarray(MATRICES["csr"]).asformat(format)
        solve(A, weft.asarray(b))
        given, vector = seen.pop()
        assert given.format == format
        assert np.shares_memory(given.data, A.data)
        assert np.shares_memory(given.indices, A.indices)
        assert type(vector) is np.ndarray
    wide = weft.asarray(MATRICES["csr"]).asformat("csr", index_dtype=np.int64)
    assert wide.indices.dtype == np.int64
    solve(wide, b)
    assert seen.pop()[0].indices.dtype == np.int32


def test_vectors_and_what_is_refused():
    A = weft.asarray(MATRICES["csr"])
    np.testing.assert_allclose(weft.linalg.spsolve(A, weft.asarray(b, format="coo")), sla.spsolve(MATRICES["csr"], b))
    several = weft.linalg.spsolve(A.tocsc(), weft.asarray(MATRICES["csc"]))
    wanted = sla.spsolve(sp.csc_array(MATRICES["csr"]), MATRICES["csc"])
    np.testing.assert_allclose(several.todense(), wanted.toarray())
    with pytest.raises(
        weft.errors.ShapeError, match=r"spsolve takes matrices and vectors, not <SparseTensor: shape=\(2"
    ):
        weft.linalg.spsolve(weft.zeros((2, 2, 2)), b)
    with pytest.raises(weft.errors.UnsupportedError, match="fill value is 0"):
        weft.linalg.splu(weft.full((3, 3), 1.0))
    with pytest.raises(AttributeError, match="no attribute 'spsolv'; did you mean 'spsolve'"):
        weft.linalg.spsolv  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'dijkstar'; did you mean 'dijkstra'"):
        weft.csgraph.dijkstar  # noqa: B018


def test_errors_name_the_way_out():
    A = weft.asarray(MATRICES["csr"])
    shared = r"A\.to_scipy\(\) shares memory and is what SciPy and scikit-learn take; "
    for call in (np.asarray, lambda A: np.histogram2d(A, A), MATRICES["csr"].multiply):
        with pytest.raises(weft.errors.DensifyError, match=shared + r"A\.todense\(\) makes an ndarray of 4608 bytes"):
            call(A)
    with pytest.raises(weft.errors.DensifyError, match=r"\(\) is what SciPy .* of 48 bytes"):
        np.asarray(weft.zeros((2, 3), format="ell"))
    with pytest.raises(weft.errors.DensifyError, match=r"a coo tensor of shape .* does not .*: A\.todense\(\) makes"):
        np.asarray(weft.full((2, 3), 1.0))


def test_to_scipy():
    A = weft.asarray(MATRICES["csr"])
    assert weft.to_scipy(A).format == "csr"
    assert np.shares_memory(weft.to_scipy(A).data, A.data)
    assert weft.to_scipy(A.asformat("ell"), "csc").format == "csc"
    assert weft.to_scipy(np.eye(3)).nnz == 3


ARRAY_API_MODE = """
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sla, scipy.special as special, weft

S = sp.random_array((20, 20), density=0.2, format="csr", rng=0) + sp.eye_array(20, format="csr") * 5
A = weft.asarray(S)
for name in ("erf", "expit", "gammaln", "entr", "log1p", "xlogy"):
    call = getattr(special, name)
    args = 1 + (name == "xlogy")
    found = call(*[A] * args)
    assert isinstance(found, weft.SparseTensor), name
    np.testing.assert_allclose(found.todense(), call(*[S.toarray()] * args), err_msg=name)
np.testing.assert_allclose(special.xlogy(A, S.toarray()).todense(), special.xlogy(S.toarray(), S.toarray()))
b = np.ones(20)
for asked in (weft.linalg.aslinearoperator, sla.aslinearoperator):
    np.testing.assert_allclose(asked(A) @ b, S @ b)
    np.testing.assert_allclose(asked(A) @ weft.asarray(b), S @ b)
assert A.__array_namespace__() is weft.array_api
np.testing.assert_allclose(weft.linalg.spsolve(A, b), sla.spsolve(S.tocsc(), b))
assert sla.cg(A @ A.T, b)[1] == 0
"""


def test_with_scipys_array_api_mode():
    """Which changes what SciPy's own functions do with arrays of other packages; estimators of scikit-learn need it."""
    environ = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", ARRAY_API_MODE], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
