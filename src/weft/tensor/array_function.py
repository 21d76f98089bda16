"""NumPy's functions on tensors (``__array_function__``): each one calls weft's function of the same name.

Some functions of weft call NumPy's with their parameters, such as the bins of a histogram. If these are tensors, NumPy
calls weft's function again. NumPy's function then gets ndarrays, which may be as large as ``config.max_densify_bytes``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DensifyError
from ..operations import foreign_tensors
from ..operations.fill_change import as_array
from ..operations.operands import StorageHolder, storage_of

# Functions of NumPy that are called as methods of the tensor. These methods take NumPy's arguments in NumPy's order,
# whereas weft's functions of the same names take most arguments by keyword only.
_METHODS = {
    "sum", "prod", "min", "max", "amin", "amax", "any", "all", "mean", "std", "var", "reshape", "ravel", "squeeze",
    "repeat", "take", "trace", "clip", "round", "around", "transpose", "swapaxes", "diagonal",
}  # fmt: skip
_DEPTH = 5  # calls of one function inside another that are none of weft's own
_OTHER_NAMES = {"amin": "min", "amax": "max", "around": "round", "asanyarray": "asarray"}
_MADE_LIKE = {"asarray", "asanyarray"}  # functions that NumPy hands over for the type of ``like=`` alone


_running = threading.local()  # the calls of array_function that this thread is in


def array_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call weft's counterpart of a function of NumPy."""
    calls: list[Any] = _running.__dict__.setdefault("calls", [])
    if _comes_back(function, args, kwargs, calls):
        arrays: tuple[Any, ...] = as_array(args)
        return function(*arrays, **{name: as_array(x) for name, x in kwargs.items()})
    if function.__name__ in _MADE_LIKE:  # the order of memory is the format's business
        kwargs = {name: value for name, value in kwargs.items() if name != "order"}
    calls.append((function, args, kwargs))
    try:
        return _own(function, args, kwargs)(*args, **kwargs)
    finally:
        calls.pop()


def _own(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return weft's counterpart of a function of NumPy, with the same arguments."""
    weft = namespace()
    name = function.__name__
    module = function.__module__
    name = _OTHER_NAMES.get(name, name)
    if name in _METHODS and args and isinstance(args[0], StorageHolder):
        return getattr(type(args[0]), name)
    # Several names exist in more than one namespace of NumPy, so the module of the function decides first.
    parts = {"linalg": weft.linalg, "fft": weft.fft, "stride_tricks": weft.lib.stride_tricks}
    place: Any = next((part for key, part in parts.items() if key in module), weft)
    own = getattr(place, name, None) or getattr(weft.linalg, name, None)
    if own is None or not module.startswith("numpy"):
        given = next(_tensors((*args, *kwargs.values())), None)
        ways = ""
        if given is not None:
            storage = storage_of(given)
            instead = foreign_tensors.instead_of_dense(storage)
            ways = f" (here: shape {storage.shape}, format {storage.format}): {instead}"
        raise DensifyError(f"{module}.{function.__name__} is not for SparseTensors{ways}")
    return own


def _tensors(given: Iterable[Any]) -> Iterator[StorageHolder]:
    for x in given:
        if isinstance(x, StorageHolder):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)


def _comes_back(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: Sequence[Any]) -> bool:
    """Return whether weft's counterpart of a function has called the function with a tensor that it was given."""
    outer = [(*old, *named.values()) for called, old, named in calls if called is function]
    if not outer:
        return False
    known = {id(x) for x in _tensors(outer)}
    return len(outer) > _DEPTH or any(id(x) in known for x in _tensors((*args, *kwargs.values())))


def read_once(args: Any, cls: type[StorageHolder]) -> Any:
    """Convert other packages' tensors among arguments to ``cls``, so that each is read only once.

    Reading such a tensor takes a pass over its coordinates.
    """
    if isinstance(args, (list, tuple)):
        found = [read_once(arg, cls) for arg in args]
        return found if isinstance(args, list) else tuple(found)
    storage = None if isinstance(args, (StorageHolder, np.ndarray, str)) else foreign_tensors.read(args)
    return args if storage is None else cls(storage)


def namespace() -> Any:
    """Return the package ``weft``, in which public names are looked up regardless of the modules that define them."""
    return sys.modules[__name__.partition(".")[0]]


def concerns(types: Iterable[type]) -> bool:
    """Return whether weft handles all classes that NumPy found among the arguments of a function."""
    return all(issubclass(cls, (StorageHolder, np.ndarray)) or foreign_tensors.is_read(cls) for cls in types)
