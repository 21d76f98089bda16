"""What may stand beside a tensor in an operator or a call, as storage."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..storage import Storage
from . import foreign

if TYPE_CHECKING:
    from ..pipeline.grow import Room

__all__ = ["Operand", "Tensor", "Writing", "adopt", "describe", "is_scalar", "scalar_storage"]


@dataclass(slots=True)
class Writing:
    """A tensor that is being assigned to.

    Parameters
    ----------
    storage : Storage
        What it was.
    written : dict
        The single elements assigned since.
    room : Room, optional
        Where more entries can be put in: its arrays are those of ``storage``, and of nothing else.
    """

    storage: Storage
    written: dict[tuple[int, ...], Any] = field(default_factory=dict)
    room: Room | None = None

    def finished(self) -> Writing:
        """The same with nothing left to assign."""
        if not self.written:
            return self
        from .assignment import setitem

        key = tuple(map(np.array, zip(*self.written, strict=True)))
        return setitem(Writing(self.storage, {}, self.room), key, np.array(list(self.written.values())))


class Tensor:
    """What ``SparseTensor`` is to the modules that it is built on: an object with a storage.

    While it is being assigned to, ``_pending`` holds its storage, which nothing else has, and the single elements that
    are still to be assigned, and there is no ``_storage``: asking for it assigns them, and ends that. Single elements
    are read without asking. An attribute that is there costs no more for that.
    """

    __slots__ = ("__weakref__", "_pending", "_storage")
    _pending: Writing

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    if not TYPE_CHECKING:  # it would have every attribute

        def __getattr__(self, name: str) -> Any:
            if name != "_storage":
                return object.__getattribute__(self, name)  # which says why there is none
            self._storage = self._pending.finished().storage
            del self._pending
            return self._storage


class Operand(NamedTuple):
    """Storage, and whether the caller gave it as an ndarray."""

    storage: Storage
    is_array: bool


def is_scalar(obj: Any) -> bool:
    """Whether ``obj`` is a Python or NumPy number or a 0-d array."""
    if isinstance(obj, np.ndarray):
        return obj.ndim == 0
    return not isinstance(obj, Tensor) and isinstance(obj, (numbers.Number, np.generic))


def adopt(obj: Any) -> Operand | None:
    """Storage over what ``obj`` holds, shared where that is possible; None for what weft does not know.

    Raises
    ------
    DTypeError
        For arrays of dtypes weft does not compute with, and masked arrays.
    """
    if isinstance(obj, Tensor):
        return Operand(obj._storage, False)
    if isinstance(obj, np.ndarray):
        if isinstance(obj, np.ma.MaskedArray):
            raise DTypeError("weft does not compute with masked arrays; fill them first")
        return Operand(Storage.dense(obj), True)
    if isinstance(obj, (list, tuple)) or is_scalar(obj):
        return Operand(Storage.dense(np.asarray(obj)), True)
    storage = foreign.read(obj)
    return None if storage is None else Operand(storage, False)


def scalar_storage(value: Any, beside: np.dtype[Any]) -> Storage:
    """A scalar as 0-d storage; Python numbers take their dtype from what stands beside them, as in NumPy."""
    if isinstance(value, (np.generic, np.ndarray)):
        return Storage.dense(np.asarray(value, value_dtype(value.dtype)))
    if not isinstance(value, (bool, int, float, complex)):
        raise DTypeError(f"weft does not compute with scalars of type {type(value).__name__}")
    return Storage.dense(np.asarray(value, np.result_type(beside, value)))


def describe(storage: Storage) -> str:
    """Shape, format and dtype, for messages."""
    return f"{storage.shape} {storage.format} {storage.type.dtype}"
