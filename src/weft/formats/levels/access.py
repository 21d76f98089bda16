"""Reading and writing elements of level arrays; every index is 64 bits wide in the IR."""

from __future__ import annotations

from ...ir.builder import cast
from ...ir.nodes import Expr, Load, Stmt, Store, Var

__all__ = ["element", "put"]


def element(array: Var, index: Expr) -> Expr:
    """``array[index]``."""
    return cast(Load(array, index), "int64")


def put(array: Var, index: Expr, value: Expr) -> Stmt:
    """``array[index] = value``."""
    return Store(array, index, cast(value, array.ty[:-1]))
