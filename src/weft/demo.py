"""Demonstration ``weft demo``: computations on a real matrix, checked against SciPy and timed beside it."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import weft

from .records import record

__all__ = ["Step", "load_matrix", "main", "steps"]

NAME = "cryg2500"
RANK = 16


@record
class Step:
    """A computation, in weft and in SciPy.

    Parameters
    ----------
    title, code : str
        The computation, in words and as code for weft.
    weft, scipy : callable
        Functions that compute the result with weft and with SciPy.
    operands : dict
        The operands by their names in ``code``.
    """

    title: str
    code: str
    weft: Callable[[], Any]
    scipy: Callable[[], Any]
    operands: dict[str, Any]


def load_matrix() -> sp.csr_array:
    """Load the matrix of the package: Bai/cryg2500 of the SuiteSparse Matrix Collection, CC BY 4.0."""
    with (files("weft") / "data" / f"{NAME}.mtx.gz").open("rb") as packed, gzip.open(packed) as file:
        return sp.csr_array(scipy.io.mmread(file))


def steps(s: sp.csr_array) -> list[Step]:
    """Return the computations of the demonstration on a square matrix.

    Parameters
    ----------
    s : scipy.sparse.csr_array
        The matrix.
    """
    a = weft.asarray(s)
    n = s.shape[0]
    rng = np.random.default_rng(0)
    x, z = rng.random(n), rng.random(n)
    u, v = rng.random((n, RANK)), rng.random((n, RANK))

    def sorted_product() -> sp.csr_array:
        # SciPy leaves the rows of a product unsorted. Sorting them makes the work comparable.
        product = s @ s
        product.sort_indices()
        return product

    return [
        Step("matrix times vector", "A @ x", lambda: a @ x, lambda: s @ x, {"A": a, "x": x}),
        Step("sparse matrix times sparse matrix", "A @ A", lambda: a @ a, sorted_product, {"A": a}),
        Step(
            "three operands in one loop nest (SciPy multiplies the dense ones first)",
            'einsum("ij,ik,jk->ij", A, U, V, format="csr")',
            lambda: weft.einsum("ij,ik,jk->ij", a, u, v, format="csr"),
            lambda: s.multiply(u @ v.T).tocsr(),
            {"A": a, "U": u, "V": v},
        ),
        Step(
            "index notation, a transposed matrix among its operands",
            'evaluate("y(i) = a*A(j,i)*x(j) + b*z(i)", ...)',
            lambda: weft.evaluate("y(i) = a*A(j,i)*x(j) + b*z(i)", A=a, x=x, z=z, a=2.0, b=-1.0),
            lambda: 2.0 * (s.T @ x) - z,
            {"A": a, "x": x, "z": z},
        ),
    ]


def main() -> int:
    """Run every step and print its result and its times; return 1 if a result differs from SciPy's, else 0."""
    begin = time.perf_counter()
    s = load_matrix()
    print(f"{NAME}: {s.shape[0]} x {s.shape[1]}, {s.nnz} nonzeros, {s.dtype}, crystal growth (SuiteSparse Matrix")
    print("Collection, CC BY 4.0)\n")
    wrong = 0
    for number, step in enumerate(steps(s), 1):
        wrong += not show(number, step)
    kernel = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
    print("The C of  y(i) = A(i,j)*x(j),  A: csr, x: dense, y: dense\n")
    print(kernel.source.rstrip())
    print(f"\n{'all results agree with SciPy' if not wrong else f'{wrong} results differ from SciPy'}", end="; ")
    print(f"{time.perf_counter() - begin:.2f} s in all")
    return 1 if wrong else 0


def show(number: int, step: Step) -> bool:
    """Run one step, print a report, and return whether its result agrees with SciPy's.

    Parameters
    ----------
    number : int
        The number of the step.
    step : Step
        The step.
    """
    # The first call compiles, so that it takes longer than the median by about the time of the compiler.
    begin = time.perf_counter()
    result = step.weft()
    first = time.perf_counter() - begin
    good = agree(result, step.scipy())
    # Both programs are called in turns, so that changes of the machine's speed affect both.
    ours, theirs = median_times(step.weft, step.scipy)
    operands = ", ".join(f"{name} {format_of(value)}" for name, value in step.operands.items())
    print(f"{number}. {step.title}")
    print(f"   {step.code}")
    print(f"   {operands}  ->  {format_of(result)}, {size_of(result)}")
    print(f"   compile {1e3 * max(0.0, first - ours):.1f} ms; run {1e6 * ours:.0f} us, SciPy {1e6 * theirs:.0f} us")
    print(f"   {'agrees with SciPy' if good else 'DIFFERS FROM SCIPY'}\n")
    return good


def median_times(*programs: Callable[[], Any], rounds: int = 15) -> list[float]:
    """Return the median seconds of a call of each program.

    Parameters
    ----------
    *programs : callable
        The programs, which are called in turns.
    rounds : int, optional
        The number of calls of each program.
    """
    found: list[list[float]] = [[] for _ in programs]
    for _ in range(rounds):
        for program, seconds in zip(programs, found, strict=True):
            begin = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - begin)
    return [float(np.median(seconds)) for seconds in found]


def agree(result: Any, expected: Any) -> bool:
    """Return whether two results are equal up to rounding, relative to the largest value.

    Parameters
    ----------
    result : SparseTensor or ndarray
        The result of weft.
    expected : scipy.sparse array or ndarray
        The result of SciPy.
    """
    if isinstance(result, weft.SparseTensor):
        result = result.to_scipy_sparse()
    difference = abs(result - expected).max()
    return bool(result.shape == expected.shape and difference <= 1e-12 * abs(expected).max())


def format_of(value: Any) -> str:
    return str(value.format) if isinstance(value, weft.SparseTensor) else "dense"


def size_of(value: Any) -> str:
    shape = " x ".join(str(extent) for extent in value.shape)
    return f"{shape}, {value.nnz} nonzeros" if isinstance(value, weft.SparseTensor) else shape
