"""CUDA devices, by CuPy: its memory pool, its streams, its scans and sorts, and NVRTC with its cache on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache as remembered
from typing import Any

import numpy as np

from ..errors import DeviceError
from .devices import Function

_INSTALL = "pip install 'weft[cuda]' for CUDA 13, or 'weft[cuda12]' for CUDA 12"


@remembered
def _cupy() -> Any:
    """Return the module ``cupy``; raise an error that says what to install where it or a device is missing."""
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(f"device 'cuda' needs CuPy: {_INSTALL}") from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's errors are known once it is imported
        raise DeviceError(f"CuPy finds no CUDA device here: {error}; {_INSTALL}, with a driver for it") from error
    if not count:
        raise DeviceError("CuPy finds no CUDA device here")
    return cupy


@remembered
def _device(number: int) -> CudaDevice:
    return CudaDevice(_cupy(), number)


def device(number: int | None) -> CudaDevice:
    """Return a device by its number, or CuPy's current one."""
    cupy = _cupy()
    count = cupy.cuda.runtime.getDeviceCount()
    number = cupy.cuda.runtime.getDevice() if number is None else number
    if number >= count:
        raise DeviceError(f"there is no device 'cuda:{number}': there are {count}, from 'cuda:0'")
    return _device(number)


def name_of(array: Any) -> str | None:
    """Return the name of the device of an array of CuPy; None for other objects."""
    is_cupys = type(array).__module__.partition(".")[0] == "cupy"
    return f"cuda:{array.device.id}" if is_cupys else None


def adopted(obj: Any) -> Any:
    """Return an array of CuPy over the memory of an object with the CUDA array interface, or with DLPack."""
    cupy = _cupy()
    # An interface says which stream has written the memory, and DLPack waits for it.
    if getattr(obj, "__cuda_array_interface__", None) is not None:
        return cupy.asarray(obj)
    return cupy.from_dlpack(obj)


class CudaDevice:
    """A CUDA device."""

    def __init__(self, cupy: Any, number: int) -> None:
        self.name, self._number, self._cupy = f"cuda:{number}", number, cupy
        self._current = cupy.cuda.runtime.getDevice
        self._device, self._empty, self._array = cupy.cuda.Device(number), cupy.empty, cupy.ndarray

    def _here(self) -> AbstractContextManager[Any]:
        """Return the context in which CuPy works on this device, which it mostly does already."""
        return _NOTHING if self._current() == self._number else self._device

    def empty(self, size: int, dtype: np.dtype[Any]) -> Any:
        if self._current() == self._number:
            return self._empty(size, dtype)
        with self._device:
            return self._empty(size, dtype)

    def fill(self, array: Any, value: Any) -> None:
        with self._here():
            array.fill(value)

    def copy_in(self, array: np.ndarray[Any, Any]) -> Any:
        with self._here():
            return self._cupy.asarray(array)

    def copy_out(self, array: Any) -> np.ndarray[Any, Any]:
        with self._here():
            return self._cupy.asnumpy(array)  # type: ignore[no-any-return]

    def scan(self, array: Any, start: int, stop: int, op: str) -> None:
        if op != "+":
            raise DeviceError(f"a scan by {op} does not run on {self.name} yet")
        with self._here():
            part = array[start:stop]
            self._cupy.cumsum(part, dtype=part.dtype, out=part)

    def sort_keys(self, keys: Any) -> Any:
        with self._here():
            return self._cupy.argsort(keys, kind="stable")

    def compile(self, source: str) -> Mapping[str, Function]:
        return Kernels(self, self._cupy.RawModule(code=source, options=("--std=c++17",), backend="nvrtc"))

    def launch(self, function: Callable[..., None], blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        if self._current() == self._number:
            function((blocks,), (threads,), arguments)
        else:
            with self._device:
                function((blocks,), (threads,), arguments)

    def device_of(self, array: Any) -> str | None:
        return name_of(array)

    def current_stream(self) -> int:
        with self._here():
            # Zero is the default stream, which the interfaces call 1.
            return int(self._cupy.cuda.get_current_stream().ptr) or 1


_NOTHING = nullcontext()


class Kernels(Mapping[str, Function]):
    """Kernels of a CUDA text, which NVRTC compiles when one of them is first asked for."""

    def __init__(self, device: CudaDevice, module: Any) -> None:
        self._device, self._module, self._kernels = device, module, dict[str, Function]()

    def __getitem__(self, name: str) -> Function:
        kernel = self._kernels.get(name)
        if kernel is None:
            with self._device._here():
                kernel = self._kernels[name] = self._module.get_function(name)
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)
