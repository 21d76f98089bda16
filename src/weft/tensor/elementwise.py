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
from ..errors import DTypeError, ShapeError
from ..formats import Format
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operators import operator
from ..remapping import Remapping
from ..storage import Storage, tensor_type
from . import foreign
from .operands import describe, scalar_storage

__all__ = ["Plan", "apply_scalar", "apply_unary", "plan_binary", "without_axis"]

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
        shape = np.broadcast_shapes(left.shape, right.shape)
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
    """The access of an operand in a result of ``shape``: axes of size 1 that stretch are no variables of the result."""
    offset = len(shape) - len(storage.shape)
    stretched = [axis for axis, size in enumerate(storage.shape) if size != shape[axis + offset]]
    kept = list(range(len(storage.shape)))
    for axis in reversed(stretched):
        smaller = without_axis(storage, kept.index(axis))
        if smaller is not None:
            storage = smaller
            kept.remove(axis)
    names = {axis: f"{name.lower()}{axis}" if axis in stretched else f"i{axis + offset}" for axis in kept}
    summed = tuple(names[axis] for axis in kept if axis in stretched)
    access: Expr = Access(name, tuple(names.values()))
    if summed:  # a sum over one element
        access = Reduce("add", summed, access)
    return storage, access


def without_axis(storage: Storage, axis: int) -> Storage | None:
    """The same arrays without an axis of size 1, where its level stores nothing; else None."""
    format = storage.format
    k = format.mode_order.index(axis)
    level, below = format.levels[k], format.levels[k + 1 : k + 2]
    if not (level.full and level.locates == "direct" and not level.roles) or any(b.branchless for b in below):
        return None
    modes = tuple(mode - (mode > axis) for mode in format.mode_order if mode != axis)
    smaller = Format(Remapping(modes), format.levels[:k] + format.levels[k + 1 :])
    old = storage.type
    return Storage(
        storage.shape[:axis] + storage.shape[axis + 1 :],
        tensor_type(old.dtype, smaller, old.index_dtypes, old.fill),
        storage.arrays,
        storage.vals,
    )


def apply_scalar(op: str, storage: Storage, scalar: Any, scalar_first: bool) -> Storage:
    """``storage op scalar``, or the other way round: the same structure, other values, another fill value."""
    other = scalar_storage(scalar, storage.dtype)
    linear = op == "multiply" or (op == "divide" and not scalar_first)
    args: tuple[Expr, Expr] = (Access("A", ("i",)), Access("B", ()))
    return _map(op, storage, args[::-1] if scalar_first else args, (other,), linear, scalar_first)


def apply_unary(op: str, storage: Storage) -> Storage:
    """``op storage``: the same structure, other values, another fill value."""
    return _map(op, storage, (Access("A", ("i",)),), (), op == "negative", False)


def _map(
    op: str, storage: Storage, args: tuple[Expr, ...], others: tuple[Storage, ...], linear: bool, reverse: bool
) -> Storage:
    if not (linear or storage.format.is_dense or storage.format.levels[-1].unique):
        storage = foreign.convert(storage, storage.format.canonical())  # duplicates are to be summed first
    values = Storage(storage.vals.shape, tensor_type(storage.type.dtype, _FLAT), (), storage.vals)
    storages = (*others, values) if reverse else (values, *others)
    key = (op, reverse, *(s.type for s in storages))
    plan = _flat.get(key)
    ufunc = operator(op).ufunc
    if plan is None:
        try:  # what NumPy refuses, such as the difference of booleans, is no operation here either
            ufunc(*(s.vals[:0] for s in storages))
        except TypeError as error:
            raise DTypeError(f"{op} of {' and '.join(s.type.dtype for s in storages)}: {error}") from None
        plan = _flat[key] = Plan(Assignment(Access("C", ("i",)), Apply(op, args)), tuple(s.type for s in storages))
    result = plan.run(storages)
    fill = storage.type.fill
    if not storage.format.is_dense:
        scalars = [s.vals[0] for s in others]
        own = storage.dtype.type(fill)
        with np.errstate(all="ignore"):
            fill = ufunc(*scalars, own) if reverse else ufunc(own, *scalars)
    return storage.with_values(result.vals, fill)
