"""The registry through which tensors of other packages come in and go out.

``interop`` fills it; another package can too. A reader is found by the top-level package of an object's class, so
that asking costs a dictionary look-up and imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import FormatError
from ..formats import Format, FormatLike, parse_format
from ..storage import Storage

__all__ = ["convert", "read", "register_reader", "register_writer", "write"]

Reader = Callable[[Any], "Storage | None"]
Writer = Callable[..., Any]
_READERS: dict[str, Reader] = {}
_WRITERS: dict[str, Writer] = {}


def register_reader(package: str, reader: Reader) -> None:
    """Have ``reader`` make storage of objects whose class is defined in ``package``; it answers None to decline."""
    _READERS[package] = reader


def register_writer(package: str, writer: Writer) -> None:
    """Have ``writer(storage, format=None)`` make tensors of ``package``."""
    _WRITERS[package] = writer


def read(obj: Any) -> Storage | None:
    """Storage of another package's tensor; None when nobody reads it."""
    for cls in type(obj).__mro__:
        reader = _READERS.get(cls.__module__.partition(".")[0])
        if reader is not None:
            return reader(obj)
    return None


def write(package: str, storage: Storage, format: FormatLike | None = None) -> Any:
    """Another package's tensor of storage."""
    writer = _WRITERS.get(package)
    if writer is None:
        raise FormatError(f"nothing is registered that makes tensors of {package}")
    return writer(storage, format)


def convert(storage: Storage, format: FormatLike, **dtypes: Any) -> Storage:
    """Storage in another format; itself where nothing changes."""
    target = parse_format(format, len(storage.shape))
    own, fill = storage.format, storage.type.fill
    if target == own and not dtypes:
        return storage
    from .. import pipeline  # the compiler is imported when it has something to do

    if target.is_dense and not own.is_canonical:
        return convert(convert(storage, own.canonical()), target, **dtypes)
    if fill == 0 or own.is_dense:
        found: Storage = pipeline.convert(storage, target, **dtypes)
        return found
    # Which entries are stored does not depend on the fill value. A dense target takes it in where it is assigned to in
    # the order of the source's axes.
    if target.is_dense:
        turned = pipeline.convert(storage, Format.dense(own.order).reordered(own.mode_order))
        return pipeline.convert(turned, target, **dtypes)
    plain = pipeline.convert(storage.with_values(storage.vals, 0), target, **dtypes)
    return plain.with_values(plain.vals, fill)
