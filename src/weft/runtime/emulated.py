"""The emulated device: kernels are printed, compiled and launched as for a GPU, and run on the CPU, thread by thread.

It is slow, and for tests and for trying programs out. Its arrays have their memory for themselves, as those of a GPU
do: neither NumPy nor C code can read them.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache as remembered
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from ..errors import CompilerError, DeviceError
from . import cache, log, toolchain
from ._ffi import ffi
from .devices import EMULATED, Function
from .forks import data_lock
from .objects import Library, open_object

_HEADER = Path(__file__).parents[1] / "codegen" / "support" / "emulator.h"
_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-w")


class EmulatedArray:
    """Array of the emulated device. ``get()`` copies it to an ndarray, as it does for CuPy's arrays."""

    __slots__ = ("__weakref__", "_memory")
    device_name: ClassVar[str] = EMULATED
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]  # like an ndarray's

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self._memory = memory

    @property
    def shape(self) -> Any:
        return self._memory.shape

    @property
    def dtype(self) -> Any:
        return self._memory.dtype

    @property
    def ndim(self) -> int:
        return self._memory.ndim

    @property
    def size(self) -> int:
        return self._memory.size

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    @property
    def strides(self) -> Any:
        return self._memory.strides

    @property
    def flags(self) -> Any:
        return self._memory.flags

    @property
    def T(self) -> EmulatedArray:  # noqa: N802
        return self.transpose()

    def reshape(self, *shape: Any) -> EmulatedArray:
        return EmulatedArray(self._memory.reshape(*shape))

    def transpose(self, *axes: Any) -> EmulatedArray:
        return EmulatedArray(self._memory.transpose(*axes))

    def copy(self, order: Any = "C") -> EmulatedArray:
        return EmulatedArray(self._memory.copy(order))

    def get(self) -> np.ndarray[Any, Any]:
        """Return a copy of the array in the memory of the CPU."""
        return self._memory.copy()

    def tolist(self) -> Any:
        """Copy the elements to nested lists of Python's numbers, as CuPy's arrays do."""
        return self._memory.tolist()

    def __len__(self) -> int:
        return len(self._memory)

    def __repr__(self) -> str:
        return f"<array of the emulated device: shape={self.shape}, dtype={self.dtype}>"

    # -- what NumPy, and loops over elements, would read with ----------------------------------------------------
    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        raise DeviceError(f"an array of the emulated device, of shape {self.shape}, is not on the CPU: get() copies it")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __array__ = __array_function__ = __iter__ = __bool__ = __float__ = __int__ = __index__ = __getitem__ = _refuse

    def __dlpack_device__(self) -> tuple[int, int]:
        return _EXTENSION, 0

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Return a copy on the CPU as a DLPack capsule, if the CPU is asked for: no other device has this memory."""
        if dl_device is None or tuple(dl_device) != (1, 0) or copy is False:
            raise BufferError("an array of the emulated device is exported to the CPU alone, as a copy")
        return self.get().__dlpack__(**({} if max_version is None else {"max_version": max_version}))


_EXTENSION = 12  # DLPack's number for devices that it does not know


class EmulatedDevice:
    """The emulated device."""

    name = EMULATED

    def __init__(self) -> None:
        self._lock = data_lock()
        self._order = 0  # of the threads: another at each launch, and the same in each run of a program

    def empty(self, size: int, dtype: np.dtype[Any]) -> EmulatedArray:
        """Return a vector whose values no right kernel reads."""
        memory = np.empty(size, dtype)
        memory.view(np.uint8).fill(0xA5)
        return EmulatedArray(memory)

    def fill(self, array: EmulatedArray, value: Any) -> None:
        array._memory.fill(value)

    def copy_in(self, array: np.ndarray[Any, Any]) -> EmulatedArray:
        return EmulatedArray(np.array(array, order="K"))

    def copy_out(self, array: EmulatedArray) -> np.ndarray[Any, Any]:
        return array.get()

    def scan(self, array: EmulatedArray, start: int, stop: int, op: str) -> None:
        part = array._memory[start:stop]
        {"+": np.add, "maximum": np.maximum}[op].accumulate(part, out=part)

    def sort_keys(self, keys: EmulatedArray) -> EmulatedArray:
        return EmulatedArray(np.argsort(keys._memory, kind="stable"))

    def compile(self, source: str) -> Mapping[str, Function]:
        return Kernels(source)

    def launch(self, function: Function, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        with self._lock:  # the fibers of a library are those of one launch
            self._order += 1
            function(blocks, threads, (self._order, *arguments))

    def device_of(self, array: Any) -> str | None:
        return EMULATED if isinstance(array, EmulatedArray) else None

    def current_stream(self) -> int:
        return 1  # the default stream; there is no other


@remembered
def device() -> EmulatedDevice:
    """Return the emulated device."""
    return EmulatedDevice()


class Kernels(Mapping[str, Function]):
    """Kernels of a CUDA text, which is compiled as C++ when one of them is first asked for."""

    def __init__(self, source: str) -> None:
        self._source, self._kernels = source, dict[str, Function]()

    def __getitem__(self, name: str) -> Function:
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = _kernel(name, _library(self._source).address(f"emulate_{name}"))
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)


def _kernel(name: str, address: Any) -> Function:
    """Return the function that calls a kernel, as the driver of a GPU does: with pointers to its arguments."""
    run: Callable[..., Any] = ffi.cast("const char *(*)(unsigned, unsigned, unsigned, void *const *)", address)

    def call(blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        order, *others = arguments
        values = [
            ffi.new("void **", ffi.from_buffer(a._memory)) if isinstance(a, EmulatedArray) else ffi.new("int64_t *", a)
            for a in others
        ]
        failure = run(blocks, threads, order, ffi.new("void *[]", [ffi.cast("void *", value) for value in values]))
        if failure != ffi.NULL:
            raise DeviceError(f"kernel {name} fails on the emulated device: {ffi.string(failure).decode()}")

    return call


@remembered
def _library(source: str) -> Library:
    """Return the library of a C++ text, from the cache on disk or compiled now."""
    command = _compiler()
    key = hashlib.sha256("\n".join([*command, *_FLAGS, _HEADER.read_text(), source]).encode()).hexdigest()[:32]
    where = cache.directory()

    def build(output: str) -> str:
        begin = time.perf_counter()
        include = ("-include", str(_HEADER))
        status, said, errors = toolchain.run([*command, *_FLAGS, *include, "-o", output, "-x", "c++", "-"], source)
        if status != 0:
            raise CompilerError(f"the C++ compiler failed with status {status}\n{errors.strip() or said.strip()}")
        log.info("compiled a kernel of the emulated device in %.2f s", time.perf_counter() - begin)
        return key

    def opened() -> Library | None:
        file = where.lookup(key, lambda path: (path, *open_object(path)))
        return None if file is None or file[1] == ffi.NULL else Library(file[0], file[1])

    with where.alone(key):
        library = opened()
        if library is None:
            where.publish(build)
            library = opened()
    if library is None:
        raise CompilerError(f"a kernel of the emulated device, in {where.path}, does not load")
    return library


@remembered
def _compiler() -> tuple[str, ...]:
    for name in ("c++", "g++", "clang++"):
        if path := shutil.which(name):
            return (path,)
    raise CompilerError("the emulated device needs a C++ compiler: none of c++, g++, clang++ is on PATH")
