"""Indexing ``A[key]``: a view of the selected elements, stored anew by one kernel.

Slices and integers show an axis through a window, and arrays through a level of picked coordinates
(``formats/levels/window.py``). The view shares all arrays. A tensor is made of a view by a conversion of formats like
any other, so that rows of ``csr`` cost no more than their entries. If the level of an axis cannot locate every
coordinate, the tensor is first stored with that axis outermost.

Several arrays index their axes as if these were one axis. A join with the requested coordinates locates the entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from math import inf, prod
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import INT64_MAX, index_dtype, name_of
from ..execution.plan_cache import kept
from ..formats import Compressed, Dense, Format, LevelFormat, TensorType, parse_format
from ..formats.capabilities import Append, ElementLookup
from ..formats.soundness import why_unsound
from ..index_notation.nodes import Access, Apply, Assignment, Reduce
from ..records import record, replace
from ..remapping import Remapping
from ..storage import Storage, is_far_longer, tensor_type
from ..storage.slicing import cut
from ..storage.views import Part, part_of, picked
from .elementwise import with_axes, without_axis
from .index_keys import Arrays, Key, Span, parse_key, plain_item
from .reshaping import merged_axes, reshaped


def getitem(storage: Storage, key: Any) -> Storage:
    """Return the elements that a key selects, as in NumPy; a tensor without axes if the key names one element."""
    # Keys of one item are frequent, and so do without the parser.
    if (plain := plain_item(key, storage.shape)) is not None:
        item, axis, dropped = plain
        if not isinstance(item, Span):
            return execution.convert(take_along(storage, axis, item), storage.format)
        if (piece := _piece(storage, item, dropped)) is not None:
            return piece
    parsed = parse_key(key, storage.shape)
    if (vectors := parsed.vectors(storage.shape)) is not None:
        format = storage.format
        if not format.is_structured:  # the outer level first, whose coordinates are located
            vectors.sort(key=lambda vector: format.mode_order.index(vector[0]))
        for axis, index in vectors:
            storage = execution.convert(take_along(storage, axis, index), format)
        return storage
    if parsed.arrays is not None:
        return (_with_arrays if parsed.arrays.axes else _with_booleans)(storage, parsed, parsed.arrays)
    return _of_spans(storage, parsed)


def _of_spans(storage: Storage, parsed: Key) -> Storage:
    """Return the elements that a key of slices and integers selects."""
    only = _only_span(storage, parsed)
    if only is not None and (piece := _piece(storage, only, bool(parsed.dropped))) is not None:
        return piece
    span = _one_stepped(parsed, storage)
    if span is not None:
        # A slice with a step, along an axis whose coordinates are located, is an array of coordinates.
        index = np.arange(span.count) * span.step + span.start
        return execution.convert(take_along(storage, span.axis, index), storage.format)
    parts = [_part(storage, s) for s in parsed.spans]
    # New axes (None in the key) are inserted last.
    new = tuple(k for k, place in enumerate(parsed.places) if place is None)
    found = _stored(_seen(storage, parts), storage.format, parsed.dropped)
    return expanded(found, new)


def expanded(storage: Storage, places: tuple[int, ...]) -> Storage:
    """Return a tensor with axes of size 1 at some places of the result, in a similar format for more axes."""
    if not places:
        return storage
    found = with_axes(storage, places)
    goal = format_for_axes(storage.format, len(found.shape))
    return found if found.format == goal or found.is_on_device else execution.convert(found, goal)


def _part(storage: Storage, span: Span) -> Part:
    """Return the part of an axis that a span shows: a window, or an array of coordinates if searches are faster.

    Coordinates are searched if this takes less time than to pass all coordinates of the level.
    """
    window = span.start, span.step, span.count
    searches = inf if span.is_whole(storage.shape) else _searches(storage, span.axis, span.count)
    if (
        searches == inf
        or max(searches, span.count) * _PASSED > storage.level_sizes[storage.format.mode_order.index(span.axis)]
    ):
        return window
    return (np.arange(span.count) * span.step + span.start).astype(index_dtype(storage.shape[span.axis]))


def _one_stepped(key: Key, storage: Storage) -> Span | None:
    """Return the span of a key that takes steps along one axis and all of the others, or None.

    The level of the axis must locate every coordinate. The result may not be far longer than the stored entries.
    """
    shape = storage.shape
    if key.dropped or None in key.places:
        return None
    partial = [s for s in key.spans if not s.is_whole(shape)]
    if len(partial) != 1 or partial[0].step == 1 or not _finds(storage.format, partial[0].axis):
        return None
    return None if is_far_longer(partial[0].count, storage.nnz) else partial[0]


def position(storage: Storage, place: tuple[int, ...]) -> int | None:
    """Return the position of an element's value; negative if it is not stored, None if that takes a kernel."""
    format = storage.format
    if format.is_structured:
        return None
    lookups = format.looked_up
    # A table over whole coordinates needs one search instead of one for each level.
    if lookups is not None and format.is_unique:
        table = lookups.levels[-1].require(ElementLookup)
        return table.find_whole(
            tuple([place[m] for m in format.mode_order]), dict(zip(table.roles, storage.arrays, strict=True))
        )
    # Level by level from the root, whose position is 0 (2018 paper, section 3.1).
    p, arrays, shape = 0, storage.arrays, storage.shape
    for find, roles, axis in _lookups(format):
        own = {role: arrays[n] for role, n in roles} if roles else {}
        child = None if find is None else find(p, place[axis], shape[axis], own)
        if child is None or child < 0:
            return child
        p = child
    return p


