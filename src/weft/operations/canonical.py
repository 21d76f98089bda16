"""Canonical tensors: conversions that let the format promise more, or that drop entries.

Compiled kernels do all conversions and counts.
"""

from __future__ import annotations

import numpy as np

from .. import execution
from ..dtypes import name_of
from ..execution.plan_cache import kept
from ..formats import Format, TensorType
from ..index_notation import parse
from ..index_notation.nodes import Access, Apply, Assignment, Reduce
from ..storage import Storage, tensor_type
from . import foreign_tensors


def canonical(storage: Storage) -> Storage:
    """Return the tensor in the canonical variant of its format; the tensor itself if it has that format."""
    found: Storage = foreign_tensors.convert(storage, storage.format.canonical())
    return found


def stored_only(storage: Storage) -> Storage:
    """Return the tensor in a format in which each position holds an entry.

    The stored values of the result can then be reduced and counted directly. A dense tensor is returned unchanged.
    """
    format = storage.format
    return storage if format.is_compact or format.is_dense else foreign_tensors.convert(storage, storage.plain_format)


def count_explicit_fill(storage: Storage) -> int:
    """Return the number of stored values that equal the fill value."""
    vals, fill = storage.vals, storage.type.fill
    operands = [Storage(vals.shape, tensor_type(name_of(vals.dtype), Format.dense(1)), (), vals)]
    if fill == fill:  # NaN does not equal itself, and needs another expression
        operands.append(Storage.dense(np.asarray(fill, vals.dtype)))
    found = _marker(tuple([s.type for s in operands])).run(operands).vals
    # The answers take the place of the values, so that padding, which no loop over the entries reaches, does not count.
    marked = storage.with_values(found, False)
    return int(_counter((_ONE.type, marked.type)).run((_ONE, marked)).vals[0])


_ONE = Storage.dense(np.asarray(1, np.int64))


@kept
def _marker(types: tuple[TensorType, ...]) -> execution.Plan:
    text = "m(i) = equal(v(i), f)" if len(types) > 1 else "m(i) = not_equal(v(i), v(i))"
    return execution.plan_for(parse(text), types)


@kept
def _counter(types: tuple[TensorType, TensorType]) -> execution.Plan:
    indices = tuple(f"i{axis}" for axis in range(types[1].format.order))
    count = Apply("multiply", (Access("one", ()), Access("m", indices)))
    return execution.plan_for(Assignment(Access("n", ()), Reduce("add", indices, count) if indices else count), types)


def _each_block_is_needed(storage: Storage) -> bool:
    """Return whether the last coordinates that are stored are those of blocks, each with a value that is not the fill.

    No entry of such a block can be left out alone. The answer is False for other formats.
    """
    format, fill = storage.format, storage.type.fill
    stored = [k for k, level in enumerate(format.levels) if level.roles]
    if not stored or stored[-1] == len(format.levels) - 1 or fill != fill:
        return False
    blocks = storage.level_sizes[stored[-1]]
    if not blocks or storage.vals.size == blocks:
        return False
    values = Storage.dense(storage.vals.reshape(blocks, -1))
    operands = (values, Storage.dense(np.asarray(fill, storage.dtype)))
    return bool(_needed(tuple([s.type for s in operands])).run(operands).vals[0])


@kept
def _needed(types: tuple[TensorType, ...]) -> execution.Plan:
    return execution.plan_for(parse("n = all(b, any(e, not_equal(v(b,e), f)))"), types)


def drop_explicit_fill(storage: Storage) -> Storage:
    """Return the canonical tensor without entries equal to the fill value.

    A dense tensor keeps all its entries.
    """
    storage = canonical(storage)
    if storage.format.is_dense or _each_block_is_needed(storage) or not count_explicit_fill(storage):
        return storage
    found: Storage = foreign_tensors.convert(storage, storage.format, prune=True, strict=False)
    return found
