"""Code as users write it, with the types that a checker is to find; ``tests/test_types.py`` checks and runs it."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import weft
from weft import SparseTensor

Array = npt.NDArray[Any]


def construction() -> None:
    assert_type(weft.csr_array((3, 4)), weft.csr_array)
    made: SparseTensor = weft.csr_array(np.eye(3))
    assert_type(weft.asarray(np.eye(3), format="csr"), SparseTensor)
    assert_type(weft.random((3, 4), density=0.5, rng=0), SparseTensor)
    assert_type(weft.zeros((3, 4)), SparseTensor)
    assert_type(made.asformat("bsr", blocksize=(1, 1)), SparseTensor)
    assert_type(made.tocsc(), SparseTensor)
    assert_type(made.todense(), np.ndarray[Any, Any])


def keywords_of_einsum(A: SparseTensor, x: Array) -> None:
    weft.einsum("ij,j->i", A, x, out=np.empty(3), order="C", casting="same_kind")
    weft.einsum("ij->ji", A, dtype=np.float32, casting="unsafe")


def operators(A: SparseTensor, x: Array) -> None:
    assert_type(A @ x, np.ndarray[Any, Any])
    assert_type(A @ A, SparseTensor)
    assert_type(A + A, SparseTensor)
    assert_type(A - A, SparseTensor)
    assert_type(A * 2, SparseTensor)
    assert_type(2.0 * A, SparseTensor)
    assert_type(A / np.float64(2.0), SparseTensor)
    assert_type(A**2, SparseTensor)
    assert_type(-A, SparseTensor)
    assert_type(abs(A), SparseTensor)
    assert_type(A.T, SparseTensor)
    assert_type(A * x, SparseTensor | np.ndarray[Any, Any])
    assert_type(A + x, SparseTensor | np.ndarray[Any, Any])
    assert_type(A > 0, SparseTensor)
    assert_type(A == A, SparseTensor)
    assert_type(A != 1, SparseTensor)
    assert_type((A > 0) & (A < 2), SparseTensor)
    B = A.copy()
    B += A
    assert_type(B, SparseTensor)


def notation(A: SparseTensor, x: Array) -> None:
    assert_type(weft.einsum("ij,jk->ik", A, A), SparseTensor | Any)
    assert_type(weft.einsum("ij,j->i", A, x), SparseTensor | np.ndarray[Any, Any] | Any)
    assert_type(weft.evaluate("B(i,j) = 2*A(j,i)", A=A), SparseTensor | Any)
    assert_type(weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x), SparseTensor | np.ndarray[Any, Any] | Any)
    kernel = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")
    assert_type(kernel(A, x), SparseTensor | np.ndarray[Any, Any] | Any)
    assert_type(kernel.source, str)


def reductions(A: SparseTensor, x: Array) -> None:
    assert_type(A.sum(), np.number[Any])
    assert_type(weft.sum(A), np.number[Any])
    assert_type(weft.sum(x), np.number[Any])
    assert_type(A.sum(axis=0), SparseTensor | Any)
    assert_type(weft.sum(A, axis=(0, 1), keepdims=True), SparseTensor | Any)
    assert_type(weft.sum(x, axis=0), np.ndarray[Any, Any] | Any)
    assert_type(A.max(), np.number[Any] | Any)
    assert_type(weft.mean(A), np.number[Any])
    assert_type(A.std(axis=1), SparseTensor | Any)
    assert_type(A.any(), np.bool)
    assert_type(weft.all(A), np.bool)
    assert_type(A.argmax(), np.int64)
    assert_type(A.max(axis=0), SparseTensor | Any)
    assert_type(A.amax(axis=0), SparseTensor | Any)
    assert_type(A.argmin(axis=0), SparseTensor | Any)
    assert_type(A.trace(), SparseTensor | Any)
    assert_type(weft.count_nonzero(A), np.int64)
    assert_type(float(A.sum()) + float(A.max()), float)


def stored_arrays(A: SparseTensor) -> None:
    assert_type(A.data, np.ndarray[Any, Any])
    assert_type(A.indptr, np.ndarray[Any, Any])
    assert_type(A.nonzero(), tuple[np.ndarray[Any, Any], ...])
    assert_type(A.density, float)
    A.data = [1.0] * A.nnz
    A.setdiag(1)


def indexing(A: SparseTensor) -> None:
    assert_type(A[1:], SparseTensor)
    assert_type(A[[0, 2]], SparseTensor)
    assert_type(A[A > 0], SparseTensor)
    assert_type(A[...], SparseTensor)
    assert_type(A[0, 1], SparseTensor | Any)
    assert_type(A[0], SparseTensor | Any)
    assert_type(A[1:, 0], SparseTensor | Any)
    A[0, 1] = 2.0


def functions(A: SparseTensor, x: Array) -> None:
    assert_type(weft.sin(A), SparseTensor)
    assert_type(A.sqrt(), SparseTensor)
    assert_type(weft.sin(x), np.ndarray[Any, Any])
    assert_type(weft.maximum(A, 0.5), SparseTensor)
    assert_type(weft.multiply(A, x), SparseTensor | np.ndarray[Any, Any])
    assert_type(weft.concat([A, A], axis=1), SparseTensor)
    assert_type(weft.sort(A), SparseTensor)
    assert_type(A.reshape(-1), SparseTensor)
    assert_type(A.multiply(2.0), SparseTensor)
    assert_type(A.maximum(x), SparseTensor | np.ndarray[Any, Any])
    assert_type(A.dot(A), SparseTensor)
    assert_type(A.dot(x), np.ndarray[Any, Any])
    assert_type(A.take([0], axis=0), SparseTensor)
    assert_type(weft.kron(A, A), SparseTensor)


def formats(A: SparseTensor) -> None:
    name: str = "dcsr"
    pair = weft.Format("(i,j) -> (i,j)", [weft.Compressed(), weft.Compressed()])
    assert_type(A.asformat("csr"), SparseTensor)
    assert_type(A.asformat("ds:1,0"), SparseTensor)
    assert_type(A.asformat(name), SparseTensor)
    assert_type(A.asformat(A.format), SparseTensor)
    assert_type(weft.zeros((3, 3), format=pair), SparseTensor)
    assert_type(weft.to_scipy(A, "csc").shape, Any)
    assert_type(A.to_scipy(matrix=True).shape, Any)


def choices(A: SparseTensor, x: Array) -> None:
    assert_type(weft.where(A > 1, A, 0.0), SparseTensor)
    assert_type(weft.where(A), tuple[SparseTensor, ...])
    assert_type(weft.where(x, A[:, 0], 0.0), SparseTensor | Any)
    assert_type(weft.clip(A, 0, 1), SparseTensor | Any)
    assert_type(weft.isclose(A, A), SparseTensor | Any)


def linear_algebra(A: SparseTensor, x: Array) -> None:
    D = A.asformat("dense")
    assert_type(weft.matmul(A, x), np.ndarray[Any, Any])
    assert_type(weft.linalg.matmul(A, A), SparseTensor)
    assert_type(weft.linalg.matrix_power(A, 2), SparseTensor | Any)
    assert_type(weft.linalg.spsolve(A, x), np.ndarray[Any, Any])
    assert_type(weft.linalg.spsolve(A.tocsc(), A.tocsc()), SparseTensor | np.ndarray[Any, Any])
    assert_type(weft.linalg.cg(A, x), tuple[np.ndarray[Any, Any], int])
    assert_type(weft.linalg.gmres(A, x, restart=3)[1], int)
    assert_type(weft.linalg.lsqr(A, x)[0], np.ndarray[Any, Any])
    assert_type(weft.linalg.lsmr(A, x)[3], float)
    assert_type(weft.linalg.factorized(A)(x), np.ndarray[Any, Any])
    assert_type(weft.linalg.splu(A).L, SparseTensor)
    assert_type(weft.linalg.splu(A).perm_c, np.ndarray[Any, Any])
    assert_type(weft.linalg.splu(A).solve(x), np.ndarray[Any, Any])
    assert_type(weft.linalg.eigsh(A, k=1), tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]])
    assert_type(weft.linalg.eigs(A, k=1, return_eigenvectors=False), np.ndarray[Any, Any])
    assert_type(weft.linalg.svds(A, k=1)[1], np.ndarray[Any, Any])
    assert_type(weft.linalg.svds(A, k=1, return_singular_vectors=False), np.ndarray[Any, Any])
    assert_type(weft.linalg.expm(A), SparseTensor | np.ndarray[Any, Any])
    assert_type(weft.linalg.expm_multiply(A, x), np.ndarray[Any, Any])
    assert_type(weft.linalg.onenormest(A), np.number[Any])
    assert_type(weft.linalg.spbandwidth(A), tuple[int, int])
    assert_type(weft.linalg.inv(A), SparseTensor)
    assert_type(weft.linalg.norm(A, axis=0), SparseTensor | Any)
    assert_type(weft.linalg.solve(D, x), SparseTensor)
    assert_type(weft.linalg.eigh(D).eigenvectors, SparseTensor)
    assert_type(weft.linalg.svd(D).S, SparseTensor)
    assert_type(weft.linalg.svd(D, compute_uv=False), SparseTensor)
    assert_type(weft.linalg.qr(D, mode="r"), SparseTensor)
    assert_type(weft.linalg.lstsq(D, x)[0], SparseTensor)
    assert_type(weft.fft.fft(D, axis=0), SparseTensor)
    assert_type(weft.fft.irfft2(D), SparseTensor)


def graphs(A: SparseTensor) -> None:
    assert_type(weft.csgraph.connected_components(A), tuple[int, np.ndarray[Any, Any]])
    assert_type(weft.csgraph.connected_components(A, return_labels=False), int)
    assert_type(weft.csgraph.shortest_path(A), np.ndarray[Any, Any])
    assert_type(weft.csgraph.dijkstra(A, return_predecessors=True)[1], np.ndarray[Any, Any])
    assert_type(weft.csgraph.dijkstra(A, return_predecessors=True, min_only=True)[2], np.ndarray[Any, Any])
    assert_type(weft.csgraph.minimum_spanning_tree(A), SparseTensor)
    assert_type(weft.csgraph.breadth_first_tree(A, 0), SparseTensor)
    assert_type(weft.csgraph.breadth_first_order(A, 0)[0], np.ndarray[Any, Any])
    assert_type(weft.csgraph.laplacian(A), SparseTensor | np.ndarray[Any, Any])
    assert_type(weft.csgraph.laplacian(A, return_diag=True)[1], np.ndarray[Any, Any])
    assert_type(weft.csgraph.maximum_flow(A.astype(int), 0, 2).flow, SparseTensor)
    assert_type(weft.csgraph.maximum_bipartite_matching(A), np.ndarray[Any, Any])
    assert_type(weft.csgraph.reverse_cuthill_mckee(A), np.ndarray[Any, Any])
    assert_type(weft.csgraph.structural_rank(A), int | np.integer[Any])
    assert_type(weft.csgraph.csgraph_to_dense(A), np.ndarray[Any, Any])


def mistakes(A: SparseTensor) -> None:
    weft.einsumm("ij->i", A)  # E: attr-defined
    _ = weft.tensor_library  # E: attr-defined
    weft.random((3, 3), density=0.1, seed=0)  # E: call-arg
    weft.sum(A, axes=0)  # E: call-overload
    weft.asarray([1.0], fmt="csr")  # E: call-arg
    weft.load("a.tns", shap=(2, 2))  # E: call-arg
    weft.einsum("ij->i", A, fmt="csr")  # E: call-overload
    weft.compile("y(i) = A(i,j)*x(j)", A=3)  # E: arg-type
    A.asformat("bsr", block_size=(2, 2))  # E: call-arg
    A.asformat(3)  # E: arg-type
    A.to_scipy("ell")  # E: call-overload
    A.to_pydata_sparse("csr")  # E: arg-type
    weft.linalg.spslove(A, A)  # E: attr-defined
    weft.linalg.eigsh(A, whiches="LM")  # E: call-overload
    weft.csgraph.shortest_path(A, method="dijkstra")  # E: call-overload
    _ = weft.where(A > 0, A, 0).nzz  # E: attr-defined
    A.sum(axes=0)  # E: call-overload
    A.argsort(descend=True)  # E: call-arg
    A.density = 0.5  # E: misc
    A.tocrs()  # E: attr-defined
    (A + A).tocrs()  # E: attr-defined
    _ = weft.sin(A).nzz  # E: attr-defined
