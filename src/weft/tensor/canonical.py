"""What a tensor's storage promises, and the same tensor with more promises or fewer entries.

All of it is conversion to the tensor's own format, by compiled kernels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..formats import Format
from ..storage import Storage, tensor_type
from . import foreign

__all__ = ["canonical", "count_explicit_fill", "entries_alone", "pruned"]


def canonical(storage: Storage) -> Storage:
    """The tensor in the canonical variant of its own format; itself where it is that."""
    found: Storage = foreign.convert(storage, storage.format.canonical())
    return found


def entries_alone(storage: Storage) -> Storage:
    """The tensor where every position holds an entry, so that values can be reduced and counted as they are."""
    format = storage.format
    return storage if format.is_compact or format.is_dense else foreign.convert(storage, storage.plain_format)


def count_explicit_fill(storage: Storage) -> int:
    """How many stored values equal the fill value."""
    from .. import pipeline

    vals = entries_alone(storage).vals
    flat = tensor_type(vals.dtype.name, Format.dense(1))
    operands = {
        "v": Storage(vals.shape, flat, (), vals),
        "f": Storage.dense(np.asarray(storage.type.fill, vals.dtype)),
        "one": Storage.dense(np.asarray(1, np.int64)),
    }
    return int(pipeline.evaluate(_counting(storage.type.fill != storage.type.fill), operands).vals[0])


@lru_cache(maxsize=2)
def _counting(nan: bool) -> Any:
    from ..index_notation import parse

    # NaN is what does not equal itself.
    return parse("n = one*not_equal(v(i), v(i))" if nan else "n = one*equal(v(i), f)")


def pruned(storage: Storage) -> Storage:
    """The canonical tensor without entries equal to the fill value; itself where there are none."""
    storage = canonical(storage)
    if storage.format.is_dense or not count_explicit_fill(storage):
        return storage
    found: Storage = foreign.convert(storage, storage.format, prune=True)
    return found