@lru_cache(maxsize=256)
def _lookups(format: Format) -> tuple[tuple[Any, tuple[tuple[str, int], ...], int], ...]:
    """Return for each level how it finds a coordinate, the places of its arrays by role, and its axis."""
    places: list[list[tuple[str, int]]] = [[] for _ in format.levels]
    for n, (k, role) in enumerate(format.roles):
        places[k].append((role, n))
    lookups = [level.capability(ElementLookup) for level in format.levels]
    return tuple(
        (None if lookup is None else lookup.find, tuple(roles), axis)
        for lookup, roles, axis in zip(lookups, places, format.mode_order, strict=True)
    )


def _only_span(storage: Storage, key: Key) -> Span | None:
    """Return the span of the root's axis if a key selects all of every other axis, else None."""
    format, shape = storage.format, storage.shape
    if format.is_structured or not shape or len(key.places) + len(key.dropped) != len(shape) or None in key.places:
        return None
    root = format.mode_order[0]
    if key.dropped not in ((), (root,)):
        return None
    return key.spans[root] if all(s.axis == root or s.is_whole(shape) for s in key.spans) else None


def _piece(storage: Storage, span: Span, dropped: bool) -> Storage | None:
    """Return a slice of the root's axis as a piece of each array; None if that is not possible.

    If ``dropped``, the slice is one coordinate, and the result does not have the axis.
    """
    format = storage.format
    if span.step != 1 or format.is_structured or span.axis != format.mode_order[0] or dropped >= len(storage.shape):
        return None
    piece = cut(storage, span.start, span.count)
    if piece is None or not dropped:
        return piece
    smaller = without_axis(piece, span.axis)
    return None if smaller is None else execution.convert(smaller, _without_root(format))


@lru_cache(maxsize=1024)
def _without_root(format: Format) -> Format:
    root, *rest = format.mode_order
    left = Remapping(tuple(axis - (axis > root) for axis in rest))
    return Format(left, _levels_of(format, rest))


