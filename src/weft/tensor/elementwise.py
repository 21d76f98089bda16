"""Operators element by element: planned once for each combination of types, then run.

Two tensors become an assignment over their axes, broadcast by NumPy's rules. What takes one tensor, or a tensor and
a scalar, leaves the structure as it is and becomes an assignment over the stored values; the fill value goes the
same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import pipeline
from ..errors import ShapeError
from ..formats import Compressed, Dense, Format, LevelFormat
from ..index_notation.nodes import Access, Apply, Assignment, Expr
from ..index_notation.operators import operator
from ..index_notation.promotion import loop_dtypes
from ..remapping import Remapping
from ..storage import Storage, tensor_type
from . import foreign
from .operands import describe, scalar_storage
from .shapes import broadcast_shapes

__all__ = ["Plan", "apply_scalar", "apply_unary", "flat_map", "plan_binary", "vector", "with_axes", "without_axis"]

Run = Callable[[tuple[Storage, ...]], Storage]
_FLAT = Format.dense(1)


class Plan:
    """Something compiled for operands of certain types, which it keeps alive, so that caches may go by identity."""

    __slots__ = ("run", "types")

    def __init__(self, assignment: Assignment, types: tuple[Any, ...], format: Format | None = None) -> None:
        self.types = types
        self.run: Run = pipeline.executable(assignment, types, format=format).run


_binary: dict[tuple[Any, ...], Plan] = {}
_flat: dict[tuple[Any, ...], Plan] = {}


def plan_binary(op: str, left: Storage, right: Storage) -> tuple[Plan, tuple[Storage, Storage]]:
    """What computes ``left op right``, and what to run it on (axes of size 1 may have been taken out).

    Raises
    ------
    ShapeError
        When the shapes do not broadcast.
    """
    try:
        shape = broadcast_shapes(left.shape, right.shape)
    except ValueError:
        raise ShapeError(
            f"{operator(op).name}: shapes do not broadcast: {describe(left)} and {describe(right)}"
        ) from None
    target = tuple(f"i{axis}" for axis in range(len(shape)))
    (left, first), (right, second) = (_access(name, s, shape) for name, s in (("A", left), ("B", right)))
    key = (op, left.type, right.type, first, second, target)
    plan = _binary.get(key)
    if plan is None:
        assignment = Assignment(Access("C", target), Apply(op, (first, second)))
        plan = _binary[key] = Plan(assignment, (left.type, right.type))
    return plan, (left, right)


def _access(name: str, storage: Storage, shape: tuple[int, ...]) -> tuple[Storage, Expr]:
    """The access of an operand in a result of ``shape``, and the operand without the axes of size 1 that stretch."""
    offset = len(shape) - len(storage.shape)
    stretched = [axis for axis, size in enumerate(storage.shape) if size != shape[axis + offset]]
    indices = [f"i{axis + offset}" for axis in range(len(storage.shape)) if axis not in stretched]
    return without_axes(storage, stretched), Access(name, tuple(indices))


def without_axes(storage: Storage, axes: list[int]) -> Storage:
    """The tensor without axes of size 1; where a level stores their coordinates, the others are packed anew."""
    if axes:
        storage = _plainly(storage)
    kept = storage
    for axis in sorted(axes, reverse=True):
        smaller = without_axis(kept, axis)
        if smaller is None:
            break
        kept = smaller
    else:
        return kept
    old = dict(zip(storage.format.mode_order, storage.format.levels, strict=True))
    modes = (*axes, *(axis for axis in storage.format.mode_order if axis not in axes))
    levels = [old[axis] if axis not in axes and _stores_nothing(old[axis]) else Compressed() for axis in modes]
    packed = foreign.convert(storage, Format(Remapping(modes), [*(Dense(),) * len(axes), *levels[len(axes) :]]))
    for axis in sorted(axes, reverse=True):
        smaller = without_axis(packed, axis)
        assert smaller is not None
        packed = smaller
    return packed


def _plainly(storage: Storage) -> Storage:
    """Level by level, where the format does not store the axes so."""
    return foreign.convert(storage, storage.format.plain()) if storage.format.is_structured else storage


def _stores_nothing(level: LevelFormat) -> bool:
    return level.full and level.locates == "direct" and not level.roles


def with_axes(storage: Storage, axes: tuple[int, ...]) -> Storage:
    """The same arrays with axes of size 1 put in, at the places ``axes`` of the result."""
    if not axes:
        return storage
    storage = _plainly(storage)
    order = len(storage.shape) + len(axes)
    others = [axis for axis in range(order) if axis not in axes]
    modes = (*axes, *(others[mode] for mode in storage.format.mode_order))
    if storage.format.is_dense:  # of no importance where an axis of size 1 comes; the usual order of the others is
        plain = storage.format.remapping.is_identity
        modes = tuple(range(order)) if plain else modes
    levels = (*(Dense(),) * len(axes), *storage.format.levels)
    sizes = dict(zip(others, storage.shape, strict=True))
    shape = tuple(sizes.get(axis, 1) for axis in range(order))
    old = storage.type
    type = tensor_type(old.dtype, Format(Remapping(modes), levels), old.index_dtypes, old.fill)
    return Storage(shape, type, storage.arrays, storage.vals)


def without_axis(storage: Storage, axis: int) -> Storage | None:
    """The same arrays without an axis of size 1, where its level stores nothing; else None."""
    format = storage.format
    k = format.mode_order.index(axis)
    level, below = format.levels[k], format.levels[k + 1 : k + 2]
    if not _stores_nothing(level) or any(b.branchless for b in below):
        return None
    modes = tuple(mode - (mode > axis) for mode in format.mode_order if mode != axis)
    rest, levels = Remapping(modes), format.levels[:k] + format.levels[k + 1 :]
    if any(lower.why_not(rest, n) for n, lower in enumerate(levels)):
        return None
    smaller = Format(rest, levels)
    old = storage.type
    return Storage(
        storage.shape[:axis] + storage.shape[axis + 1 :],
        tensor_type(old.dtype, smaller, old.index_dtypes, old.fill),
        storage.arrays,
        storage.vals,
    )


def apply_scalar(op: str, storage: Storage, scalar: Any, scalar_first: bool) -> Storage:
    """``storage op scalar``, or the other way round: the same structure, other values, another fill value."""
    other = _scalar(op, scalar, storage.dtype, scalar_first)
    linear = op == "multiply" or (op == "divide" and not scalar_first)
    args: tuple[Expr, Expr] = (Access("A", ("i",)), Access("B", ()))
    return _map(op, storage, args[::-1] if scalar_first else args, (other,), linear, scalar_first)


def _scalar(op: str, value: Any, beside: np.dtype[Any], first: bool) -> Storage:
    """A scalar in the dtype in which the operator takes it beside ``beside``."""
    if type(value) in (int, float, complex):
        weak: tuple[Any, Any] = (type(value), beside) if first else (beside, type(value))
        wanted = loop_dtypes(op, weak)[0 if first else 1]
        if wanted.kind in "iu" and not np.iinfo(wanted).min <= value <= np.iinfo(wanted).max:
            if operator(op).c not in _COMPARISONS:
                raise OverflowError(f"Python integer {value} out of bounds for {wanted} in {op}")
            wanted = np.asarray(value).dtype  # compared by value, as by NumPy
        return Storage.dense(np.asarray(value, wanted))
    return scalar_storage(value, beside)


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def apply_unary(op: str, storage: Storage) -> Storage:
    """``op storage``: the same structure, other values, another fill value."""
    return _map(op, storage, (Access("A", ("i",)),), (), op == "negative", False)


def _map(
    op: str, storage: Storage, args: tuple[Expr, ...], others: tuple[Storage, ...], linear: bool, reverse: bool
) -> Storage:
    if not (linear or storage.format.is_dense or storage.format.is_unique):
        storage = foreign.convert(storage, storage.format.canonical())  # duplicates are to be summed first
    vals = vector(storage.vals)
    storages = (*others, vals) if reverse else (vals, *others)
    ufunc = operator(op).ufunc
    found = flat_map(Apply(op, args), storages)
    fill = storage.type.fill
    if not storage.format.is_dense:
        scalars = [s.vals[0] for s in others]
        own = storage.dtype.type(fill)
        with np.errstate(all="ignore"):
            fill = ufunc(*scalars, own) if reverse else ufunc(own, *scalars)
    return storage.with_values(found, fill)


def vector(vals: np.ndarray[Any, Any]) -> Storage:
    """Values as a dense vector."""
    return Storage(vals.shape, tensor_type(vals.dtype.name, _FLAT), (), vals)


def flat_map(value: Expr, storages: tuple[Storage, ...]) -> np.ndarray[Any, Any]:
    """An expression over vectors ``(i)`` and scalars ``()``, computed for each ``i``.

    Parameters
    ----------
    value : Expr
        Of accesses in the order of ``storages``.
    storages : tuple of Storage
        Dense vectors of one length, and scalars.
    """
    key = (value, *(s.type for s in storages))
    plan = _flat.get(key)
    if plan is None:
        plan = _flat[key] = Plan(Assignment(Access("C", ("i",)), value), tuple(s.type for s in storages))
    return plan.run(storages).vals  # type: ignore[no-any-return]
