"""Formats, shapes and tensors for tests, with the dense arrays that hold the same elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import weft

FORMATS = {
    1: ["s", "dense", "coo", "hash_vector"],
    2: ["dense", "dense_f", "coo", "coo_aos", "csr", "csc", "dcsr", "dcsc", "dia", "ell", "hyb", "jad", "bsr", "csb",
        "hicoo", "hash", "dok", "lil", "skyline", "banded", "sd"],
    3: ["dense", "coo", "csf", "gcxs", "mode_generic", "hicoo"],
}  # fmt: skip
SHAPES = [(5,), (1,), (0,), (4, 5), (1, 6), (5, 1), (0, 3), (3, 4, 2), (2, 1, 3)]


def sparse(dense: np.ndarray, fill: Any, format: str) -> weft.SparseTensor:
    """A tensor that stores what is not the fill value."""
    stored = ~((dense == fill) | ((dense != dense) & (fill != fill)))
    coords = np.array(np.nonzero(stored)).reshape(dense.ndim, -1)
    return weft.from_coords(coords, dense[stored], dense.shape, fill_value=fill).asformat(format)


def drawn(data: st.DataObject, shape: tuple[int, ...], fill: Any) -> np.ndarray:
    """An array of small numbers among fill values, of any density."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    density = data.draw(st.sampled_from([0, 0.01, 0.5, 1]))
    return np.where(rng.random(shape) < density, rng.integers(1, 9, shape).astype(float), fill)
