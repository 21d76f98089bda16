"""Shared objects: opening them, and finding functions in them."""

from __future__ import annotations

import os
from typing import Any

from ..codegen import abi
from ..errors import CompilerError
from ..records import record
from . import interrupts
from ._ffi import ffi

__all__ = ["Library", "listening", "open_object"]

_system = ffi.dlopen(None)
_dlopen, _dlsym, _dlerror = _system.dlopen, _system.dlsym, _system.dlerror  # looking them up clears the last error
_OPEN_NOW = os.RTLD_NOW | os.RTLD_LOCAL


@record
class Library:
    """A loaded shared object.

    Parameters
    ----------
    path : str
        Its file.
    handle : object
        What ``dlopen`` gave.
    suffix : str
        What the names of a kernel's functions end in, where the object has many kernels.
    """

    path: str
    handle: Any
    suffix: str = ""

    def symbol(self, name: str) -> Any:
        """The address of the kernel function called ``name`` in the IR."""
        return self.address(abi.symbol(name))

    def address(self, name: str) -> Any:
        """The address of the C function ``name``."""
        address = _dlsym(self.handle, f"{name}{self.suffix}".encode())
        if address == ffi.NULL:
            raise CompilerError(f"the compiled kernel has no function {name}: {_loader_error()}")
        return address

    def has(self, name: str) -> bool:
        """Tell whether it has the C function ``name``."""
        return bool(_dlsym(self.handle, f"{name}{self.suffix}".encode()) != ffi.NULL)


def open_object(path: str) -> tuple[Any, str]:
    """Return the handle and, where that is NULL, the reason."""
    handle = _dlopen(os.fsencode(path), _OPEN_NOW)
    return handle, "" if handle != ffi.NULL else _loader_error()


def listening(path: str, handle: Any) -> Library:
    """Return a library whose loops ask whether to stop, if it has any that may take long."""
    address = _dlsym(handle, abi.ASK.encode())
    if address != ffi.NULL:
        ffi.cast("int64_t (**)(void)", address)[0] = interrupts.ask
    return Library(path, handle)


def _loader_error() -> str:
    said = _dlerror()
    return "" if said == ffi.NULL else ffi.string(said).decode("utf-8", "replace")
