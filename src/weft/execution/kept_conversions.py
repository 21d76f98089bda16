"""Kept conversions: what a tensor keeps of a conversion that its expressions ask for again and again.

From the second time on that a plan converts a tensor, its storage keeps the index arrays of the converted tensor, and
the place of each value. A call then copies values to these places, as other objects may hold the memory and change
them. Coordinates may change in the same way, and are compared with those that were converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any
from weakref import WeakSet

import numpy as np

from ..config import config
from ..formats import Format, shown_name
from ..runtime import memory
from ..runtime.forks import data_lock
from ..storage import Storage, tensor_type
from .conversion_request import why_not_reuse

_lock = data_lock()
_holders: WeakSet[Storage] = WeakSet()  # the storages that keep something
_uses = count()  # a clock
NEVER = 1 << 62
"""Bytes that no limit allows: those of a conversion that sums values, for which each value has no place of its own."""


class KeptConversion:
    """Index arrays of a tensor in another format, and the places of values there."""

    __slots__ = ("_arrays", "_origins", "_places", "_size", "_source", "_type", "last_use", "nbytes")

    def __init__(self, storage: Storage, numbered: Storage):
        """Keep a conversion, of which ``numbered`` has the number of each value, from 1, and 0 where there is none."""
        numbers = numbered.vals.real.astype(np.int64)
        places = np.flatnonzero(numbers)
        origins = numbers[places] - 1
        type = numbered.type
        self._source = tuple([array.copy() for array in storage.arrays])
        self._type = tensor_type(storage.type.dtype, type.format, type.index_dtypes, storage.type.fill)
        self._arrays = tuple([_read_only(array) for array in numbered.arrays])
        self._size = len(numbers)
        self._places = None if len(places) == self._size else places
        in_order = len(origins) == len(storage.vals) and bool((origins[1:] > origins[:-1]).all())
        self._origins = None if in_order else origins
        held = [*self._source, *self._arrays, *[a for a in (self._places, self._origins) if a is not None]]
        self.nbytes = sum(array.nbytes for array in held)
        self.last_use = next(_uses)

    def is_of(self, storage: Storage) -> bool:
        """Return whether a tensor still has the coordinates that were converted, and the limit allows to keep them."""
        return self.nbytes <= config.max_kept_bytes and all(map(np.array_equal, self._source, storage.arrays))

    def of(self, storage: Storage) -> Storage:
        """Return the tensor in the other format, with its present values."""
        self.last_use = next(_uses)
        vals = storage.vals
        if self._origins is not None:
            vals = memory.empty(len(self._origins), vals.dtype)
            np.take(storage.vals, self._origins, out=vals, mode="clip")  # all are inside; "raise" would copy once more
        if self._places is not None:
            present, vals = vals, memory.empty(self._size, vals.dtype)
            vals.fill(storage.type.fill)
            vals[self._places] = present
        return Storage(storage.shape, self._type, self._arrays, vals)


def converted(storage: Storage, format: Format, convert: Callable[[Storage], Storage]) -> Storage:
    """Return a tensor in another format: by what it keeps, or else by ``convert``."""
    if not _may_keep(storage, format):
        return convert(storage)
    known = storage.kept or {}
    match known.get(format):
        case KeptConversion() as conversion if conversion.is_of(storage):
            return conversion.of(storage)
        case int() as needed if needed <= config.max_kept_bytes:
            new = _keep(storage, format, convert)
            return convert(storage) if new is None else new.of(storage)
        case int():
            return convert(storage)
    result = convert(storage)
    _note(storage, format, _least_bytes(storage, result))
    return result


def kept_by(storage: Storage) -> Iterator[tuple[Format, KeptConversion]]:
    """Yield the formats to which a tensor keeps its conversion."""
    for format, conversion in [*(storage.kept or {}).items()]:
        if isinstance(conversion, KeptConversion):
            yield format, conversion


def kept_bytes(storage: Storage) -> Mapping[str, int]:
    """Return the bytes of each conversion that a tensor keeps, by the name of the format."""
    return {shown_name(format, None): conversion.nbytes for format, conversion in kept_by(storage)}


def drop_kept(storage: Storage) -> None:
    """Drop all conversions that a tensor keeps."""
    with _lock:
        storage.kept = None
        _holders.discard(storage)


def _may_keep(storage: Storage, format: Format) -> bool:
    """Return whether a conversion may be kept: that of a dense array depends on its values."""
    if not config.max_kept_bytes or "kept-conversions" in config.disable:
        return False
    source = storage.format
    stored = type(storage.vals) is np.ndarray and storage.vals.size > 0 and not source.is_dense
    return stored and why_not_reuse(source, format) is not None


def _keep(storage: Storage, format: Format, convert: Callable[[Storage], Storage]) -> KeptConversion | None:
    """Keep a conversion, as far as ``config.max_kept_bytes`` allows; return None if it sums values."""
    size = len(storage.vals)
    numbers = np.arange(1, size + 1, dtype=_number_dtype(storage.dtype, size))
    numbered = convert(storage.with_values(numbers, 0))
    if not storage.format.is_unique and np.count_nonzero(numbered.vals) != size:
        _note(storage, format, NEVER)
        return None
    conversion = KeptConversion(storage, numbered)
    if conversion.nbytes > config.max_kept_bytes:
        _note(storage, format, conversion.nbytes)
        return conversion
    with _lock:
        _note(storage, format, conversion)
        _holders.add(storage)
        _drop_oldest()
    return conversion


def _number_dtype(dtype: np.dtype[Any], size: int) -> np.dtype[Any]:
    """Return a dtype that holds all numbers of values: that of the values, whose loops are compiled, if it does."""
    if dtype.kind in "iu":
        largest = int(np.iinfo(dtype).max)
    else:
        largest = 1 << (np.finfo(dtype).nmant + 1) if dtype.kind in "fc" else 0
    return dtype if size <= largest else np.dtype(np.float64)


def _note(storage: Storage, format: Format, what: int | KeptConversion) -> None:
    with _lock:
        storage.kept = {**(storage.kept or {}), format: what}


def _drop_oldest() -> None:
    """Drop the conversions that were not used for the longest time, until the others are within the limit."""
    by_use = sorted(
        ((conversion.last_use, storage, format, conversion.nbytes)
         for storage in _holders for format, conversion in kept_by(storage)),
        key=lambda each: each[0],
    )  # fmt: skip
    total = sum(nbytes for *_, nbytes in by_use)
    for _, storage, format, nbytes in by_use:
        if total <= config.max_kept_bytes:
            return
        total -= nbytes
        storage.kept = {f: what for f, what in (storage.kept or {}).items() if f != format}


def _least_bytes(storage: Storage, result: Storage) -> int:
    """Return how many bytes a conversion would take if it were kept, at least."""
    arrays = sum(array.nbytes for array in (*storage.arrays, *result.arrays))
    return arrays + (8 * len(storage.vals) if len(result.vals) != len(storage.vals) else 0)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return an array on the same memory that cannot be written, as results might share it."""
    view = array.view()
    view.flags.writeable = False
    return view
