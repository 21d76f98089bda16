"""Drawings of the page: storage of small tensors, iteration graphs and merge lattices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..drawing import iteration_graph_svg, lattices_svg, storage_svg
from ..execution import PlanReport
from ..formats import TensorType, formats, parse_format
from ..records import record
from ..storage import Storage

EXAMPLES = Path(__file__).with_name("examples.json")
"""Small tensors in each format that the page offers, as arrays, so that a drawing needs no conversion."""


@lru_cache
def _examples() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(EXAMPLES.read_text("utf-8"))
    return found


def example(format: str, axes: int) -> Storage | None:
    """Return a small tensor in a format; None if there is none with this number of axes.

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
class Drawing:
    """A drawing."""

    about: str  # the text that replaces the drawing for readers who do not see it
    svg: str
    caption: str = ""  # the text below it


def graph_drawings(kernel: PlanReport) -> tuple[Drawing, ...]:
    """Return the iteration graphs of a kernel, in one drawing."""
    return (Drawing("the loops, and the path of each tensor", iteration_graph_svg(kernel)),)


def lattice_drawings(kernel: PlanReport) -> tuple[Drawing, ...]:
    """Return the merge lattice of each loop of a kernel."""
    return tuple(Drawing(f"the loop over {variable}", svg) for variable, svg in lattices_svg(kernel))


def format_drawings(formats_by_name: Mapping[str, tuple[str, int]]) -> tuple[Drawing, ...]:
    """Return drawings of small tensors in formats, each format once."""
    drawings = []
    for format, axes in dict.fromkeys(formats_by_name.values()):
        storage = example(format, axes)
        if storage is not None:
            names = [name for name, format_and_axes in formats_by_name.items() if format_and_axes == (format, axes)]
            small = ", in small blocks" if _examples()[f"{format}/{axes}"]["options"] else ""
            caption = f"{', '.join(names)}: {format}{small}"
            drawings.append(Drawing(f"a small tensor in {format}", storage_svg(storage), caption))
    return tuple(drawings)
