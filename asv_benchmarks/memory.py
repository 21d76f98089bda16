"""The memory that a call adds at its peak, beside a peer's: ``python -m asv_benchmarks.memory``.

Each figure is taken in a process of its own, in the second call, so that neither imports nor compilation count.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import inputs
from .cases import CASES
from .formats import conversion_runs
from .measure import Run, added_at_peak

__all__ = ["ROWS", "measured"]


def of_case(name: str, source: str) -> Callable[[], Mapping[str, Run]]:
    return lambda: CASES[name].make(source)


def of_conversion(have: str, wanted: str, source: str) -> Callable[[], Mapping[str, Run]]:
    return lambda: conversion_runs((have, wanted), source)


def of_asarray() -> Mapping[str, Run]:
    import weft

    s: Any = inputs.matrix("uniform")
    return {"weft": lambda: weft.asarray(s), "scipy": lambda: type(s)(s)}


ROWS: Mapping[str, Callable[[], Mapping[str, Run]]] = {
    "SpMV": of_case("SpMV", "uniform"),
    "CSR+CSR": of_case("CSR+CSR independent", "uniform"),
    "SpGEMM": of_case("SpGEMM", "ecology1"),
    "MTTKRP 25": of_case("MTTKRP 25", "uniform3d"),
    "coo to csr": of_conversion("coo", "csr", "uniform"),
    "csr to csc": of_conversion("csr", "csc", "uniform"),
    "asarray": of_asarray,
}
"""What is computed, and how to make the runs of weft and its peers."""


def measured(row: str, who: str) -> float:
    """MiB that one of the runs of a row adds, in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, row, who]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print the table, or the figure of one run."""
    if len(sys.argv) > 1:
        _, row, who = sys.argv
        print(added_at_peak(ROWS[row]()[who]) / 2**20)
        return
    print("| what | who | MiB at the peak |\n|---|---|---|")
    for row, make in ROWS.items():
        for who in make():
            print(f"| {row} | {who} | {measured(row, who):.0f} |", flush=True)


if __name__ == "__main__":
    main()
