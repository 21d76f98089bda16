"""Examples of the functions of SciPy and NumPy that weft wraps, for docstrings that are made when one is first used."""

from __future__ import annotations

from inspect import cleandoc

EXAMPLES: dict[str, str] = {
    "linalg.aslinearoperator": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.aslinearoperator(A).matvec(np.ones(2))
    array([1., 2.])
    """,
    "linalg.bicg": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.bicg(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.bicgstab": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.bicgstab(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.cg": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.cg(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.cgs": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.cgs(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.gcrotmk": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.gcrotmk(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.gmres": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.gmres(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.lgmres": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.lgmres(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.minres": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.minres(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.qmr": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.qmr(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.tfqmr": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> x, info = weft.linalg.tfqmr(P, np.array([1.0, 0.0]))
    >>> x.round(3), info
    (array([ 0.273, -0.091]), 0)
    """,
    "linalg.lsmr": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.lsmr(P, np.array([1.0, 0.0]))[0].round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.lsqr": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.lsqr(P, np.array([1.0, 0.0]))[0].round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.spsolve": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.spsolve(P, np.array([1.0, 0.0])).round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.spsolve_triangular": """
    >>> L = weft.asarray([[2.0, 0.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.spsolve_triangular(L, np.array([2.0, 4.0]))
    array([1., 1.])
    """,
    "linalg.factorized": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> solve = weft.linalg.factorized(P)
    >>> solve(np.array([1.0, 0.0])).round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.splu": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.splu(P).solve(np.array([1.0, 0.0])).round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.spilu": """
    >>> P = weft.asarray([[4.0, 1.0], [1.0, 3.0]], format="csr")
    >>> weft.linalg.spilu(P).solve(np.array([1.0, 0.0])).round(3)
    array([ 0.273, -0.091])
    """,
    "linalg.eigs": """
    >>> D = weft.diag(np.arange(1.0, 7.0))
    >>> weft.linalg.eigs(D, k=1, return_eigenvectors=False).real.round(3)
    array([6.])
    """,
    "linalg.eigsh": """
    >>> D = weft.diag(np.arange(1.0, 7.0))
    >>> weft.linalg.eigsh(D, k=2, return_eigenvectors=False).round(3)
    array([5., 6.])
    """,
    "linalg.lobpcg": """
    >>> D = weft.diag(np.arange(1.0, 21.0))
    >>> start = np.random.default_rng(0).random((20, 1))
    >>> values, vectors = weft.linalg.lobpcg(D, start, tol=1e-6, maxiter=100)
    >>> values.round(3)
    array([20.])
    """,
    "linalg.svds": """
    >>> D = weft.diag(np.arange(1.0, 7.0))
    >>> weft.linalg.svds(D, k=2, return_singular_vectors=False).round(3)
    array([5., 6.])
    """,
    "linalg.expm": """
    >>> weft.linalg.expm(weft.diag([0.0, 1.0]).tocsc()).todense().round(3)
    array([[1.   , 0.   ],
           [0.   , 2.718]])
    """,
    "linalg.expm_multiply": """
    >>> weft.linalg.expm_multiply(weft.diag([0.0, 1.0]).tocsr(), np.ones(2)).round(3)
    array([1.   , 2.718])
    """,
    "linalg.funm_multiply_krylov": """
    >>> import scipy.linalg
    >>> D = weft.diag([1.0, 2.0]).tocsr()
    >>> weft.linalg.funm_multiply_krylov(scipy.linalg.expm, D, np.ones(2)).round(3)
    array([2.718, 7.389])
    """,
    "linalg.is_sptriangular": """
    >>> weft.linalg.is_sptriangular(weft.eye(3, format="csr"))
    (np.True_, np.True_)
    """,
    "linalg.onenormest": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.onenormest(A)
    np.float64(2.0)
    """,
    "linalg.spbandwidth": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.spbandwidth(A)
    (1, 1)
    """,
    "linalg.cholesky": """
    >>> weft.linalg.cholesky(weft.asarray([[4.0, 2.0], [2.0, 5.0]])).todense()
    array([[2., 0.],
           [1., 2.]])
    """,
    "linalg.cond": """
    >>> weft.linalg.cond(weft.asarray([[2.0, 0.0], [0.0, 1.0]]))
    np.float64(2.0)
    """,
    "linalg.det": """
    >>> weft.linalg.det(weft.asarray([[2.0, 0.0], [0.0, 3.0]]))
    np.float64(6.0)
    """,
    "linalg.eig": """
    >>> D = weft.asarray([[2.0, 0.0], [0.0, 3.0]])
    >>> weft.linalg.eig(D).eigenvalues.todense().real
    array([2., 3.])
    """,
    "linalg.eigh": """
    >>> weft.linalg.eigh(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).eigenvalues.todense()
    array([2., 3.])
    """,
    "linalg.eigvals": """
    >>> weft.linalg.eigvals(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).todense().real
    array([2., 3.])
    """,
    "linalg.eigvalsh": """
    >>> weft.linalg.eigvalsh(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).todense()
    array([2., 3.])
    """,
    "linalg.lstsq": """
    >>> D = weft.asarray([[1.0], [1.0]])
    >>> weft.linalg.lstsq(D, np.array([1.0, 3.0]))[0].todense().round(3)
    array([2.])
    """,
    "linalg.matrix_rank": """
    >>> weft.linalg.matrix_rank(weft.asarray([[2.0, 0.0], [0.0, 0.0]]))
    np.int64(1)
    """,
    "linalg.pinv": """
    >>> weft.linalg.pinv(weft.asarray([[2.0, 0.0], [0.0, 0.0]])).todense()
    array([[0.5, 0. ],
           [0. , 0. ]])
    """,
    "linalg.qr": """
    >>> weft.linalg.qr(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).R.shape
    (2, 2)
    """,
    "linalg.slogdet": """
    >>> weft.linalg.slogdet(weft.asarray([[1.0, 0.0], [0.0, 1.0]])).sign
    np.float64(1.0)
    """,
    "linalg.solve": """
    >>> D = weft.asarray([[2.0, 0.0], [0.0, 4.0]])
    >>> weft.linalg.solve(D, np.array([2.0, 2.0])).todense()
    array([1. , 0.5])
    """,
    "linalg.svd": """
    >>> weft.linalg.svd(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).S.todense()
    array([3., 2.])
    """,
    "linalg.svdvals": """
    >>> weft.linalg.svdvals(weft.asarray([[2.0, 0.0], [0.0, 3.0]])).todense()
    array([3., 2.])
    """,
    "linalg.tensorinv": """
    >>> weft.linalg.tensorinv(weft.asarray([[2.0, 0.0], [0.0, 4.0]]), ind=1).todense()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """,
    "linalg.tensorsolve": """
    >>> D = weft.asarray([[2.0, 0.0], [0.0, 4.0]])
    >>> weft.linalg.tensorsolve(D, np.array([2.0, 2.0])).todense()
    array([1. , 0.5])
    """,
    "csgraph.bellman_ford": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.bellman_ford(G, indices=0)
    array([0., 1., 3.])
    """,
    "csgraph.breadth_first_order": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.breadth_first_order(G, 0, return_predecessors=False)
    array([0, 1, 2], dtype=int32)
    """,
    "csgraph.breadth_first_tree": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.breadth_first_tree(G, 0).todense()
    array([[0., 1., 5.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """,
    "csgraph.connected_components": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.connected_components(G, directed=False)
    (1, array([0, 0, 0], dtype=int32))
    """,
    "csgraph.construct_dist_matrix": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> _, predecessors = weft.csgraph.shortest_path(G, return_predecessors=True)
    >>> weft.csgraph.construct_dist_matrix(G, predecessors)
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """,
    "csgraph.csgraph_from_dense": """
    >>> weft.csgraph.csgraph_from_dense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    <SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=2, fill_value=0>
    """,
    "csgraph.csgraph_from_masked": """
    >>> weft.csgraph.csgraph_from_masked(np.ma.masked_equal([[0, 1.0], [2.0, 0]], 0))
    <SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=2, fill_value=0>
    """,
    "csgraph.csgraph_masked_from_dense": """
    >>> weft.csgraph.csgraph_masked_from_dense(np.array([[0, 1.0], [2.0, 0]])).count()
    np.int64(2)
    """,
    "csgraph.csgraph_to_dense": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.csgraph_to_dense(G)
    array([[0., 1., 5.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """,
    "csgraph.csgraph_to_masked": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.csgraph_to_masked(G).count()
    np.int64(3)
    """,
    "csgraph.depth_first_order": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.depth_first_order(G, 0, return_predecessors=False)
    array([0, 1, 2], dtype=int32)
    """,
    "csgraph.depth_first_tree": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.depth_first_tree(G, 0).todense()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """,
    "csgraph.dijkstra": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.dijkstra(G, indices=0)
    array([0., 1., 3.])
    """,
    "csgraph.floyd_warshall": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.floyd_warshall(G)
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """,
    "csgraph.johnson": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.johnson(G)
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """,
    "csgraph.laplacian": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.csgraph.laplacian(A + A.T).todense()
    array([[ 3., -3.],
           [-3.,  3.]])
    """,
    "csgraph.maximum_bipartite_matching": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.maximum_bipartite_matching(G, perm_type="column")
    array([ 1,  2, -1], dtype=int32)
    """,
    "csgraph.maximum_flow": """
    >>> F = weft.asarray([[0, 3, 0], [0, 0, 2], [0, 0, 0]], format="csr", dtype="int32")
    >>> weft.csgraph.maximum_flow(F, 0, 2).flow_value
    np.int64(2)
    """,
    "csgraph.min_weight_full_bipartite_matching": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.csgraph.min_weight_full_bipartite_matching(A)
    (array([0, 1]), array([1, 0], dtype=int32))
    """,
    "csgraph.minimum_spanning_tree": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.minimum_spanning_tree(G).todense()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """,
    "csgraph.reconstruct_path": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> _, predecessors = weft.csgraph.dijkstra(G, indices=0, return_predecessors=True)
    >>> weft.csgraph.reconstruct_path(G, predecessors).todense()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """,
    "csgraph.reverse_cuthill_mckee": """
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.csgraph.reverse_cuthill_mckee(A)
    array([1, 0], dtype=int32)
    """,
    "csgraph.shortest_path": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.shortest_path(G)
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """,
    "csgraph.structural_rank": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.structural_rank(G)
    np.int64(2)
    """,
    "csgraph.yen": """
    >>> G = weft.asarray([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]], format="csr")
    >>> weft.csgraph.yen(G, source=0, sink=2, K=2)
    array([3., 5.])
    """,
    "fft.fft": """
    >>> weft.fft.fft(weft.asarray([1.0, 0.0, 0.0, 0.0])).todense()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """,
    "fft.ifft": """
    >>> weft.fft.ifft(weft.asarray([4.0, 0.0])).todense()
    array([2.+0.j, 2.+0.j])
    """,
    "fft.fft2": """
    >>> weft.fft.fft2(weft.asarray([[1.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.ifft2": """
    >>> weft.fft.ifft2(weft.asarray([[4.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.fftn": """
    >>> weft.fft.fftn(weft.asarray([[1.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.ifftn": """
    >>> weft.fft.ifftn(weft.asarray([[4.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.rfft": """
    >>> weft.fft.rfft(weft.asarray([1.0, 0.0, 0.0, 0.0])).todense()
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """,
    "fft.irfft": """
    >>> weft.fft.irfft(weft.asarray([4.0, 0.0, 0.0])).todense()
    array([1., 1., 1., 1.])
    """,
    "fft.rfft2": """
    >>> weft.fft.rfft2(weft.asarray([[1.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.irfft2": """
    >>> weft.fft.irfft2(weft.asarray([[4.0, 0.0], [0.0, 0.0]])).todense()
    array([[1., 1.],
           [1., 1.]])
    """,
    "fft.rfftn": """
    >>> weft.fft.rfftn(weft.asarray([[1.0, 0.0], [0.0, 0.0]])).todense()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """,
    "fft.irfftn": """
    >>> weft.fft.irfftn(weft.asarray([[4.0, 0.0], [0.0, 0.0]])).todense()
    array([[1., 1.],
           [1., 1.]])
    """,
    "fft.hfft": """
    >>> weft.fft.hfft(weft.asarray([1.0, 0.0, 0.0])).todense()
    array([1., 1., 1., 1.])
    """,
    "fft.ihfft": """
    >>> weft.fft.ihfft(weft.asarray([4.0, 0.0, 0.0, 0.0])).todense()
    array([1.-0.j, 1.-0.j, 1.-0.j])
    """,
}
"""The examples by the names of the functions in ``weft``, without the imports of weft and NumPy."""


def with_example(name: str, text: str) -> str:
    """Return a docstring with the example of a function at its end.

    Examples
    --------
    >>> with_example("fft.ifft", "Transform back.").splitlines()[-1]
    'array([2.+0.j, 2.+0.j])'
    """
    if name not in EXAMPLES:
        return text
    code = cleandoc(EXAMPLES[name])
    imports = [">>> import numpy as np"] if "np." in code else []
    return "\n".join([text.rstrip(), "", "Examples", "--------", *imports, ">>> import weft", code])
