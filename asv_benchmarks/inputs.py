"""Matrices and tensors to measure on, made once a process.

Environment
-----------
WEFT_BENCH_SCALE
    Scales the number of nonzeros of every generated input (1 by default); 0.01 gives a smoke run.
WEFT_BENCH_DATA
    A folder of ``.mtx.gz`` and ``.tns.gz`` files; what is there joins the inputs.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

__all__ = [
    "MATRICES",
    "TENSORS",
    "Tensor",
    "data_files",
    "matrix",
    "redrawn",
    "scale",
    "shifted",
    "tensor",
    "tensor_like",
]

DIAMOND = [(a, b) for a in range(-2, 3) for b in range(-2, 3) if abs(a) + abs(b) <= 2]


def scale() -> float:
    """The factor on the number of nonzeros."""
    return float(os.environ.get("WEFT_BENCH_SCALE", "1"))


def scaled(count: int) -> int:
    return max(8, round(count * scale()))


def star(ndim: int) -> list[tuple[int, ...]]:
    """The offsets of a point and its neighbours along each axis."""
    unit = np.eye(ndim, dtype=int)
    return [(0,) * ndim, *(tuple(int(e) for e in s * unit[k]) for k in range(ndim) for s in (-1, 1))]


def stencil(shape: tuple[int, ...], offsets: list[tuple[int, ...]]) -> sp.csr_array:
    """The matrix of a stencil on a grid, with nothing stored beyond the grid's border."""
    factor = scale() ** (1 / len(shape))
    shape = tuple(max(4, round(extent * factor)) for extent in shape)
    here = np.indices(shape).reshape(len(shape), -1)
    strides = np.cumprod((1, *shape[:0:-1]))[::-1]
    rows, columns = [], []
    for offset in offsets:
        there = here + np.array(offset)[:, None]
        inside = np.all((there >= 0) & (there < np.array(shape)[:, None]), axis=0)
        rows.append(np.flatnonzero(inside))
        columns.append(strides @ there[:, inside])
    return from_coordinates(np.concatenate(rows), np.concatenate(columns), (here.shape[1],) * 2)


