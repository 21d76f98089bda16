"""Name the device that tensors are on, and export the memory of those in a dense format (DLPack)."""

from __future__ import annotations

from typing import Any

from ..operations.operands import StorageHolder

__all__ = ["DEVICE", "dlpack", "dlpack_device", "require_cpu"]

DEVICE = "cpu"
"""The only device there is."""


def require_cpu(device: Any) -> None:
    """Refuse any device but the only one there is.

    Raises
    ------
    ValueError
        For other devices than ``"cpu"`` and None.
    """
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
    """Return the memory of a tensor in a dense format as a DLPack capsule: its attribute ``__dlpack__``.

    Parameters
    ----------
    stream : None
        The CPU has none.
    max_version : tuple of int, optional
        The newest version that the consumer understands.
    dl_device : tuple of int, optional
        Where to export to.
    copy : bool, optional
        True for memory of its own, False where that would be an error.

    Raises
    ------
    BufferError
        When the memory cannot be exported so.
    """
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    array = self._storage.to_dense_array()
    return array.__dlpack__(**{name: value for name, value in given.items() if value is not None})


def dlpack_device(self: StorageHolder, /) -> tuple[int, int]:
    """Return where DLPack says that the memory of a tensor in a dense format is: its ``__dlpack_device__``."""
    return self._storage.to_dense_array().__dlpack_device__()
