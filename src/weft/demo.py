"""Demonstration ``weft demo``: computations on a real matrix, checked against SciPy and timed beside it."""

from __future__ import annotations

import gzip
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import weft

from .codegen import print_module
from .records import record
from .runtime.shipped import DIRECTORY

NAME = "cryg2500"
RANK = 16
SAMPLED = "E(i,j) = A(i,j)*U(i,k)*V(j,k)"


@record
class Step:
    """A computation, as code for weft, and as functions that compute it with weft and with SciPy."""

    code: str
    weft: Callable[[], Any]
    scipy: Callable[[], Any]


def load_matrix() -> sp.csr_array:
    """Load the matrix of the package: Bai/cryg2500 of the SuiteSparse Matrix Collection, CC BY 4.0."""
    with (files("weft") / "data" / f"{NAME}.mtx.gz").open("rb") as packed, gzip.open(packed) as file:
        return sp.csr_array(scipy.io.mmread(file, spmatrix=False))


def steps(s: sp.csr_array) -> list[Step]:
    """Return the computations of the demonstration on a square matrix."""
    a = weft.asarray(s)
    rng = np.random.default_rng(0)
    x, u, v = rng.random(len(s.indptr) - 1), *rng.random((2, len(s.indptr) - 1, RANK))

    def sorted_product() -> sp.csr_array:
        # SciPy leaves the rows of a product unsorted. Sorting them makes the work comparable.
        product = s @ s
        product.sort_indices()
        return product

    def sampled_product() -> sp.csr_array:
        # SciPy's A.multiply(U @ V.T) would compute all elements of the product; this computes those that A stores.
        listed = s.tocoo()
        vals = s.data * np.einsum("ij,ij->i", u[listed.row], v[listed.col])
        return sp.csr_array((vals, s.indices, s.indptr), shape=s.shape)

    return [
        Step("A @ x", lambda: a @ x, lambda: s @ x),
        Step("A @ A", lambda: a @ a, sorted_product),
        Step(
            'einsum("ij,ik,jk->ij", A, U, V)',
            lambda: weft.einsum("ij,ik,jk->ij", a, u, v, format="csr"),
            sampled_product,
        ),
    ]


def main(*, c: bool = False) -> int:
    """Run every step, and print its times and the loops of the last one; return 1 if a result differs from SciPy's."""
    begin = time.perf_counter()
    s = load_matrix()
    print(
        f"A: {NAME}, {s.shape[0]} x {s.shape[1]}, {s.nnz} nonzeros, csr (crystal growth; SuiteSparse Matrix Collection,"
    )
    print(f"CC BY 4.0); x: a vector; U, V: {s.shape[0]} x {RANK}, dense\n")
    print(f"{'':34}{'weft':>9}{'SciPy':>11}{'first call':>13}")
    wrong = sum(not show(step) for step in steps(s))
    kernel = weft.compile(SAMPLED, A="csr", U="dense", V="dense", E="csr")
    if c:
        print(f"\nThe C of {SAMPLED}:\n\n{kernel.source.rstrip()}")
    else:
        print(f"\nThe loops of {SAMPLED}, which no library has (all C: weft demo --c):\n\n{loops(kernel)}")
    print(f"\n{'all results agree with SciPy' if not wrong else f'{wrong} results differ from SciPy'}", end="; ")
    print(f"{time.perf_counter() - begin:.2f} s in all")
    return 1 if wrong else 0


def show(step: Step) -> bool:
    """Run one step, print a line, and return whether its result agrees with SciPy's."""
    with _origins() as origins:
        begin = time.perf_counter()
        result = step.weft()
        first = time.perf_counter() - begin
    good = agree(result, step.scipy())
    # Both programs are called in turns, so that changes of the machine's speed affect both.
    ours, theirs = median_times(step.weft, step.scipy)
    origin = " and ".join(dict.fromkeys(origins)) or "in memory"
    note = "" if good else "   DIFFERS FROM SCIPY"
    print(f"{step.code:34}{1e6 * ours:6.0f} us{1e6 * theirs:8.0f} us{1e3 * first:10.1f} ms, {origin}{note}")
    return good


@contextmanager
def _origins() -> Iterator[list[str]]:
    """Yield a list that gets where each kernel comes from that is looked for inside the ``with`` block."""
    origins: list[str] = []

    class Handler(logging.Handler):
        def emit(self, line: logging.LogRecord) -> None:
            text = line.getMessage()
            if text.startswith("compiled "):
                origins.append("compiled")
            elif text.startswith("found "):
                origins.append("shipped" if DIRECTORY in text else "cached")

    logger, handler = logging.getLogger("weft"), Handler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield origins
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def loops(kernel: Any) -> str:
    """Return the loops of a kernel as C, without prefetching and the questions whether to stop."""
    (part,) = kernel.kernels
    lines = print_module([part.module.evaluation.ir]).splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("  for ("))
    end = next(n for n, line in enumerate(lines) if n > begin and line == "  }")
    return "\n".join(line for line in lines[begin : end + 1] if not line.startswith("#"))


def median_times(*programs: Callable[[], Any], rounds: int = 15) -> list[float]:
    """Return the median seconds of a call of each program."""
    times: list[list[float]] = [[] for _ in programs]
    for _ in range(rounds):
        for program, seconds in zip(programs, times, strict=True):
            begin = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - begin)
    return [float(np.median(seconds)) for seconds in times]


def agree(result: Any, expected: Any) -> bool:
    """Return whether two results are equal up to rounding, relative to the largest value."""
    if isinstance(result, weft.SparseTensor):
        result = result.to_scipy_sparse()
    difference = abs(result - expected).max()
    return bool(result.shape == expected.shape and difference <= 1e-12 * abs(expected).max())