def from_coordinates(i: np.ndarray, j: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A canonical csr with int32 indices and random values at distinct coordinates."""
    values = np.random.default_rng(0).uniform(0.5, 1.5, len(i))
    found = sp.csr_array((values, (i, j)), shape=shape)
    found.sort_indices()
    found.indptr, found.indices = found.indptr.astype(np.int32), found.indices.astype(np.int32)
    return found


def distinct(draw: Callable[[int], np.ndarray], count: int) -> np.ndarray:
    """``count`` distinct keys, sorted, out of what ``draw`` draws."""
    keys = np.unique(draw(count))
    for _ in range(50):
        if len(keys) >= count:
            break
        keys = np.union1d(keys, draw(2 * (count - len(keys)) + 16))
    if len(keys) > count:
        keys = np.delete(keys, np.random.default_rng(1).choice(len(keys), len(keys) - count, replace=False))
    return keys


SKEW = 2.5  # the rank r has a frequency that falls as r ** (1 / SKEW - 1)


def power_law(vertices: int, edges: int) -> sp.csr_array:
    """A directed graph with skewed in- and out-degrees, drawn apart so that products stay small."""
    vertices, edges = scaled(vertices), scaled(edges)
    rng = np.random.default_rng(2)
    out_rank, in_rank = rng.permutation(vertices), rng.permutation(vertices)

    def draw(count: int) -> np.ndarray:
        u = (vertices * rng.random((2, count)) ** SKEW).astype(np.int64)
        return out_rank[u[0]] * vertices + in_rank[u[1]]

    keys = distinct(draw, edges)
    return from_coordinates(keys // vertices, keys % vertices, (vertices, vertices))


def uniform(extent: int, nonzeros: int) -> sp.csr_array:
    extent, nonzeros = scaled(extent), scaled(nonzeros)
    rng = np.random.default_rng(3)
    keys = distinct(lambda count: rng.integers(0, extent * extent, count), min(nonzeros, extent * extent // 2))
    return from_coordinates(keys // extent, keys % extent, (extent, extent))


def blocked(extent: int, blocks: int, size: int = 3) -> sp.csr_array:
    """Dense blocks at random places."""
    b = uniform(extent, blocks).tocoo()
    inner = np.arange(size)
    i = (b.row[:, None, None] * size + inner[None, :, None]) + 0 * inner
    j = (b.col[:, None, None] * size + inner[None, None, :]) + 0 * inner[:, None]
    return from_coordinates(i.ravel(), j.ravel(), tuple(size * n for n in b.shape))


MATRICES: dict[str, Callable[[], sp.csr_array]] = {
    "jnlbrng1": lambda: stencil((200, 200), star(2)),
    "denormal": lambda: stencil((298, 300), DIAMOND),
    "Lin": lambda: stencil((40, 80, 80), star(3)),
    "ecology1": lambda: stencil((1000, 1000), star(2)),
    "atmosmodd": lambda: stencil((148, 148, 58), star(3)),
    "powerlaw": lambda: power_law(1_000_000, 3_000_000),
    "uniform": lambda: uniform(500_000, 5_000_000),
    "blocked3": lambda: blocked(60_000, 480_000),
}


@dataclass(frozen=True, eq=False)
class Tensor:
    """Coordinates in lexicographic order without duplicates, int32 of shape (ndim, nnz), and values."""

    coords: np.ndarray
    values: np.ndarray
    shape: tuple[int, ...]


def from_keys(keys: np.ndarray, shape: tuple[int, ...], seed: int = 4) -> Tensor:
    coords = np.array(np.unravel_index(keys, shape), dtype=np.int32)
    return Tensor(coords, np.random.default_rng(seed).uniform(0.5, 1.5, len(keys)), shape)


def uniform_tensor(shape: tuple[int, ...], nonzeros: int) -> Tensor:
    factor = scale() ** (1 / len(shape))
    shape = tuple(max(4, round(extent * factor)) for extent in shape)
    cells = int(np.prod(shape, dtype=np.int64))
    rng = np.random.default_rng(5)
    keys = distinct(lambda count: rng.integers(0, cells, count), min(scaled(nonzeros), cells // 2))
    return from_keys(keys, shape)


def power_law_tensor(shape: tuple[int, ...], nonzeros: int) -> Tensor:
    factor = scale() ** (1 / len(shape))
    shape = tuple(max(8, round(extent * factor)) for extent in shape)
    rng = np.random.default_rng(6)
    ranks = [rng.permutation(extent) for extent in shape]

    def draw(count: int) -> np.ndarray:
        at = [rank[(len(rank) * rng.random(count) ** SKEW).astype(np.int64)] for rank in ranks]
        return np.ravel_multi_index(at, shape)

    return from_keys(distinct(draw, scaled(nonzeros)), shape)


TENSORS: dict[str, Callable[[], Tensor]] = {
    "small3d": lambda: uniform_tensor((100, 100, 100), 10_000),
    "cube3d": lambda: uniform_tensor((300, 300, 300), 500_000),
    "uniform3d": lambda: uniform_tensor((500, 1000, 20_000), 5_000_000),
    "uniform3d_20m": lambda: uniform_tensor((1000, 2000, 20_000), 20_000_000),
    "powerlaw3d": lambda: power_law_tensor((50_000, 50_000, 50_000), 10_000_000),
}


@cache
def data_files() -> dict[str, Path]:
    """The files of WEFT_BENCH_DATA by name."""
    folder = os.environ.get("WEFT_BENCH_DATA")
    found = sorted(Path(folder).glob("*.gz")) if folder else []
    return {path.name.partition(".")[0]: path for path in found}


@cache
def matrix(name: str) -> sp.csr_array:
    """A matrix by the name of a generator or a file."""
    if name in MATRICES:
        return MATRICES[name]()
    found = scipy.io.mmread(data_files()[name], spmatrix=False).tocsr()
    found.sum_duplicates()
    found = found.tocoo()
    return from_coordinates(found.row, found.col, found.shape)  # random values, so that no sum cancels


@cache
def tensor(name: str) -> Tensor:
    """A tensor by the name of a generator or a file."""
    if name in TENSORS:
        return TENSORS[name]()
    with gzip.open(data_files()[name], "rt") as file:
        table = np.loadtxt(file)
    coords = table[:, :-1].astype(np.int64).T - 1
    shape = tuple(int(extent) for extent in coords.max(axis=1) + 1)
    return from_keys(np.unique(np.ravel_multi_index(list(coords), shape)), shape)


def shifted(a: sp.csr_array, by: int) -> sp.csr_array:
    """``a`` with its columns moved to the right, as the papers make further operands."""
    c = a.tocoo()
    inside = c.col + by < a.shape[1]
    return from_coordinates(c.row[inside], c.col[inside] + by, a.shape)


def redrawn(a: sp.csr_array) -> sp.csr_array:
    """A matrix of the shape of ``a`` with as many entries, at coordinates drawn apart from those of ``a``."""
    rng, cells = np.random.default_rng(77), a.shape[0] * a.shape[1]
    keys = distinct(lambda count: rng.integers(0, cells, count), min(a.nnz, cells // 2))
    return from_coordinates(keys // a.shape[1], keys % a.shape[1], a.shape)


def tensor_like(t: Tensor) -> Tensor:
    """A tensor that shares about half of the coordinates of ``t``."""
    coords = t.coords.astype(np.int64)
    moved = np.arange(coords.shape[1]) % 2 == 1
    coords[-1, moved] = (coords[-1, moved] + 1) % t.shape[-1]
    keys: Any = np.unique(np.ravel_multi_index(list(coords), t.shape))
    return from_keys(keys, t.shape, seed=7)
