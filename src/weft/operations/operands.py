"""What may stand beside a tensor in an operator or a call, as storage."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..formats import FormatLike
from ..hints import MissingNameError
from ..storage import Storage
from . import foreign_tensors

if TYPE_CHECKING:
    from .assignment import PendingWrites

__all__ = ["Operand", "StorageHolder", "as_operand", "describe", "is_scalar", "scalar_storage", "storage_of"]


class StorageHolder:
    """What ``SparseTensor`` is to the modules that it is built on: an object with a storage.

    While it is being assigned to, ``_writing`` holds its storage and what is still to be assigned, and there is no
    ``_storage``: asking for it assigns that, and ends it. An attribute that is there costs no more for that, and is
    read without a lock: whoever reads it once has a whole tensor, whatever other threads assign.
    """

    __slots__ = ("__weakref__", "_asked", "_storage", "_writing")
    _answers: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}  # to attributes that the class shall not seem to have
    _writing: PendingWrites
    _asked: str  # the name by which the format was asked for, if it was

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def _named(self) -> str | None:
        """The name with which the format was asked for; None where it was not, or not by name."""
        return getattr(self, "_asked", None)

    def called(self, format: FormatLike | None) -> Self:
        """Remember the name with which this tensor's format was asked for, if it was a name; return the tensor."""
        if isinstance(format, str):
            self._asked = str(format)
        return self

    if not TYPE_CHECKING:  # it would have every attribute

        def __getattr__(self, name: str) -> Any:
            if name != "_storage":
                if name in self._answers:
                    return self._answers[name](self)
                if hasattr(type(self), name) or name.startswith("_"):
                    return object.__getattribute__(self, name)  # which says why there is none
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise MissingNameError(message, name, lambda: _public(self), _ELSEWHERE)
            writing = self._writing
            with writing.lock:
                if writing.base is None:  # another thread has asked meanwhile
                    return _STORAGE.__get__(self)
                self._end(writing, writing.finish())
                return _STORAGE.__get__(self)

    def _become(self, storage: Storage) -> None:
        """Hold another storage; what was being assigned to the one before is gone with it."""
        writing = getattr(self, "_writing", None)
        if writing is None:
            self._storage = storage
            return
        with writing.lock:
            self._end(writing, storage)

    def _end(self, writing: PendingWrites, storage: Storage) -> None:
        """Hold a storage, which others may look at from now on, and nothing that is still to be assigned."""
        writing.room, writing.written, writing.base = None, {}, storage
        self._storage = storage
        writing.base = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickles are made of: the storage, which is checked when it comes back."""
        return foreign_tensors.restored, (type(self), self._storage, self._named)


_ELSEWHERE = {
    "to_scipy": "to_scipy_sparse", "scipy": "to_scipy_sparse", "to_scipy_csr": "to_scipy_sparse",
    "to_dense": "todense", "densify": "todense", "numpy": "to_numpy", "to_csr": "tocsr", "to_csc": "tocsc",
    "getnnz": "nnz", "get_shape": "shape", "getformat": "format",
}  # fmt: skip
"""Attributes by what other packages call the same."""


def _public(tensor: StorageHolder) -> list[str]:
    return [name for name in dir(tensor) if not name.startswith("_")]


_STORAGE: Any = StorageHolder.__dict__["_storage"]


class Operand(NamedTuple):
    """Storage, and whether the caller gave it as an ndarray."""

    storage: Storage
    is_array: bool


def is_scalar(obj: Any) -> bool:
    """Whether ``obj`` is a Python or NumPy number or a 0-d array."""
    if isinstance(obj, np.ndarray):
        return obj.ndim == 0
    return not isinstance(obj, StorageHolder) and isinstance(obj, (numbers.Number, np.generic))


def as_operand(obj: Any) -> Operand | None:
    """Storage over what ``obj`` holds, shared where that is possible; None for what weft does not know.

    Raises
    ------
    DTypeError
        For arrays of dtypes weft does not compute with, and masked arrays.
    """
    if isinstance(obj, StorageHolder):
        return Operand(obj._storage, False)
    if isinstance(obj, np.ndarray):
        if isinstance(obj, np.ma.MaskedArray):
            raise DTypeError("weft does not compute with masked arrays; fill them first")
        return Operand(Storage.dense(obj), True)
    if isinstance(obj, (list, tuple)) or is_scalar(obj):
        return Operand(Storage.dense(np.asarray(obj)), True)
    storage = foreign_tensors.read(obj)
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


def storage_of(x: Any) -> Storage:
    """Return the storage of anything that weft takes.

    Raises
    ------
    DTypeError
        For what it does not take.
    """
    operand = as_operand(x)
    if operand is None:
        raise DTypeError(f"weft takes tensors, arrays and numbers, not {type(x).__name__}")
    return operand.storage
