"""dask: what it looks up by the type of a chunk is registered when a tensor first meets one of its objects."""

from __future__ import annotations

import sys

from ..operations import foreign_tensors
from ..tensor.lazy_methods import resolve


def _contact() -> bool:
    """Register tensors with dask; return True the first time."""
    if "dask.array" not in sys.modules or "weft.dask.hooks" in sys.modules:
        return False
    return bool(resolve("dask.hooks", "registered"))


foreign_tensors.register_contact("dask", _contact)
