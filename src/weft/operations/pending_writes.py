"""Assignments to a tensor that are made when it is read: the state between two readings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import execution
from ..runtime.forks import data_lock
from ..storage import Storage

if TYPE_CHECKING:
    Assign: TypeAlias = Callable[
        [Storage, execution.InsertionTarget | None, Any, Any], tuple[Storage, execution.InsertionTarget | None]
    ]


def same_bits(vals: np.ndarray[Any, Any], fill: Any) -> np.ndarray[Any, Any]:
    """Return where values equal a number to the last bit."""
    width = vals.itemsize
    if width > 8:
        halves = vals.view(np.uint64).reshape(-1, 2) == np.asarray(fill).reshape(1).view(np.uint64)
        return np.asarray(halves.all(axis=1))
    kind = f"u{width}"
    return np.asarray(vals.view(kind) == np.asarray(fill).reshape(1).view(kind))


class PendingWrites:
    """Assignments to a tensor since it was last read as a whole; to be used while its lock is held.

    The object is made at the first assignment to a tensor, and belongs to the tensor from then on. At any time either
    the tensor or this object has a storage, even after an interrupt: no function is called between giving the storage
    to one and taking it from the other.
    """

    __slots__ = ("assign", "base", "lock", "room", "written")

    def __init__(self, assign: Assign) -> None:
        self.assign = assign  # how a value is assigned to the elements of a key
        self.lock = data_lock()
        self.base: Storage | None = None  # the tensor before the assignments; None while there are none
        # The copy of base that takes new entries; nothing else has its arrays.
        self.room: execution.InsertionTarget | None = None
        self.written: dict[tuple[int, ...], Any] = {}  # single elements that are still to be assigned

    @property
    def storage(self) -> Storage:
        """Tensor without the pending single elements."""
        storage = self.base if self.room is None else self.room.storage
        assert storage is not None, "something is being assigned"
        return storage

    def finish(self) -> Storage:
        """Assign the pending single elements, and return the tensor."""
        if self.written:
            count, storage = len(self.written), self.storage
            order, dtype = len(storage.shape), storage.dtype
            rows = np.fromiter(chain.from_iterable(self.written), np.int64, count * order).reshape(count, order).T
            self._put_elements(tuple(map(np.ascontiguousarray, rows)), np.fromiter(self.written.values(), dtype, count))
            self.written = {}
        return self.storage

    def _put_elements(self, rows: tuple[np.ndarray[Any, Any], ...], vals: np.ndarray[Any, Any]) -> None:
        """Assign distinct elements; those that get the fill value are taken out by a general assignment."""
        storage, room = self.storage, self.room
        if (
            not execution.takes_insertions(storage.format)
            or same_bits(vals, storage.dtype.type(storage.type.fill)).any()
        ):
            self._put(rows, vals)
            return
        room = room or execution.insertion_target(storage)
        assert room is not None
        room.insert(rows, vals)
        self.base, self.room = room.storage, room

    def put(self, key: Any, value: Any) -> None:
        """Assign a value to the elements that ``key`` selects."""
        self.finish()
        self._put(key, value)

    def _put(self, key: Any, value: Any) -> None:
        self.base, self.room = self.assign(self.storage, self.room, key, value)
