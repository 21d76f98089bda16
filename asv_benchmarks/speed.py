"""The figures of README and the front page: ``python -m asv_benchmarks.speed`` writes them to speed.json.

Each row is one line of code that users write, on one thread. The file says on which machine, and when, it was measured.
``python -m asv_benchmarks.figures`` then makes the chart and the tables that show them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from . import inputs
from .measure import Run, installed, interleaved, threads
from .report import machine

__all__ = ["FILE", "ROWS", "Row", "main", "measured"]

FILE = Path(__file__).with_name("speed.json")
MATRIX, GRAPH, TENSOR = "Lin", "powerlaw", "cube3d"


@dataclass(frozen=True)
class Row:
    """One bar of the chart for each peer.

    Parameters
    ----------
    label : str
        What is computed, as a user would say or write it.
    group : str
        The part of the chart.
    data : str
        The name of the input.
    make : callable
        Makes the runs: ``"weft"`` and each peer.
    """

    label: str
    group: str
    data: str
    make: Callable[[], Mapping[str, Run]]


def dense(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


def pydata(matrix: Any, *, compressed: bool = False) -> Any:
    """A matrix of the package sparse: its COO, or for products its GCXS."""
    import sparse

    coo = sparse.COO.from_scipy_sparse(matrix)
    return sparse.GCXS.from_coo(coo, compressed_axes=(0,)) if compressed else coo


def both(
    name: str, run: Callable[[Any], Any], *, with_pydata: bool = True, compressed: bool = False
) -> Mapping[str, Run]:
    """Runs of one function of a matrix in weft, SciPy and sparse."""
    matrix = inputs.matrix(name)
    ours = weft.asarray(matrix)
    runs: dict[str, Run] = {"weft": lambda: run(ours), "SciPy": lambda: run(matrix)}
    if with_pydata and installed("sparse"):
        theirs = pydata(matrix, compressed=compressed)
        runs["pydata/sparse"] = lambda: run(theirs)
    return runs


def spmv() -> Mapping[str, Run]:
    x = dense(inputs.matrix(MATRIX).shape[1])
    return both(MATRIX, lambda a: a @ x, compressed=True)


def spmm() -> Mapping[str, Run]:
    x = dense(inputs.matrix(MATRIX).shape[1], 32)
    return both(MATRIX, lambda a: a @ x, compressed=True)


def spgemm() -> Mapping[str, Run]:
    """The square of a matrix, with sorted rows from everybody: SciPy leaves them unsorted."""
    matrix = inputs.matrix(MATRIX)

    def sorted_rows() -> Any:
        result = matrix @ matrix
        result.sort_indices()
        return result

    return {**both(MATRIX, lambda a: a @ a, compressed=True), "SciPy": sorted_rows}


def add() -> Mapping[str, Run]:
    s, t = inputs.matrix(MATRIX), inputs.shifted(inputs.matrix(MATRIX), 1)
    a, b = weft.asarray(s), weft.asarray(t)
    runs: dict[str, Run] = {"weft": lambda: a + b, "SciPy": lambda: s + t}
    if installed("sparse"):
        p, q = pydata(s), pydata(t)
        runs["pydata/sparse"] = lambda: p + q
    return runs


def plus3() -> Mapping[str, Run]:
    matrix = inputs.matrix(MATRIX)
    ones = (matrix, inputs.shifted(matrix, 1), inputs.shifted(matrix, 2))
    a, b, c = map(weft.asarray, ones)
    runs: dict[str, Run] = {
        "weft": lambda: weft.evaluate("D(i,j) = A(i,j) + B(i,j) + C(i,j)", A=a, B=b, C=c),
        "SciPy": lambda: ones[0] + ones[1] + ones[2],
    }
    if installed("sparse"):
        p, q, r = map(pydata, ones)
        runs["pydata/sparse"] = lambda: p + q + r
    return runs


def sddmm() -> Mapping[str, Run]:
    """A product of two dense matrices at the entries of a sparse one; SciPy's users gather rows and columns."""
    matrix = inputs.matrix(GRAPH)
    coo = matrix.tocoo()
    a, u, v = weft.asarray(matrix), dense(matrix.shape[0], 16), dense(matrix.shape[1], 16)

    def gathered() -> Any:
        values = np.einsum("ek,ek->e", u[coo.row], v[coo.col])
        return sp.csr_array((matrix.data * values, matrix.indices, matrix.indptr), shape=matrix.shape)

    return {
        "weft": lambda: weft.evaluate("E(i,j) = A(i,j)*U(i,k)*V(j,k)", A=a, U=u, V=v, format="csr"),
        "SciPy": gathered,
    }


