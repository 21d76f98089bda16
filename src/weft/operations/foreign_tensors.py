"""Registry of readers, writers and viewers for tensors of other packages.

``interop`` fills the registry, and other packages may register functions, too. A reader is located by the top-level
package of an object's class. The lookup needs dictionaries alone, and imports nothing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .. import execution
from ..errors import FormatError
from ..formats import Format, FormatLike, parse_format
from ..storage import Storage, in_transfer

Reader = Callable[[Any], "Storage | None"]
Writer = Callable[..., Any]
Viewer = Callable[[Storage], Any]
_READERS: dict[str, Reader] = {}
_WRITERS: dict[str, Writer] = {}
_VIEWERS: dict[str, Viewer] = {}
_CONTACTS: dict[str, Callable[[], bool]] = {}


def register_reader(package: str, reader: Reader) -> None:
    """Register ``reader``, which makes storage of objects whose class is defined in ``package``.

    The reader returns None for an object that it does not read.
    """
    _READERS[package] = reader


def register_writer(package: str, writer: Writer) -> None:
    """Register ``writer``, which makes tensors of ``package``."""
    _WRITERS[package] = writer


def register_viewer(package: str, viewer: Viewer) -> None:
    """Register ``viewer``, which makes a tensor of ``package`` over the memory of storage.

    The viewer returns None for storage whose format the package does not have.
    """
    _VIEWERS[package] = viewer


def register_contact(package: str, contact: Callable[[], bool]) -> None:
    """Register ``contact``, which is called when a tensor meets an object of ``package`` that no reader takes."""
    _CONTACTS[package] = contact


def meet() -> None:
    """Make tensors known to the packages that are loaded."""
    for package, contact in _CONTACTS.items():
        if package in sys.modules:
            contact()


def met(*classes: type) -> bool:
    """Return whether tensors have just become known to the package of a class, so that its operators take them now."""
    packages = {cls.__module__.partition(".")[0] for cls in classes}
    first = [_CONTACTS[package]() for package in packages if package in _CONTACTS]
    return any(first)


def view(package: str, storage: Storage) -> Any:
    """Return another package's tensor over the same memory; None if the package has no such format."""
    viewer = _VIEWERS.get(package)
    return None if viewer is None else viewer(storage)


def read(obj: Any) -> Storage | None:
    """Return storage of another package's tensor; None if no reader takes it."""
    reader = _reader(type(obj))
    return None if reader is None else reader(obj)


def is_read(cls: type) -> bool:
    """Return whether there is a reader for objects of a class."""
    return _reader(cls) is not None


def _reader(cls: type) -> Reader | None:
    for base in cls.__mro__:
        reader = _READERS.get(base.__module__.partition(".")[0])
        if reader is not None:
            return reader
    return None


def write(package: str, storage: Storage, format: FormatLike | None = None) -> Any:
    """Return storage as a tensor of another package."""
    writer = _WRITERS.get(package)
    if writer is None:
        raise FormatError(f"weft makes no tensors of the package {package!r}")
    return writer(storage, format)


def instead_of_dense(storage: Storage, *, to_files: bool = False) -> str:
    """Return the words of an error that say what to call if an ndarray is needed, as by what writes files."""
    needed = math.prod(storage.shape) * storage.dtype.itemsize
    dense = f"A.todense() makes an ndarray of {needed} bytes"
    if to_files:
        dense = f"{dense}; weft.save writes tensors to files, and weft.dask.save dask arrays of tensors"
    if storage.type.fill != 0 or "scipy" not in _WRITERS:
        return dense
    shares = "shares memory and " if view("scipy", storage) is not None else ""
    return f"A.to_scipy() {shares}is what SciPy and scikit-learn take; {dense}"


def convert(
    storage: Storage,
    format: FormatLike,
    options: Mapping[str, Any] | None = None,
    *,
    sort: bool = True,
    strict: bool = True,
    **dtypes: Any,
) -> Storage:
    """Return storage in another format; the storage itself if nothing changes."""
    wanted = requested(storage, format, options, sort=sort)
    found: Storage = execution.convert(storage, wanted, strict=strict, **dtypes)
    return found


def requested(
    storage: Storage, format: FormatLike, options: Mapping[str, Any] | None = None, *, sort: bool = True
) -> Format:
    """Return the format that :func:`convert` makes."""
    wanted = parse_format(format, len(storage.shape), **(options or {}))
    return wanted if sort or storage.format == wanted else wanted.unsorted(storage.format.is_unique)


def restored(kind: Any, storage: Storage, name: str | None = None) -> Any:
    """Return the tensor that a pickle holds."""
    execution.verify_entries(storage)
    return _opened(kind, storage, name)


def arrived(kind: Any, storage: Storage, name: str | None = None) -> Any:
    """Return the tensor that another process of a cluster has sent; in other hands the pickle is checked."""
    if not in_transfer():
        execution.verify_entries(storage)
    return _opened(kind, storage, name)


def _opened(kind: Any, storage: Storage, name: str | None) -> Any:
    meet()  # a worker's first tensor
    return kind(storage).called(name)


def count_entries(storage: Storage) -> int:
    """Return the number of entries in storage, without padding."""
    if storage.format.is_compact:
        return storage.nnz
    return execution.count_entries(storage)
