"""``y = A x`` with the vector dense, compressed and hashed, over densities of both (2018 paper, Fig. 16).

``python -m asv_benchmarks.vectors docs/reference/vectors.png`` draws the table.
"""

from __future__ import annotations

import sys

import numpy as np

from .measure import interleaved, threads

__all__ = ["cell", "draw", "table"]

SHAPE = (10_000, 100_000_000)  # a dense vector is larger than any cache
MATRIX = (1e-8, 1e-7, 1e-6, 1e-5)
VECTOR = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
FORMATS = {"dense array": "dense", "sparse vector": "s", "hash map": "hash_vector"}
MOST = 2e9
"""Steps that a cell may take: every row of the matrix is merged with all of a sparse vector."""


def cell(matrix: float, vector: float) -> dict[str, float]:
    """Seconds for each format of the vector; those left out that would take too long."""
    import weft

    rng = np.random.default_rng(0)
    m, n = SHAPE
    nonzeros = max(1, round(matrix * m * n))
    keys = np.unique(rng.integers(0, m * n, nonzeros))
    A = weft.from_coords(np.array(np.unravel_index(keys, SHAPE)), rng.random(len(keys)), SHAPE, format="csr")
    stored = np.unique(rng.integers(0, n, max(1, round(vector * n))))
    x = weft.from_coords(stored[None], rng.random(len(stored)), (n,), format="s")
    runs = {}
    for name, format in FORMATS.items():
        if format != "s" or m * len(stored) < MOST:
            made = x.asformat(format)
            runs[name] = lambda made=made: weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=made, format="dense")
    with threads(1):
        samples = interleaved(runs, budget=1.0)
    return {name: samples.median(name) for name in runs}


def table() -> dict[tuple[float, float], dict[str, float]]:
    """All cells by densities of matrix and vector."""
    return {(a, x): cell(a, x) for a in MATRIX for x in VECTOR}


def draw(cells: dict[tuple[float, float], dict[str, float]], path: str) -> None:
    """Times relative to the fastest format of each cell, coloured by it, as in the paper."""
    from matplotlib import pyplot as plt

    colors = dict(zip(FORMATS, ("#a9c8ec", "#b5dcae", "#f0b3a8"), strict=True))
    fig, ax = plt.subplots(figsize=(9, 4.5))
    for (a, x), found in cells.items():
        best = min(found, key=lambda name: found[name])
        row, column = MATRIX.index(a), VECTOR.index(x)
        ax.add_patch(plt.Rectangle((column, row), 1, 1, facecolor=colors[best], edgecolor="white"))
        lines = [f"{found[name] / found[best]:.2f}" if name in found else "-" for name in FORMATS]
        ax.text(column + 0.5, row + 0.5, "\n".join(lines), ha="center", va="center", fontsize=9)
    ax.set(xlim=(0, len(VECTOR)), ylim=(0, len(MATRIX)), xlabel="density of the vector", ylabel="density of the matrix")
    ax.set_xticks(np.arange(len(VECTOR)) + 0.5, [f"{x:g}" for x in VECTOR])
    ax.set_yticks(np.arange(len(MATRIX)) + 0.5, [f"{a:g}" for a in MATRIX])
    ax.tick_params(length=0)
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=c) for c in colors.values()]
    labels = [f"{name} ({where})" for name, where in zip(FORMATS, ("top", "middle", "bottom"), strict=True)]
    ax.legend(handles, labels, ncol=3, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    fig.savefig(path, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    draw(table(), sys.argv[1])
