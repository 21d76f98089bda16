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
    A.sum(axes=0)  # E: call-overload
    A.argsort(descend=True)  # E: call-arg
    A.density = 0.5  # E: misc
    A.tocrs()  # E: attr-defined
    (A + A).tocrs()  # E: attr-defined
    _ = weft.sin(A).nzz  # E: attr-defined
