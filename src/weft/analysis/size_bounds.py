"""Size bounds: how large an appended result can become, from the sizes of its operands' levels.

With a bound, memory is allocated once. The bound of a result level is the number of coordinates that the expression can
have over the variables down to that level. The bound is known if an operand has exactly those variables in its upper
levels: the number is then the size of a level. A workspace never gathers more from one operand than that operand
stores. If no bound is known, the kernel counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..concrete_notation.values import same_value
from ..formats import TensorType
from ..formats.size_bound import SizeBound
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.operator_table import OPERATORS
from .derived_variables import level_variables
from .implicit_values import annihilates, asked_of
from .iteration_graph import typed_implicit_value


def _indices(expr: Expr) -> frozenset[str]:
    return frozenset(v for access in expr.distinct_accesses for v in access.indices)


def _apart(factors: Sequence[Expr], variables: frozenset[str], types: Mapping[str, TensorType]) -> SizeBound | None:
    """Return a bound of an outer product: the product of the factors' numbers of coordinates.

    Each factor must have variables of its own. The bound is None if they share one, or if the bound of a factor is not
    known.
    """
    own = [variables & _indices(factor) for factor in factors]
    found = [bound(factor, over, types) for factor, over in zip(factors, own, strict=True)]
    known = [f for f in found if f is not None]
    each_once = sorted(v for over in own for v in over) == sorted(variables)
    return SizeBound("prod", parts=tuple(known)) if each_once and len(known) == len(factors) else None


def bound(
    expr: Expr, variables: frozenset[str], types: Mapping[str, TensorType], gathered: bool = False
) -> SizeBound | None:
    """Return a bound of the number of coordinates that an expression has over some variables."""
    match expr:
        case Access(tensor=tensor, indices=indices):
            # The sizes of a partial format do not say how many entries it has.
            if not variables & set(indices) or types[tensor].format.is_partial:
                return None
            # The first level at which all variables are seen has at least as many coordinates as they have together.
            seen: set[str] = set()
            for k, v in enumerate(level_variables(expr, types[tensor].format)):
                seen.add(v)
                if variables <= seen:
                    return SizeBound("size", tensor, k) if gathered or seen == variables else None
            return None
        case Literal():
            return None
        case Reduce(op=op, body=body):
            # If implicit entries change the reduction, every coordinate is computed.
            neutral = same_value(typed_implicit_value(body, types), OPERATORS[op].identity)
            return bound(body, variables, types, gathered and isinstance(body, Access)) if neutral else None
        case Apply(args=(arg,)):
            return bound(asked_of(expr) or arg, variables, types)
        case Apply(op=op, args=args):
            found = [bound(arg, variables, types) for arg in args]
            fills = [typed_implicit_value(arg, types) for arg in args]
            # The entries of the result are among those of each annihilating operand.
            deciding = [annihilates(op, args, k, fill) for k, fill in enumerate(fills)]
            needed = [f for f, alone in zip(found, deciding, strict=True) if alone]
            known = [f for f in found if f is not None]
            if needed:
                within = [f for f in needed if f is not None]
                if within:
                    return SizeBound("min", parts=tuple(within))
                own = [variables & _indices(arg) for arg in args]
                if not all(alone for over, alone in zip(own, deciding, strict=True) if over):
                    return None  # the result has coordinates at which an operand has none
                return _apart([arg for arg, over in zip(args, own, strict=True) if over], variables, types)
            # A union has at most the coordinates of all operands together.
            return SizeBound("sum", parts=tuple(known)) if len(known) == len(args) else None
    return None