def to_csr() -> Mapping[str, Run]:
    matrix = inputs.matrix(GRAPH).tocoo()
    ours = weft.asarray(matrix)
    runs: dict[str, Run] = {"weft": lambda: ours.tocsr(), "SciPy": lambda: matrix.tocsr()}
    if installed("sparse"):
        import sparse

        theirs = pydata(inputs.matrix(GRAPH))
        runs["pydata/sparse"] = lambda: sparse.GCXS.from_coo(theirs, compressed_axes=(0,))
    return runs


@cache
def cube() -> tuple[Any, Any]:
    """A tensor of three axes in weft, and in the package sparse if that is installed."""
    t = inputs.tensor(TENSOR)
    ours = weft.from_coords(t.coords, t.values, t.shape, format="csf")
    if not installed("sparse"):
        return ours, None
    import sparse

    return ours, sparse.COO(t.coords, t.values, shape=t.shape)


def mttkrp() -> Mapping[str, Run]:
    ours, theirs = cube()
    c, d = dense(ours.shape[1], 16), dense(ours.shape[2], 16)
    runs: dict[str, Run] = {"weft": lambda: weft.einsum("ikl,kj,lj->ij", ours, c, d)}
    if theirs is not None:
        import sparse

        runs["pydata/sparse"] = lambda: sparse.einsum("ikl,kj,lj->ij", theirs, c, d)
    return runs


def tensor_sum() -> Mapping[str, Run]:
    ours, theirs = cube()
    runs: dict[str, Run] = {"weft": lambda: ours.sum(axis=2)}
    if theirs is not None:
        runs["pydata/sparse"] = lambda: theirs.sum(axis=2)
    return runs


ROWS = (
    Row("A * (U @ V.T), where A is stored", "several operands", GRAPH, sddmm),
    Row("A + B + C", "several operands", MATRIX, plus3),
    Row('einsum("ikl,kj,lj->ij", T, C, D)', "three axes", TENSOR, mttkrp),
    Row("T.sum(axis=2)", "three axes", TENSOR, tensor_sum),
    Row("A.max(axis=1)", "functions", MATRIX, lambda: both(MATRIX, lambda a: a.max(axis=1))),
    Row("A.tocsr(), from coo", "functions", GRAPH, to_csr),
    Row("A + B", "functions", MATRIX, add),
    Row("A @ X, 32 columns", "products", MATRIX, spmm),
    Row("A @ A", "products", MATRIX, spgemm),
    Row("A @ x", "products", MATRIX, spmv),
)


def measured(row: Row, budget: float = 2.0) -> dict[str, Any]:
    """One row of the file: weft's milliseconds, and for each peer the median and quartiles of its time over weft's."""
    runs = row.make()
    with threads(1):
        samples = interleaved(runs, budget=budget)
    peers = {peer: asdict(samples.ratio(peer, "weft")) for peer in runs if peer != "weft"}
    return {
        "label": row.label,
        "group": row.group,
        "data": row.data,
        "milliseconds": round(1e3 * samples.median("weft"), 4),
        "peers": {peer: {key: round(value, 3) for key, value in ratio.items()} for peer, ratio in peers.items()},
    }


def shape_of(name: str) -> str:
    """The sizes and the number of entries of an input, in words."""
    found: Any = inputs.tensor(name) if name in inputs.TENSORS else inputs.matrix(name)
    count = len(found.values) if name in inputs.TENSORS else found.nnz
    return " x ".join(f"{extent:,}" for extent in found.shape) + f", {count:,} entries"


def main() -> None:
    """Measure every row, and write the file."""
    packages = ("numpy", "scipy", *(("sparse",) if installed("sparse") else ()))
    rows = []
    for row in ROWS:
        rows.append(measured(row))
        print(json.dumps(rows[-1]), flush=True)
    result = {
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "threads": 1,
        "versions": {"weft": weft.__version__, **{name: version(name) for name in packages}},
        "data": {name: shape_of(name) for name in dict.fromkeys(row.data for row in ROWS)},
        "rows": rows,
    }
    FILE.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
