"""The imperative IR: nodes, helpers to build them, and the passes over them. It knows nothing of tensors."""

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
    Select,
    Set,
    Stmt,
    Store,
    Unary,
    Update,
    Var,
    While,
)  # fmt: skip
from .passes.fused_sums import with_fused_sums
from .passes.polling import LongCalls, with_polls
from .passes.prefetch_streams import read_ahead
from .passes.reciprocals import with_reciprocals
from .passes.simplify import simplify, simplify_expression
from .passes.vector_math import in_batches
from .printer import expression_text, function_text, statement_text
from .traversal import children, free_variables, rebuild, rewrite, used_names, walk
from .verify import problems, verify

__all__ = [
    "Allocate", "Array", "Binary", "Block", "Call", "Cast", "Comment", "Const", "Declare", "Evaluate", "Expr", "For",
    "Free", "Function", "If", "Load", "LongCalls", "Parallel", "Param", "Poll", "Return", "Select", "Set", "Stmt",
    "Store", "Unary", "Update", "Var", "While", "children", "expression_text", "free_variables", "function_text",
    "in_batches", "problems", "read_ahead", "rebuild", "rewrite", "simplify", "simplify_expression", "statement_text",
    "used_names", "verify", "walk", "with_fused_sums", "with_polls", "with_reciprocals",
]  # fmt: skip
