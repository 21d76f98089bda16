"""The registry through which tensors of other packages come in and go out.

``interop`` fills it; another package can too. A reader is found by the top-level package of an object's class, so
that asking costs a dictionary look-up and imports nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .. import execution
from ..errors import FormatError
from ..formats import FormatLike, parse_format
from ..storage import Storage

__all__ = [
    "convert", "count_entries", "instead_of_dense", "is_read", "read", "register_reader", "register_viewer",
    "register_writer", "view", "write",
]  # fmt: skip

Reader = Callable[[Any], "Storage | None"]
Writer = Callable[..., Any]
Viewer = Callable[[Storage], Any]
_READERS: dict[str, Reader] = {}
_WRITERS: dict[str, Writer] = {}
_VIEWERS: dict[str, Viewer] = {}


def register_reader(package: str, reader: Reader) -> None:
    """Have ``reader`` make storage of objects whose class is defined in ``package``; it answers None to decline."""
    _READERS[package] = reader


def register_writer(package: str, writer: Writer) -> None:
    """Have ``writer(storage, format=None)`` make tensors of ``package``."""
    _WRITERS[package] = writer


def register_viewer(package: str, viewer: Viewer) -> None:
    """Have ``viewer`` make a tensor of ``package`` over the memory of storage; it answers None to decline."""
    _VIEWERS[package] = viewer


def view(package: str, storage: Storage) -> Any:
    """Another package's tensor over the same memory; None where it has no such format."""
    viewer = _VIEWERS.get(package)
    return None if viewer is None else viewer(storage)


def read(obj: Any) -> Storage | None:
    """Storage of another package's tensor; None when nobody reads it."""
    reader = _reader(type(obj))
    return None if reader is None else reader(obj)


def is_read(cls: type) -> bool:
    """Tell whether there is a reader for objects of a class."""
    return _reader(cls) is not None


def _reader(cls: type) -> Reader | None:
    for base in cls.__mro__:
        reader = _READERS.get(base.__module__.partition(".")[0])
        if reader is not None:
            return reader
    return None


def write(package: str, storage: Storage, format: FormatLike | None = None) -> Any:
    """Another package's tensor of storage."""
    writer = _WRITERS.get(package)
    if writer is None:
        raise FormatError(f"nothing is registered that makes tensors of {package}")
    return writer(storage, format)


def instead_of_dense(storage: Storage) -> str:
    """Return what to call where an ndarray is asked for: the words for an error."""
    needed = math.prod(storage.shape) * storage.dtype.itemsize
    dense = f"A.todense() makes an ndarray of {needed} bytes"
    if storage.type.fill != 0 or "scipy" not in _WRITERS:
        return dense
    shares = "shares memory and " if view("scipy", storage) is not None else ""
    return f"A.to_scipy_sparse() {shares}is what SciPy and scikit-learn take; {dense}"


def convert(
    storage: Storage,
    format: FormatLike,
    options: Mapping[str, Any] | None = None,
    *,
    sort: bool = True,
    strict: bool = True,
    **dtypes: Any,
) -> Storage:
    """Return storage in another format, with options of the catalogue's entry; itself where nothing changes.

    If ``strict`` it is an error that the format cannot hold the entries, else it then asks nothing of them.
    """
    wanted = parse_format(format, len(storage.shape), **(options or {}))
    if not sort and storage.format != wanted:
        wanted = wanted.unsorted(storage.format.is_unique)
    found: Storage = execution.convert(storage, wanted, strict=strict, **dtypes)
    return found


def restored(kind: Any, storage: Storage, asked: str | None = None) -> Any:
    """Make a tensor of what a pickle holds.

    Raises
    ------
    StorageError
        When its entries are not those of a tensor.
    """
    execution.verify_entries(storage)
    return kind(storage).called(asked)


def count_entries(storage: Storage) -> int:
    """Count the entries that storage holds, padding left out."""
    if storage.format.is_compact:
        return storage.nnz
    return execution.count_entries(storage)
