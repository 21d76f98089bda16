"""Names that are resolved when they are first used: what comes after ``SparseTensor`` and belongs to its methods."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["resolve"]


@cache
def resolve(module: str, name: str) -> Any:
    """Return what a module of weft defines, which is imported then.

    Examples
    --------
    >>> resolve("numpy_api.reductions", "sum").__name__
    'sum'
    """
    return getattr(import_module(f"..{module}", __package__), name)