def _seen(storage: Storage, parts: Sequence[Part]) -> Storage:
    """Return a view of a tensor, in its plain format if a level cannot be shown in part."""
    format = storage.format
    if format.is_structured:
        return part_of(execution.convert(storage, storage.plain_format), parts)
    for level, axis in zip(format.levels, format.mode_order, strict=True):
        part = parts[axis]
        whole = isinstance(part, tuple) and part == (0, 1, storage.shape[axis])
        seen = level.iteration == "position" if isinstance(part, tuple) else level.picks
        if not (whole or level.has_every or seen):
            return part_of(execution.convert(storage, storage.plain_format), parts)
    return part_of(storage, parts)


@lru_cache(maxsize=1024)
def format_for_axes(format: Format, order: int) -> Format:
    """Return the format for a tensor with ``order`` axes that is made from a tensor in ``format``."""
    if format.is_dense:
        return Format.dense(order)
    if order == format.order:
        return format
    if _is_coordinates(format):
        return coordinates(order)
    return Format(Remapping.identity(order), [Compressed()] * order).plain()


def without_long_arrays(format: Format, shape: tuple[int, ...], entries: int) -> Format:
    """Return the format, or compressed levels if outer dense levels would be far longer than the entries."""
    if format.is_structured or format.is_dense:
        return format
    # The outermost levels with every coordinate have as many positions as all their axes together have elements.
    outer = takewhile(lambda pair: pair[0].has_every, zip(format.levels, format.mode_order, strict=True))
    if not is_far_longer(prod(shape[axis] for _, axis in outer), entries):
        return format
    return Format(format.remapping, [Compressed()] * format.order)


@lru_cache(maxsize=64)
def coordinates(order: int) -> Format:
    """Return the format ``coo``."""
    return parse_format("coo", order)


def _is_coordinates(format: Format) -> bool:
    """Return whether one position holds all coordinates of an entry."""
    return len(format.levels) > 1 and all(level.branchless for level in format.levels[1:])


def _stored(view: Storage, like: Format, dropped: tuple[int, ...] = ()) -> Storage:
    """Return a view as a tensor of its own, in the format ``like``, without some axes of one coordinate."""
    if not dropped:
        return execution.convert(view, like)
    layout = _without(like, dropped)
    if layout is not None:
        full_format, array_numbers, rest, goal = layout
        # Stored with the dropped axes, whose arrays are then left out.
        stored = execution.convert(view, full_format)
        old, arrays = stored.type, [stored.arrays[n] for n in array_numbers]
        if not stored.vals.size:
            arrays[0] = np.zeros(2, arrays[0].dtype)  # the root's positions, if levels above it had no entries
        shape = tuple(size for axis, size in enumerate(view.shape) if axis not in dropped)
        type = tensor_type(old.dtype, rest, tuple(old.index_dtypes[n] for n in array_numbers), old.fill)
        return execution.convert(Storage(shape, type, tuple(arrays), stored.vals), goal)
    # The dropped axes become dense outer levels, which can be left out.
    packed = execution.convert(view, _dropped_outside(like, dropped, len(view.shape)))
    for axis in sorted(dropped, reverse=True):
        smaller = without_axis(packed, axis)
        assert smaller is not None
        packed = smaller
    return packed


