"""Imperative intermediate representation (IR): its nodes and their traversal.

The IR knows nothing of tensors. Passes, the printer and the checker are imported from their own files. Level formats
build IR, so ``import weft`` loads this package, but runs no pass.
"""

from .nodes import (
    Allocate,
    Array,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Param,
    Poll,
    Return,
    Scan,
    Select,
    Set,
    Stmt,
    Store,
    Unary,
    Update,
    Var,
    While,
)  # fmt: skip
from .traversal import children, free_variables, rebuild, rewrite, used_names, walk

__all__ = [
    "Allocate", "Array", "Binary", "Block", "Call", "Cast", "Comment", "Const", "Declare", "Evaluate", "Expr", "For",
    "Free", "Function", "If", "Load", "Parallel", "Param", "Poll", "Return", "Scan", "Select", "Set", "Stmt", "Store",
    "Unary",
    "Update", "Var", "While", "children", "free_variables", "rebuild", "rewrite", "used_names", "walk",
]  # fmt: skip
