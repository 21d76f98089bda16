"""Ordinary expressions whose kernels are shipped, and the tensors that they are run for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from ..records import record

__all__ = ["EXPRESSIONS", "Operands", "operands"]

EXPRESSIONS = """
A @ x
A @ D
A @ N
A.T @ x
A.T @ D
C @ x
C @ D
O @ x
O @ D
x @ A
D.T @ A
A @ A
A @ A.T
A.T @ A
C @ C
A @ C
C @ A
A @ V
A @ (A @ x)
A + A
A - A
A + C
A - C
C + C
C - C
O + O
A + O
A + A.T
A * A
A * C
C * C
O * O
A * 2
A * 0.5
2 * A
A / 2
A / 0.5
-A
abs(A)
C * 2
C / 2
-C
O * 2
A * x
A * y
A * x[:, None]
A / y
A / y[:, None]
A * E
A + E
E - A
A * A * A
A ** 2
A.power(2)
A.multiply(A)
A.maximum(A)
A.minimum(A)
np.maximum(A, 0)
np.minimum(A, 1)
A > 0
A > 0.5
A < 0.5
A >= 0.5
A <= 0
A == 1
A != 0
A == A
A != A
C > 0.5
O > 0.5
A.sum()
A.sum(axis=0)
A.sum(axis=1)
A.mean()
A.mean(axis=0)
A.mean(axis=1)
A.max()
A.max(axis=0)
A.max(axis=1)
A.min()
A.min(axis=0)
A.min(axis=1)
A.std()
A.std(axis=0)
A.std(axis=1)
A.var(axis=0)
A.var(axis=1)
A.argmax(axis=1)
A.argmax(axis=0)
A.any(axis=0)
A.any(axis=1)
A.all(axis=0)
A.prod(axis=1)
C.sum()
C.sum(axis=0)
C.sum(axis=1)
C.max(axis=0)
C.max(axis=1)
C.mean(axis=0)
O.sum()
O.sum(axis=0)
O.sum(axis=1)
O.max()
(A != 0).sum(axis=0)
(A > 0).sum(axis=0)
np.count_nonzero(A, axis=0)
A.nnz
A.diagonal()
A.trace()
C.diagonal()
A[5]
A[:, 5]
A[10:50]
A[:, 10:50]
A[10:50, 10:50]
A[::2]
A[:, ::2]
A[rows]
A[:, rows]
A[mask]
A[:, mask]
A[rows][:, rows]
A[np.ix_(rows, rows)]
A[A > 0.5]
A[rows, rows]
C[5]
C[:, 5]
C[:, 10:50]
C[10:50]
C[:, rows]
C[rows]
O[5]
O[:, 5]
O[10:50]
O[rows]
A.T
A.T.tocsr()
A.tocsr()
A.tocsc()
A.tocoo()
A.todia()
A.tolil()
A.todok()
A.todense()
A.asformat("csf")
A.asformat("ell")
A.asformat("bsr", blocksize=(2, 2))
A.asformat("bsr", blocksize=(4, 4))
C.tocsr()
C.tocoo()
C.todense()
O.tocsr()
O.tocsc()
O.todense()
U.tocsr()
U.tocsc()
U.tocoo()
weft.asarray(E).tocsr()
weft.asarray(E).tocsc()
weft.asarray(E).tocoo()
B.tocsr()
B @ x
B @ D
I.tocsr()
I @ x
I + I
I @ A
A - I
A + I
A - 1.5 * I
np.sin(A)
np.tanh(A)
np.sqrt(abs(A))
np.square(A)
np.log1p(abs(A))
np.expm1(A)
np.exp(A)
np.exp(A) @ D
np.exp(A).sum(axis=1)
np.sign(A)
np.floor(A)
np.ceil(A)
np.rint(A)
np.isnan(A)
np.isfinite(A)
np.nan_to_num(A)
np.conj(A)
A.real
A.round(2)
np.clip(A, 0, 1)
np.where(A > 0.5, A, 0)
np.where(A > 0.5, A, C)
weft.vstack([A, A])
weft.hstack([A, A])
weft.vstack([C, C])
weft.hstack([C, C])
weft.vstack([O, O])
np.concatenate([A, A], axis=0)
np.concatenate([A, A], axis=1)
weft.block_diag([A, A])
weft.kron(small, small)
weft.tril(A)
weft.triu(A)
np.tril(A, -1)
A.reshape(-1)
A.reshape(A.shape[1], -1)
A.ravel()
np.sort(A, axis=1)
A.astype(np.float64)
A.astype(np.float32)
A.astype(np.int64)
A.astype(bool)
A.copy()
A.eliminate_zeros()
weft.linalg.norm(A)
weft.linalg.norm(A, axis=1)
weft.linalg.norm(A, 1)
weft.linalg.norm(A, np.inf)
weft.einsum("ij,ij->", A, A)
weft.einsum("ij,ij->i", A, A)
weft.einsum("ij,j->i", A, x)
weft.einsum("ij,i->j", A, x)
weft.einsum("ij,jk->ik", A, D)
weft.einsum("ij,jk->ik", A, A)
weft.einsum("ij->i", A)
weft.einsum("ij->j", A)
weft.einsum("ii->", A)
weft.einsum("ij,i,j->", A, x, x)
weft.einsum("ij,jk,ki->", A, A, A)
weft.evaluate("E(i,j) = A(i,j)*X(i,k)*Y(j,k)", A=A, X=D, Y=D, format="csr")
weft.evaluate("E(i,j) = A(i,j)*X(i,k)*Y(k,j)", A=A, X=D, Y=D.T.copy(), format="csr")
weft.evaluate("y(j) = A(i,j)*p(i)/d(i)", A=A, p=x, d=x + 1)
weft.evaluate("O(i,j) = A(i,j)/d(i)", A=A, d=x + 1)
weft.evaluate("y(i) = min(j, A(i,j) + x(j))", A=A, x=x)
weft.evaluate("y(i) = max(j, A(i,j) * x(j))", A=A, x=x)
weft.evaluate("y(j) = min(i, A(i,j) + x(i))", A=A, x=x)
weft.evaluate("y(i) = a*A(i,j)*x(j) + b*z(i)", A=A, x=x, z=x, a=2.0, b=-1.0)
weft.evaluate("y(i) = a*A(j,i)*x(j) + b*z(i)", A=A, x=x, z=x, a=2.0, b=-1.0)
weft.einsum("ij,ik,jk->ij", A, D, D, format="csr")
(x * 0.1) @ A
((A @ A) @ A) > 0
A / A.sum(axis=1)[:, None]
A / np.maximum(A.sum(axis=1).todense(), 1)[:, None]
np.sqrt((A * A).sum(axis=1))
S3.sum()
S3.sum(axis=0)
S3.sum(axis=(0, 1))
S3.tocoo()
S3.asformat("csf")
S3.asformat("gcxs")
U3.tocoo()
U3.asformat("csf")
S3 + S3
S3 * S3
S3 * 2
S3[0]
S3[:, 1]
weft.einsum("ijk,jr,kr->ir", S3, D[:5], D[:6])
weft.einsum("ijk,jr,kr->ir", F3, D[:5], D[:6])
weft.einsum("ijk,k->ij", S3, x[:6])
weft.tensordot(S3, S3, axes=3)
V + V
V * V
V * 2
V.sum()
V @ V
V.todense()
weft.diags(x) @ A
A @ weft.diags(x)
weft.diags(x) - A
weft.eye(n) - A
A @ A.T + 10 * weft.eye(n)
G @ x
"""
"""Expressions, one a line, of the tensors and arrays that ``names`` returns."""


@record
class Operands:
    """Properties of the tensors that expressions are run for.

    Parameters
    ----------
    dtype, index_dtype : str
        The dtypes of the values and of the index arrays.
    n : int
        The number of rows.
    """

    dtype: str
    index_dtype: str
    n: int


def operands(machine: bool) -> Iterator[Operands]:
    """Yield the properties of tensors that the expressions are run for.

    Parameters
    ----------
    machine : bool
        True for the fewer ones of a build for one machine; False for all, as in wheels.
    """
    # Small and large matrices need different kernels, as do other dtypes and index dtypes.
    yield from (Operands("float64", index, n) for n in (200, 4000) for index in ("int32", "int64"))
    yield from (Operands(dtype, "int32", 200) for dtype in ("float32", "int64"))
    if not machine:
        yield from (Operands(dtype, "int32", 4000) for dtype in ("float32", "int64"))
        yield from (Operands(dtype, "int64", n) for n in (200, 4000) for dtype in ("float32", "int64"))
        yield from (Operands("bool", index, 200) for index in ("int32", "int64"))


def names(of: Operands) -> Mapping[str, Any]:
    """Return the tensors and arrays that expressions use, by their names.

    Parameters
    ----------
    of : Operands
        The dtypes and the size of the tensors.
    """
    # Values are positive, so that no divisor is zero. Random coordinates may repeat, as those of users may.
    rng, n = np.random.default_rng(0), of.n
    values = rng.random(8 * n) + 0.25 if of.dtype[0] == "f" else rng.integers(1, 4, 8 * n)
    rows, columns = rng.integers(0, n, (2, 8 * n))
    listed = sp.coo_array((values.astype(of.dtype), (rows, columns)), shape=(n, n))
    A = weft.asarray(sp.csr_array(listed)).asformat("csr", index_dtype=of.index_dtype)
    coo = weft.asarray(listed).asformat("coo", index_dtype=of.index_dtype)
    cube = weft.random((7, 5, 6), density=0.4, rng=0, dtype=of.dtype).asformat("coo", index_dtype=of.index_dtype)
    own: dict[str, Any] = {
        "np": np, "weft": weft, "n": n, "A": A, "O": coo, "S3": cube,
        "C": A.asformat("csc", index_dtype=of.index_dtype),
        "U": weft.from_coords(np.stack([rows, columns]), values.astype(of.dtype), (n, n), duplicates="keep"),
        "B": A.asformat("bsr", blocksize=(2, 2)),
        "I": weft.eye(n, dtype=of.dtype, format="csr"),
        "U3": weft.asarray(sp.random_array((7, 5, 6), density=0.4, rng=rng).astype(of.dtype)),
        "V": A[0].asformat("coo", index_dtype=of.index_dtype),
        "F3": cube.asformat("csf", index_dtype=of.index_dtype),
        "G": weft.csr_array((np.ones(n, of.dtype), (np.arange(n) % 7, np.arange(n))), shape=(7, n)),
        "small": A[:20, :20],
        "x": np.ones(n, of.dtype), "y": np.full(n, 2, of.dtype), "D": np.ones((n, 8), of.dtype),
        "N": np.ones((n, 3), of.dtype), "E": np.ones((n, n) if n < 1000 else (1, n), of.dtype),
        "rows": np.array([5, 3, 150, 3]), "mask": np.arange(n) % 3 == 0,
    }  # fmt: skip
    return own
