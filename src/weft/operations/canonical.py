"""What a tensor's storage promises, and the same tensor with more promises or fewer entries.

All of it is conversion to the tensor's own format, by compiled kernels.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .. import execution
from ..dtypes import name_of
from ..formats import Format, TensorType
from ..index_notation import parse
from ..storage import Storage, tensor_type
from . import foreign_tensors

__all__ = ["canonical", "count_explicit_fill", "drop_explicit_fill", "stored_only"]


def canonical(storage: Storage) -> Storage:
    """The tensor in the canonical variant of its own format; itself where it is that."""
    found: Storage = foreign_tensors.convert(storage, storage.format.canonical())
    return found


def stored_only(storage: Storage) -> Storage:
    """The tensor where every position holds an entry, so that values can be reduced and counted as they are."""
    format = storage.format
    return storage if format.is_compact or format.is_dense else foreign_tensors.convert(storage, storage.plain_format)


def count_explicit_fill(storage: Storage) -> int:
    """How many stored values equal the fill value."""
    vals, fill = stored_only(storage).vals, storage.type.fill
    operands = [_ONE, Storage(vals.shape, tensor_type(name_of(vals.dtype), Format.dense(1)), (), vals)]
    if fill == fill:  # NaN is what does not equal itself
        operands.append(Storage.dense(np.asarray(fill, vals.dtype)))
    return int(_counter(tuple([s.type for s in operands])).run(operands).vals[0])


_ONE = Storage.dense(np.asarray(1, np.int64))


@lru_cache(maxsize=64)
def _counter(types: tuple[TensorType, ...]) -> execution.Plan:
    text = "n = one*equal(v(i), f)" if len(types) > 2 else "n = one*not_equal(v(i), v(i))"
    return execution.plan_for(parse(text), types)


def drop_explicit_fill(storage: Storage) -> Storage:
    """The canonical tensor without entries equal to the fill value; itself where there are none."""
    storage = canonical(storage)
    if storage.format.is_dense or not count_explicit_fill(storage):
        return storage
    found: Storage = foreign_tensors.convert(storage, storage.format, prune=True, strict=False)
    return found
