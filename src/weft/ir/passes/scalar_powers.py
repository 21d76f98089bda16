"""Powers whose exponent is one number for all elements, which a few multiplications compute if it is small and whole.

Loops over squares, cubes and fourth powers are written apart, since vector instructions then compute several in the
time of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...records import replace
from ..builder import lit
from ..nodes import Binary, Call, Cast, Const, Expr, For, Function, If, Load, Parallel
from ..traversal import Node, called, rebuild, rewrite, walk


def scalar_powers(function: Function, of_scalar: Mapping[str, tuple[str, str]]) -> Function:
    """Return the function with other calls where the exponent of a power is the only element of a tensor.

    Examples
    --------
    >>> from weft.ir.nodes import Store, Var
    >>> from weft.ir.printer import function_text
    >>> n, i, x, b = Var("n"), Var("i"), Var("x", "float64*"), Var("b", "float64*")
    >>> loop = For(i, lit(0), n, Store(x, i, Call("power", (Load(x, i), Load(b, lit(0))), "float64")))
    >>> text = function_text(scalar_powers(Function("f", (), loop), {"power": ("scalar_power", "square")}))
    >>> print(text, end="")
    function f()
      if b[0] == 2.0:
        for i in 0 .. n:
          x[i] = square(x[i])
      elif b[0] == 3.0:
        for i in 0 .. n:
          x[i] = square(x[i]) * x[i]
      elif b[0] == 4.0:
        for i in 0 .. n:
          x[i] = square(x[i]) * square(x[i])
      else:
        for i in 0 .. n:
          x[i] = scalar_power(x[i], b[0])
    """
    if called(function.body).isdisjoint(of_scalar):
        return function

    def scalar_exponent(call: Call) -> Expr | None:
        return call.args[1] if call.name in of_scalar and _is_scalar(call.args[1]) else None

    def by_scalar(node: Node) -> Node | None:
        if isinstance(node, Call) and scalar_exponent(node) is not None:
            return replace(node, name=of_scalar[node.name][0])
        return None

    def with_squares(loop: For) -> Node:
        """Return loops for the first exponent that occurs, if it is 2, 3 or 4, and one for all others."""
        calls = [node for node in walk(loop.body) if isinstance(node, Call)]
        first = next((e for call in calls if (e := scalar_exponent(call)) is not None), None)
        if first is None:
            return loop

        def raised(node: Node, exponent: int) -> Node | None:
            if not isinstance(node, Call) or scalar_exponent(node) != first:
                return None
            square = Call(of_scalar[node.name][1], node.args[:1], node.ty)
            return square if exponent == 2 else Binary("*", square, node.args[0] if exponent == 3 else square)

        are_floats = all(call.ty in ("float32", "float64") for call in calls if scalar_exponent(call) == first)
        loops: Node = rewrite(loop, by_scalar)
        for exponent in (4, 3, 2) if are_floats else (2,):
            products = rewrite(rewrite(loop, partial(raised, exponent=exponent)), by_scalar)
            loops = If(Binary("==", first, lit(exponent, first.ty)), products, loops)  # type: ignore[arg-type]
        return loops

    def change(node: Node) -> Node:
        match node:
            case Parallel(loop=loop):  # the loop that threads share stays as it is
                return replace(node, loop=rebuild(loop, change))  # type: ignore[arg-type]
            case For(body=body) if not any(isinstance(inner, For) for inner in walk(body)):
                return with_squares(node)
        changed = rebuild(node, change)
        return by_scalar(changed) or changed

    return replace(function, body=change(function.body))  # type: ignore[arg-type]


def _is_scalar(expr: Expr) -> bool:
    """Return whether an expression is a number, or the first element of an array."""
    match expr:
        case Cast(a=inner):
            return _is_scalar(inner)
        case Const():
            return True
        case Load(index=Const(value=0)):
            return True
    return False
