"""Division by dimensions in loops, as multiplication by a reciprocal that is computed once, before all loops.

A division takes longer than any other instruction on a coordinate. The quotients are exact: see T. Granlund and
P. L. Montgomery, "Division by invariant integers using multiplication", PLDI 1994, section 4.
"""

from __future__ import annotations

from ...records import replace
from ..builder import block, lit, maximum
from ..nodes import Binary, Call, Declare, Expr, For, Function, Var, While
from ..traversal import Node, declared_names, rebuild_statements, rewrite, walk


def divide_by_reciprocals(function: Function) -> Function:
    """Return the function without divisions by the dimensions of its parameters in loops.

    A dimension of 0 divides as 1 does. Multiplications by reciprocals replace the divisions.

    Examples
    --------
    >>> from weft.ir.nodes import Load, Param, Update
    >>> from weft.ir.printer import function_text
    >>> n, i, vals = Var("n"), Var("i"), Var("vals", "int64*")
    >>> loop = For(i, lit(0), n, Update("+", Load(vals, lit(0)), Binary("/", i, maximum(n, lit(1)))))
    >>> print(function_text(divide_by_reciprocals(Function("f", (Param("A", (n,), (), vals),), loop))), end="")
    function f(A)
      reciprocal_of_n: uint64 = weft_reciprocal(n)
      for i in 0 .. n:
        vals[0] += weft_quotient(i, n, reciprocal_of_n)
    """
    quotients = [n for n in walk(function.body) if type(n) is Binary and n.op in ("/", "%")]
    # A name that the body declares is another variable there, so that its dimension is left out.
    hidden = declared_names(function.body) if quotients else []
    sizes = [d for p in function.params for d in p.dimensions if d.name not in hidden]
    divisors: dict[Expr, Var] = {d: d for d in sizes} | {maximum(d, lit(1)): d for d in sizes}
    if not any(n.b in divisors for n in quotients):
        return function
    reciprocal_of: dict[Var, Var] = {}

    def rule(node: Node) -> Node | None:
        match node:
            case Binary(op="/" | "%" as op, a=a, b=b) if (size := divisors.get(b)) is not None:
                by = reciprocal_of.setdefault(size, Var(f"reciprocal_of_{size.name}", "uint64"))
                return Call("weft_quotient" if op == "/" else "weft_remainder", (a, size, by), "int64")
        return None

    def in_loops(node: Node) -> Node:
        match node:
            case For():  # the bounds are evaluated once
                return replace(node, body=rewrite(node.body, rule))  # type: ignore[arg-type]
            case While():  # the condition is evaluated in each iteration
                return rewrite(node, rule)
        return rebuild_statements(node, in_loops)

    body = in_loops(function.body)
    if not reciprocal_of:
        return function
    reciprocals = [Declare(by, Call("weft_reciprocal", (size,), "uint64")) for size, by in reciprocal_of.items()]
    return replace(function, body=block(*reciprocals, body))  # type: ignore[arg-type]