@lru_cache(maxsize=1024)
def _without(like: Format, dropped: tuple[int, ...]) -> tuple[Format, tuple[int, ...], Format, Format] | None:
    """Return how to store a tensor of which some axes have one coordinate and are then dropped, or None.

    The result has the format in which to store the tensor, the numbers of the arrays that remain without these axes,
    the format of the remaining arrays, and the format of the final result. Entries keep the order in which they are
    stored, and are not sorted. The result is None for a dense or structured format, or if no axis remains.
    """
    if like.is_structured or like.is_dense:
        return None
    modes = like.mode_order
    levels = tuple(k for k, axis in enumerate(modes) if axis not in dropped)
    if not levels:
        return None
    kept = [modes[k] for k in levels]
    remapping = Remapping(tuple(sorted(kept).index(axis) for axis in kept))
    levels_of_axes = _levels_of(like, kept)
    goal = Format(remapping, levels_of_axes)
    plain = all(level.compact and level.unique and not level.full for level in levels_of_axes)
    if len(levels_of_axes) > 1 and plain and all(level.capability(Append) for level in levels_of_axes):
        # Compressed levels store no position without children: each has one coordinate of a dropped axis below.
        given = iter(levels_of_axes)
        full_format = Format(
            Remapping(modes), [next(given) if k in levels else Compressed() for k in range(len(modes))]
        )
        return full_format, tuple(n for n, (k, _) in enumerate(full_format.roles) if k in levels), goal, goal
    # Other formats go through coordinates, from which arrays of the dropped axes are left out.
    full_format, rest = (Format(r, coordinates(r.order).levels) for r in (Remapping(modes), remapping))
    return full_format, (0, *(1 + k for k in levels)), rest, goal


@lru_cache(maxsize=1024)
def _dropped_outside(like: Format, dropped: tuple[int, ...], order: int) -> Format:
    """Return a format like ``like`` with the axes ``dropped`` in dense levels outside all others."""
    modes = like.mode_order if not like.is_structured else tuple(range(order))
    kept = [axis for axis in modes if axis not in dropped]
    return Format(Remapping((*dropped, *kept)), [*[Dense()] * len(dropped), *_levels_of(like, kept)])


def _levels_of(like: Format, axes: list[int]) -> list[LevelFormat]:
    """Return the levels for some axes of a tensor in the format ``like``.

    The levels are those of the format, if it stores these axes level by level and the levels are sound alone. Other
    formats give dense, coordinate or compressed levels.
    """
    if like.is_dense:
        return [Dense()] * len(axes)
    if _is_coordinates(like):
        return list(coordinates(len(axes)).levels)
    if not like.is_structured and not any(level.branchless for level in like.levels):
        levels_of_axes = [level for level, axis in zip(like.levels, like.mode_order, strict=True) if axis in axes]
        alone = Remapping.identity(len(levels_of_axes))
        if not all(level.full for level in levels_of_axes) and why_unsound(alone, levels_of_axes) is None:
            return levels_of_axes
    return [Compressed()] * len(axes)


# -- arrays of indices ---------------------------------------------------------------------------------------------
def _with_booleans(storage: Storage, key: Key, arrays: Arrays) -> Storage:
    """Return the elements that a key of slices and booleans selects, along a new axis.

    The new axis has one coordinate, or none if a boolean is False.
    """
    # The booleans' axis is a new axis, of which a False selects nothing.
    at = key.places.index(-1)
    found = _of_spans(storage, replace(key, arrays=None, places=(*key.places[:at], None, *key.places[at + 1 :])))
    return found if arrays.shape == (1,) else getitem(found, (slice(None),) * at + (slice(0),))


def _with_arrays(storage: Storage, key: Key, arrays: Arrays) -> Storage:
    """Return the elements that a key with arrays selects."""
    like, spans = storage.format, {s.axis: (s.start, s.step, s.count) for s in key.spans}
    if len(arrays.axes) == 1:
        ((axis,), (index,)) = arrays.axes, arrays.indices
        result = take_along(storage, axis, index.reshape(-1), spans)
        return _laid_out(result, ResultLayout.of(key, arrays, axis, like))
    if prod(storage.shape[axis] for axis in arrays.axes) > INT64_MAX:
        storage, arrays = _of_those_named(storage, arrays)
    if len(storage.shape) == 2 and not like.is_structured and _finds(like, like.mode_order[0]):
        result = _searched(storage, [index.reshape(-1) for index in arrays.indices])
    else:
        result = _joined_axes(storage, arrays, spans)
    return _laid_out(result, ResultLayout.of(key, arrays, 0, like))


