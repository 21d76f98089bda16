"""Drawings of the page: storage of small tensors, iteration graphs and merge lattices."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..formats import TensorType, formats, parse_format
from ..records import record
from ..storage import Storage
from ..tensor.compiled_kernel import CompiledKernel

__all__ = ["EXAMPLES", "LoopDrawings", "example", "format_drawing", "loop_drawings"]

EXAMPLES = Path(__file__).with_name("examples.json")
"""Small tensors in each format that the page offers, as arrays, so that a drawing needs no conversion."""


@lru_cache
def _examples() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(EXAMPLES.read_text("utf-8"))
    return found


def example(format: str, axes: int) -> Storage | None:
    """Return a small tensor in a format; None if there is none with this number of axes.

    Parameters
    ----------
    format : str
        One of the formats that the page offers.
    axes : int
        The number of axes.

    Examples
    --------
    >>> example("csr", 2).arrays
    (array([0, 2, 4, 4, 7], dtype=int32), array([0, 1, 0, 1, 0, 3, 4], dtype=int32))
    """
    entry = _examples().get(f"{format}/{axes}")
    if entry is None:
        return None
    options = entry["options"]
    layout = formats[format](axes, **options) if options else parse_format(format, axes)
    type = TensorType("float64", layout, tuple(entry["dtypes"]))
    arrays = tuple(np.array(each, dtype) for each, dtype in zip(entry["arrays"], entry["dtypes"], strict=True))
    return Storage(tuple(entry["shape"]), type, arrays, np.array(entry["values"], float))


@record
class LoopDrawings:
    """Captions and drawings of the loops of a kernel.

    Parameters
    ----------
    graphs : tuple of (str, str)
        The iteration graph of each kernel.
    lattices : tuple of (str, str)
        The merge lattice of each loop.
    """

    graphs: tuple[tuple[str, str], ...] = ()
    lattices: tuple[tuple[str, str], ...] = ()


def loop_drawings(kernel: CompiledKernel) -> LoopDrawings:
    return LoopDrawings()


def format_drawing(format: str, axes: int) -> str:
    return ""
