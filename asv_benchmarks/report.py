"""Every figure beside its target, in one table: ``python -m asv_benchmarks.report [--only WORD] [--markdown]``."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from . import arrays, coordinate_tensors, derivatives, formats, semirings
from .cases import CASES, runs_of
from .inputs import scale
from .latency import LATENCIES
from .measure import interleaved, threads
from .scaling import CONVERSION_SPEEDUP, CONVERSIONS, conversion_speedup, speedup

__all__ = ["Row", "main"]

HEADER = ("what", "input", "peer", "figure", "target", "met")


@dataclass(frozen=True)
class Row:
    """One figure."""

    what: str
    input: str
    peer: str
    figure: str
    target: str
    met: bool | None

    def cells(self) -> tuple[str, ...]:
        met = {True: "yes", False: "NO", None: ""}[self.met]
        return (self.what, self.input, self.peer, self.figure, self.target, met)


def compute_rows(only: str) -> Iterator[Row]:
    """Every case on every input against every peer, and the geometric mean over the inputs."""
    for name, case in CASES.items():
        if only not in name.lower():
            continue
        found: dict[str, list[float]] = {}
        for source in case.available:
            runs = runs_of(name, source)
            with threads(1):
                samples = interleaved(runs)
            for peer in runs:
                if peer == "weft":
                    continue
                ratio, target = samples.ratio("weft", peer), case.targets.get(peer)
                found.setdefault(peer, []).append(ratio.median)
                milliseconds = f"{1e3 * samples.median('weft'):.2f} ms, ratio {ratio}"
                yield Row(name, source, peer, milliseconds, *limit(ratio.median, target))
            runs_of.cache_clear()
        for peer, ratios in found.items():
            mean = float(np.exp(np.mean(np.log(ratios))))
            yield Row(name, "geometric mean", peer, f"ratio {mean:.2f}", *limit(mean, case.targets.get(peer)))


def limit(figure: float, target: float | None) -> tuple[str, bool | None]:
    return ("", None) if target is None else (f"<= {target:.2f}", round(figure, 2) <= target)


def scaling_rows(only: str) -> Iterator[Row]:
    for name, case in CASES.items():
        if case.speedup is None or only not in f"{name.lower()} threads":
            continue
        for source in case.available:
            ratio = speedup(name, source)
            met = ratio.median >= case.speedup
            yield Row(name, source, "two threads over one", f"{ratio}", f">= {case.speedup}", met)
            runs_of.cache_clear()
    for pair, names in CONVERSIONS.items():
        what = f"convert {'_'.join(pair)}"
        for source in names if only in f"{what} threads" else ():
            ratio = conversion_speedup(pair, source)
            met = ratio.median >= CONVERSION_SPEEDUP
            yield Row(what, source, "two threads over one", f"{ratio}", f">= {CONVERSION_SPEEDUP}", met)


def format_rows(only: str) -> Iterator[Row]:
    for name, source, peer, ratio, target in chain(
        formats.rows(only),
        coordinate_tensors.rows(only),
        semirings.rows(only),
        arrays.rows(only),
        derivatives.rows(only),
    ):
        yield Row(name, source, peer, f"ratio {ratio}", *limit(ratio.median, target))


def latency_rows(only: str) -> Iterator[Row]:
    for latency in LATENCIES:
        if only in f"{latency.name.lower()} latency":
            seconds = latency.run()
            target = f"< {latency.text(latency.target)}"
            yield Row(latency.name, "", "", latency.text(seconds), target, seconds < latency.target)


def machine() -> str:
    """The CPU, the CPUs this process may use, and the compiler."""
    from weft.runtime import toolchain

    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    compiler = toolchain.current()
    version = compiler.version.splitlines()[0] if compiler.version else compiler.command[0]
    return f"{model}, {count} CPUs; {version}; scale {scale():g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="only lines whose name holds WORD")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    options = parser.parse_args()
    only = options.only.lower()
    widths = (42, 22, 21, 34, 9, 3)

    def show(cells: tuple[str, ...]) -> None:
        if options.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
        else:
            print("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip(), flush=True)

    print(machine() + "\n")
    show(HEADER)
    show(tuple("-" * (3 if options.markdown else width) for width in widths))
    missed = 0
    for rows in (latency_rows(only), compute_rows(only), format_rows(only), scaling_rows(only)):
        for row in rows:
            show(row.cells())
            missed += row.met is False
    print(f"\n{missed} targets missed" if missed else "\nall targets met")


if __name__ == "__main__":
    main()
