"""Sums of elements at places that a list names, in partial sums of their own.

Compilers cannot load such elements together, so that long vectors are built one element at a time. A few scalar partial
sums wait for each other as little, and their order does not depend on the compiler or the instructions it may use.
"""

from __future__ import annotations

from ...records import replace
from ..builder import add, block, lit
from ..nodes import Binary, Block, Declare, Expr, For, Function, Load, Set, Stmt, Update, Var
from ..traversal import Node, assigned_names, fresh_variables, rewrite, rewrite_statements, statements, used_names, walk
from .prefetch_gathers import elements, expanded, kept

PARTS = 4
"""Partial sums of a loop, each of which gets every fourth term."""
TERMS = 8
"""Terms of one iteration. GCC 12 makes slow vectors of the partial sums if each of them gets one term only."""


def partial_sums(function: Function) -> Function:
    """Return the function with partial sums instead of SIMD reductions of elements whose places are loaded.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> n, p, t, crd, x = Var("n"), Var("p"), Var("t", "float64"), Var("crd", "int64*"), Var("x", "float64*")
    >>> loop = For(p, lit(0), n, Update("+", t, Load(x, Load(crd, p))), simd=(("+", "t"),))
    >>> print(function_text(partial_sums(Function("f", (), block(Declare(t, lit(0, "float64")), loop)))), end="")
    function f()
      t: float64 = 0.0
      t1: float64 = 0.0
      t2: float64 = 0.0
      t3: float64 = 0.0
      p_rest: int64 = n - (n - 0) % 8
      for p in 0 .. p_rest by 8:
        t += x[crd[p]]
        t1 += x[crd[p + 1]]
        t2 += x[crd[p + 2]]
        t3 += x[crd[p + 3]]
        t += x[crd[p + 4]]
        t1 += x[crd[p + 5]]
        t2 += x[crd[p + 6]]
        t3 += x[crd[p + 7]]
      for p in p_rest .. n:
        t += x[crd[p]]
      t = t + t1 + (t2 + t3)
    """
    if not any(isinstance(n, For) and _sums_gathers(n) for n in statements(function.body)):
        return function
    name = fresh_variables(function.body)

    def parted(loop: Node) -> Node | None:
        if not isinstance(loop, For) or not _sums_gathers(loop):
            return None
        sums = {n.target for n in walk(loop.body) if isinstance(n, Update) and isinstance(n.target, Var)}
        totals = sorted(sums, key=lambda var: var.name)
        parts = [totals, *([name(f"{t.name}{k}", t.ty) for t in totals] for k in range(1, PARTS))]
        inside = [Var(n.var.name, n.var.ty) for n in walk(loop.body) if isinstance(n, Declare)]

        def term(k: int) -> Stmt:
            other: dict[Node, Expr] = dict(zip(totals, parts[k % PARTS], strict=True))
            other |= {var: name(f"{var.name}{k}", var.ty) for var in inside} if k else {}
            body = rewrite(loop.body, {**other, loop.var: add(loop.var, lit(k, loop.var.ty))}.get)
            assert isinstance(body, Stmt)
            return body

        rest = name(f"{loop.var.name}_rest", loop.var.ty)
        several = lit(TERMS, loop.var.ty)
        grouped = Binary("-", loop.stop, Binary("%", Binary("-", loop.stop, loop.start), several))
        return block(
            *(Declare(t, lit(0, t.ty)) for part in parts[1:] for t in part),
            Declare(rest, grouped),
            replace(loop, stop=rest, body=block(*(term(k) for k in range(TERMS))), simd=None, step=several),
            replace(loop, start=rest, simd=None),
            *(Set(a, Binary("+", Binary("+", a, b), Binary("+", c, d))) for a, b, c, d in zip(*parts, strict=True)),
        )

    return replace(function, body=rewrite_statements(function.body, parted))  # type: ignore[arg-type]


def _sums_gathers(loop: For) -> bool:
    """Return whether a loop does nothing but add terms to scalars, and loads the place of an element of some term."""
    if not loop.simd or loop.step is not None or any(op != "+" for op, _ in loop.simd):
        return False
    totals = {name for _, name in loop.simd}
    stmts = loop.body.stmts if isinstance(loop.body, Block) else (loop.body,)
    added = [s.value for s in stmts if isinstance(s, Update) and s.op == "+"]
    if len(added) + sum(isinstance(s, Declare) for s in stmts) < len(stmts) or assigned_names(loop.body) != totals:
        return False
    if any(totals & used_names(value) for value in added):
        return False
    values = kept(loop.body, totals)
    places = [expanded(index, values) for _, index, _ in elements(loop.body)]
    return any(isinstance(n, Load) for place in places for n in walk(place))