@record
class ResultLayout:
    """The axes of a result whose elements are selected, but with one axis for all arrays of the key."""

    order: tuple[int, ...]  # the axes in the order of the key, new ones left out
    shape: tuple[int, ...]  # the shape after the axes of the arrays, and the new axes, are in their places
    format: Format  # the format of the result

    @classmethod
    def of(cls, key: Key, arrays: Arrays, at: int, like: Format) -> ResultLayout:
        """Return the layout for a tensor in the format ``like`` in which the arrays' axis is at place ``at``."""
        counts = {span.axis: span.count for span in key.spans}
        others = sorted(counts)
        order: list[int] = []
        shape: list[int] = []
        for place in key.places:
            if place == -1:
                order.append(at)
                shape += arrays.shape
            elif place is None:
                shape.append(1)
            else:
                rank = others.index(place)
                order.append(rank + (rank >= at))
                shape.append(counts[place])
        same = like.is_structured and len(shape) == like.order
        return cls(tuple(order), tuple(shape), like if same else format_for_axes(like, len(shape)))


def _laid_out(storage: Storage, layout: ResultLayout) -> Storage:
    """Return a tensor with its axes in the order and the shape of a layout."""
    placed = storage.permuted(layout.order)
    if layout.shape == placed.shape:
        return execution.convert(placed, layout.format)
    return reshaped(placed, layout.shape, layout.format)


def _joined_axes(storage: Storage, arrays: Arrays, spans: Mapping[int, tuple[int, int, int]]) -> Storage:
    """Return the elements that several arrays select; the first axis is that of the arrays.

    The axes of the arrays are numbered as one, and the entries are located along that axis.
    """
    sizes = [storage.shape[axis] for axis in arrays.axes]
    index = np.ravel_multi_index(arrays.indices, sizes).reshape(-1) if arrays.indices[0].size else _NONE
    parts = [spans.get(axis, (0, 1, size)) for axis, size in enumerate(storage.shape)]
    return _joined(merged_axes(_seen(storage, parts), arrays.axes), index)


_NONE = np.empty(0, np.int64)


def _of_those_named(storage: Storage, arrays: Arrays) -> tuple[Storage, Arrays]:
    """Return the tensor of the coordinates that arrays name, and the arrays in terms of that tensor.

    Arrays are renumbered if their axes together have more elements than 64-bit integers can number.
    """
    indices = []
    for axis, index in zip(arrays.axes, arrays.indices, strict=True):
        named, places = np.unique(index, return_inverse=True)
        storage = getitem(storage, ((slice(None),) * axis + (named,)))
        indices.append(places.reshape(index.shape))
    return storage, replace(arrays, parts=tuple(indices))


def take_along(
    storage: Storage, axis: int, index: np.ndarray[Any, Any], spans: Mapping[int, tuple[int, int, int]] | None = None
) -> Storage:
    """Return a view or a tensor of the coordinates ``index`` of one axis, and of parts of the others.

    The order of axes is kept.
    """
    size = storage.shape[axis]
    format = storage.format
    searches_pay = _finds(format, axis)
    # Searches are worth it if there are few, or fewer than the entries that another way iterates over.
    if not searches_pay and (searches := _searches(storage, axis, len(index))) < inf:
        walked = storage.vals.size // (_JOINED if format.mode_order[-1] == axis else 1)
        searches_pay = searches <= _SEARCHES + walked
    if not spans and searches_pay:
        return picked(storage, axis, index.astype(index_dtype(size), copy=False))
    spans = spans or {}
    parts: list[Part] = [spans.get(a, (0, 1, n)) for a, n in enumerate(storage.shape)]
    if not searches_pay:
        # The ways without located coordinates: a join in the innermost level, a join over compressed levels for a long
        # axis, else the tensor stored anew with the axis outermost.
        roomy = size <= _ROOM + 4 * (storage.vals.size + len(index))
        if roomy and not format.is_structured and format.mode_order[-1] == axis and format.levels[-1].merges:
            parts[axis] = (0, 1, size)
            return _joined_inside(_seen(storage, parts) if spans else storage, axis, index)
        if not roomy:
            parts[axis] = (0, 1, size)
            joined = _joined(merged_axes(_seen(storage, parts), (axis,)), index)
            back = [*range(1, len(storage.shape))]
            back.insert(axis, 0)
            return joined.permuted(tuple(back))
        storage = execution.convert(storage, _outermost(axis, len(storage.shape)))
    parts[axis] = index.astype(index_dtype(size), copy=False)
    return _seen(storage, parts)


