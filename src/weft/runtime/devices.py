"""Devices: what runs kernels that the compiler prints as CUDA, behind a protocol of ten functions.

There are two kinds: CUDA devices, by CuPy (``runtime/cuda.py``), and the emulated one (``runtime/emulated.py``), which
runs the same CUDA text on the CPU, with each thread of a block as a fiber. The CPU itself is no device here: its name
is ``cpu``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..doors import Door
from ..errors import DeviceError

if TYPE_CHECKING:
    from . import cuda, emulated
else:
    cuda, emulated = Door("weft.runtime.cuda"), Door("weft.runtime.emulated")

CPU = "cpu"
"""Name of the CPU, which tensors are on at first."""
EMULATED = "emulated"
_CUDA = "cuda"

in_use: list[str] = []
"""Names of the devices that this process has asked for; empty where all tensors are on the CPU, which is then known."""

Function = Callable[[int, int, Sequence[Any]], None]
"""A kernel: called with the number of blocks, that of threads in a block, and its arguments."""


_known: dict[str, Device] = {}  # devices by name, once they are asked for


class Device(Protocol):
    """A device. Its arrays have ``dtype``, ``shape``, ``reshape`` and ``transpose`` as NumPy's have."""

    name: str  # "cuda:0"

    def empty(self, size: int, dtype: np.dtype[Any]) -> Any:
        """Return a vector with any values."""

    def fill(self, array: Any, value: Any) -> None:
        """Set all elements of an array."""

    def copy_in(self, array: np.ndarray[Any, Any]) -> Any:
        """Return an array of the device with the elements of an ndarray."""

    def copy_out(self, array: Any) -> np.ndarray[Any, Any]:
        """Return an ndarray with the elements of an array of the device."""

    def scan(self, array: Any, start: int, stop: int, op: str) -> None:
        """Replace the elements from ``start`` up to ``stop`` by their sums, or maxima, up to each of them."""

    def sort_keys(self, keys: Any) -> Any:
        """Return the order in which keys are sorted; equal ones stay as they are."""

    def compile(self, source: str) -> Mapping[str, Function]:
        """Return the kernels of a CUDA text by name; it is compiled when one is first asked for."""

    def launch(self, function: Function, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run a kernel, after what was put on the current stream before."""

    def device_of(self, array: Any) -> str | None:
        """Return the name of the device that has an array; None for arrays of other kinds of devices."""

    def current_stream(self) -> int:
        """Return the number by which DLPack and the CUDA array interface know the stream that kernels run on."""


def device(name: Any) -> Device:
    """Return a device by name: ``cuda``, ``cuda:1`` or ``emulated``."""
    if isinstance(name, str) and name in _known:
        return _known[name]
    text = str(name) if isinstance(name, str) else None
    kind, _, number = (text or "").partition(":")
    if text == EMULATED:
        known: Device = emulated.device()
    elif kind == _CUDA and (not number or number.isdecimal()):
        known = cuda.device(int(number) if number else None)
    else:
        raise ValueError(f"there is no device {name!r}; there are 'cpu', 'cuda', 'cuda:1' and so on, and 'emulated'")
    if known.name not in in_use:
        in_use.append(known.name)
    _known[known.name] = known
    return known


def name_of(array: Any) -> str:
    """Return the name of the device that has an array."""
    if isinstance(array, np.ndarray):
        return CPU
    name = array.device_name if _is_emulated(array) else cuda.name_of(array)
    if name is None:
        raise DeviceError(f"an array of type {type(array).__name__} is on no device that weft knows")
    if name not in in_use:
        in_use.append(name)
    return name


def is_array(obj: Any) -> bool:
    """Return whether an object is an array on a device, of CuPy or of the emulated device."""
    return _is_emulated(obj) or _package(obj) == "cupy"


def adopted(obj: Any) -> Any:
    """Return the array of a device over the memory of an object, without a copy; None for objects on the CPU.

    The object is such an array, has the CUDA array interface, or exports DLPack from a CUDA device.
    """
    if is_array(obj):
        name_of(obj)  # from now on, tensors may be there
        return obj
    if isinstance(obj, np.ndarray) or _package(obj) in ("numpy", "builtins"):
        return None
    if not _is_on_cuda(obj):
        return None
    array = cuda.adopted(obj)
    name_of(array)
    return array


def _is_on_cuda(obj: Any) -> bool:
    try:  # tensors of torch have both attributes, and raise for those of the CPU, and for sparse ones
        if hasattr(type(obj), "__cuda_array_interface__") and obj.__cuda_array_interface__ is not None:
            return True
        tells = getattr(type(obj), "__dlpack_device__", None)
        return tells is not None and int(tells(obj)[0]) in _DLPACK_CUDA
    except (AttributeError, TypeError, RuntimeError, ValueError, BufferError):
        return False


_DLPACK_CUDA = (2, 13)  # memory of CUDA, and managed memory


def _package(obj: Any) -> str:
    return type(obj).__module__.partition(".")[0]


def _is_emulated(obj: Any) -> bool:
    return getattr(type(obj), "device_name", None) == EMULATED
