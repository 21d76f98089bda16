"""Tensors as coordinate lists, beside pyttb (2018 paper, Table 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np

from . import inputs
from .measure import Ratio, installed, interleaved, threads

__all__ = ["CASES", "CoordinateTensors", "ratio", "rows"]

INPUTS = {
    "TTV": ("small3d", "cube3d", "uniform3d"),
    "TTM": ("small3d", "cube3d"),
    "MTTKRP": ("small3d", "cube3d", "uniform3d"),
    "PLUS": ("small3d", "cube3d"),
    "INNERPROD": ("small3d",),
}
"""Those that pyttb has memory for: its TTM is dense, its INNERPROD compares all pairs of coordinates."""
TARGET = 0.2
Runs = dict[str, Callable[[], Any]]


@cache
def operands(name: str) -> tuple[Any, Any, Any, Any, inputs.Tensor]:
    """Two tensors that share about half of their coordinates: weft's and pyttb's of each."""
    import pyttb

    import weft

    first = inputs.tensor(name)
    both = first, inputs.tensor_like(first)
    ours = [weft.from_coords(t.coords, t.values, t.shape, format="coo") for t in both]
    theirs = [pyttb.sptensor(t.coords.T.astype(np.int64), t.values[:, None], t.shape) for t in both]
    return (*ours, *theirs, first)


def ttv(name: str) -> Runs:
    b, _, other, _, t = operands(name)
    import weft

    c = np.random.default_rng(1).random(t.shape[2])
    return {
        "weft": lambda: weft.evaluate("A(i,j) = B(i,j,k)*c(k)", B=b, c=c, format="coo"),
        "pyttb": lambda: other.ttv(c, 2),
    }


def ttm(name: str) -> Runs:
    b, _, other, _, t = operands(name)
    import weft

    c = np.random.default_rng(1).random((t.shape[2], 16))
    return {
        "weft": lambda: weft.evaluate("A(i,j,k) = B(i,j,l)*C(l,k)", B=b, C=c, format="ssd"),
        "pyttb": lambda: other.ttm(c.T, 2),
    }


def mttkrp(name: str) -> Runs:
    b, _, other, _, t = operands(name)
    import weft

    factors = [np.random.default_rng(n).random((size, 25)) for n, size in enumerate(t.shape)]
    return {
        "weft": lambda: weft.evaluate(
            "A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", B=b, C=factors[1], D=factors[2], format="dense"
        ),
        "pyttb": lambda: other.mttkrp(factors, 0),
    }


def plus(name: str) -> Runs:
    b, c, other, another, _ = operands(name)
    return {"weft": lambda: (b + c).asformat("coo"), "pyttb": lambda: other + another}


def innerprod(name: str) -> Runs:
    b, c, other, another, _ = operands(name)
    import weft

    return {
        "weft": lambda: weft.evaluate("a = B(i,j,k)*C(i,j,k)", B=b, C=c),
        "pyttb": lambda: other.innerprod(another),
    }


CASES = {"TTV": ttv, "TTM": ttm, "MTTKRP": mttkrp, "PLUS": plus, "INNERPROD": innerprod}


def ratio(case: str, source: str) -> Ratio:
    """weft's time over pyttb's."""
    with threads(1):
        return interleaved(CASES[case](source), budget=2.0).ratio("weft", "pyttb")


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float]]:
    """Name, input, peer, ratio and target of every line."""
    for case in CASES if installed("pyttb") else ():
        for source in INPUTS[case]:
            if only in f"coo {case.lower()}":
                yield f"coo {case}", source, "pyttb", ratio(case, source), TARGET


class CoordinateTensors:
    """Operations of Table 5 on coordinate lists, one thread, beside pyttb."""

    params: ClassVar[list[str]] = [f"{case} {source}" for case in CASES for source in INPUTS[case]]
    param_names: ClassVar[list[str]] = ["case"]
    timeout = 600

    def setup(self, case: str) -> None:
        if not installed("pyttb"):
            raise NotImplementedError

    def track_ratio(self, case: str) -> float:
        return ratio(*case.split()).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]
