"""Device of tensors, and the export of tensors in a dense format by DLPack."""

from __future__ import annotations

from typing import Any

from ..operations.operands import StorageHolder, storage_of

DEVICE = "cpu"
"""The only device."""


def require_cpu(device: Any) -> None:
    """Raise an error for any device but the CPU."""
    if device is not None and not (isinstance(device, str) and device == DEVICE):
        raise ValueError(f"tensors are on device {DEVICE!r}, not {device!r}")


def dlpack(
    self: StorageHolder,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return the memory of a tensor in a dense format as a DLPack capsule: its attribute ``__dlpack__``."""
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    array = storage_of(self).to_dense_array()
    return array.__dlpack__(**{name: value for name, value in given.items() if value is not None})


def dlpack_device(self: StorageHolder, /) -> tuple[int, int]:
    """Return the DLPack device of a tensor in a dense format: its attribute ``__dlpack_device__``."""
    return storage_of(self).to_dense_array().__dlpack_device__()
