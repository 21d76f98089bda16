"""One computation in several spellings: ``python -m asv_benchmarks.spellings [--markdown] [NAME ...]``.

All spellings of a computation should cost the same, since one compiler assembles the results of all. Each row is the
time of one spelling, or of one format of the result, for each second of another; or of hand-written C or SciPy. What is
compared runs in turns in one process, on one thread. The last column tells what SciPy takes for each second of the
first, where it has the operation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from .inputs import blocked, matrix, shifted
from .measure import Ratio, Run, interleaved, threads

__all__ = ["ROWS", "Measured", "Spelling", "main", "measured", "plain", "runs_of"]

HEADER = ("what", "over", "ratio", "target", "SciPy over the first")

ADD = "C(i,j) = A(i,j) + B(i,j)"
SCALE = "C(i,j) = 2*A(i,j)"
MULTIPLY = "C(i,k) = A(i,j)*B(j,k)"


@dataclass(frozen=True)
class Spelling:
    """Runs that compute the same by name: the first is compared with the second; SciPy's is for information."""

    runs: Callable[[], dict[str, Run]]
    target: float | None = None


@dataclass(frozen=True)
class Measured:
    """A row of the table."""

    name: str
    over: str
    ratio: Ratio
    target: float | None
    scipy: Ratio | None

    def cells(self) -> tuple[str, ...]:
        target = "" if self.target is None else f"{self.target:.2f}"
        return (self.name, self.over, str(self.ratio), target, "" if self.scipy is None else str(self.scipy))


@cache
def blocks() -> sp.bsr_array:
    """Blocks whose product with each other fits into memory many times."""
    found = blocked(6_000, 48_000)
    return sp.bsr_array(found.tobsr(blocksize=(3, 3)))


@cache
def source(format: str) -> sp.csr_array:
    """A matrix that the format is meant for: diagonals of a stencil, blocks, or anything."""
    match format:
        case "dia" | "ell":
            return matrix("Lin")
        case "bsr":
            return sp.csr_array(blocks())
    return matrix("uniform")


def pair(format: str, same: bool) -> tuple[Any, Any]:
    """Two matrices in a format of SciPy's; the second has the first one's structure, or another one."""
    a = source(format)
    b = a.copy() if same else shifted(a, 3 if format == "bsr" else 1)
    b.data = np.random.default_rng(1).uniform(0.5, 1.5, b.nnz)
    return in_format(a, format), in_format(b, format)


def in_format(a: sp.csr_array, format: str) -> Any:
    """A matrix as SciPy has it; it has no ell."""
    if format == "bsr":
        return a.tobsr(blocksize=(3, 3))
    return a if format == "ell" else a.asformat(format)


def stored(peer: Any, format: str) -> Any:
    return weft.asarray(peer).asformat("ell") if format == "ell" else weft.asarray(peer)


def addition(format: str, same: bool = False) -> dict[str, Run]:
    """A sum as notation and as an operator, both in the format of the operator's result."""
    peers = pair(format, same)
    a, b = (stored(peer, format) for peer in peers)
    result = (a + b).format
    runs = {"notation": lambda: weft.evaluate(ADD, A=a, B=b, format=result), "operator": lambda: a + b}
    return runs if format == "ell" else {**runs, "SciPy": lambda: peers[0] + peers[1]}


def scaling(format: str) -> dict[str, Run]:
    """A multiple as notation and as an operator."""
    peer = pair(format, same=True)[0]
    a = stored(peer, format)
    result = (2 * a).format
    runs = {"notation": lambda: weft.evaluate(SCALE, A=a, format=result), "operator": lambda: 2 * a}
    return runs if format == "ell" else {**runs, "SciPy": lambda: 2 * peer}


def symmetric_sum() -> dict[str, Run]:
    peer = matrix("uniform")
    a = weft.asarray(peer)
    return {
        "notation": lambda: weft.evaluate("C(i,j) = A(i,j) + A(j,i)", A=a, format="csr"),
        "operator": lambda: a.T + a,
        "SciPy": lambda: peer.T + peer,
    }


def transpose() -> dict[str, Run]:
    peer = matrix("uniform")
    a = weft.asarray(peer)
    return {
        "notation": lambda: weft.evaluate("C(i,j) = A(j,i)", A=a, format="csr"),
        "method": lambda: a.T.asformat("csr"),
        "SciPy": lambda: peer.T.tocsr(),
    }


def product() -> dict[str, Run]:
    peer = matrix("Lin")
    other = shifted(peer, 1)
    a, b = weft.asarray(peer), weft.asarray(other)

    def sorted_product() -> Any:
        found = peer @ other
        found.sort_indices()
        return found

    return {
        "notation": lambda: weft.evaluate(MULTIPLY, A=a, B=b, format="csr"),
        "operator": lambda: a @ b,
        "SciPy": sorted_product,
    }


def sum_into(first: str, second: str) -> dict[str, Run]:
    """The sum of two csr matrices into two formats."""
    peers = (matrix("Lin"), shifted(matrix("Lin"), 1))
    a, b = (weft.asarray(peer) for peer in peers)
    return {
        first: lambda: weft.evaluate(ADD, A=a, B=b, format=first),
        second: lambda: weft.evaluate(ADD, A=a, B=b, format=second),
    }


