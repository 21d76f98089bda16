"""Ordinary expressions whose kernels are shipped, and the tensors that they are run for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from ..records import record

CORE = """
A @ x
A @ B
A + B
A * B
A @ D
A * 2
A.T @ x
A - B
A @ A
A + A
A * A
A + A.T
A.sum()
A.sum(axis=0)
A.sum(axis=1)
A[A > 0.5]
A.T @ A
A.T @ B
A @ A.T
A @ B.T
A > 0.5
A > B
A < B
A != B
A == B
A >= B
A <= B
A.maximum(B)
A.minimum(B)
np.maximum(A, B)
A.multiply(B)
A / 2
A * 0.5
2 * A
-A
abs(A)
A ** 2
A[5]
A[:, 5]
A[10:50]
A[:, 10:50]
A[10:50, 10:50]
A[2:5, ::2]
A[::2]
A[:, ::2]
A[rows]
A[:, rows]
A[rows][:, rows]
A[np.ix_(rows, rows)]
A[rows, rows]
A[mask]
A[:, mask]
A.max()
A.max(axis=0)
A.max(axis=1)
A.min()
A.min(axis=0)
A.min(axis=1)
A.mean()
A.mean(axis=0)
A.mean(axis=1)
A.std()
A.std(axis=0)
A.std(axis=1)
A.var()
A.var(axis=0)
A.var(axis=1)
A.tocsc()
A.tocoo()
A.tocsr()
A.T.tocsr()
A.todense()
C.tocsr()
C.tocoo()
C.todense()
O.tocsr()
O.tocsc()
O.todense()
U.tocsr()
U.tocsc()
np.concatenate([A, A])
np.concatenate([A, B])
np.concatenate([A, B], axis=1)
weft.vstack([A, B])
weft.hstack([A, B])
A * x
A * x[:, None]
A / y
A / y[:, None]
A.diagonal()
A.trace()
C @ x
C @ D
C.T @ x
C @ H
C + H
C - H
C * H
A @ C
C @ A
A + C
A - C
A * C
O @ x
O @ D
O + Q
O * Q
O @ Q
A + O
A @ O
x @ A
D.T @ A
A @ N
A @ V
A @ (A @ x)
A @ B @ x
A.T @ D
A > 0
A < 0.5
A >= 0.5
A <= 0
A == 1
A != 0
np.sin(A)
np.sqrt(abs(A))
np.log1p(abs(A))
np.expm1(A)
np.sign(A)
np.clip(A, 0, 1)
np.where(A > 0.5, A, 0)
np.where(A > 0.5, A, B)
A.argmax(axis=1)
A.argmax(axis=0)
A.any(axis=0)
A.any(axis=1)
A.all(axis=0)
A.astype(np.float32)
A.astype(bool)
weft.einsum("ij,j->i", A, x)
weft.einsum("ij,jk->ik", A, D)
weft.einsum("ij,jk->ik", A, B)
weft.einsum("ij,ij->", A, B)
weft.einsum("ij,ik,jk->ij", A, D, D, format="csr")
weft.einsum("ij,ik,jk->ij", A, D, L)
weft.evaluate("E(i,j) = A(i,j)*U(i,k)*V(j,k)", A=A, U=D, V=L, format="csr")
weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x)
weft.evaluate("m(i) = max(j, A(i,j)*x(j))", A=A, x=x)
weft.evaluate("G(i,j) = max(k, A(i,k) * A(k,j))", A=A)
weft.evaluate("G(i,j) = max(k, A(i,k) * B(k,j))", A=A, B=B)
weft.evaluate("D(i,j) = min(k, A(i,k) + A(k,j))", A=J)
weft.evaluate("D(i,j) = min(k, A(i,k) + B(k,j))", A=J, B=J)
weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")(A, x)
weft.compile("C(i,j) = A(i,j) + B(i,j)", A="csr", B="csr", C="csr")(A, B)
weft.compile("C(i,k) = A(i,j) * B(j,k)", A="csr", B="csr", C="csr")(A, B)
weft.einsum("ijk,jr,kr->ir", F3, D[:5], D[:6])
weft.einsum("ijk,k->ij", F3, x[:6])
A + 10 * weft.eye(n)
A @ A.T + 10 * weft.eye(n)
weft.tril(A)
weft.triu(A)
weft.kron(small, small)
A / A.sum(axis=1)[:, None]
A / np.maximum(A.sum(axis=1).todense(), 1)[:, None]
"""
"""The most ordinary expressions, which every build has, the most important first: one a line."""

MORE = """
C @ C
A - A
C + C
C - C
O + O
C * C
O * O
A / 0.5
C * 2
C / 2
-C
O * 2
A * y
A * E
A + E
E - A
A * A * A
A.power(2)
A.multiply(A)
A.maximum(A)
A.minimum(A)
np.maximum(A, 0)
np.minimum(A, 1)
A == A
A != A
C > 0.5
O > 0.5
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
C.diagonal()
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
A.todia()
A.tolil()
A.todok()
A.asformat("csf")
A.asformat("ell")
A.asformat("bsr", blocksize=(2, 2))
A.asformat("bsr", blocksize=(4, 4))
U.tocoo()
weft.asarray(E).tocsr()
weft.asarray(E).tocsc()
weft.asarray(E).tocoo()
R.tocsr()
R @ x
R @ D
I.tocsr()
I @ x
I + I
I @ A
A - I
A + I
A - 1.5 * I
np.tanh(A)
np.square(A)
np.exp(A)
np.exp(A) @ D
np.exp(A).sum(axis=1)
np.floor(A)
np.ceil(A)
np.rint(A)
np.isnan(A)
np.isfinite(A)
np.nan_to_num(A)
np.conj(A)
A.real
A.round(2)
np.where(A > 0.5, A, C)
weft.vstack([A, A])
weft.hstack([A, A])
weft.vstack([C, C])
weft.hstack([C, C])
weft.vstack([O, O])
np.concatenate([A, A], axis=0)
np.concatenate([A, A], axis=1)
weft.block_diag([A, A])
np.tril(A, -1)
A.reshape(-1)
A.reshape(A.shape[1], -1)
A.ravel()
np.sort(A, axis=1)
A.astype(np.float64)
A.astype(np.int64)
A.copy()
A.eliminate_zeros()
weft.linalg.norm(A)
weft.linalg.norm(A, axis=1)
weft.linalg.norm(A, 1)
weft.linalg.norm(A, np.inf)
weft.einsum("ij,ij->", A, A)
weft.einsum("ij,ij->i", A, A)
weft.einsum("ij,i->j", A, x)
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
(x * 0.1) @ A
((A @ A) @ A) > 0
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
G @ x
A[3:, :7]
A[:5, :5]
A[-1]
A[:, -3:]
A[rows[:, None], rows]
A[1:-1, 1:-1]
A[mask][:, mask]
A[A != 0]
A[A < 0.5]
A[B > 0.5]
A.T + B
A - B.T
A.T * B
A.T - A
A + B + A
A * B * A
2 * A - B
A - 2 * B
(A + B) * 0.5
(A - B) ** 2
A * (B > 0.5)
A * (A > 0.5)
A @ B @ A
A.T @ B.T
A.T.tocsc()
abs(A - B)
abs(A) > 0.3
(A > 0.5).sum()
(A > 0.5).sum(axis=1)
(A * B).sum()
(A * B).sum(axis=1)
(A + B).sum(axis=0)
(A @ B).sum()
A.sum(axis=1)[:, None] * A
A - A.mean(axis=0).todense()
A.max(axis=1) - A.min(axis=1)
np.minimum(A, B)
np.add(A, B)
np.multiply(A, B)
np.subtract(A, B)
np.greater(A, B)
np.hypot(A, B)
np.array_equal(A, B)
np.allclose(A.data, A.data)
np.logical_and(A, B)
np.logical_or(A, B)
np.logical_xor(A, B)
np.logical_not(A)
A.astype(bool) & B.astype(bool)
A.astype(bool) | B.astype(bool)
A.astype(bool) @ B.astype(bool)
np.dot(A, B)
np.dot(A, x)
np.matmul(A, B)
A.dot(B)
A.dot(x)
np.vdot(x, A @ x)
x @ (A @ x)
np.inner(x, A @ x)
np.outer(V, V)
np.trace(A)
np.diag(A)
A.copy().setdiag(1)
A.copy().setdiag(x)
np.sum(A, axis=(0, 1))
A.sum(axis=0) / n
A.nonzero()
np.nonzero(A)
np.argwhere(A)
A.count_nonzero()
A.argmin(axis=1)
A.argmin(axis=0)
A.argmax()
A.min(axis=1) < 0
np.median(A, axis=0)
np.ptp(A, axis=0)
A.cumsum(axis=1)
np.cumsum(A, axis=0)
np.diff(A, axis=0)
np.roll(A, 1, axis=0)
np.flip(A, axis=0)
np.flip(A, axis=1)
np.repeat(A, 2, axis=0)
np.tile(A, (2, 1))
np.take(A, rows, axis=0)
np.delete(A, rows, axis=0)
np.unique(A)
np.expand_dims(A, 0)
np.stack([A, B])
np.swapaxes(A, 0, 1)
np.moveaxis(A, 0, 1)
A.transpose()
A.reshape(n // 2, -1)
A.argsort(axis=1)
np.power(A, 3)
A ** 3
A ** 0.5
A / B
x / (A @ x)
A + 1
A - 1
1 - A
np.cos(A)
np.tan(A)
np.arctan(A)
np.arcsin(A)
np.sinh(A)
np.floor_divide(A, 2)
A // 2
A % 2
np.log(A + 1)
np.reciprocal(A + 1)
np.abs(A)
np.cbrt(A)
np.maximum(A, 0.5)
np.minimum(A, 0.5)
np.fmax(A, B)
np.copysign(A, B)
weft.linalg.norm(A - B)
weft.linalg.norm(A, axis=0)
weft.linalg.matrix_power(A, 2)
weft.linalg.matrix_power(A, 3)
weft.block_diag([A, B])
weft.bmat([[A, B], [B, A]])
weft.bmat([[A, None], [None, B]])
weft.tril(A, -1)
weft.triu(A, 1)
weft.find(A)
weft.kron(small, weft.eye(3))
weft.eye(n) + A
weft.eye(n) @ A
weft.diags(x) @ A @ weft.diags(x)
A.multiply(x)
A.multiply(x[:, None])
A.power(3)
A.sqrt()
A.tocsc() @ x
A.tocoo() @ x
A.tobsr()
C.T
C.T @ C
C.T.tocsc()
C @ x[:, None]
C > H
C.maximum(H)
C[mask]
C[:, mask]
C[rows][:, rows]
C[C > 0.5]
C.min(axis=0)
C.mean(axis=1)
C.std(axis=0)
C.argmax(axis=0)
C + A.T
weft.vstack([C, H])
weft.hstack([C, H])
O - Q
O > Q
O.maximum(Q)
O.T
O.T @ x
O.T.tocsr()
O[O > 0.5]
O[mask]
O[:, 10:50]
O.min()
O.max(axis=0)
O.mean(axis=0)
O.astype(np.float32)
O * 2 + Q
-O
abs(O)
weft.hstack([O, Q])
weft.vstack([O, Q])
weft.einsum("ij,kj->ik", A, B)
weft.einsum("ji,jk->ik", A, B)
weft.einsum("ij,ij->i", A, B)
weft.einsum("ij,ij->j", A, B)
weft.einsum("ij,ij->ij", A, B)
weft.einsum("ij->ji", A)
weft.einsum("ij->", A)
weft.einsum("i,ij,j->", x, A, x)
weft.einsum("i,ij->ij", x, A)
weft.einsum("ij,j->ij", A, x)
weft.einsum("ij,jk,kl->il", A, B, D)
weft.einsum("ij,jk,k->i", A, B, x)
weft.einsum("ji,j->i", A, x)
weft.einsum("ji,jk->ik", A, D)
weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=B)
weft.evaluate("C(i,j) = A(i,j) * B(i,j)", A=A, B=B)
weft.evaluate("C(i,k) = A(i,j) * B(j,k)", A=A, B=B)
weft.evaluate("C(i,j) = a*A(i,j) + b*B(i,j)", A=A, B=B, a=2.0, b=-1.0)
weft.evaluate("y(i) = A(i,j)*x(j) + z(i)", A=A, x=x, z=y)
weft.evaluate("y(i) = b(i) - A(i,j)*x(j)", A=A, x=x, b=y)
weft.evaluate("y(j) = A(i,j)*x(i)", A=A, x=x)
weft.evaluate("s = x(i)*A(i,j)*y(j)", A=A, x=x, y=y)
weft.evaluate("s = A(i,j)*B(i,j)", A=A, B=B)
weft.evaluate("y(i) = A(i,j)", A=A)
weft.evaluate("C(i,k) = A(i,j)*X(j,k)", A=A, X=D)
weft.evaluate("A2(i,j) = A(i,j)*x(i)", A=A, x=x)
weft.evaluate("A2(i,j) = A(i,j)*x(j)", A=A, x=x)
weft.evaluate("E(i,j) = A(i,j)*U(i,k)*V(k,j)", A=A, U=D, V=D.T.copy())
weft.evaluate("d(i) = min(j, A(i,j) + p(j))", A=J, p=x)
weft.evaluate("d(j) = min(i, A(i,j) + p(i))", A=J, p=x)
weft.evaluate("L(i,j) = log(1 + A(i,j))", A=A)
weft.evaluate("E(i,j) = exp(A(i,j)) - 1", A=A)
weft.evaluate("m(i) = max(j, A(i,j))", A=A)
weft.evaluate("A2(i,j) = A(i,j)/d(i)", A=A, d=y)
weft.evaluate("A2(i,j) = A(i,j)/sqrt(d(i)*d(j))", A=A, d=y)
weft.evaluate("n(i) = sqrt(sum(j, A(i,j)*A(i,j)))", A=A)
weft.compile("y(i) = A(i,j)*x(j)", A="csc", x="dense", y="dense")(C, x)
weft.compile("C(i,j) = A(i,j)*B(i,j)", A="csr", B="csr", C="csr")(A, B)
weft.compile("Y(i,k) = A(i,j)*X(j,k)", A="csr", X="dense", Y="dense")(A, D)
weft.compile("E(i,j) = A(i,j)*U(i,k)*V(j,k)", A="csr", U="dense", V="dense", E="csr")(A, D, D)
F3 + G3
F3 * G3
F3 * 2
F3.sum()
F3.sum(axis=0)
F3.sum(axis=2)
F3.tocoo()
F3[0]
F3 @ x[:6]
weft.einsum("ijk->ij", F3)
weft.einsum("ijk,jk->i", F3, N3)
weft.einsum("ijk,ir,kr->jr", F3, D[:7], D[:6])
weft.einsum("ijk,ir,jr->kr", F3, D[:7], D[:5])
weft.einsum("ijk,kl->ijl", F3, D[:6])
weft.tensordot(F3, D[:6], axes=1)
weft.tensordot(S3, T3, axes=3)
S3 + T3
S3 * T3
S3 - T3
S3.transpose(2, 0, 1)
S3.reshape(7, 30)
S3[:, :, 2]
S3[S3 > 0.5]
V + W
V * W
V - W
V @ W
A @ W
"""
"""Other expressions, of which a build has as many as there is time for."""


@record
class Operands:
    """Properties of the tensors that expressions are run for, and the number of threads that run them."""

    dtype: str  # the dtypes of the values and of the index arrays
    index_dtype: str  # the dtypes of the values and of the index arrays
    n: int  # the number of rows
    threads: int = 1  # the number of threads


Run = tuple[Operands, str]
"""An expression, with the properties of its operands."""

USUAL = tuple(Operands("float64", "int32", n, threads) for n, threads in ((200, 1), (4_000, 1), (4_000, 2)))
"""Small and large matrices need different kernels. Small ones run on one thread, however many there are."""


def lines(text: str) -> list[str]:
    """Return the expressions of a text."""
    return [line for line in text.splitlines() if line]


def core() -> list[Run]:
    """Return the runs whose kernels every build has."""
    return [(kind, line) for line in lines(CORE) for kind in USUAL]


def others(machine: bool) -> Iterator[list[Run]]:
    """Yield further runs, the most important first."""
    serial = [kind for kind in USUAL if kind.threads == 1]
    yield [(kind, line) for line in lines(MORE) for kind in serial]
    # Other dtypes and index dtypes need kernels of their own.
    sizes = sorted({kind.n for kind in USUAL})
    rare = [Operands("float64", "int64", n) for n in sizes] + [Operands(t, "int32", 200) for t in ("float32", "int64")]
    yield [(kind, line) for line in lines(CORE) for kind in rare]
    if not machine:
        rest = [Operands(t, "int32", sizes[-1]) for t in ("float32", "int64")]
        rest += [Operands(t, "int64", 200) for t in ("float32", "int64")]
        rest += [Operands("bool", index, 200) for index in ("int32", "int64")]
        yield [(kind, line) for line in lines(CORE) for kind in rest]
        yield [(kind, line) for line in lines(MORE) for kind in rare]


def names(of: Operands) -> Mapping[str, Any]:
    """Return the tensors and arrays that expressions use, by their names."""
    # Values are positive, so that no divisor is zero. Random coordinates may repeat, as those of users may.
    rng, n = np.random.default_rng(0), of.n
    entries = 1600 if n < 1000 else 3 * n

    def listed() -> sp.coo_array:
        values = rng.random(entries) + 0.25 if of.dtype[0] == "f" else rng.integers(1, 4, entries)
        return sp.coo_array((values.astype(of.dtype), tuple(rng.integers(0, n, (2, entries)))), shape=(n, n))

    def cube() -> weft.SparseTensor:
        return weft.random((7, 5, 6), density=0.4, rng=rng, dtype=of.dtype).asformat("coo", index_dtype=of.index_dtype)

    def stored(tensor: Any, format: str, **options: Any) -> weft.SparseTensor:
        return weft.asarray(tensor).asformat(format, index_dtype=of.index_dtype, **options)

    # Two operands of each kind differ in structure: operands of one structure get other kernels.
    first, second = listed(), listed()
    A, B, S3, T3 = stored(sp.csr_array(first), "csr"), stored(sp.csr_array(second), "csr"), cube(), cube()
    far = weft.asarray(sp.csr_array(first), fill_value=np.inf) if of.dtype[0] == "f" else A
    return {
        "np": np, "weft": weft, "n": n, "A": A, "B": B, "C": stored(A, "csc"), "H": stored(B, "csc"),
        "O": stored(first, "coo"), "Q": stored(second, "coo"), "J": stored(far, "csr"),
        "U": weft.from_coords(np.stack([first.row, first.col]), first.data, (n, n), duplicates="keep"),
        "R": A.asformat("bsr", blocksize=(2, 2)), "I": weft.eye(n, dtype=of.dtype, format="csr"),
        "S3": S3, "T3": T3, "F3": stored(S3, "csf"), "G3": stored(T3, "csf"),
        "U3": weft.asarray(sp.random_array((7, 5, 6), density=0.4, rng=rng).astype(of.dtype)),
        "V": stored(A[0], "coo"), "W": stored(B[0], "coo"),
        "G": weft.csr_array((np.ones(n, of.dtype), (np.arange(n) % 7, np.arange(n))), shape=(7, n)),
        "small": A[:20, :20], "x": np.ones(n, of.dtype), "y": np.full(n, 2, of.dtype),
        "D": np.ones((n, 8), of.dtype), "L": np.full((n, 8), 2, of.dtype), "N": np.ones((n, 3), of.dtype),
        "N3": np.ones((5, 6), of.dtype), "E": np.ones((n, n) if n < 1000 else (1, n), of.dtype),
        "rows": np.array([5, 3, 150, 3]), "mask": np.arange(n) % 3 == 0,
    }  # fmt: skip
