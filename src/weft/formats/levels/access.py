"""Reading and writing of elements of level arrays; every index has 64 bits in the IR."""

from __future__ import annotations

from ...ir.builder import cast
from ...ir.nodes import Expr, Load, Stmt, Store, Var

__all__ = ["element", "put"]


def element(array: Var, index: Expr) -> Expr:
    """Return the expression ``array[index]`` as int64."""
    return cast(Load(array, index), "int64")


def put(array: Var, index: Expr, value: Expr) -> Stmt:
    """Return the statement ``array[index] = value``, with the value cast to the dtype of the array."""
    return Store(array, index, cast(value, array.ty[:-1]))
