"""Products of semirings beside SuiteSparse:GraphBLAS, where python-graphblas is installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from . import inputs
from .measure import Ratio, installed, interleaved, threads

__all__ = ["SEMIRINGS", "Semiring", "Semirings", "ratio", "rows"]


@dataclass(frozen=True)
class Semiring:
    """The product of two matrices in index notation, and the fill value that is its zero."""

    product: str
    zero: float


SEMIRINGS = {
    "min_plus": Semiring("min(k, A(i,k) + B(k,j))", np.inf),
    "max_plus": Semiring("max(k, A(i,k) + B(k,j))", -np.inf),
    "max_times": Semiring("max(k, A(i,k)*B(k,j))", 0.0),
    "max_min": Semiring("max(k, minimum(A(i,k), B(k,j)))", 0.0),
    "plus_times": Semiring("sum(k, A(i,k)*B(k,j))", 0.0),
}
INPUTS = ("ecology1", "Lin", "powerlaw")
TARGET = 1.0


@cache
def operands(name: str, zero: float) -> tuple[Any, Any]:
    """A matrix of positive numbers with another fill value, and GraphBLAS's."""
    import graphblas

    import weft

    a = inputs.matrix(name).tocoo()
    values = 1 + np.abs(a.data)
    ours = weft.from_coords(a.coords, values, a.shape, format="csr", fill_value=zero)
    theirs = graphblas.Matrix.from_coo(*a.coords, values, nrows=a.shape[0], ncols=a.shape[1])
    return ours, theirs


def ratio(name: str, source: str) -> Ratio:
    """weft's time over GraphBLAS's for the square of a matrix."""
    import graphblas

    import weft

    semiring = SEMIRINGS[name]
    ours, theirs = operands(source, semiring.zero)
    graphblas.ss.config["nthreads"] = 1
    runs = {
        "weft": lambda: weft.evaluate(f"C(i,j) = {semiring.product}", A=ours, B=ours),
        "graphblas": lambda: theirs.mxm(theirs, getattr(graphblas.semiring, name)).new(),
    }
    coords, values = runs["weft"]().to_coo()
    expected = runs["graphblas"]().to_coo()
    np.testing.assert_array_equal(coords, expected[:2])
    np.testing.assert_allclose(values, expected[2])
    with threads(1):
        return interleaved(runs, budget=2.0).ratio("weft", "graphblas")


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float]]:
    """Name, input, peer, ratio and target of every line."""
    for name in SEMIRINGS if installed("graphblas") else ():
        for source in INPUTS:
            if only in f"semiring {name}":
                yield f"semiring {name}", source, "graphblas", ratio(name, source), TARGET


class Semirings:
    """Squares of matrices, one thread, beside GraphBLAS."""

    params: ClassVar[tuple[list[str], tuple[str, ...]]] = (list(SEMIRINGS), INPUTS)
    param_names: ClassVar[list[str]] = ["semiring", "input"]
    timeout = 600

    def setup(self, name: str, source: str) -> None:
        if not installed("graphblas"):
            raise NotImplementedError

    def track_ratio(self, name: str, source: str) -> float:
        return ratio(name, source).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]
