"""Loops over functions that are computed for many elements at a time.

What a loop over elements calls one by one, the processor's vectors compute eight or sixteen at once. Such a loop goes
over batches: what the function is of goes into a few elements of memory, the function is called once for all of them,
and what it makes of them is used from there.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...records import replace
from ..builder import add, block, lit, minimum, mul, sub
from ..nodes import (
    Array,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    For,
    Function,
    Load,
    Parallel,
    Stmt,
    Store,
    Update,
    Var,
)
from ..traversal import Node, rebuild, rewrite, used_names, walk

__all__ = ["batch_math_calls"]

SIZE = 64
"""Elements of a batch: some vectors, and little enough to stay in the nearest cache."""


def batch_math_calls(function: Function, many: Mapping[str, str]) -> Function:
    """The same, where loops of one assignment call the functions in ``many`` for a batch of elements.

    Parameters
    ----------
    function : Function
        Any.
    many : mapping
        The names of functions of one element, each with that of what computes it for many: of arrays of its operands,
        of one for the results, which may be the first of these, and of their length.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> n, i, y, x = Var("n"), Var("i"), Var("y", "float64*"), Var("x", "float64*")
    >>> loop = For(i, lit(0), n, Store(y, i, Call("f", (Load(x, i),), "float64")))
    >>> print(function_text(batch_math_calls(Function("g", (), loop), {"f": "each_f"})), end="")
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
    used: set[str] = set()

    def change(node: Node) -> Node:
        match node:
            case Parallel(loop=loop):
                inner = change(loop.body)
                return node if inner is loop.body else replace(node, loop=replace(loop, body=inner))  # type: ignore[arg-type]
            case For(body=body, unroll=False) if (stmt := _alone(body)) is not None:
                if any(isinstance(n, Call) and n.name in many for n in walk(stmt)):
                    used.update(() if used else used_names(function.body))
                    return _Batches(node, stmt, many, used).made()
        return rebuild(node, change)

    body = change(function.body)
    return function if body is function.body else replace(function, body=body)  # type: ignore[arg-type]


def _alone(body: Stmt) -> Store | Update | None:
    """The assignment that is all of a loop's body, where its value does not read what it changes."""
    match body:
        case Block((stmt,)):
            return _alone(stmt)
        case Store(array=changed, value=value) | Update(target=Load(array=changed) | (Var() as changed), value=value):
            return body if changed not in walk(value) else None
    return None


class _Batches:
    """One loop, on its way to batches."""

    def __init__(self, loop: For, stmt: Store | Update, many: Mapping[str, str], used: set[str]):
        self.loop, self.stmt, self.many, self.used = loop, stmt, many, used
        self.first, self.count = self.name("first"), self.name("count")
        self.before: list[Stmt] = []

    def name(self, what: str, ty: str = "int64") -> Var:
        name = f"{self.loop.var.name}_{what}"
        while name in self.used:
            name += "_"
        self.used.add(name)
        return Var(name, ty)

    def made(self) -> Stmt:
        var, start = self.loop.var, self.loop.start
        stop, batch = self.name("stop"), self.name("batch")
        at = add(self.first, var)
        moved = rewrite(self.stmt, lambda node: at if node == var else None)
        last = rewrite(moved, self.called)
        batches = Binary("/", add(sub(stop, start), lit(SIZE - 1)), lit(SIZE))
        body = block(
            Declare(self.first, add(start, mul(batch, lit(SIZE)))),
            Declare(self.count, minimum(sub(stop, self.first), lit(SIZE))),
            *self.before,
            replace(self.over(last), simd=self.loop.simd),  # type: ignore[arg-type]
        )
        return block(Declare(stop, self.loop.stop), For(batch, lit(0), batches, body))

    def over(self, stmt: Stmt) -> For:
        """A loop over the elements of a batch."""
        return For(self.loop.var, lit(0), self.count, stmt)

    def called(self, node: Node) -> Node | None:
        """A call for the whole batch, before the elements are used."""
        if not isinstance(node, Call) or node.name not in self.many:
            return None
        arrays = [self.name("many", f"{arg.ty}*") for arg in node.args]
        for array, arg in zip(arrays, node.args, strict=True):
            self.before += [Array(array, SIZE), self.over(Store(array, self.loop.var, arg))]
        call = Call(self.many[node.name], (*arrays, arrays[0], self.count), "int64")
        self.before.append(Evaluate(call))
        return Load(arrays[0], self.loop.var)
