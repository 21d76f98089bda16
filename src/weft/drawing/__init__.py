"""Drawings as SVG: the storage of small tensors, iteration graphs, and merge lattices."""

from .scene import Drawing
from .storage_drawing import MAX_CELLS, draw, storage_svg

__all__ = ["MAX_CELLS", "Drawing", "draw", "storage_svg"]