def block_product(into: str | None) -> dict[str, Run]:
    """A product of block matrices, by the operator or in the format of the operands."""
    peer = blocks()
    a = weft.asarray(peer)
    result = a.format if into == "bsr" else into
    return {
        "weft": (lambda: a @ a) if into is None else (lambda: weft.evaluate(MULTIPLY, A=a, B=a, format=result)),
        "SciPy": lambda: peer @ peer,
    }


def shuffled(format: str) -> dict[str, Run]:
    """Entries in no order, every tenth of them in two parts, to a format that gives each a place."""
    from . import reference

    found = matrix("Lin").tocoo()
    rng = np.random.default_rng(1)
    again = rng.permutation(found.nnz)[: found.nnz // 10]
    order = rng.permutation(found.nnz + len(again))
    coords = [np.concatenate([axis, axis[again]])[order].astype(np.int32) for axis in found.coords]
    values = np.concatenate([found.data, found.data[again]])[order]
    peer = sp.coo_array((values, coords), shape=found.shape)
    a = weft.asarray(peer)

    def in_scipy() -> Any:
        found = sp.coo_array(peer).asformat(format)  # a list of its own: SciPy sorts what it converts
        if format == "csr":
            found.sum_duplicates()
        return found

    runs: dict[str, Run] = {"weft": lambda: a.asformat(format)}
    if format != "csr":
        runs["C"] = lambda: reference.summed(peer, format)
    if format != "ell":
        runs["SciPy"] = in_scipy
    return runs


ROWS: dict[str, Spelling] = {
    "dia + dia, other offsets": Spelling(lambda: addition("dia"), 1.1),
    "dia + dia, same offsets": Spelling(lambda: addition("dia", same=True), 1.1),
    "2*dia": Spelling(lambda: scaling("dia"), 1.1),
    "ell + ell, other columns": Spelling(lambda: addition("ell"), 1.1),
    "ell + ell, same columns": Spelling(lambda: addition("ell", same=True), 1.1),
    "2*ell": Spelling(lambda: scaling("ell"), 1.1),
    "bsr + bsr, other blocks": Spelling(lambda: addition("bsr"), 1.1),
    "bsr + bsr, same blocks": Spelling(lambda: addition("bsr", same=True), 1.1),
    "2*bsr": Spelling(lambda: scaling("bsr"), 1.1),
    "csr + csr, other columns": Spelling(lambda: addition("csr"), 1.1),
    "csr + csr, same columns": Spelling(lambda: addition("csr", same=True), 1.1),
    "2*csr": Spelling(lambda: scaling("csr"), 1.1),
    "A.T + A": Spelling(symmetric_sum, 1.1),
    "A.T into csr": Spelling(transpose, 1.1),
    "A @ B": Spelling(product, 1.1),
    "A + B into hash": Spelling(lambda: sum_into("hash", "csr"), 1.6),
    "A + B into dok": Spelling(lambda: sum_into("dok", "csr")),
    "bsr @ bsr": Spelling(lambda: block_product(None)),
    "bsr @ bsr into bsr": Spelling(lambda: block_product("bsr")),
    "shuffled coo to dia": Spelling(lambda: shuffled("dia"), 1.2),
    "shuffled coo to ell": Spelling(lambda: shuffled("ell"), 1.2),
    "shuffled coo to csr": Spelling(lambda: shuffled("csr"), 1.0),
}
"""What is measured, by name, and the most that the first of each may take of the second's time."""


def runs_of(name: str) -> dict[str, Run]:
    """The runs of a row."""
    return ROWS[name].runs()


def plain(result: Any, shape: tuple[int, ...]) -> sp.csr_array:
    """Store a result as csr, whatever computed it; hand-written C gives the arrays of dia or ell."""
    if isinstance(result, weft.SparseTensor):
        result = result.asformat("csr").to_scipy_sparse()
    elif isinstance(result, tuple):
        index, values = result
        if values.ndim == 2:
            result = sp.dia_array((values, index), shape=shape)
        else:
            row = np.tile(np.arange(shape[0]), len(index) // max(1, shape[0]))
            used = index >= 0
            result = sp.coo_array((values[used], (row[used], index[used])), shape=shape)
    found = sp.csr_array(result)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def compare(runs: dict[str, Run]) -> None:
    """Raise AssertionError where two runs compute something else."""
    results = {name: run() for name, run in runs.items()}
    shape = next(iter(results.values())).shape  # type: ignore[attr-defined]
    first, *others = (plain(result, shape) for result in results.values())
    for other in others:
        np.testing.assert_array_equal(other.indptr, first.indptr)
        np.testing.assert_array_equal(other.indices, first.indices)
        np.testing.assert_allclose(other.data, first.data)


def measured(name: str, budget: float) -> Measured:
    """Time the spellings of a row in turns."""
    runs = runs_of(name)
    with threads(1):
        compare(runs)
        # The time of the process alone, without what others take of the CPU.
        samples = interleaved(runs, budget=budget, clock=process_time)
    first, second = list(runs)[:2]
    scipy = samples.ratio("SciPy", first) if "SciPy" in runs else None
    return Measured(name, f"{first} / {second}", samples.ratio(first, second), ROWS[name].target, scipy)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="what the spellings of a computation cost beside each other")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows; all by default")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds for each row, more or less (3)")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.names if name not in ROWS]:
        parser.error(f"there is no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    if given.markdown:
        print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for name in given.names or ROWS:
        cells = measured(name, given.budget).cells()
        print("| " + " | ".join(cells) + " |" if given.markdown else "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
