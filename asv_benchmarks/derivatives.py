"""Gradients beside the values that they belong to, and beside PyTorch, JAX and NumPy by hand, where installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np

from . import inputs
from .measure import Ratio, Run, installed, interleaved, seconds_of, threads

__all__ = ["CASES", "Derivatives", "jax_overhead", "ratio", "rows"]

LOSS = "s = sum(i, j, square(M(i,j)*(R(i,j) - sum(k, U(i,k)*V(j,k)))))"
RANK = 32


@cache
def matrix() -> tuple[Any, Any]:
    """A matrix, and one with 32 columns to multiply by."""
    import weft

    a = weft.asarray(inputs.matrix("powerlaw"))
    return a, np.random.default_rng(0).random((a.shape[1], RANK))


@cache
def ratings() -> tuple[Any, Any, Any]:
    """A matrix of ratings of the shape of MovieLens 100k, and a model of it."""
    import weft

    rng = np.random.default_rng(0)
    shape = (943, 1682)
    known = weft.random(shape, nnz=round(100_000 * inputs.scale()), format="csr", rng=0)
    return known, rng.random((shape[0], RANK)), rng.random((shape[1], RANK))


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-3 * np.abs(b).max())


def spmm_gradients() -> dict[str, Run]:
    import weft

    a, x = matrix()
    text = "C(i,k) = A(i,j)*X(j,k)"
    value, pullback = weft.vjp(text, A=a, X=x)
    return {"weft": lambda: pullback(value), "value": lambda: weft.evaluate(text, A=a, X=x)}


def spmm_torch() -> dict[str, Run]:
    """On a small matrix: PyTorch makes the gradient of a sparse matrix dense."""
    import torch

    import weft

    a = weft.random((2000, 2000), nnz=round(40_000 * inputs.scale()), format="csr", rng=0)
    x = np.random.default_rng(0).random((2000, RANK))
    value, pullback = weft.vjp("C(i,k) = A(i,j)*X(j,k)", A=a, X=x)
    torch.set_num_threads(1)
    theirs = torch.sparse_csr_tensor(*map(torch.tensor, (a.indptr, a.indices, a.data)), size=a.shape)
    theirs.requires_grad_()
    columns, bar = torch.tensor(x, requires_grad=True), torch.tensor(value)
    product = theirs @ columns
    runs = {
        "weft": lambda: pullback(value),
        "torch": lambda: torch.autograd.grad(product, (theirs, columns), bar, retain_graph=True),
    }
    ours, (by_a, by_x) = runs["weft"](), runs["torch"]()
    close(ours["A"].data, by_a.to_dense()[tuple(a.tocoo().coords)])
    close(ours["X"], by_x)
    return runs


def completion() -> tuple[Run, Any, Any, Any]:
    import weft

    r, u, v = ratings()
    m, gradients = r != 0, weft.value_and_grad(LOSS, wrt=["U", "V"])
    return lambda: gradients(M=m, R=r, U=u, V=v)[1], r, u, v


def completion_jax() -> dict[str, Run]:
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        ours, r, u, v = completion()
        mask, known, both = jnp.asarray((r != 0).todense()), jnp.asarray(r.todense()), (jnp.asarray(u), jnp.asarray(v))
        loss = jax.jit(jax.value_and_grad(lambda both: jnp.sum((mask * (known - both[0] @ both[1].T)) ** 2)))
        loss(both)
    runs = {"weft": ours, "jax": lambda: jax.block_until_ready(loss(both)[1])}
    for a, b in zip(runs["weft"]().values(), runs["jax"](), strict=True):
        close(a, b)
    return runs


def completion_numpy() -> dict[str, Run]:
    ours, r, u, v = completion()
    coo = r.tocoo()
    i, j, known = coo.row, coo.col, coo.data

    def by_hand() -> tuple[Any, Any]:
        error = known - np.einsum("ek,ek->e", u[i], v[j])
        by_u, by_v = np.zeros_like(u), np.zeros_like(v)
        np.add.at(by_u, i, -2 * error[:, None] * v[j])
        np.add.at(by_v, j, -2 * error[:, None] * u[i])
        return by_u, by_v

    runs = {"weft": ours, "numpy": by_hand}
    for a, b in zip(runs["weft"]().values(), runs["numpy"](), strict=True):
        close(a, b)
    return runs


def cp_gradients() -> dict[str, Run]:
    import weft

    t = inputs.tensor("cube3d")
    tensor = weft.from_coords(t.coords, t.values, t.shape, format="csf")
    rng = np.random.default_rng(0)
    a, b, c = (rng.random((n, RANK)) for n in t.shape)
    _, pullback = weft.vjp("s = T(i,j,k)*A(i,r)*B(j,r)*C(k,r)", T=tensor, A=a, B=b, C=c, wrt=["A", "B", "C"])
    mttkrp = "Y(i,r) = T(i,j,k)*B(j,r)*C(k,r)"
    return {
        "weft": lambda: pullback(1.0),
        "mttkrp": lambda: weft.evaluate(mttkrp, T=tensor, B=b, C=c, format="dense"),
    }


# By name: what is timed beside what, the peer, the package that it needs, and the target.
CASES: dict[str, tuple[Callable[[], dict[str, Run]], str, str, float]] = {
    "gradients of SpMM by both operands": (spmm_gradients, "value", "numpy", 2.5),
    "gradients of SpMM, beside torch.sparse": (spmm_torch, "torch", "torch", 0.5),
    "epoch of matrix completion, dense JAX": (completion_jax, "jax", "jax", 0.05),
    "epoch of matrix completion, NumPy by hand": (completion_numpy, "numpy", "numpy", 0.7),
    "gradients of a CP decomposition": (cp_gradients, "mttkrp", "numpy", 3.3),
}


def ratio(name: str) -> Ratio:
    """weft's time over that of what is beside it."""
    make, peer, _, _ = CASES[name]
    with threads(1):
        return interleaved(make(), budget=2.0).ratio("weft", peer)


def jax_overhead() -> float:
    """Seconds of ``weft.jax.evaluate`` in a compiled program, for a matrix of 10 x 10."""
    import jax

    import weft.jax

    a, x = weft.eye(10, format="csr", dtype="float32"), jax.numpy.ones((10, 10))
    call = jax.jit(lambda x: weft.jax.evaluate("C(i,k) = A(i,j)*X(j,k)", A=a, X=x))
    return seconds_of(lambda: call(x).block_until_ready())


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float]]:
    """Name, input, peer, ratio and target of every line."""
    for name, (_, peer, package, target) in CASES.items():
        if only in name.lower() and installed(package):
            yield name, "", peer, ratio(name), target


class Derivatives:
    """Gradients beside values and peers, one thread."""

    params: ClassVar[tuple[list[str]]] = (list(CASES),)
    param_names: ClassVar[list[str]] = ["what"]
    timeout = 600

    def setup(self, name: str) -> None:
        if not installed(CASES[name][2]):
            raise NotImplementedError

    def track_ratio(self, name: str) -> float:
        return ratio(name).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]
