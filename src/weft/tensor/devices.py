"""Tensors on devices: how they get there and back, and the export of tensors in a dense format by DLPack."""

from __future__ import annotations

from typing import Any

from .. import execution
from ..errors import DeviceError
from ..formats import Format
from ..index_notation.nodes import Access, Assignment
from ..operations.operands import StorageHolder, storage_anywhere
from ..runtime import devices
from ..runtime.devices import CPU
from ..storage import Storage


def require_cpu(device: Any) -> None:
    """Raise an error for any device but the CPU."""
    if device is not None and not (isinstance(device, str) and device == CPU):
        raise ValueError(
            f"tensors are made on device {CPU!r}, not {device!r}; A.to_device({device!r}) copies one there"
        )


def storage_on(storage: Storage, device: Any) -> Storage:
    """Return a tensor on a device, or the tensor itself if it is there."""
    here = storage.device
    if device is None or (isinstance(device, str) and device == CPU):
        if here == CPU:
            return storage
        there = devices.device(here).copy_out
    else:
        target = devices.device(device)
        if here == target.name:
            return storage
        if here != CPU:
            storage = storage_on(storage, CPU)
        there = target.copy_in
    return Storage(storage.shape, storage.type, tuple([there(a) for a in storage.arrays]), there(storage.vals))


def dense_on_device(storage: Storage, order: Any = None, out: Any = None) -> Any:
    """Return a tensor on a device as a dense array of the device."""
    if out is not None or not (order is None or (isinstance(order, str) and order in "CKA")):
        raise DeviceError(
            f"todense with order or out does not run on {storage.device} yet; A.to_device('cpu') copies the tensor"
        )
    if not storage.format.is_dense:
        axes = tuple([f"i{axis}" for axis in range(len(storage.shape))])
        copy = Assignment(Access("C", axes), Access("A", axes))
        storage = execution.evaluate(copy, {"A": storage}, format=Format.dense(len(axes)))
    array = storage.to_dense_array()
    return array.copy() if order == "C" and not array.flags.c_contiguous else array


def on_cpu_to_count(storage: Storage) -> Storage:
    """Return a tensor whose entries can be counted: a copy on the CPU, of one on a device that has padding."""
    return storage_on(storage, CPU) if storage.is_on_device and not storage.format.is_compact else storage


def dlpack(
    self: StorageHolder,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return the memory of a tensor in a dense format as a DLPack capsule: its attribute ``__dlpack__``.

    On a device, the consumer's stream waits for the current one.
    """
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    array = storage_anywhere(self).to_dense_array()
    return array.__dlpack__(**{name: value for name, value in given.items() if value is not None})


def dlpack_device(self: StorageHolder, /) -> tuple[int, int]:
    """Return the DLPack device of a tensor in a dense format: its attribute ``__dlpack_device__``."""
    place: tuple[int, int] = storage_anywhere(self).to_dense_array().__dlpack_device__()
    return place


def cuda_interface(tensor: StorageHolder) -> Any:
    """Return the attribute ``__cuda_array_interface__`` of a tensor in a dense format on a CUDA device."""
    storage = storage_anywhere(tensor)
    if not (storage.format.is_dense and storage.device.startswith("cuda")):
        text = f"a tensor of format {storage.format} on {storage.device} is no dense array of a CUDA device"
        raise AttributeError(text, name="__cuda_array_interface__", obj=tensor)
    array: Any = storage.to_dense_array()
    return array.__cuda_array_interface__
