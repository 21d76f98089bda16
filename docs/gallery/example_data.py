"""Data of the examples: files of public collections where they are at hand, and generated data where they are not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import weft

__all__ = ["folder", "matrix", "power_law_graph", "ratings", "reset", "tensor"]

THREADS = weft.get_num_threads()


def folder() -> Path | None:
    """Return the folder with data, or None.

    It is the folder that ``WEFT_BENCH_DATA`` names, or ``shared/data`` beside a clone of weft.
    """
    named = os.environ.get("WEFT_BENCH_DATA")
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    found = Path(named) if named else beside
    return found if found.is_dir() else None


def matrix(
    name: str, stand_in: Callable[[], weft.SparseTensor], format: str = "csr"
) -> weft.SparseTensor:
    """Read a matrix of the SuiteSparse Matrix Collection, or make one of the same kind.

    Parameters
    ----------
    name : str
        The name of the matrix.
    stand_in : callable
        Makes the matrix that is used where the file is missing.
    format : str
        The format of the result.

    Returns
    -------
    weft.SparseTensor
        The matrix in float64.
    """
    data = folder()
    if data is not None and (data / f"{name}.mtx.gz").exists():
        return weft.read_mtx(data / f"{name}.mtx.gz").astype(float).asformat(format)
    print(
        f"{name}.mtx.gz is not here: a matrix of the same kind is generated instead."
    )
    return stand_in().asformat(format)


def tensor(name: str, shape: tuple[int, ...], nnz: int) -> weft.SparseTensor:
    """Read a tensor of a public collection in format csf, or make one whose coordinates are as skewed.

    Parameters
    ----------
    name : str
        The name of the file without its ending.
    shape : tuple of int
        The shape of the generated tensor.
    nnz : int
        The number of entries that are drawn for the generated tensor, before equal ones are joined.

    Returns
    -------
    weft.SparseTensor
        The tensor with values 1, as the files of relations have.
    """
    data = folder()
    if data is not None and (data / f"{name}.tns.gz").exists():
        return weft.read_tns(data / f"{name}.tns.gz", format="csf")
    print(
        f"{name}.tns.gz is not here: a tensor of the same kind is generated instead."
    )
    rng = np.random.default_rng(0)
    drawn = [(n * rng.random(nnz) ** 3).astype(int) for n in shape]
    coords = np.unique(np.stack(drawn), axis=1)
    return weft.from_coords(
        coords, np.ones(coords.shape[1]), shape=shape, format="csf"
    )


def power_law_graph(vertices: int, edges: int) -> weft.SparseTensor:
    """Make a directed graph in which few vertices have most of the edges.

    Parameters
    ----------
    vertices, edges : int
        How many vertices there are, and how many edges are drawn before equal ones are joined.

    Returns
    -------
    weft.SparseTensor
        The adjacency matrix in csr.
    """
    rng = np.random.default_rng(0)
    ends = np.unique((vertices * rng.random((2, edges)) ** 2).astype(int), axis=1)
    ends = rng.permutation(vertices)[ends[:, ends[0] != ends[1]]]
    return weft.from_coords(
        ends, np.ones(ends.shape[1]), shape=(vertices, vertices), format="csr"
    )


def ratings() -> weft.SparseTensor:
    """Read MovieLens 100k: the ratings 1 to 5 of users, movies and days, in coo; or make ratings of rank 4.

    Returns
    -------
    weft.SparseTensor
        A tensor of shape (users, movies, days).
    """
    data = folder()
    if data is not None and (data / "ml100k_user_movie_day.tns.gz").exists():
        return weft.read_tns(data / "ml100k_user_movie_day.tns.gz")
    print(
        "ml100k_user_movie_day.tns.gz is not here: ratings of the same kind are generated instead."
    )
    rng = np.random.default_rng(0)
    shape = (943, 1682, 215)
    user, movie = np.unique(
        (np.array(shape[:2])[:, None] * rng.random((2, 110_000)) ** 1.5).astype(
            int
        ),
        axis=1,
    )
    U, V = rng.random((shape[0], 4)), rng.random((shape[1], 4))
    taste = (U[user] * V[movie]).sum(axis=1) + 0.1 * rng.standard_normal(len(user))
    values = np.clip(np.round(1.5 + 2 * taste), 1, 5)
    day = np.clip(
        rng.normal(110, 50, shape[0])[user] + rng.normal(0, 5, len(user)),
        0,
        shape[2] - 1,
    ).astype(int)
    return weft.from_coords([user, movie, day], values, shape=shape)


def reset(gallery: dict[str, Any], example: str) -> None:
    """Give the next example as many threads as there are: sphinx-gallery runs all examples in one process.

    Parameters
    ----------
    gallery : dict
        The configuration of sphinx-gallery.
    example : str
        The name of the example.
    """
    weft.set_num_threads(THREADS)
