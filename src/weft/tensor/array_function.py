"""NumPy's functions on tensors (``__array_function__``): each one calls weft's function of the same name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import DensifyError
from ..operations import foreign_tensors
from ..operations.operands import StorageHolder, storage_of

__all__ = ["array_function", "concerns", "namespace", "read_once"]

# Functions of NumPy that are called as methods of the tensor. These methods take NumPy's arguments in NumPy's order,
# whereas weft's functions of the same names take most arguments by keyword only.
_METHODS = {
    "sum", "prod", "min", "max", "amin", "amax", "any", "all", "mean", "std", "var", "reshape", "ravel", "squeeze",
    "repeat", "take", "trace", "clip", "round", "around", "transpose", "swapaxes", "diagonal",
}  # fmt: skip
_OTHER_NAMES = {"amin": "min", "amax": "max", "around": "round"}


def array_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call weft's counterpart of a function of NumPy.

    Parameters
    ----------
    function : callable
        The function of NumPy that was called.
    args : tuple
        Its positional arguments, with a tensor among them.
    kwargs : mapping
        Its keyword arguments.

    Raises
    ------
    DensifyError
        For functions without a counterpart in weft; the message says what to do instead.
    """
    weft = namespace()
    name = function.__name__
    module = function.__module__
    name = _OTHER_NAMES.get(name, name)
    if name in _METHODS and args and isinstance(args[0], StorageHolder):
        return getattr(args[0], name)(*args[1:], **kwargs)
    # Several names exist in more than one namespace of NumPy, so the module of the function decides first.
    place: Any = weft.linalg if "linalg" in module else weft.fft if "fft" in module else weft
    own = getattr(place, name, None) or getattr(weft.linalg, name, None)
    if own is None or not module.startswith("numpy"):
        given = _first_tensor((*args, *kwargs.values()))
        ways = "" if given is None else f" ({given!r}): {foreign_tensors.instead_of_dense(storage_of(given))}"
        raise DensifyError(f"{module}.{function.__name__} is not for SparseTensors{ways}")
    return own(*args, **kwargs)


def _first_tensor(given: Iterable[Any]) -> StorageHolder | None:
    for x in given:
        found = x if isinstance(x, StorageHolder) else _first_tensor(x) if isinstance(x, (list, tuple)) else None
        if found is not None:
            return found
    return None


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
