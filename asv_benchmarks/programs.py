"""What programs cost: ``python -m asv_benchmarks.programs [--spread] [--budget SECONDS] [NAME ...]``.

Each row is a computation as it is usually written, beside the steps that someone writes who knows what is cheap. With
``--spread``, it is the slowest and the fastest spelling of each of the computations in ``computations.py``. What is
compared runs in turns in one process, on one thread; times are those of the process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from time import process_time
from typing import Any

import numpy as np

import weft
from weft.index_notation import parse, tensors

from .computations import COMPUTATIONS
from .inputs import scale
from .measure import Run, interleaved, threads

__all__ = ["ROWS", "main", "operands", "spellings_of"]


@cache
def matrix(n: int, entries: int, seed: int) -> Any:
    return weft.random((n, n), nnz=entries, format="csr", rng=seed) + weft.eye(n, format="csr")  # no row is empty


def size(n: int) -> int:
    return max(20, int(n * scale()))


def pair(n: int, each: int = 10) -> dict[str, Any]:
    """Two matrices, a vector and a few columns."""
    n = size(n)
    x = np.linspace(1.0, 2.0, n)
    return {"A": matrix(n, each * n, 0), "B": matrix(n, each * n, 1), "x": x, "X": np.linspace(x, 2 * x, 8, axis=1)}


def notation(text: str, operands: Mapping[str, Any]) -> Run:
    names = tensors(parse(text).value)
    return partial(weft.evaluate, text, **{name: operands[name] for name in names})


def row(text: str, steps: Callable[..., object], make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Run]]:
    """Return a row: notation, and the function of the operands that takes steps."""

    def runs() -> dict[str, Run]:
        operands = make()
        return {"notation": notation(text, operands), "steps": partial(steps, **operands)}

    return runs


def eager(usual: Callable[..., object], best: str, make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Run]]:
    """Return a row: a function of NumPy's or an operator, and notation that does the same."""

    def runs() -> dict[str, Run]:
        operands = make()
        return {"operators": partial(usual, **operands), "notation": notation(best, operands)}

    return runs


def similarity(A: Any, **_: Any) -> Any:
    T, r = weft.evaluate("T(i,k) = A(i,j)*A(k,j)", A=A), weft.evaluate("r(i) = A(i,j)", A=A)
    return weft.evaluate("C(i,k) = T(i,k)/(r(i) + r(k) - T(i,k))", T=T, r=r)


def total(A: Any, B: Any, **_: Any) -> Any:
    return weft.evaluate("c(j) = A(i,j)", A=A) @ weft.evaluate("r(j) = B(j,k)", B=B)


