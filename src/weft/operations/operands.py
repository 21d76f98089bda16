"""Operands of operators and calls beside a tensor, as storage."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from ..dtypes import value_dtype
from ..errors import DeviceError, DTypeError, MissingNameError
from ..formats import FormatLike
from ..hints import TENSOR_NAMES
from ..runtime import devices
from ..runtime.devices import in_use
from ..storage import Storage, in_transfer
from . import foreign_tensors
from .calls import called_function
from .pending_writes import PendingWrites


class StorageHolder:
    """Object with a storage: the base of ``SparseTensor``, for the modules on which that class is built.

    While a tensor is being assigned to, ``_writing`` holds its storage and the pending assignments, and there is no
    attribute ``_storage``. A read of ``_storage`` then makes these assignments and sets the attribute. An attribute
    that exists is read without a lock and without further cost. Code that reads the attribute once has a whole tensor,
    whatever other threads assign.

    A tensor on a device has the attribute ``_on_device`` instead. All code that is not made for devices reads
    ``_storage``, which raises ``DeviceError`` then: what takes such tensors calls ``storage_anywhere``.
    """

    __slots__ = ("__weakref__", "_asked", "_on_device", "_storage", "_writing")
    _answers: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}  # attributes of instances that the class does not have
    _writing: PendingWrites
    _on_device: Storage
    _asked: str  # the name with which the format was requested, if any

    def __init__(self, storage: Storage) -> None:
        if storage.__class__ is not Storage:
            raise TypeError(
                f"{type(self).__name__}(x) does not convert x, of type {type(storage).__name__}: "
                'write weft.asarray(x, format="csr"), or weft.from_coords(coords, values, shape)'
            )
        if in_use and storage.is_on_device:
            self._on_device = storage
        else:
            self._storage = storage

    @property
    def _anywhere(self) -> Storage:
        """Storage of the tensor, which may be on a device."""
        away = _away(self) if in_use else None
        return self._storage if away is None else away

    @property
    def _named(self) -> str | None:
        """Name with which the format was requested; None if it was not requested by name."""
        return getattr(self, "_asked", None)

    def called(self, format: FormatLike | None) -> Self:
        """Remember ``format`` as the name with which this tensor's format was requested; return the tensor.

        A format that is no string is not remembered.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.called("csr").format
        'csr'
        """
        if isinstance(format, str):
            self._asked = str(format)
        return self

    if not TYPE_CHECKING:  # for a type checker, the class would have every attribute

        def __getattr__(self, name: str) -> Any:
            if name != "_storage":
                if name in self._answers:
                    return self._answers[name](self)
                if hasattr(type(self), name) or name.startswith("_"):
                    return object.__getattribute__(self, name)  # raises the usual error
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise MissingNameError(message, name, lambda: _public(self), TENSOR_NAMES)
            if in_use and (away := _away(self)) is not None:
                raise refusal(away)
            writing = self._writing
            with writing.lock:
                if writing.base is None:  # another thread has made the assignments meanwhile
                    return _STORAGE.__get__(self)
                self._end(writing, writing.finish())
                return _STORAGE.__get__(self)

    def _become(self, storage: Storage) -> None:
        """Replace the storage; pending assignments to the old storage are dropped."""
        if in_use and storage.is_on_device:
            self._on_device = storage
            return
        writing = getattr(self, "_writing", None)
        if writing is None:
            self._storage = storage
            return
        with writing.lock:
            self._end(writing, storage)

    def _end(self, writing: PendingWrites, storage: Storage) -> None:
        """Set a storage that other threads may read from now on, without pending assignments."""
        writing.room, writing.written, writing.base = None, {}, storage
        self._storage = storage
        writing.base = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a pickle, which is checked when it is loaded, unless a cluster only moves it."""
        load = foreign_tensors.arrived if in_transfer() else foreign_tensors.restored
        return load, (type(self), self._storage, self._named)


def _public(tensor: StorageHolder) -> list[str]:
    return [name for name in dir(tensor) if not name.startswith("_")]


_STORAGE: Any = StorageHolder.__dict__["_storage"]
_ON_DEVICE: Any = StorageHolder.__dict__["_on_device"]


def _away(tensor: StorageHolder) -> Storage | None:
    """Return the storage of a tensor on a device; None for one on the CPU."""
    try:
        return _ON_DEVICE.__get__(tensor)  # type: ignore[no-any-return]
    except AttributeError:
        return None


def refusal(storage: Storage, what: str | None = None) -> DeviceError:
    """Return the error of a function that does not run on the device of a tensor: of the user's call by default."""
    return DeviceError(
        f"{what or called_function()} does not run on {storage.device} yet; A.to_device('cpu') copies the tensor"
    )


class Operand(NamedTuple):
    """Storage of an operand; ``is_array`` is true if the caller gave an ndarray, a sequence or a scalar."""

    storage: Storage
    is_array: bool


