"""Simplifier of functions: one pass down and one pass back up, which change no result.

The pass down folds integer index arithmetic and conditions. It replaces a branch with a constant condition by the side
that is taken, drops loops without iterations, and replaces variables that are copies of a constant or of a variable.
The pass up drops declarations, assignments and loops without an effect.

No rule folds floating-point arithmetic, because ``x * 0.0`` may be NaN or ``-0.0``, ``-0.0 + 0.0`` is ``0.0``,
``x - x`` may be NaN and so on. Integers wrap around, as in the printed C.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from ...records import replace
from .. import nodes as ir
from ..traversal import Node, declared_here, rebuild, variables, with_body
from ..types import INTEGERS, wrap
from .constant_folding import FALSE, TRUE, fold_binary, fold_unary


def simplify(function: ir.Function) -> ir.Function:
    """Return a function with the same effects and fewer nodes."""
    down = _Down(function)
    out: list[ir.Stmt] = []
    down.stmt(function.body, out)
    body = _up(_as_before(function.body, out), set(), down.reads)
    return with_body(function, body or ir.Block())


def simplify_expression(expr: ir.Expr) -> ir.Expr:
    """Return an expression with its integer arithmetic and its conditions folded."""
    return _Down(None).expr(expr)


class _Down:
    """State of the pass down, which folds expressions, copies and branches.

    ``names`` maps the name of each copy to the constant or the variable of which it is a copy. A variable replaces
    no copy if it is assigned anew, or if an inner variable of the same name might hide it.
    """

    def __init__(self, function: ir.Function | None):
        self.names: dict[str, ir.Expr] = {}
        self.changed: set[str] = set()
        self.declared: dict[str, int] = {}
        self.hidden: set[str] = set()
        self.reads: set[str] = set()
        if function is not None:
            active = {v.name for p in function.params for v in (*p.dimensions, *p.arrays, p.vals)}
            self.declared.update(dict.fromkeys(active, 1))
            self._survey(function.body, active)
        # Variables that may have another value, or be another variable, at the place of a copy.
        self.unsure = self.changed | self.hidden

    def _survey(self, stmt: ir.Stmt, active: set[str]) -> None:
        """Record the names that are declared, assigned or hidden by another; ``active`` are the names in scope."""
        # A statement with a scope of its own gets a copy of ``active``; a block declares in the enclosing scope.
        match stmt:
            case ir.Block(stmts):
                for s in stmts:
                    self._survey(s, active)
            case ir.Declare(var) | ir.Allocate(var) | ir.Array(var):
                self._declare(var.name, active)
            case ir.Set(ir.Var(name)) | ir.Update(_, ir.Var(name)) | ir.Free(ir.Var(name)):
                self.changed.add(name)
            case ir.For(var, _, _, body):
                inside = set(active)
                self._declare(var.name, inside)
                self._survey(body, inside)
            case ir.If(_, then, orelse):
                self._survey(then, set(active))
                if orelse is not None:
                    self._survey(orelse, set(active))
            case ir.While(_, body):
                self._survey(body, set(active))
            case ir.Parallel(_, prologue, loop, epilogue):
                inside = set(active)
                for s in (prologue, loop, epilogue):
                    self._survey(s, inside)

    def _declare(self, name: str, active: set[str]) -> None:
        self.declared[name] = self.declared.get(name, 0) + 1
        if name in active:
            self.hidden.add(name)
        active.add(name)

    # Expressions

    def expr(self, e: ir.Expr) -> ir.Expr:
        """Return ``e`` folded, with copies replaced by their originals."""
        # Variables and constants are most of the nodes, and are tested first. Unchanged nodes are not copied.
        cls = type(e)
        if cls is ir.Var:
            e = self.names.get(e.name, e)  # type: ignore[attr-defined]
            if type(e) is ir.Var:
                self.reads.add(e.name)
            return e
        if cls is ir.Const:
            return e
        if cls is ir.Load:
            x, y = self.expr(e.array), self.expr(e.index)  # type: ignore[attr-defined]
            return e if x is e.array and y is e.index else ir.Load(x, y)  # type: ignore[attr-defined]
        match e:
            case ir.Binary(op, a, b):
                x, y = self.expr(a), self.expr(b)
                return fold_binary(op, x, y) or (e if x is a and y is b else ir.Binary(op, x, y))
            case ir.Cast(a, ty):
                x = self.expr(a)
                if x.ty == ty:
                    return x
                if type(x) is ir.Const and x.ty in INTEGERS and ty in INTEGERS:
                    return ir.Const(wrap(int(x.value), ty), ty)  # type: ignore[arg-type]
                return e if x is a else ir.Cast(x, ty)
            case ir.Unary(op, a):
                x = self.expr(a)
                return fold_unary(op, x) or (e if x is a else ir.Unary(op, x))
            case ir.Select(cond, a, b):
                c = self.expr(cond)
                if type(c) is ir.Const:
                    return self.expr(a if c.value else b)
                x, y = self.expr(a), self.expr(b)
                return e if c is cond and x is a and y is b else ir.Select(c, x, y)
            case ir.Call(name, args, ty):
                new = tuple([self.expr(a) for a in args])
                return e if all(map(is_, args, new)) else ir.Call(name, new, ty)
        raise TypeError(f"not an expression: {e!r}")

    # Statements

    def scope(self, stmt: ir.Stmt) -> ir.Stmt:
        """Rewrite a statement in a scope of its own."""
        names, self.names = self.names, dict(self.names)
        out: list[ir.Stmt] = []
        self.stmt(stmt, out)
        self.names = names
        return _as_before(stmt, out)

    def bind(self, name: str) -> None:
        """Enter a declaration of ``name``, which hides an outer copy of that name."""
        if name in self.names:
            self.names = {k: v for k, v in self.names.items() if k != name}

    def loop(self, loop: ir.For, start: ir.Expr, stop: ir.Expr) -> ir.For:
        """Return a loop with new bounds and its body rewritten."""
        self.bind(loop.var.name)
        body = self.scope(loop.body)
        same = start is loop.start and stop is loop.stop and body is loop.body
        return loop if same else replace(loop, start=start, stop=stop, body=body)

    def stmt(self, s: ir.Stmt, out: list[ir.Stmt]) -> None:
        """Rewrite ``s`` and append the result to ``out``."""
        match s:
            case ir.Block(stmts):
                for inner in stmts:
                    self.stmt(inner, out)
            case ir.For(_, start, stop):
                first, last = self.expr(start), self.expr(stop)
                if fold_binary("<", first, last) == FALSE:
                    return
                before_loop = self.names  # the loop variable hides a copy of its name in the loop only
                out.append(self.loop(s, first, last))
                self.names = before_loop
            case ir.If(cond, then, orelse):
                self.branch(s, self.expr(cond), then, orelse, out)
            case ir.While(cond, body):
                new = self.expr(cond)
                if new != FALSE:
                    inner = self.scope(body)
                    out.append(s if new is cond and inner is body else ir.While(new, inner))
            case ir.Parallel():
                out.append(self.parallel(s))
            case _:
                self.simple(s, out)

    def simple(self, s: ir.Stmt, out: list[ir.Stmt]) -> None:
        """Rewrite a statement that contains no other statement and append the result to ``out``."""
        match s:
            case ir.Declare(var, value):
                new = None if value is None else self.expr(value)
                self.bind(var.name)
                # The declaration of a copy is dropped: uses of the copy become uses of its original.
                if var.name not in self.changed and (
                    type(new) is ir.Const or (type(new) is ir.Var and new.name not in self.unsure)
                ):
                    self.names[var.name] = new
                    return
                out.append(s if new is value else ir.Declare(var, new))
            case ir.Set(var, value):
                new = self.expr(value)
                out.append(s if new is value else ir.Set(var, new))
            case ir.Store() | ir.Evaluate() | ir.Return():
                out.append(rebuild(s, self.expr))  # type: ignore[arg-type]
            case ir.Update(op, target, value):
                new = self.expr(value)
                place = self.expr(target) if type(target) is ir.Load else target
                # An update by the integer 0 has no effect.
                if not (new.ty in INTEGERS and type(new) is ir.Const and new.value == 0 and op in "+-|^"):
                    out.append(s if new is value and place is target else ir.Update(op, place, new))  # type: ignore[arg-type]
            case ir.Allocate(var, size, zero):
                new = self.expr(size)
                self.bind(var.name)
                out.append(s if new is size else ir.Allocate(var, new, zero))
            case ir.Array(var):
                self.bind(var.name)
                out.append(s)
            case ir.Scan(start=start, stop=stop, first=first):
                first = None if first is None else self.expr(first)
                out.append(replace(s, start=self.expr(start), stop=self.expr(stop), first=first))
            case _:
                out.append(s)

    def parallel(self, s: ir.Parallel) -> ir.Parallel:
        """Return a parallel region rewritten.

        The loop and the epilogue see the copies of the prologue. The statements after the region see no copy of it.
        """
        threads = self.expr(s.threads)
        outside, self.names = self.names, dict(self.names)
        before: list[ir.Stmt] = []
        after: list[ir.Stmt] = []
        first, last = self.expr(s.loop.start), self.expr(s.loop.stop)
        self.stmt(s.prologue, before)
        prologue_names, self.names = self.names, dict(self.names)
        loop = self.loop(s.loop, first, last)
        self.names = prologue_names
        self.stmt(s.epilogue, after)
        self.names = outside
        return ir.Parallel(threads, ir.Block(tuple(before)), loop, ir.Block(tuple(after)))

    def branch(self, s: ir.If, cond: ir.Expr, then: ir.Stmt, orelse: ir.Stmt | None, out: list[ir.Stmt]) -> None:
        """Rewrite a branching and append it to ``out``, or only the side that a constant condition takes."""
        if type(cond) is ir.Const:
            live = then if cond.value else orelse
            if live is None:
                return
            inner = self.scope(live)
            # The block is unwrapped if none of its declarations can clash with another one in the enclosing scope.
            if all(self.declared.get(var.name) == 1 for var in declared_here(inner)):
                out.extend(inner.stmts if type(inner) is ir.Block else (inner,))
            else:
                out.append(ir.If(TRUE, inner))
            return
        yes = self.scope(then)
        no = self.scope(orelse) if orelse is not None else None
        out.append(s if cond is s.cond and yes is then and no is orelse else ir.If(cond, yes, no))


def _as_before(old: ir.Stmt, new: Sequence[ir.Stmt]) -> ir.Stmt:
    """Return what became of a statement: the same object if nothing changed, or else a block."""
    if type(old) is not ir.Comment:  # a block of comments alone is dropped
        stmts = old.stmts if type(old) is ir.Block else (old,)
        if len(stmts) == len(new) and all(map(is_, stmts, new)):
            return old
    return ir.Block(tuple(new))


def _note(e: Node, used: set[str]) -> None:
    """Add the names that ``e`` reads to ``used``."""
    used.update([var.name for var in variables(e)])


def _up(s: ir.Stmt, used: set[str], reads: set[str]) -> ir.Stmt | None:
    """Return ``s`` without the parts that have no effect, or None if no part is left.

    ``used`` holds the names that the statements after ``s`` read; the names that ``s`` reads are added. ``reads`` holds
    the names that any statement reads. Assignments to other names are dropped.
    """
    match s:
        case ir.Block(stmts):
            # In reverse, since a declaration is kept only if a later statement reads its name.
            statements = [new for old in reversed(stmts) if (new := _up(old, used, reads)) is not None]
            if all(type(k) is ir.Comment for k in statements):
                return None
            return statements[0] if len(statements) == 1 else _as_before(s, statements[::-1])
        case ir.If():
            return _up_branches(s, used, reads)
        case ir.While(cond, body):
            inner = _up(body, used, reads)
            if inner is None:
                return None
            _note(cond, used)
            return s if inner is body else ir.While(cond, inner)
        case ir.For(start=start, stop=stop, body=body, simd=simd):
            inner = _up(body, used, reads)
            if inner is None:
                return None
            _note(start, used)
            _note(stop, used)
            if simd:  # reductions whose updates are dropped are not named, either
                simd = tuple([(op, name) for op, name in simd if name in reads])
            return s if inner is body and simd == s.simd else replace(s, body=inner, simd=simd)
        case ir.Parallel():
            return _up_parallel(s, used, reads)
    return s if _has_effect(s, used, reads) else None


def _up_branches(s: ir.If, used: set[str], reads: set[str]) -> ir.If | None:
    """Return a branching without the parts that have no effect, or None if no part is left.

    The condition is negated if only its other side is left.
    """
    cond = s.cond
    no = _up(s.orelse, used, reads) if s.orelse is not None else None
    yes = _up(s.then, used, reads)
    if yes is None and no is None:
        return None
    _note(cond, used)
    if yes is None:
        cond, yes, no = fold_unary("!", cond) or ir.Unary("!", cond), no or ir.Block(), None
    return s if cond is s.cond and yes is s.then and no is s.orelse else ir.If(cond, yes, no)


def _up_parallel(s: ir.Parallel, used: set[str], reads: set[str]) -> ir.Parallel | None:
    """Return a parallel region without the parts that have no effect, or None if no part is left."""
    # Last to first, as in a block, so that each part knows the names that later ones read.
    after = _up(s.epilogue, used, reads) or ir.Block()
    work = _up(s.loop.body, used, reads) or ir.Block()
    _note(s.loop.start, used)
    _note(s.loop.stop, used)
    before = _up(s.prologue, used, reads) or ir.Block()
    if (before, work, after) == (ir.Block(), ir.Block(), ir.Block()):
        return None
    _note(s.threads, used)
    return ir.Parallel(s.threads, before, replace(s.loop, body=work), after)


def _has_effect(s: ir.Stmt, used: set[str], reads: set[str]) -> bool:
    """Return whether to keep a statement that contains no other; if so, add the names that it reads to ``used``."""
    # A declaration is needed if its name is read later, an assignment if its name is read anywhere, for instance in the
    # next iteration of a loop. A kept assignment needs the declaration of its variable.
    match s:
        case ir.Declare(var, value):
            if var.name not in used:
                return False
            if value is not None:
                _note(value, used)
        case ir.Set(ir.Var(name), value) | ir.Update(_, ir.Var(name), value):
            if name not in reads:
                return False
            used.add(name)
            _note(value, used)
        case ir.Allocate(var, size):
            if var.name not in reads:
                return False
            _note(size, used)
        case ir.Array(var) | ir.Free(var):
            return var.name in reads
        case ir.Store() | ir.Update() | ir.Evaluate() | ir.Return() | ir.Poll() | ir.Scan():
            _note(s, used)
    return True
