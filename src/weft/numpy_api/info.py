"""Inspection of the namespace, as the array API standard defines it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.devices import CPU
from ..tensor.devices import require_cpu

VERSION = "2025.12"

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class Info:
    """Properties of the namespace: the result of ``__array_namespace_info__``.

    Examples
    --------
    >>> Info().default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities of the namespace, as the standard names them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """Return the device on which tensors are made."""
        return CPU

    def devices(self) -> tuple[str, ...]:
        """Return the devices on which functions make tensors; ``to_device`` copies tensors to others."""
        return (CPU,)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the default dtype of each kind."""
        require_cpu(device)
        names = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of the namespace by their names."""
        require_cpu(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        for one in kinds:
            if one not in _KINDS:
                raise ValueError(f"there is no kind {one!r} of dtypes; there are {', '.join(_KINDS)}")
        return {name: np.dtype(name) for one in kinds for name in _KINDS[one]}
