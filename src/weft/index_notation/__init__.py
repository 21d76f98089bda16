"""Tensor index notation (2017 paper, section 2): the front end of the compiler.

Text and einsum subscripts become one tree (``nodes``). ``checks`` makes the sums of a tree explicit and infers extents.
``dtype_promotion`` infers dtypes. ``dtype_widening`` adds conversions to wider dtypes.
"""

from .checks import explicit_sums, fold_literals, infer_extents, sum_with_target
from .dtype_promotion import expression_dtype, loop_dtypes, result_dtype
from .dtype_widening import use_computation_dtype
from .einsum_parser import Einsum, einsum_notation, parse_einsum
from .nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from .operator_table import ALIASES, OPERATORS, REDUCTIONS, Operator, operator
from .parser import parse
from .printer import expression_text, to_text
from .traversal import accesses, free_variables, rebuild, rename_variables, tensors, variables

__all__ = [
    "ALIASES",
    "OPERATORS",
    "REDUCTIONS",
    "Access",
    "Apply",
    "Assignment",
    "Einsum",
    "Expr",
    "Literal",
    "Operator",
    "Reduce",
    "accesses",
    "einsum_notation",
    "explicit_sums",
    "expression_dtype",
    "expression_text",
    "fold_literals",
    "free_variables",
    "infer_extents",
    "loop_dtypes",
    "operator",
    "parse",
    "parse_einsum",
    "rebuild",
    "rename_variables",
    "result_dtype",
    "sum_with_target",
    "tensors",
    "to_text",
    "use_computation_dtype",
    "variables",
]
