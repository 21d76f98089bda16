"""Display of tensors: HTML for notebooks, and pictures of the places of stored entries.

A picture is a matrix of cells, with a limited number of rows and columns. A tensor with other than two axes is unfolded
into a matrix, as in Kolda and Bader's unfoldings. By default the first axis runs down, and the others run across with
the last axis varying fastest. A vector is one row. Making a picture takes one pass over the stored entries, in the
order of their storage.
"""

from __future__ import annotations

import html
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..doors import optional
from ..errors import CompilerError, ShapeError
from ..operations import foreign_tensors
from ..operations.operands import storage_of
from ..records import record
from ..storage import Storage, coordinate_format
from .construction import asarray
from .tree import level_names

_CELLS = 100  # of the picture in HTML, down and across
_SHADES = 5
_PIXELS = 160
_THIN = 8  # largest ratio of the sides of a picture
_CHUNK = 1 << 20
_DRAWN = 20_000_000  # HTML has no picture of tensors with more entries, since it would take seconds
_EXACT = 2**62  # more rows or columns than this are numbered inexactly


@record
class Picture:
    """Numbers of stored entries in the cells of an unfolded tensor; a cell has ``steps`` rows and columns."""

    axes: tuple[tuple[int, ...], tuple[int, ...]]  # the axes that run down and across
    extents: tuple[int, int]  # Rows and columns of the unfolded tensor
    steps: tuple[int, int]  # Rows and columns in a cell
    counts: np.ndarray[Any, Any]  # Stored entries in each cell

    @property
    def shades(self) -> np.ndarray[Any, Any]:
        """Shade of each cell: 0 for empty cells, and 1 to 5 for others in proportion to the fullest cell."""
        most = max(int(self.counts.max(initial=0)), 1)
        return -(-self.counts * _SHADES // most)


def picture(storage: Storage, rows: int | Sequence[int] | None = None, cells: int = _CELLS) -> Picture:
    """Count the stored entries of each cell of a tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 0, 3], [1, 2, 3]], [1.0, 2.0, 3.0], shape=(4, 4))
    >>> picture(A._storage, cells=2).counts
    array([[1, 1],
           [0, 1]])
    """
    shape, n = storage.shape, len(storage.shape)
    if cells < 1:
        raise ValueError(f"a picture has at least one cell, not {cells}")
    down = _axes(rows, shape)
    across = tuple(axis for axis in range(n) if axis not in down)
    # Entries are listed in the order of the storage, so that they are neither sorted nor are duplicates summed.
    order = tuple(range(n)) if storage.format.is_structured else storage.format.mode_order
    listed = foreign_tensors.convert(storage, coordinate_format(((False, False),) * n).reordered(order))
    crds, count = dict(zip(order, listed.arrays[1:], strict=True)), len(listed.vals)
    extents = tuple(math.prod(shape[axis] for axis in side) for side in (down, across))
    steps = tuple(max(-(-extent // cells), 1) for extent in extents)
    height, width = (-(-extent // step) for extent, step in zip(extents, steps, strict=True))
    counts = np.zeros(height * width, np.int64)
    # Chunks bound the memory of the cell numbers.
    for begin in range(0, count, _CHUNK):
        chunk = slice(begin, min(begin + _CHUNK, count))
        i, j = (
            _cells([(crds[axis][chunk], shape[axis]) for axis in side], extent, step, chunk.stop - begin)
            for side, extent, step in zip((down, across), extents, steps, strict=True)
        )
        counts += np.bincount(i * width + j, minlength=height * width)
    return Picture((down, across), extents, steps, counts.reshape(height, width))  # type: ignore[arg-type]


def _axes(rows: int | Sequence[int] | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    n = len(shape)
    if rows is None:
        return (0,) if n > 1 else ()
    given = tuple(map(operator.index, rows)) if isinstance(rows, Sequence) else (operator.index(rows),)
    axes = tuple(axis + n if axis < 0 else axis for axis in given)
    if len(set(axes)) != len(axes) or not all(0 <= axis < n for axis in axes):
        raise ShapeError(f"rows={rows} are not different axes of shape {shape}")
    return axes


def _cells(side: list[tuple[Any, int]], extent: int, step: int, count: int) -> np.ndarray[Any, Any]:
    """Return the row of cells, or the column of cells, of each entry."""
    line: np.ndarray[Any, Any] = np.zeros(count, np.int64)
    if extent <= _EXACT:
        for crd, size in side:
            line *= size
            line += crd
        return line // step
    # int64 cannot number so many rows or columns. Fractions of the whole are exact enough for a picture.
    line = np.zeros(count)
    for crd, size in reversed(side):
        line = (crd + line) / size
    cells = -(-extent // step)
    found: np.ndarray[Any, Any] = np.minimum(line * cells, cells - 1).astype(np.int64)
    return found


def svg(view: Picture) -> str:
    """Convert a picture to an SVG element in the color of the text, with fuller cells darker."""
    (rows, columns), (height, width) = view.extents, view.counts.shape
    if not view.counts.size:
        return ""
    # The sides of the picture are in proportion to those of the matrix, unless it would be too thin.
    longest = max(rows, columns)
    pixels = [max(_PIXELS * extent // longest, _PIXELS // _THIN) for extent in (rows, columns)]
    # Each shade has one path, and a run of cells of the same shade is one horizontal stroke.
    paths: dict[int, list[str]] = {shade: [] for shade in range(1, _SHADES + 1)}
    for y, line in enumerate(view.shades.tolist()):
        x = 0
        while x < width:
            shade, begin = line[x], x
            while x < width and line[x] == shade:
                x += 1
            if shade:
                paths[shade].append(f"M{begin} {y}h{x - begin}")
    drawn = "".join(
        f'<path stroke-opacity="{shade / _SHADES:g}" d="{"".join(path)}"/>' for shade, path in paths.items() if path
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixels[1]}" height="{pixels[0]}" '
        f'viewBox="0 0 {width} {height}" preserveAspectRatio="none" shape-rendering="crispEdges" '
        f'style="border:1px solid"><title>{_escaped(_caption(view))}</title>'
        f'<g stroke="currentColor" fill="none" transform="translate(0 .5)">{drawn}</g></svg>'
    )


def _caption(view: Picture) -> str:
    text = f"{view.counts.sum()} entries"
    if view.steps != (1, 1):
        text += f"; a cell is {view.steps[0]} by {view.steps[1]}"
    if sum(map(len, view.axes)) > 2:
        text += f"; {_side(view.axes[0])} down, {_side(view.axes[1])} across"
    return text


def _side(axes: tuple[int, ...]) -> str:
    return f"{'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}" if axes else "nothing"


def facts(storage: Storage, name: str) -> dict[str, str]:
    """Return the table of facts that HTML shows for a tensor whose format is called ``name``."""
    format, shape = storage.format, storage.shape
    size = math.prod(shape)
    dense = size * storage.dtype.itemsize
    ordered = all(level.ordered for level in format.levels)
    promises = [*(() if ordered else ("not sorted",)), *(() if format.is_unique else ("may hold duplicates",))]
    levels = ", ".join(f"{v}: {level}" for v, level in zip(level_names(format), format.levels, strict=True))
    return {
        "shape": str(shape),
        "dtype": storage.dtype.name,
        "format": "; ".join([f"{name}, {format.remapping}", *promises]),
        "levels": levels or "none",
        "stored": f"{foreign_tensors.count_entries(storage)} of {size}"
        + (f" ({storage.nnz / size:.3g})" if size else ""),
        "bytes": f"{_bytes(storage.nbytes)}; dense {_bytes(dense)}",
        "fill value": str(storage.type.fill),
    }


def _bytes(count: int) -> str:
    """Return a number of bytes as text, in a suitable unit.

    Examples
    --------
    >>> _bytes(1000), _bytes(1536)
    ('1000 B', '1.5 KiB')
    """
    unit = max(min((count.bit_length() - 1) // 10, 8), 0)
    return f"{count / 1024**unit:.4g} {('', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi')[unit]}B"


def _escaped(text: str) -> str:
    return html.escape(text)


def to_html(storage: Storage, name: str) -> str:
    """Return HTML for a tensor whose format is called ``name``: a table of facts, and a picture of its entries.

    A dense tensor has NumPy's text in place of the picture.
    """
    cell = '<td style="text-align:left">'
    rows = "".join(
        f'<tr><th style="text-align:left">{fact}</th>{cell}{_escaped(text)}</td></tr>'
        for fact, text in facts(storage, name).items()
    )
    if storage.format.is_dense:
        drawn = f"<pre>{_escaped(str(storage.to_dense_array()))}</pre>"
    elif foreign_tensors.count_entries(storage) > _DRAWN:
        drawn = "too many entries for a picture here; weft.spy draws one"
    else:
        try:
            drawn = svg(picture(storage))
        except CompilerError as error:  # the table needs no compiler, and is shown anyway
            drawn = _escaped(f"no picture: {str(error).partition(chr(10))[0]}")
    return (
        '<div style="display:flex;gap:1em;align-items:center"><table><caption>SparseTensor</caption>'
        f"<tbody>{rows}</tbody></table><div>{drawn}</div></div>"
    )


def spy(A: Any, ax: Any = None, *, rows: int | Sequence[int] | None = None, cells: int = 400, **options: Any) -> Any:
    """Draw the places of a tensor's stored entries with matplotlib.

    ``matplotlib.pyplot.spy`` draws a marker of fixed size for each entry. This function counts entries in cells
    instead, so that one pass over a large tensor is enough. If the tensor has no more than ``cells`` rows and columns,
    each element is a cell.

    Parameters
    ----------
    A : array_like
        Anything that :func:`weft.asarray` takes. A tensor without two axes is unfolded.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; by default pyplot's current axes.
    rows : int or sequence of int, optional
        The axes that run down, with the last varying fastest; by default the first, or none of a vector. The others run
        across.
    cells : int, optional
        The largest number of cells down and across.
    **options
        Arguments of ``Axes.imshow``, such as ``cmap``.

    Returns
    -------
    matplotlib.image.AxesImage
        The picture. The ticks of its axes are rows and columns of the unfolded tensor.

    Raises
    ------
    MissingPackageError
        When matplotlib is not installed.

    Examples
    --------
    >>> import weft
    >>> A = weft.eye(30, format="csr")
    >>> weft.spy(A).get_array().shape
    (30, 30)
    """
    with optional("weft.spy draws with matplotlib", "plot"):
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator
    if ax is None:
        ax = plt.gca()
    view = picture(storage_of(asarray(A)), rows, cells)
    (height, width), (down, across) = view.counts.shape, view.steps
    extents = view.extents
    settings: dict[str, Any] = {
        "cmap": "Greys", "vmin": 0, "vmax": _SHADES, "interpolation": "nearest",
        "aspect": "equal" if max(extents) <= _THIN * min(extents) else "auto",
        "extent": (-0.5, max(width * across, 1) - 0.5, max(height * down, 1) - 0.5, -0.5),
    }  # fmt: skip
    # The picture has a cell even if the tensor has no elements, since imshow needs one. The limits of the axes hide the
    # parts of the last cells that lie beyond the tensor.
    shades = view.shades if view.counts.size else np.zeros((1, 1), np.int64)
    image = ax.imshow(shades, **(settings | options))
    ax.set_xlim(-0.5, max(extents[1], 1) - 0.5)
    ax.set_ylim(max(extents[0], 1) - 0.5, -0.5)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    # Ticks are at whole rows and columns, and unfolded axes are named by the axes of the tensor.
    for axis, axes in ((ax.yaxis, view.axes[0]), (ax.xaxis, view.axes[1])):
        if not axes:
            axis.set_ticks([])
            continue
        axis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 5, 10], integer=True))
        if sum(map(len, view.axes)) > 2:
            axis.set_label_text(_side(axes))
    return image
