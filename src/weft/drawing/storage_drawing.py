"""Drawings of stored tensors: ``A.draw()``."""

from __future__ import annotations

import math

from ..errors import ShapeError
from ..formats.catalogue import shown_name
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor import SparseTensor
from .scene import Drawing, paint
from .storage_layout import storage_scene
from .stored_levels import read_levels

MAX_CELLS = 600
"""Largest number of elements of a tensor that is drawn, and of elements of all its arrays."""


def storage_svg(tensor: SparseTensor | Storage, *, max_cells: int = MAX_CELLS) -> str:
    """Return a drawing of the arrays in which a tensor is stored, as SVG.

    Examples
    --------
    >>> import weft
    >>> storage_svg(weft.eye(3, format="csr")).startswith("<svg")
    True
    """
    storage = tensor if isinstance(tensor, Storage) else storage_of(tensor)
    name = shown_name(storage.format) if isinstance(tensor, Storage) else tensor.format
    elements, stored = math.prod(storage.shape), storage.nnz + sum(map(len, storage.arrays))
    if max(elements, stored) > max_cells:
        raise ShapeError(
            f"a drawing has at most {max_cells} cells; this tensor of shape {storage.shape} has {elements} elements, "
            f"and its arrays have {stored}: draw a slice, such as A[:8, :8], or set max_cells"
        )
    return paint(storage_scene(read_levels(storage), name))


def draw(x: SparseTensor, /, *, max_cells: int = 600) -> Drawing:
    """Draw the arrays in which a small tensor is stored, level by level, beside its elements.

    Parameters
    ----------
    x : SparseTensor
        A small tensor.
    max_cells : int, optional
        The largest number of elements of the tensor, and of elements of all its arrays.

    Returns
    -------
    Drawing
        The drawing, which a notebook shows. ``svg`` is its text, and ``save(path)`` writes it to a file.

    Raises
    ------
    ShapeError
        When the tensor has more elements, or its arrays have.

    Examples
    --------
    >>> import weft
    >>> coords = [[0, 0, 2], [0, 2, 1]]
    >>> A = weft.from_coords(coords, [1.5, 2.0, 3.0], (3, 3), format="csr")
    >>> A.draw().svg[:4]
    '<svg'
    """
    return Drawing(storage_svg(x, max_cells=max_cells))
