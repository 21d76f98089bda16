"""The cheapest way against the fastest: ``python -m asv_benchmarks.ways [--sums] [FORMAT ...]``.

Every conversion between two formats, or every sum of two matrices of one format into another, runs by each of its ways.
A line is printed where the way that weft takes is slower than 1.25 times the fastest. Times are CPU milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import inf
from time import process_time
from typing import Any

import weft
from weft.execution import plan_of, planning
from weft.formats import parse_format
from weft.records import replace

from .inputs import matrix, scaled, shifted

__all__ = ["FORMATS", "conversions", "main", "sums"]

FORMATS = [
    *("dense", "coo", "coo_aos", "csr", "csc", "dcsr", "dcsc", "dia", "ell", "hyb", "jad", "sell", "bsr", "csb"),
    *("mode_generic", "hicoo", "hash", "dok", "lil", "skyline", "banded", "sd"),
]
SLOWER = 1.25
FORCED = ((), ("nearest-format",), ("direct-insertion",), ("nearest-format", "direct-insertion"))
"""Switches that leave one way of a sum: the cheapest, and those without a format near by or without insertion."""

Timed = Iterator[tuple[str, float]]


def fastest(run: Callable[[], Any], times: int = 5) -> float:
    """Return the least CPU time of a few calls, in milliseconds, after one that compiles."""
    run()
    least = inf
    for _ in range(times):
        begin = process_time()
        run()
        least = min(least, process_time() - begin)
    return 1e3 * least


def conversions(a: Any, target: str) -> Timed:
    """Yield each way of a conversion with its time, the one that is taken first."""
    storage = a._storage
    taken = plan_of(storage, parse_format(target, a.ndim))
    for way in planning.ways(taken.source, taken.target, taken.facts):
        if way.price < inf:
            run = replace(taken, way=way.name, steps=way.steps, price=way.price).plan.run
            yield way.name, fastest(lambda run=run: run((storage,)))


def sums(a: Any, b: Any, target: str) -> Timed:
    """Yield the ways of a sum that switches leave, with their times, the one that is taken first."""
    for disabled in FORCED:
        with weft.config.override(disable={*disabled}):
            name = f"without {' and '.join(disabled)}" if disabled else "the cheapest"
            yield name, fastest(lambda: weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=a, B=b, format=target))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="the cheapest way against the fastest")
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="formats of the operands; all by default")
    parser.add_argument("--sums", action="store_true", help="sums instead of conversions")
    given = parser.parse_args(argv)
    weft.set_num_threads(1)
    found = matrix("Lin")[: scaled(4000), : scaled(4000)]
    for source, target in product(given.formats or FORMATS, FORMATS):
        a, b = (weft.asarray(each).asformat(source) for each in (found, shifted(found, 1)))
        ways = [*(sums(a, b, target) if given.sums else conversions(a, target))]
        (name, taken), best = ways[0], min(ways, key=lambda way: way[1])
        if taken > SLOWER * best[1]:
            print(f"{source} into {target}: {name} {taken:.3g}, {best[0]} {best[1]:.3g}", flush=True)


if __name__ == "__main__":
    main()
