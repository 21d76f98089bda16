"""Shared objects: how they are opened, and how functions in them are looked up."""

from __future__ import annotations

import os
from typing import Any

from .. import abi
from ..errors import CompilerError
from ..records import record
from . import interrupts, thread_pool
from ._ffi import ffi

_system = ffi.dlopen(None)
_dlopen, _dlsym, _dlerror = _system.dlopen, _system.dlsym, _system.dlerror  # now: a lookup clears the last error
_OPEN_NOW = os.RTLD_NOW | os.RTLD_LOCAL


@record
class Library:
    """A loaded shared object."""

    path: str  # Path of its file
    handle: Any  # the handle that ``dlopen`` returned
    suffix: str = ""  # Suffix of the names of a kernel's functions, if the object has many kernels

    def address(self, name: str) -> Any:
        """Return the address of the C function ``name``."""
        address = _dlsym(self.handle, f"{name}{self.suffix}".encode())
        if address == ffi.NULL:
            raise CompilerError(f"the compiled kernel has no function {name}: {_loader_error()}")
        return address

    def has(self, name: str) -> bool:
        """Return whether the library has the C function ``name``."""
        return bool(_dlsym(self.handle, f"{name}{self.suffix}".encode()) != ffi.NULL)


def open_object(path: str) -> tuple[Any, str]:
    """Return the handle of a shared object, and the reason why it could not be opened; empty if it could."""
    handle = _dlopen(os.fsencode(path), _OPEN_NOW)
    return handle, "" if handle != ffi.NULL else _loader_error()


def listening(path: str, handle: Any) -> Library:
    """Return a library whose long loops ask whether to stop, and whose parallel loops reach the pool of threads."""
    # The library has a pointer to the function that asks, unless none of its loops may take long.
    address = _dlsym(handle, abi.ASK.encode())
    if address != ffi.NULL:
        ffi.cast("int64_t (**)(void)", address)[0] = interrupts.ask
    for name in abi.POINTERS:
        address = _dlsym(handle, name.encode())
        if address != ffi.NULL:
            thread_pool.connect(name, address)
    return Library(path, handle)


def _loader_error() -> str:
    said = _dlerror()
    return "" if said == ffi.NULL else ffi.string(said).decode("utf-8", "replace")
