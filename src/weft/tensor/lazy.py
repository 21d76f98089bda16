"""Late imports of the modules that import ``SparseTensor`` and define some of its methods."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def resolve(module: str, name: str) -> Any:
    """Return an object that a module of weft defines, and import the module if necessary.

    Examples
    --------
    >>> resolve("numpy_api.reductions", "sum").__name__
    'sum'
    """
    return getattr(import_module(f"..{module}", __package__), name)
