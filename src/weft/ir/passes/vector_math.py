"""Batches of calls of mathematical functions, which vector instructions compute for many elements at a time.

A loop calls a function for one element at a time. Vector instructions compute eight or sixteen elements at once. So the
loop is split into batches. The arguments of a batch are written to small arrays, the function is called once for the
batch, and the results are read from an array.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...records import replace
from .. import nodes as ir
from ..builder import add, block, lit, minimum, mul, sub
from ..traversal import Node, called, rebuild_statements, rewrite, used_names, walk, with_body

SIZE = 64
"""Elements of a batch: enough for some vectors, and few enough for the first level of cache."""


def batch_math_calls(function: ir.Function, many: Mapping[str, str]) -> ir.Function:
    """Return the function with loops of one assignment that call the functions in ``many`` for batches of elements.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> n, i, y, x = ir.Var("n"), ir.Var("i"), ir.Var("y", "float64*"), ir.Var("x", "float64*")
    >>> loop = ir.For(i, lit(0), n, ir.Store(y, i, ir.Call("f", (ir.Load(x, i),), "float64")))
    >>> print(function_text(batch_math_calls(ir.Function("g", (), loop), {"f": "each_f"})), end="")
    function g()
      i_stop: int64 = n
      for i_batch in 0 .. (i_stop + 63) / 64:
        i_first: int64 = i_batch * 64
        i_count: int64 = i_stop - i_first if i_stop - i_first < 64 else 64
        i_many: float64[64]
        for i in 0 .. i_count:
          i_many[i] = x[i_first + i]
        each_f(i_many, i_many, i_count)
        for i in 0 .. i_count:
          y[i_first + i] = i_many[i]
    """
    if called(function.body).isdisjoint(many):
        return function
    used: set[str] = set()  # names of the function, filled when the first loop changes

    def change(node: Node) -> Node:
        match node:
            case ir.Parallel(loop=loop):  # the loop that threads share stays as it is
                inner = change(loop.body)
                return node if inner is loop.body else replace(node, loop=replace(loop, body=inner))  # type: ignore[arg-type]
            case ir.For(body=body, unroll=False) if (stmt := _alone(body)) is not None:
                if not called(stmt).isdisjoint(many):
                    used.update(() if used else used_names(function.body))
                    return _Batches(node, stmt, many, used).made()
        return rebuild_statements(node, change)

    return with_body(function, change(function.body))


def _alone(body: ir.Stmt) -> ir.Store | ir.Update | None:
    """Return the only assignment of a loop's body, or None for any other body.

    The result is None, too, if the assigned value reads the array or variable that the assignment changes.
    """
    match body:
        case ir.Block((stmt,)):
            return _alone(stmt)
        case (
            ir.Store(array=changed, value=value)
            | ir.Update(target=ir.Load(array=changed) | (ir.Var() as changed), value=value)
        ):
            return body if changed not in walk(value) else None
    return None


class _Batches:
    """State of the pass for one loop."""

    def __init__(self, loop: ir.For, stmt: ir.Store | ir.Update, many: Mapping[str, str], used: set[str]):
        self.loop, self.stmt, self.many, self.used = loop, stmt, many, used
        self.first, self.count = self.name("first"), self.name("count")
        self.before: list[ir.Stmt] = []

    def name(self, what: str, ty: str = "int64") -> ir.Var:
        name = f"{self.loop.var.name}_{what}"
        while name in self.used:
            name += "_"
        self.used.add(name)
        return ir.Var(name, ty)

    def made(self) -> ir.Stmt:
        var, start = self.loop.var, self.loop.start
        stop, batch = self.name("stop"), self.name("batch")
        # The old loop variable now counts the elements of a batch. Calls become elements of arrays.
        at = add(self.first, var)
        moved = rewrite(self.stmt, lambda node: at if node == var else None)
        last = rewrite(moved, self.called)
        batches = ir.Binary("/", add(sub(stop, start), lit(SIZE - 1)), lit(SIZE))
        body = block(
            ir.Declare(self.first, add(start, mul(batch, lit(SIZE)))),
            ir.Declare(self.count, minimum(sub(stop, self.first), lit(SIZE))),
            *self.before,
            replace(self.over(last), simd=self.loop.simd),  # type: ignore[arg-type]
        )
        return block(ir.Declare(stop, self.loop.stop), ir.For(batch, lit(0), batches, body))

    def over(self, stmt: ir.Stmt) -> ir.For:
        """Return a loop over the elements of a batch."""
        return ir.For(self.loop.var, lit(0), self.count, stmt)

    def called(self, node: Node) -> Node | None:
        """Add a call for the whole batch in place of a call for one element; return the element with its result."""
        if not isinstance(node, ir.Call) or node.name not in self.many:
            return None
        arrays = [self.name("many", f"{arg.ty}*") for arg in node.args]
        # The results overwrite the first array of arguments.
        for array, arg in zip(arrays, node.args, strict=True):
            self.before += [ir.Array(array, SIZE), self.over(ir.Store(array, self.loop.var, arg))]
        call = ir.Call(self.many[node.name], (*arrays, arrays[0], self.count), "int64")
        self.before.append(ir.Evaluate(call))
        return ir.Load(arrays[0], self.loop.var)
