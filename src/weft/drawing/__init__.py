"""Drawings as SVG: the storage of small tensors, iteration graphs, and merge lattices."""

from .kernel_drawing import iteration_graph_svg, kernel_drawing, lattices_svg
from .scene import Drawing
from .storage_drawing import MAX_CELLS, draw, storage_svg

__all__ = ["MAX_CELLS", "Drawing", "draw", "iteration_graph_svg", "kernel_drawing", "lattices_svg", "storage_svg"]
