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
from ..storage import Storage

__all__ = [
    "convert", "count_entries", "instead_of_dense", "is_read", "met", "read", "register_contact", "register_reader",
    "register_viewer", "register_writer", "requested", "view", "write",
]  # fmt: skip

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

    Parameters
    ----------
    package : str
        The name of a top-level package.
    reader : callable
        The function from an object to storage or None.
    """
    _READERS[package] = reader


def register_writer(package: str, writer: Writer) -> None:
    """Register ``writer``, which makes tensors of ``package``.

    Parameters
    ----------
    package : str
        The name of a top-level package.
    writer : callable
        The function ``writer(storage, format)``, in which the format may be None.
    """
    _WRITERS[package] = writer


def register_viewer(package: str, viewer: Viewer) -> None:
    """Register ``viewer``, which makes a tensor of ``package`` over the memory of storage.

    The viewer returns None for storage whose format the package does not have.

    Parameters
    ----------
    package : str
        The name of a top-level package.
    viewer : callable
        The function from storage to a tensor of the package or None.
    """
    _VIEWERS[package] = viewer


def register_contact(package: str, contact: Callable[[], bool]) -> None:
    """Register ``contact``, which is called when a tensor meets an object of ``package`` that no reader takes.

    Parameters
    ----------
    package : str
        The name of a top-level package.
    contact : callable
        The function; it returns True if it has made tensors known to the package, and False from then on.
    """
    _CONTACTS[package] = contact


def met(*classes: type) -> bool:
    """Return whether tensors have just become known to the package of a class, so that its operators take them now.

    Parameters
    ----------
    *classes : type
        The classes of the objects beside a tensor.
    """
    packages = {cls.__module__.partition(".")[0] for cls in classes}
    first = [_CONTACTS[package]() for package in packages if package in _CONTACTS]
    return any(first)


def view(package: str, storage: Storage) -> Any:
    """Return another package's tensor over the same memory; None if the package has no such format.

    Parameters
    ----------
    package : str
        The name of a top-level package.
    storage : Storage
        The tensor.
    """
    viewer = _VIEWERS.get(package)
    return None if viewer is None else viewer(storage)


def read(obj: Any) -> Storage | None:
    """Return storage of another package's tensor; None if no reader takes it.

    Parameters
    ----------
    obj : object
        Any object.
    """
    reader = _reader(type(obj))
    return None if reader is None else reader(obj)


def is_read(cls: type) -> bool:
    """Return whether there is a reader for objects of a class.

    Parameters
    ----------
    cls : type
        The class.
    """
    return _reader(cls) is not None


def _reader(cls: type) -> Reader | None:
    for base in cls.__mro__:
        reader = _READERS.get(base.__module__.partition(".")[0])
        if reader is not None:
            return reader
    return None


def write(package: str, storage: Storage, format: FormatLike | None = None) -> Any:
    """Return storage as a tensor of another package.

    Parameters
    ----------
    package : str
        The name of a top-level package.
    storage : Storage
        The tensor.
    format : Format or str, optional
        The format of the result; by default the writer chooses it.

    Raises
    ------
    FormatError
        If no writer is registered for the package.
    """
    writer = _WRITERS.get(package)
    if writer is None:
        raise FormatError(f"weft makes no tensors of the package {package!r}")
    return writer(storage, format)


def instead_of_dense(storage: Storage) -> str:
    """Return the words of an error that say what to call if an ndarray is needed.

    Parameters
    ----------
    storage : Storage
        The tensor.
    """
    needed = math.prod(storage.shape) * storage.dtype.itemsize
    dense = f"A.todense() makes an ndarray of {needed} bytes"
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
    """Return storage in another format; the storage itself if nothing changes.

    Parameters
    ----------
    storage : Storage
        The tensor.
    format : Format or str
        The format, or its name in the catalogue.
    options : mapping, optional
        Options of the catalogue's entry.
    sort : bool
        If false, stored coordinates may come in any order.
    strict : bool
        If true, raise an error if the format cannot hold the entries. If false, the result then has the format without
        its conditions on the data.
    **dtypes : object
        Further arguments of ``execution.convert``, such as ``dtype``.
    """
    wanted = requested(storage, format, options, sort=sort)
    found: Storage = execution.convert(storage, wanted, strict=strict, **dtypes)
    return found


def requested(
    storage: Storage, format: FormatLike, options: Mapping[str, Any] | None = None, *, sort: bool = True
) -> Format:
    """Return the format that :func:`convert` makes.

    Parameters
    ----------
    storage, format, options, sort
        The parameters of :func:`convert`.
    """
    wanted = parse_format(format, len(storage.shape), **(options or {}))
    return wanted if sort or storage.format == wanted else wanted.unsorted(storage.format.is_unique)


def restored(kind: Any, storage: Storage, asked: str | None = None) -> Any:
    """Return the tensor that a pickle holds.

    Raises
    ------
    StorageError
        If the entries in the pickle are not those of a tensor.
    """
    execution.verify_entries(storage)
    for package, contact in _CONTACTS.items():  # a worker's first tensor
        if package in sys.modules:
            contact()
    return kind(storage).called(asked)


def count_entries(storage: Storage) -> int:
    """Return the number of entries in storage, without padding.

    Parameters
    ----------
    storage : Storage
        The tensor.
    """
    if storage.format.is_compact:
        return storage.nnz
    return execution.count_entries(storage)