def makes_array(operands: Iterable[tuple[int, bool]]) -> bool:
    """Return whether a dense result is an ndarray, or a scalar if no operand has axes; other numbers decide nothing."""
    kinds = [*operands]
    return any(is_array for ndim, is_array in kinds if ndim) or all(is_array and not ndim for ndim, is_array in kinds)


def is_number(shape: tuple[int, ...], among: tuple[int, ...]) -> bool:
    """Return whether an operand is a number in a result of the shape ``among``: one element, which is broadcast."""
    return shape != among and math.prod(shape) == 1


def is_scalar(obj: Any) -> bool:
    """Return whether ``obj`` is a Python or NumPy number or a 0-d array."""
    if isinstance(obj, np.ndarray):
        return obj.ndim == 0
    return not isinstance(obj, StorageHolder) and isinstance(obj, (numbers.Number, np.generic))


def as_operand(obj: Any) -> Operand | None:
    """Return storage over the data of ``obj``, shared if possible; None if weft does not know the type."""
    if isinstance(obj, StorageHolder):
        return Operand(obj._storage, False)
    if isinstance(obj, np.ndarray):
        if isinstance(obj, np.ma.MaskedArray):
            raise DTypeError("weft does not take masked arrays; fill them first, with filled()")
        return Operand(Storage.dense(obj), True)
    if isinstance(obj, (list, tuple)) or is_scalar(obj):
        return Operand(Storage.dense(np.asarray(obj)), True)
    if devices.is_array(obj):
        raise DeviceError(
            f"an operand of {called_function()} is on {devices.name_of(obj)}, and another on the CPU, or the function "
            f"does not run there yet; tensors are moved with A.to_device({devices.name_of(obj)!r}) or to 'cpu'"
        )
    storage = foreign_tensors.read(obj)
    if storage is not None and storage.is_on_device:
        raise refusal(storage)
    return None if storage is None else Operand(storage, False)


def operand_anywhere(obj: Any) -> Operand | None:
    """Return storage over the data of ``obj`` as ``as_operand`` does, which may be on a device."""
    if isinstance(obj, StorageHolder):
        return Operand(obj._anywhere, False)
    array = devices.adopted(obj)
    if array is not None:
        return Operand(Storage.dense(array), True)
    storage = None if isinstance(obj, (np.ndarray, list, tuple)) else foreign_tensors.read(obj)
    if storage is not None:
        return Operand(storage, False)
    return as_operand(obj)


def storage_anywhere(tensor: StorageHolder) -> Storage:
    """Return the storage of a tensor, which may be on a device: for functions that take such tensors."""
    return tensor._anywhere


def touches_device(*objects: Any) -> bool:
    """Return whether any of the operands is on a device."""
    return any(_away(obj) is not None if isinstance(obj, StorageHolder) else devices.is_array(obj) for obj in objects)


def require_one_device(named: Mapping[str, Storage]) -> None:
    """Raise if operands are on several devices; numbers are on none."""
    places = {name: storage.device for name, storage in named.items() if storage.shape or storage.is_on_device}
    away = next((name for name, place in places.items() if place != devices.CPU), None)
    for name, place in places.items():
        if away is not None and place != places[away]:
            where = "the CPU" if place == devices.CPU else place
            spelt = name if name.isidentifier() else "x"
            raise DeviceError(
                f"{name} is on {where} and {away} on {places[away]}; it must be moved with "
                f"weft.asarray({spelt}, device={places[away]!r}), as nothing is copied between devices by itself"
            )


def scalar_storage(value: Any, beside: np.dtype[Any]) -> Storage:
    """Return a scalar as 0-d storage.

    A Python number takes its dtype from that of the other operand, as in NumPy.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return Storage.dense(np.asarray(value, value_dtype(value.dtype)))
    if not isinstance(value, (bool, int, float, complex)):
        raise DTypeError(f"a number is a bool, int, float, complex or NumPy scalar, not a {type(value).__name__}")
    return Storage.dense(np.asarray(value, np.result_type(beside, value)))


def describe(storage: Storage) -> str:
    """Return shape, format and dtype of a tensor as text for messages."""
    return f"{storage.shape} {storage.format} {storage.type.dtype}"


def storage_of(x: Any) -> Storage:
    """Return the storage of any object that weft takes."""
    return x._storage if isinstance(x, StorageHolder) else operand_of(x).storage


def operand_of(x: Any) -> Operand:
    """Return any object that weft takes as an operand."""
    operand = as_operand(x)
    if operand is None:
        raise DTypeError(f"weft takes tensors, arrays and numbers, not {type(x).__name__}")
    return operand


def any_storage_of(x: Any) -> Storage:
    """Return the storage of any object that weft takes, which may be on a device."""
    operand = operand_anywhere(x)
    return storage_of(x) if operand is None else operand.storage


def replace_storage(tensor: StorageHolder, storage: Storage) -> None:
    """Replace the storage of a tensor; its pending assignments are dropped."""
    tensor._become(storage)
