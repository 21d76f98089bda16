"""What may stand beside a tensor in an operator or a call, as storage."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..storage import Storage
from . import foreign

__all__ = ["Operand", "Tensor", "adopt", "describe", "is_scalar", "scalar_storage"]


class Tensor:
    """What ``SparseTensor`` is to the modules that it is built on: an object with a storage.

    While single elements are being assigned, ``_pending`` holds the storage that they are to change and what was
    written last at each place, and there is no ``_storage``: asking for it assigns them. Single elements are read
    without asking. An attribute that is there costs no more for that.
    """

    __slots__ = ("__weakref__", "_pending", "_storage")
    _pending: tuple[Storage, dict[tuple[int, ...], Any]]

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    if not TYPE_CHECKING:  # it would have every attribute

        def __getattr__(self, name: str) -> Any:
            if name != "_storage":
                return object.__getattribute__(self, name)  # which says why there is none
            from .assignment import setitem

            storage, written = self._pending
            key = tuple(map(np.array, zip(*written, strict=True)))
            self._storage = setitem(storage, key, np.array(list(written.values())))
            del self._pending
            return self._storage


class Operand(NamedTuple):
    """Storage, and whether the caller gave it as an ndarray."""

    storage: Storage
    is_array: bool


def is_scalar(obj: Any) -> bool:
    """Whether ``obj`` is a Python or NumPy number or a 0-d array."""
    return isinstance(obj, (numbers.Number, np.generic)) or (isinstance(obj, np.ndarray) and obj.ndim == 0)


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