@lru_cache(maxsize=256)
def _outermost(axis: int, order: int) -> Format:
    """Return a format that stores one axis in a dense level outside all others."""
    rest = [a for a in range(order) if a != axis]
    return Format(Remapping((axis, *rest)), [Dense(), *[Compressed()] * len(rest)])


@lru_cache(maxsize=1024)
def _finds(format: Format, axis: int) -> bool:
    """Return whether the level of an axis locates every coordinate, and all others can be shown in part."""
    return _picks(format, axis) and format.levels[format.mode_order.index(axis)].has_every


@lru_cache(maxsize=1024)
def _picks(format: Format, axis: int) -> bool:
    """Return whether the level of an axis locates single coordinates, and all others can be shown in part."""
    if format.is_structured or not format.levels[format.mode_order.index(axis)].picks:
        return False
    return all(level.has_every or level.iteration == "position" for level in format.levels)


def _searches(storage: Storage, axis: int, count: int) -> float:
    """Return the number of searches for ``count`` coordinates below each parent; infinite without searches.

    A level that locates every coordinate is not searched.
    """
    format = storage.format
    if not _picks(format, axis) or _finds(format, axis):
        return inf
    above = format.mode_order.index(axis) - 1
    return count * (storage.level_sizes[above] if above >= 0 else 1)


_SEARCHES = 512  # a number of searches that costs next to nothing
_PASSED, _JOINED = 16, 8  # coordinates passed, and entries joined, in the time of one search
_ROOM = 1 << 18  # positions that a dense level may have beyond the number of stored entries


def _joined(storage: Storage, index: np.ndarray[Any, Any]) -> Storage:
    """Return slices of a tensor along its first axis, located by a join with the requested coordinates.

    The first axis of the result has one coordinate for each element of ``index``.
    """
    size, count = storage.shape[0], len(index)
    # The chooser S(k,m) by columns: each requested coordinate m, with all places k that request it.
    place = np.argsort(index, kind="stable")
    wanted, starts = np.unique(index[place], return_index=True)
    arrays = (np.array([0, len(wanted)]), wanted, np.append(starts, count), place)
    chooser = _chooser(size, Compressed(), arrays)
    return _selected(storage, chooser, 0, _fibers(len(storage.shape)))


def _searched(storage: Storage, indices: Sequence[np.ndarray[Any, Any]]) -> Storage:
    """Return single elements of a matrix whose outer level locates every coordinate.

    For each element, the kernel searches the row of the element for one coordinate.
    """
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    outer, inner = storage.format.mode_order
    count, size = len(indices[0]), storage.shape[inner]
    # A view with one row for each element, joined with a matrix that has one wanted coordinate in each row.
    rows = picked(storage, outer, indices[outer].astype(index_dtype(storage.shape[outer]), copy=False))
    dtype = index_dtype(max(size, count))
    edges = np.arange(count + 1, dtype=dtype)
    arrays = edges, indices[inner].astype(dtype)
    places = Storage((count, size), _wanting(name_of(dtype)), arrays, np.ones(count, bool))
    old = rows.type
    bare = Storage(rows.shape, _refilled(old, 0), rows.arrays, rows.vals)
    hits = _search((places.type, bare.type), outer).run((places, bare))
    # There is at most one entry for each place, so that the coordinate within the row is not needed.
    type = tensor_type(old.dtype, coordinates(1), hits.type.index_dtypes[:2], old.fill)
    return Storage((count,), type, hits.arrays[:2], hits.vals)