def mask() -> dict[str, Any]:
    n = size(100_000)
    found = weft.random((n,), nnz=max(2, n // 5000), format="s", rng=3)
    return {**pair(100_000), "f": found, "w": np.ones(n)}


def masked_step(A: Any, f: Any, w: Any, **_: Any) -> Any:
    return weft.evaluate("y(j) = max(i, f(i)*A(i,j))", f=f, A=A) * w


def tensor(n: int, entries: int) -> dict[str, Any]:
    n = size(n)
    T = weft.random((n, n, n), nnz=int(entries * scale()), format="csf", rng=0)
    U = np.linspace(np.ones(n), np.full(n, 2.0), 16, axis=1)
    return {"T": T, "U": U, "V": U + 1}


SIMILARITY = "sum(j, A(i,j)*A(k,j))/(sum(j, A(i,j)) + sum(j, A(k,j)) - sum(j, A(i,j)*A(k,j)))"
MTTKRP = "M(i,r) = T(i,j,k)*U(j,r)*V(k,r)"
LARGE, SMALL = partial(pair, 100_000), partial(pair, 3000)

ROWS: dict[str, Callable[[], dict[str, Run]]] = {
    "similarity of rows": row(f"C(i,k) = {SIMILARITY}", similarity, SMALL),
    "product of sums": row(
        "C(i,k) = sum(j, A(i,j)*B(j,k))*sum(j, B(i,j)*A(j,k))", lambda A, B, **_: (A @ B) * (B @ A), SMALL
    ),
    "masked step": row("y(j) = max(i, f(i)*A(i,j))*w(j)", masked_step, mask),
    "A@B@x": row("y(i) = A(i,j)*B(j,k)*x(k)", lambda A, B, x, **_: A @ (B @ x), LARGE),
    "A@B@X": row("C(i,l) = A(i,j)*B(j,k)*X(k,l)", lambda A, B, X, **_: A @ (B @ X), LARGE),
    "sum of A@B": row("s = A(i,j)*B(j,k)", total, LARGE),
    "(A+B)@x": row("y(i) = (A(i,j) + B(i,j))*x(j)", lambda A, B, x, **_: A @ x + B @ x, LARGE),
    "(A-m)@x": row("y(i) = (A(i,j) - x(j))*x(j)", lambda A, x, **_: A @ x - x @ x, SMALL),
    "squares of distances": row(
        "y(i) = square(A(i,j) - x(i))",
        lambda A, x, **_: (A**2).sum(1) - 2 * x * A.sum(1) + A.shape[1] * x**2,
        SMALL,
    ),
    "MTTKRP by einsum": lambda: mttkrp(tensor(300, 1_000_000)),
    "MTTKRP of the last axis": row(
        "M(k,r) = T(i,j,k)*U(i,r)*V(j,r)",
        lambda T, U, V: weft.evaluate("M(k,r) = T(i,j,k)*U(i,r)*V(j,r)", T=T, U=U, V=V, format="dense"),
        partial(tensor, 200, 300_000),
    ),
    "A@diags(x)": lambda: scaled_columns(LARGE()),
    "where(A > 1, A, 0)": eager(
        lambda A, **_: np.where(A > 1, A, 0), "C(i,j) = select(greater(A(i,j), 1), A(i,j))", LARGE
    ),
    "A**3": eager(lambda A, **_: A**3, "C(i,j) = A(i,j)*A(i,j)*A(i,j)", LARGE),
    "clip": eager(lambda A, **_: np.clip(A, -1, 1), "C(i,j) = minimum(maximum(A(i,j), -1), 1)", LARGE),
    "A.var(1)": lambda: variance(LARGE()),
}
"""The rows, by the computation: what makes the usual spelling and the other one."""


def mttkrp(operands: dict[str, Any]) -> dict[str, Run]:
    T, U, V = operands.values()
    return {"einsum": lambda: weft.einsum("ijk,jr,kr->ir", T, U, V), "notation": notation(MTTKRP, operands)}


def scaled_columns(operands: dict[str, Any]) -> dict[str, Run]:
    A, x = operands["A"], operands["x"]
    D = weft.diags_array(x)
    return {"operators": lambda: A @ D, "notation": notation("C(i,j) = A(i,j)*x(j)", operands)}


def variance(operands: dict[str, Any]) -> dict[str, Run]:
    A = operands["A"]

    def sums() -> Any:
        mean = A.sum(axis=1) / A.shape[1]
        return weft.evaluate("y(i) = square(A(i,j))", A=A) / A.shape[1] - mean * mean

    return {"method": lambda: A.var(axis=1), "two sums": sums}


@cache
def operands() -> dict[str, Any]:
    """Operands of the computations, by name."""
    n = size(30_000)
    x = np.linspace(1.0, 2.0, n)
    cube = tensor(200, 300_000)
    matrices = {name: matrix(n, 10 * n, seed) for seed, name in enumerate("ABMEF")}
    matrices.update({name: matrices[name].with_fill(np.inf) for name in "EF"})  # as in graphs: there is no edge
    vectors = dict.fromkeys("bdfwxz", x)
    X = np.linspace(x, 2 * x, 8, axis=1)
    return {**matrices, **vectors, **cube, "X": X, "u": cube["U"][:, 0].copy(), "c": np.array(2.0)}


def spellings_of(name: str) -> dict[str, Run]:
    """Return what runs the spellings of a computation, by their texts."""
    given = operands()

    def run(text: str) -> Run:
        if text.startswith("einsum "):
            _, subscripts, *names = text.split()
            return partial(weft.einsum, subscripts, *[given[name] for name in names])
        return notation(text, given)

    return {text: run(text) for text in COMPUTATIONS[name]}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="what programs cost beside steps, or spellings beside each other")
    parser.add_argument("names", nargs="*", metavar="NAME", help="computations; all by default")
    parser.add_argument("--spread", action="store_true", help="compare the spellings of each computation")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds for each row, more or less (3)")
    given = parser.parse_args(argv)
    rows = {name: partial(spellings_of, name) for name in COMPUTATIONS} if given.spread else ROWS
    if unknown := [name for name in given.names if name not in rows]:
        parser.error(f"there is no row {unknown[0]!r}; there are {', '.join(rows)}")
    with threads(1):
        for name in given.names or rows:
            samples = interleaved(rows[name](), budget=given.budget, clock=process_time)
            slow, fast = list(samples.seconds)[:2]
            if given.spread:
                ordered = sorted(samples.seconds, key=samples.median)
                fast, slow = ordered[0], ordered[-1]
            cells = (name, f"{1e3 * samples.median(slow):.3f} ms", f"{slow} / {fast}", str(samples.ratio(slow, fast)))
            print("  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
