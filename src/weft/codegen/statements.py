"""Printing of the statements that every target has, as C and as languages made from it."""

from __future__ import annotations

from ..ir import (
    Allocate,
    Array,
    Binary,
    Block,
    Call,
    Comment,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Set,
    Stmt,
    Store,
    Update,
    Var,
    While,
    walk,
)
from ..ir.traversal import assigned_names, statements
from ..ir.types import is_complex, is_pointer
from .c_expressions import Expressions
from .names import NameMaker
from .types import type_name

_SIMPLE = (Declare, Set, Store, Update)


class Statements:
    """Printer of the statements of a function with this body."""

    def __init__(self, body: Stmt, names: NameMaker, expressions: Expressions):
        self.names, self.expressions = names, expressions
        self.text_of = expressions.text
        self.changed = assigned_names(body)
        self.written = written_arrays(body)

    @property
    def calls(self) -> dict[str, None]:
        """Names of the C functions that the text calls, in the order of their first calls."""
        return self.expressions.calls

    def _writable(self, var: Var) -> bool:
        """Return whether something is written through a pointer."""
        return var.name in self.written

    def _nest(self, stmt: Stmt, depth: int) -> list[str]:
        return [*self._stmt(stmt, depth + 1), f"{'  ' * depth}}}"]

    def _stmt(self, stmt: Stmt, depth: int) -> list[str]:
        """Return the lines of a statement, indented by ``depth``."""
        pad, text = "  " * depth, self.text_of
        if type(stmt) in _SIMPLE:
            return self._simple(stmt, pad)
        match stmt:
            case Block(stmts):
                return [line for s in stmts for line in self._stmt(s, depth)]
            case If(cond, then, orelse):
                lines = [f"{pad}if ({text(cond)}) {{", *self._stmt(then, depth + 1)]
                while isinstance(orelse, If):  # a chain of branches is printed flat
                    lines += [f"{pad}}} else if ({text(orelse.cond)}) {{", *self._stmt(orelse.then, depth + 1)]
                    orelse = orelse.orelse
                if orelse is not None:
                    lines += [f"{pad}}} else {{", *self._stmt(orelse, depth + 1)]
                return [*lines, f"{pad}}}"]
            case While(cond, body):
                return [f"{pad}while ({text(cond)}) {{", *self._nest(body, depth)]
            case For():
                return self._loop(stmt, depth)
        return self._simple(stmt, pad)

    def _loop(self, stmt: For, depth: int) -> list[str]:
        """Return the lines of a loop."""
        return [self._loop_head(stmt, "  " * depth, single=False), *self._nest(stmt.body, depth)]

    def _simple(self, stmt: Stmt, pad: str) -> list[str]:
        """Return the lines of a statement that contains no other statement."""
        text = self.text_of
        match stmt:
            case Declare(var, value):
                # A pointer through which nothing is written is one to constants, as those of parameters are.
                const = "const " if is_pointer(var.ty) and not self._writable(var) else ""
                space = "" if is_pointer(var.ty) else " "
                start = "" if value is None else f" = {text(value)}"
                return [f"{pad}{const}{type_name(var.ty)}{space}{self.names.name(var.name)}{start};"]
            case Set(var, value):
                return [f"{pad}{self.names.name(var.name)} = {text(value)};"]
            case Store(array, index, value):
                return [f"{pad}{text(Load(array, index))} = {text(value)};"]
            case Update(op, target, value):
                return [pad + self._update(op, target, value)]
            case Array(var, size):
                return [f"{pad}{type_name(var.ty[:-1])} {self.names.name(var.name)}[{size}];"]
            case Evaluate(call):
                return [f"{pad}(void){text(call, 14)};" if call.ty != "void" else f"{pad}{text(call)};"]
            case Comment(words):
                return [f"{pad}/* {line.replace('*/', '* /').replace('/*', '/ *')} */" for line in words.splitlines()]
        raise TypeError(f"not a statement: {stmt!r}")

    def _update(self, op: str, target: Var | Load, value: Expr) -> str:
        place, text = self.text_of(target), self.text_of
        # Operations that C computes in another way: see ``c_expressions``.
        if op == "*" and is_complex(target.ty):
            return f"{place} = {text(Binary('*', target, value))};"
        if target.ty == "bool":
            op = {"+": "|", "*": "&"}.get(op, op)
        if op in "+-" and isinstance(value, Const) and type(value.value) is int and value.value == 1:
            return f"{place}{op}{op};"
        return f"{place} {op}= {text(value)};"

    def _loop_head(self, loop: For, pad: str, single: bool) -> str:
        """Return the head of a loop.

        If ``single``, the head has the form that ``omp simd`` requires, whose end the directive evaluates once.
        """
        name, stop = self.names.name(loop.var.name), self.text_of(loop.stop)
        head = f"{pad}for ({type_name(loop.var.ty)} {name} = {self.text_of(loop.start)}"
        step = f"{name}++" if loop.step is None else f"{name} += {self.text_of(loop.step)}"
        # An end that cannot change during the loop may be evaluated before each iteration; others have a variable.
        fixed = all(type(n) not in (Load, Call) and getattr(n, "name", "") not in self.changed for n in walk(loop.stop))
        if single or fixed:
            least = self.text_of(loop.stop, 12)
            return f"{head}; {name} < {least}; {step}) {{"
        end = self.names.name(f"{loop.var.name} end", f"{loop.var.name}_end")
        return f"{head}, {end} = {stop}; {name} < {end}; {step}) {{"


def written_arrays(body: Stmt) -> set[str]:
    """Return the names of the pointers through which ``body`` may write, and of those from which they derive."""
    names: set[str] = set()
    sources: list[tuple[str, set[str]]] = []
    for node in statements(body):
        match node:
            case Store(array) | Update(_, Load(array)):
                names |= _pointers(array)
            case Evaluate(call):
                for arg in call.args:
                    names |= _pointers(arg)
            case Allocate(var) | Array(var):
                names.add(var.name)
            case Declare(var, value) | Set(var, value) if is_pointer(var.ty) and value is not None:
                sources.append((var.name, _pointers(value)))
    # In reverse, so that a chain of pointers is followed back to its first one.
    for name, origins in reversed(sources):
        if name in names:
            names |= origins
    return names


def _pointers(expr: Expr) -> set[str]:
    """Return the names of the pointer variables in ``expr``, or none if ``expr`` is not a pointer."""
    return {n.name for n in walk(expr) if isinstance(n, Var) and is_pointer(n.ty)} if is_pointer(expr.ty) else set()


def filled(start: str, name: str, args: list[str], end: str, width: int = 100) -> str:
    """Return a call, the head of a function, or a struct, broken into lines after commas."""
    line, lines = f"{start}{name}", []
    indent = " " * (len(start) - len(start.lstrip(" ")) + 4)
    for position, arg in enumerate(args):
        piece = arg + (", " if position < len(args) - 1 else "")
        if len(line) + len(piece) > width:
            lines.append(line.rstrip(" "))
            line = indent
        line += piece
    return "\n".join([*lines, f"{line}{end}"])
