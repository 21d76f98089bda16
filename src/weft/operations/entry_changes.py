"""Entries that are taken out of a tensor, overwritten, or added to it, each by one pass over what is stored.

The functions return new tensors. A tensor whose entries stay the same, and of which only values change, shares its
index arrays with the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import index_dtype
from ..execution.plan_cache import kept
from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Apply, Assignment, Expr
from ..storage import Storage, coordinate_storage
from .canonical import canonical, drop_explicit_fill
from .elementwise import appends_alone
from .fill_change import relabel_fill, same_number
from .indexing import coordinates, getitem


def without(storage: Storage, mask: Storage) -> Storage:
    """Return a tensor without its entries where a mask is true; all others stay, those equal to the fill value, too."""
    # C(i,j) = kept(logical_not(M(i,j)), A(i,j))
    found = _combined((canonical(mask), _workable(storage)), _kept)
    return execution.convert(relabel_fill(found, storage.type.fill), storage.format)


def assign_mask(storage: Storage, mask: Storage, value: Any) -> Storage:
    """Return a tensor with one value, of its dtype, wherever a mask is true."""
    if same_number(value, storage.dtype.type(storage.type.fill)):
        return without(storage, mask)
    storage, mask = canonical(storage), drop_explicit_fill(_workable(mask))
    if len(mask.vals) <= len(storage.vals):
        # C(i,j) = select(M(i,j), P(i,j)), whose values are the positions of the entries that the mask meets
        positions = _combined((mask, numbered(storage)), _selected, 0).vals
        if len(positions) == len(mask.vals) and positions.all():
            return overwrite(storage, positions, value)
    new = mask.with_values(np.full(len(mask.vals), value, storage.dtype), 0)
    return _joined(without(storage, mask), new)


def put(
    storage: Storage, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any], positions: Any = None
) -> Storage:
    """Return a tensor with values at distinct coordinates, whose positions count from 1, or are 0 if not stored."""
    if not storage.format.is_unique:
        storage, positions = canonical(storage), None
    if positions is None:
        found = getitem(numbered(storage), tuple(rows))
        positions = execution.convert(found, Format.dense(1)).vals
    stored = positions > 0
    if stored.all():
        return overwrite(storage, positions, vals)
    if stored.any():
        storage = overwrite(storage, positions[stored], vals[stored])
        rows, vals = [row[~stored] for row in rows], vals[~stored]
    new = listed(storage.shape, rows, np.ascontiguousarray(vals))
    return _joined(storage, new)


def listed(shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> Storage:
    """Return distinct coordinates with their values, of the fill value 0, as a list of coordinates."""
    narrow = [row.astype(index_dtype(n), copy=False) for row, n in zip(rows, shape, strict=True)]
    return coordinate_storage(shape, narrow, vals, vals.dtype.type(0))


def overwrite(storage: Storage, positions: np.ndarray[Any, Any], vals: Any) -> Storage:
    """Return a tensor with other values at some positions, which count from 1."""
    changed = storage.vals.copy()
    changed[positions - 1] = vals
    return Storage(storage.shape, storage.type, storage.arrays, changed)


def _joined(storage: Storage, new: Storage) -> Storage:
    """Return a tensor with new entries at coordinates at which it has none."""
    # C(i,j) = A(i,j) + B(i,j), in which no two values meet
    found = _combined((_workable(storage), new), _added, 0)
    return execution.convert(relabel_fill(found, storage.type.fill), storage.format)


def _workable(storage: Storage) -> Storage:
    """Return a tensor in a format to which entries are appended, with the fill value 0."""
    if storage.format.is_partial or not appends_alone(storage.format):
        storage = execution.convert(storage, coordinates(len(storage.shape)))
    return relabel_fill(storage, 0)


def numbered(storage: Storage) -> Storage:
    """Return a tensor with the positions of the entries, from 1, as its values."""
    return storage.with_values(np.arange(1, len(storage.vals) + 1), 0)


def _kept(m: Expr, a: Expr) -> Expr:
    return Apply("kept", (Apply("logical_not", (m,)), a))


def _selected(m: Expr, p: Expr) -> Expr:
    return Apply("select", (m, p))


def _added(a: Expr, b: Expr) -> Expr:
    return Apply("add", (a, b))


def _combined(operands: tuple[Storage, Storage], value: Any, like: int = 1) -> Storage:
    """Return an expression of two tensors, in the format of the operand at the place ``like``."""
    return _plan((operands[0].type, operands[1].type), value, like).run(operands)


@kept
def _plan(types: tuple[TensorType, TensorType], value: Any, like: int) -> execution.Plan:
    indices = tuple(f"i{axis}" for axis in range(types[0].format.order))
    whole: Expr = value(Access("A", indices), Access("B", indices))
    # Entries that are taken out or added may break what a format promises; the last conversion looks whether they do.
    return execution.plan_for(Assignment(Access("C", indices), whole), types, format=types[like].format.unconditional)
