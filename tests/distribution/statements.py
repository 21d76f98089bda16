"""Statements over chunks, and random operands for them, beside the results of single tensors."""

from __future__ import annotations

import dask.array as da
import numpy as np

import weft

STATEMENTS = {
    "y(i) = A(i,j)*x(j)": {"A": "ij", "x": "j"},
    "y(j) = A(i,j)*z(i)": {"A": "ij", "z": "i"},
    "C(i,k) = A(i,j)*B(j,k)": {"A": "ij", "B": "jk"},
    "C(j,k) = A(i,j)*F(i,k)": {"A": "ij", "F": "ik"},
    "C(j,k) = A(i,j)*A(i,k)": {"A": "ij"},
    "M(i,r) = T(i,j,k)*C(j,r)*D(k,r)": {"T": "ijk", "C": "j3", "D": "k3"},
    "S(i,j) = A(i,j)*U(i,r)*V(j,r)": {"A": "ij", "U": "i3", "V": "j3"},
    "O(i,k,r) = T(i,j,k)*C(j,r)": {"T": "ijk", "C": "j3"},
    "y(i) = A(i,j)*x(j) + z(i)": {"A": "ij", "x": "j", "z": "i"},
    "P(i,j) = A(i,j)/sum(k, A(i,k))": {"A": "ij"},
    "P(i,j) = A(i,j)/(1 + max(k, A(k,j)))": {"A": "ij"},
    "L(i,j) = log1p(abs(A(i,j))*w(i))": {"A": "ij", "w": "i"},
    "s = A(i,j)*A(i,j)": {"A": "ij"},
    "v(j) = sum(i, A(i,j)*A(i,j))/97 - m(j)*m(j)": {"A": "ij", "m": "j"},
    "m(i) = max(j, A(i,j))": {"A": "ij"},
    "m = min(i, j, A(i,j))": {"A": "ij"},
    "D(i) = S(i,i)": {"S": "ii"},
    "s = S(i,i)": {"S": "ii"},
    "C(i,j) = S(i,j) + S(j,i)*S(i,i)": {"S": "ii"},
    "d(i,k) = min(j, A(i,j) + B(j,k))": {"A": "ij", "B": "jk"},
    "C(i,j) = A(i,j)*a": {"A": "ij", "a": ""},
    "E(i,j) = exp(A(i,j) - z(i))/sum(k, exp(A(i,k) - z(i)))": {"A": "ij", "z": "i"},
    "c(i,k) = any(j, A(i,j)*B(j,k))": {"A": "ij", "B": "jk"},
    "y(i) += A(i,j)*x(j)": {"A": "ij", "x": "j", "y": "i"},
    "C(i,j) = maximum(A(i,j), G(i,j))": {"A": "ij", "G": "ij"},
}  # fmt: skip
FORMATS = {1: ("dense", "coo"), 2: ("csr", "csc", "coo", "dcsr", "ell", "dok"), 3: ("csf", "coo")}
DTYPES = (np.float64, np.float64, np.float64, np.float32, np.int64, np.complex128, np.bool_)


def dense(x):
    return x.todense() if hasattr(x, "todense") else np.asarray(x)


def values(rng, shape, dtype):
    found = np.where(rng.random(shape) < 0.25, rng.integers(1, 8, shape), 0).astype(dtype)
    return found * dtype(1 - 2j) if dtype is np.complex128 else found


def cut(rng, size):
    """Return sizes of chunks, which do not divide the axis, of one element and of none among them."""
    edges = np.sort(rng.integers(0, size + 1, rng.integers(0, 4)))
    return tuple(np.diff([0, *edges, size]).tolist())


def operand(rng, axes, dtype, *, sparse):
    """Return an operand as a tensor or an ndarray, and in chunks."""
    sizes = {"i": 11, "j": 9, "k": 7, "3": 3}
    shape = tuple(sizes[v] for v in axes)
    array = values(rng, shape, dtype)
    if not axes:
        return 2.5, 2.5
    if not sparse:
        chunks = tuple(cut(rng, n) for n in shape)
        return array, da.from_array(array, chunks=chunks) if rng.random() < 0.7 else array
    tensor = weft.asarray(array, format=str(rng.choice(FORMATS[len(axes)])))
    if rng.random() < 0.2 and dtype is np.float64:
        tensor = tensor.with_fill(float(rng.choice([1, np.inf])))
    chunks = tuple(cut(rng, n) for n in shape)
    return tensor, weft.dask.from_tensor(tensor, chunks=chunks)