@lru_cache(maxsize=16)
def _wanting(index: str) -> TensorType:
    return TensorType.of("bool", Format(Remapping.identity(2), [Dense(), Compressed()]), index)


@kept
def _search(types: tuple[TensorType, TensorType], outer: int) -> execution.Plan:
    axes = ("k", "m") if outer == 0 else ("m", "k")
    chosen = Apply("select", (Access("S", ("k", "m")), Access("A", axes)))
    return execution.plan_for(Assignment(Access("B", ("k", "m")), chosen), types, format=coordinates(2))


def _joined_inside(storage: Storage, axis: int, index: np.ndarray[Any, Any]) -> Storage:
    """Return the coordinates ``index`` of the innermost level's axis, located row by row as in a product A @ S."""
    size = storage.shape[axis]
    # The chooser S(k,m) by columns, dense in m: column m holds the places that request coordinate m.
    counts, edges = np.bincount(index, minlength=size), np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=edges[1:])
    if counts.max(initial=0) > 1:
        places = np.argsort(index, kind="stable")
    else:  # distinct coordinates are in order once each is written to its own element
        places = np.empty(size, np.int64)
        places[index] = np.arange(len(index))
        places = places[counts > 0]
    chooser = _chooser(size, Dense(), (edges, places))
    return _selected(storage, chooser, axis, _packed(storage.format))


@lru_cache(maxsize=256)
def _fibers(order: int) -> Format:
    return Format(Remapping.identity(order), [Compressed()] * order)


@lru_cache(maxsize=256)
def _packed(format: Format) -> Format:
    """Return the format with dense levels for levels that have every coordinate, and compressed levels else."""
    return Format(format.remapping, [Dense() if level.has_every else Compressed() for level in format.levels])


def _chooser(size: int, outer: LevelFormat, arrays: tuple[np.ndarray[Any, Any], ...]) -> Storage:
    """Return a boolean matrix ``S(k,m)``, stored by ``m``, that is true if place ``k`` requests coordinate ``m``."""
    count = len(arrays[-1])
    dtype = index_dtype(max(size, count))
    type = _choosing(outer, name_of(dtype))
    return Storage((count, size), type, tuple([a.astype(dtype, copy=False) for a in arrays]), np.ones(count, bool))


@lru_cache(maxsize=16)
def _choosing(outer: LevelFormat, index: str) -> TensorType:
    return TensorType.of("bool", Format(Remapping((1, 0)), [outer, Compressed()]), index)


def _selected(storage: Storage, chooser: Storage, axis: int, format: Format) -> Storage:
    """Return the join ``B(...,k,...) = select(S(k,m), A(...,m,...))``."""
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    # With fill value 0 the join keeps stored entries unchanged. The fill value is set again afterwards.
    old = storage.type
    bare = Storage(storage.shape, _refilled(old, 0), storage.arrays, storage.vals)
    found = _join(axis, (chooser.type, bare.type), format).run((chooser, bare))
    return Storage(found.shape, _refilled(found.type, old.fill), found.arrays, found.vals)


@kept
def _join(axis: int, types: tuple[TensorType, TensorType], format: Format) -> execution.Plan:
    names = [f"i{k}" for k in range(types[1].format.order)]
    of, to = ((*names[:axis], v, *names[axis + 1 :]) for v in "mk")
    chosen = Apply("select", (Access("S", ("k", "m")), Access("A", of)))
    return execution.plan_for(Assignment(Access("B", to), Reduce("add", ("m",), chosen)), types, format=format)


def _refilled(type: TensorType, fill: Any) -> TensorType:
    return tensor_type(type.dtype, type.format, type.index_dtypes, fill)
