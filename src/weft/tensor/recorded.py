"""Recorded expressions: index notation that operators and functions of lazy tensors extend, and that runs later.

A recorded expression has a variable for each axis. An operator renames the variables of its operands where axes meet,
so that broadcasting, transposing and adding axes of size 1 are other orders of variables. An axis of size 1 that
another operand stretches has no variable in the expression.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

from .. import execution
from ..config import config
from ..dtypes import same_scalar
from ..errors import DTypeError, ShapeError, UnsupportedError, WeftError
from ..index_notation import accesses, explicit_sums, free_variables, infer_extents, rename_variables, result_dtype
from ..index_notation.dtype_promotion import loop_dtypes
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.operator_table import ABSORBING, OPERATORS
from ..index_notation.standard_names import canonical, standard
from ..index_notation.traversal import outermost_reductions, rewrite, rewrite_outermost, walk
from ..operations.axes import reduced_axes
from ..operations.elementwise import as_number, known_number, scalar_beside, telling, without_axes
from ..operations.indexing import expanded
from ..operations.operands import Operand, is_number, makes_array, operand_anywhere
from ..records import cached, record, replace
from ..runtime import memory
from ..storage import Storage

LARGEST = 64
"""Nodes of an expression beyond which it becomes a statement of its own, which others read."""
_BYTES = 24
"""Bytes that an element of a result may take, with its coordinates."""
_names = itertools.count()


def _variable() -> str:
    return f"v{next(_names)}"


@record
class Argument:
    """An argument of a function, in the place of the objects with which it will be called."""

    place: int


@record
class Source:
    """An object that an expression reads when it runs."""

    of: Any  # a tensor, an array, the storage of a number, an expression that is computed before, or its name
    without: tuple[int, ...] = ()  # axes of size 1 that are left out
    is_number: bool = False  # whether it stretches along all axes, so that its value decides a fill value

    def storage(self) -> Storage:
        """Return the present storage."""
        operand = Operand(self.of, False) if isinstance(self.of, Storage) else operand_anywhere(self.of)
        if operand is None:
            raise UnsupportedError(
                "a function of fused(static=True) runs before there are values, and asks for some: for an if, a number "
                "or a function that is not recorded; without static=True they are computed then"
            )
        return operand.storage


@record
class Recorded:
    """An expression, and what is known of its result before it runs."""

    expr: Expr
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    sources: Mapping[str, Source]
    fill: Any  # the fill value, as far as it is known; None for arrays
    size: int  # nodes of the expression
    is_array: bool  # whether a dense result is an array, or a number if it has no axes
    line: str  # where it was written
    before: tuple[Any, ...] = ()  # references to lazy tensors that are read, and to those that they read

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def turned(self, order: Sequence[int]) -> Recorded:
        """Return the expression with its axes in another order."""
        return replace(self, axes=tuple([self.axes[k] for k in order]), shape=tuple([self.shape[k] for k in order]))

    def with_axes(self, places: Sequence[int]) -> Recorded:
        """Return the expression with axes of size 1 at some places of the result."""
        axes, shape = iter(self.axes), iter(self.shape)
        n = self.ndim + len(places)
        return replace(
            self,
            axes=tuple([_variable() if k in places else next(axes) for k in range(n)]),
            shape=tuple([1 if k in places else next(shape) for k in range(n)]),
        )

    def diagonal(self) -> Recorded:
        """Return the diagonal of a square matrix."""
        i, j = self.axes
        both = {*free_variables(self.expr)} >= {i, j}  # else an axis of size 1 has no variable
        axes = (i,) if both or i in free_variables(self.expr) else (j,)
        expr = rename_variables(self.expr, {j: i}) if both else self.expr
        return replace(self, expr=expr, axes=axes, shape=self.shape[:1])

    def without(self, variables: Sequence[str]) -> Recorded:
        """Return the expression with some axes of size 1 left out of its operands."""
        sources = dict(self.sources)

        def narrowed(node: Expr) -> Expr | None:
            if not isinstance(node, Access) or not (gone := [k for k, v in enumerate(node.indices) if v in variables]):
                return None
            source = self.sources[node.tensor]
            name = f"{node.tensor}_{'_'.join(map(str, gone))}"
            left = [k for k in range(len(node.indices) + len(source.without)) if k not in source.without]
            sources[name] = replace(source, without=(*source.without, *[left[k] for k in gone]))
            return Access(name, tuple([v for v in node.indices if v not in variables]))

        expr = rewrite(self.expr, narrowed)
        read = {a.tensor for a in accesses(expr)}
        return replace(self, expr=expr, sources={name: s for name, s in sources.items() if name in read})

    def apart(self) -> Recorded:
        """Return the expression as a statement of its own, which is computed before."""
        free = free_variables(self.expr)
        kept = [k for k, v in enumerate(self.axes) if v in free]
        part = replace(self, axes=tuple([self.axes[k] for k in kept]), shape=tuple([self.shape[k] for k in kept]))
        result = leaf(part, part.shape, self.dtype, self.fill, self.is_array)
        result = result.with_axes([k for k in range(self.ndim) if k not in kept])
        return replace(result, line=self.line, before=self.before)

    @property
    def is_planned(self) -> bool:
        """True if the expression is for arguments that are not there yet."""
        return any(
            type(s.of) is Argument or (type(s.of) is Recorded and s.of.is_planned) for s in self.sources.values()
        )

    def reduced(self, op: str, axis: Any, keepdims: bool) -> Recorded:
        """Return a reduction over some axes."""
        over = reduced_axes(axis, self.ndim)
        if not math.prod(self.shape[k] for k in over) and not OPERATORS[op].has_identity:
            raise ShapeError(f"zero-size array to reduction operation {op} which has no identity")
        free = free_variables(self.expr)
        bound = {self.axes[k]: _variable() for k in over if self.axes[k] in free}
        expr = Reduce(op, tuple(bound.values()), rename_variables(self.expr, bound)) if bound else self.expr
        left = [k for k in range(self.ndim) if k not in over]
        result = replace(
            self,
            expr=expr,
            axes=tuple([self.axes[k] for k in left]),
            shape=tuple([self.shape[k] for k in left]),
            dtype=result_dtype(Reduce(op, ("i",), Access("A", ("i",))), {"A": self.dtype}),
            fill=0 if left and op == "add" and self.fill == 0 else None,
            size=self.size + 1,
            is_array=self.is_array or not (left or (keepdims and over)),
            line=_line(),
        )
        return result.with_axes(over) if keepdims else result


def _as_number(node: Recorded) -> Recorded:
    """Return an expression without axes as an operand that is a number, computed before unless it exists."""
    if not isinstance(node.expr, Access):
        node = node.apart()
    ((tensor, source),) = node.sources.items()
    name = f"{tensor}_n"  # beside other operands, it is none
    return replace(node, expr=Access(name), sources={name: replace(source, is_number=True)})


def _line() -> str:
    """Return the place in the user's code that is running."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == __package__[:4]:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def leaf(obj: Any, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Any, is_array: bool) -> Recorded:
    """Return the expression that is an object itself."""
    axes = tuple([_variable() for _ in shape])
    name = f"x{id(obj)}"
    if isinstance(obj, Storage) and not shape:  # equal numbers are one, if both tell their value or neither does
        name = f"{obj.dtype}{obj.vals[0]!r}{obj.type.fill}"
    return Recorded(Access(name, axes), axes, shape, dtype, {name: Source(obj)}, fill, 1, is_array, _line())


def leaf_of(obj: Any) -> Recorded | None:
    """Return the expression that is a tensor or an array itself; None for objects of other kinds."""
    operand = Operand(obj, False) if isinstance(obj, Storage) else operand_anywhere(obj)
    if operand is None:
        return None
    storage = operand.storage
    fill = None if storage.format.is_dense else storage.type.fill
    return leaf(
        storage if isinstance(obj, (list, tuple)) else obj, storage.shape, storage.dtype, fill, operand.is_array
    )


def _number(op: str, value: Any, beside: Recorded, first: bool) -> tuple[str, Recorded]:
    """Return the operator and a number beside an expression: an operand, so that other numbers run the same kernel."""
    if isinstance(value, (bool, np.bool_)):
        return op, _known(np.bool_(value))
    operand = scalar_beside(op, value, beside.dtype, first)
    number = operand.vals[0]
    told = _told(op, number, beside, first)
    if told is None:  # the fill value of the result follows from the number, and perhaps its structure, as in A != 0
        if number == 0:
            return op, _known(number)
        operand = telling(operand)
    node = replace(leaf(operand, (), operand.dtype, None, True), fill=number)
    return told or op, _as_number(node) if beside.fill is None and beside.shape else node


def _known(number: np.generic) -> Recorded:
    """Return a number that tells its value."""
    known = known_number(number)
    if isinstance(known, Literal):
        return Recorded(known, (), (), number.dtype, {}, known.value, 1, True, "")
    return replace(leaf(known, (), number.dtype, None, True), fill=number)


def _told(op: str, number: Any, beside: Recorded, first: bool) -> str | None:
    """Return the operator that is told what absent entries give beside a number; None if that depends on the number."""
    fill = beside.fill
    if fill is None or (op == "multiply" and fill == 0):
        return op
    if number == 0:
        return None
    own = beside.dtype.type(fill)
    with np.errstate(all="ignore"):
        result = OPERATORS[op].ufunc(*((number, own) if first else (own, number)))
    for near in OPERATORS[op].near(int(first), fill):
        if same_scalar(result, fill if near.result is None else near.result):
            return ABSORBING[op][(int(first),), near.result]
    return None


def mapped(op: str, args: Sequence[Any], has_numbers: bool = True) -> Recorded:
    """Return an operator of expressions and numbers, which broadcast; with ``has_numbers`` one element is a number."""
    first = next(a for a in args if isinstance(a, Recorded))
    told, parts = op, list[Recorded]()
    for k, a in enumerate(args):
        if isinstance(a, Recorded):
            parts.append(a)
        elif OPERATORS[op].chooses:
            parts.append(_known(a))
        else:
            told, number = _number(op, a, first, k == 0)
            parts.append(number)
    try:
        shape = np.broadcast_shapes(*[p.shape for p in parts])
    except ValueError:
        raise ShapeError(f"{op}: shapes do not broadcast: {' and '.join(str(p.shape) for p in parts)}") from None
    lead = next((p for p in parts if p.shape == shape), None)
    axes = tuple([_variable() for _ in shape]) if lead is None else lead.axes
    exprs, sources, fills = list[Expr](), dict[str, Source](), list[Any]()
    for p in parts:
        offset = len(shape) - p.ndim
        stretched = [v for k, v in enumerate(p.axes) if p.shape[k] != shape[k + offset]]
        beside = has_numbers and is_number(p.shape, shape) and bool(p.shape or p.fill is None)
        fills.append(None if beside else p.fill)
        gone = p.axes if beside else stretched
        if gone and not {*gone}.isdisjoint(free_variables(p.expr)):
            p = p.without(gone)
        if beside:
            p = _as_number(p)
        names = {v: axes[k + offset] for k, v in enumerate(p.axes) if v not in stretched}
        exprs.append(p.expr if p is lead else rename_variables(p.expr, names))
        sources |= p.sources
    places: dict[Expr, Expr] = {Access("ABC"[k]): e for k, e in enumerate(exprs)}
    dtypes = {"ABC"[k]: p.dtype for k, p in enumerate(parts)}
    plain = Apply(told, tuple(places))
    literals = {place: e for place, e in places.items() if isinstance(e, Literal)}
    expr, dtype = rewrite(with_literals(plain, literals, dtypes) or plain, places.get), result_dtype(plain, dtypes)
    fill, size = _fill(op, parts, fills) if shape else None, sum(p.size for p in parts) + 1
    before = {id(b): b for p in parts for b in p.before if b() is not None}
    kinds = [(p.ndim, p.is_array) for p in parts]
    return Recorded(expr, axes, shape, dtype, sources, fill, size, makes_array(kinds), _line(), tuple(before.values()))


def with_literals(node: Expr, literals: Mapping[Expr, Expr], dtypes: Mapping[str, np.dtype[Any]]) -> Expr | None:
    """Return an operator with literals for some numbers; the others get dtypes that a wider number gives them."""
    if not isinstance(node, Apply) or literals.keys().isdisjoint(node.args):
        return None
    told = replace(node, args=tuple([literals.get(a, a) for a in node.args]))
    with suppress(DTypeError):  # beside a literal there may be no dtype
        if result_dtype(told, dtypes) == result_dtype(node, dtypes):
            return told
    own = [result_dtype(a, dtypes) for a in node.args]
    kinds = zip(told.args, own, loop_dtypes(node.op, tuple(own)), strict=False)
    args = [a if isinstance(a, Literal) or d == to else Apply(to.name, (a,)) for a, d, to in kinds]
    return replace(told, args=tuple(args))


def _fill(op: str, parts: Sequence[Recorded], fills: Sequence[Any]) -> Any:
    """Return the fill value of an operator's result, as far as it is known."""
    if op in ("multiply", "select") and any(fill is not None and fill == 0 for fill in fills):
        return 0
    if fills[0] is not None and (chosen := OPERATORS[op].chosen(fills[0])) is not None:
        return fills[chosen]
    if any(fill is None for fill in fills):
        return 0 if op == "divide" and fills[0] == 0 else None
    with np.errstate(all="ignore"):
        return OPERATORS[op].ufunc(*[p.dtype.type(fill) for p, fill in zip(parts, fills, strict=True)])


def substituted(assignment: Assignment, operands: Mapping[str, Recorded]) -> Recorded:
    """Return an assignment of which the operands are expressions."""
    extents = infer_extents(assignment, {name: node.shape for name, node in operands.items()})
    fresh = {v: _variable() for v in extents}

    def inserted(node: Expr) -> Expr | None:
        match node:
            case Access(tensor=tensor, indices=indices):
                places = [fresh[v] for v in indices]
                return rename_variables(operands[tensor].expr, dict(zip(operands[tensor].axes, places, strict=True)))
            case Reduce(op=op, vars=vars, body=body):
                read = free_variables(body)
                bound = tuple([fresh[v] for v in vars if fresh[v] in read])
                return Reduce(op, bound, body) if bound else body
        return None

    explicit, parts = explicit_sums(assignment), [*operands.values()]
    dtype = result_dtype(explicit.value, {name: node.dtype for name, node in operands.items()})
    target = assignment.target.indices
    return Recorded(
        rewrite(explicit.value, inserted), tuple([fresh[v] for v in target]), tuple([extents[v] for v in target]),
        dtype, {name: s for p in parts for name, s in p.sources.items()}, None, sum(p.size for p in parts),
        not target or makes_array([(p.ndim, p.is_array) for p in parts]), _line(),
        tuple({id(b): b for p in parts for b in p.before}.values()),
    )  # fmt: skip


def product(a: Recorded, b: Recorded) -> Recorded:
    """Return ``a @ b`` by the rules of ``numpy.matmul``."""
    if not (isinstance(a, Recorded) and isinstance(b, Recorded) and a.shape and b.shape):
        raise ShapeError("matmul: an operand is a scalar; use * instead")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ShapeError(f"matmul: the inner sizes differ: {a.shape} @ {b.shape}")
    if b.ndim > 1:  # rows and columns get axes of their own, and the inner axes are last
        b = b.turned((*range(b.ndim - 2), b.ndim - 1, b.ndim - 2))
        if a.ndim > 1:
            a, b = a.with_axes((a.ndim - 1,)), b.with_axes((b.ndim - 2,))
    return mapped("multiply", (a, b), has_numbers=False).reduced("add", -1, False)


# -- running --------------------------------------------------------------------------------------------------------
@record
class Statement:
    """An assignment of a program of lazy tensors, under standard names."""

    name: str
    assignment: Assignment
    reads: Mapping[str, Source]  # what the names of operands stand for
    ones: tuple[int, ...]  # axes of size 1 of the result that the assignment does not have
    line: str
    elements: int  # those of the result, as far as its shape is known
    numbers: tuple[str, ...] = ()  # operands that are numbers

    def storages(self, values: Mapping[str, Storage], arguments: Sequence[Storage] = ()) -> dict[str, Storage]:
        """Return the operands: results of earlier statements, arguments of a function, and what objects are now."""
        operands = dict[str, Storage]()
        for name, source in self.reads.items():
            of = source.of
            kind = of.__class__
            if kind is Storage:
                storage = of
            elif kind is str:
                storage = values[of]
            else:
                storage = arguments[of.place] if kind is Argument and arguments else source.storage()
            if source.without:
                storage = as_number(storage) if source.is_number else without_axes(storage, [*source.without])
            operands[name] = storage
        return operands

    def result(self, storages: Mapping[str, Storage]) -> Storage:
        """Compute the statement, without the axes of size 1."""
        value, target = self.assignment.value, self.assignment.target.indices
        if isinstance(value, Access) and sorted(value.indices) == sorted(target):
            order = tuple([value.indices.index(v) for v in target])
            (storage,) = storages.values()
            return storage if order == tuple(range(len(order))) else storage.permuted(order)
        with self._noted():
            return execution.evaluate(*self._with_numbers(storages), spelling="lazy")

    def _with_numbers(self, storages: Mapping[str, Storage]) -> tuple[Assignment, Mapping[str, Storage]]:
        """Let numbers tell their values if the result is sparse then, with a fill value that follows from them."""
        plain = self.assignment, storages
        if not self.numbers or all(s.format.is_dense or s.is_on_device for s in storages.values()):
            return plain
        usual, values = execution.expected_type(*plain), {name: storages[name].vals[0] for name in self.numbers}
        # Beside a negative number, a fill value of zero may have the other sign.
        if not usual.format.is_dense and (usual.fill != 0 or all(x >= 0 for x in values.values())):
            return plain
        # Zeros are a part of the expression, since they decide more than a fill value.
        zeros: dict[Expr, Expr] = {Access(name): Literal(x.item()) for name, x in values.items() if x == 0}
        told = partial(with_literals, literals=zeros, dtypes={name: s.dtype for name, s in storages.items()})
        assignment = replace(self.assignment, value=rewrite(self.assignment.value, told)) if zeros else plain[0]
        known = {**storages, **{name: telling(storages[name]) for name, x in values.items() if x != 0}}
        return plain if execution.expected_type(assignment, known).format.is_dense else (assignment, known)

    def expected(self, values: Mapping[str, Storage], arguments: Sequence[Storage]) -> Storage | None:
        """Return what stands for the result before it is computed, if that is known; raise if it is too large."""
        before = [source for source in self.reads.values() if source.of.__class__ is str]
        if any(source.without or source.of not in values for source in before):
            return None
        with self._noted():
            storages = self.storages(values, arguments)
            if self.numbers and before:  # their values are not known yet
                return None
            return execution.expected(*self._with_numbers(storages), not before, spelling="lazy")

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Tell in errors where the expression was written."""
        try:
            yield
        except WeftError as error:
            error.add_note(f"the expression was written in {self.line}")
            raise


def run(nodes: Sequence[Recorded]) -> list[Storage]:
    """Compute expressions, and what they have in common once."""
    return run_statements(statements(nodes), len(nodes))


def run_statements(program: Sequence[Statement], count: int, arguments: Sequence[Storage] = ()) -> list[Storage]:
    """Return the results of a program, which are its statements of the names ``r0``, ``r1`` and so on."""
    values, results = dict[str, Storage](), dict[str, Storage]()
    # What is too large is refused before anything is computed.
    if len(program) > 1 and _BYTES * max([s.elements for s in program]) > min(memory.CHECKED, config.max_densify_bytes):
        for statement in program:
            if (result := statement.expected(values, arguments)) is not None:
                values[statement.name] = result
    for statement in program:
        result = values[statement.name] = statement.result(statement.storages(values, arguments))
        results[statement.name] = expanded(result, statement.ones)
    return [results[f"r{k}"] for k in range(count)]


def statements(nodes: Sequence[Recorded]) -> list[Statement]:
    """Return the statements that compute expressions, in the order in which they run."""
    named = {f"r{k}": node for k, node in enumerate(nodes)}
    sources, waiting = dict[str, Source](), [*nodes]
    while waiting:
        for name, source in waiting.pop().sources.items():
            if isinstance(source.of, Recorded):
                before = f"x{id(source.of)}"
                if before not in named:
                    named[before] = source.of
                    waiting.append(source.of)
                source = replace(source, of=before)
            sources[name] = source
    values = {name: (node.expr, node.axes) for name, node in named.items()}
    if len(values) > 1:
        _share(values)
    program, left = list[Statement](), dict(values)

    def reads(expr: Expr) -> set[str]:
        return {s.of if (s := sources.get(a.tensor)) and type(s.of) is str else a.tensor for a in accesses(expr)}

    while left:
        name = next(n for n, (e, _) in left.items() if reads(e).isdisjoint(left))
        expr, axes = left.pop(name)
        free = free_variables(expr)
        plain, names = standard(Assignment(Access("C", tuple([v for v in axes if v in free])), expr))
        operands = {new: sources.get(old) or Source(old) for old, new in names.items()}
        ones = tuple([k for k, v in enumerate(axes) if v not in free])
        node = named.get(name)
        line, elements = (named["r0"].line, 0) if node is None else (node.line, math.prod(node.shape))
        numbers = tuple([name for name, source in operands.items() if source.is_number])
        program.append(Statement(name, plain, operands, ones, line, elements, numbers))
    return program


@record
class Part:
    """A part of an expression that may occur in others, with other variables."""

    expr: Expr

    @cached
    def canonical(self) -> tuple[Expr, tuple[str, ...]]:
        """Return the part with standard variables, and the variables that it has for them."""
        return canonical(self.expr)

    @cached
    def size(self) -> int:
        """Return the number of nodes."""
        return len(walk(self.expr))

    def variables_of(self, node: Expr) -> tuple[str, ...] | None:
        """Return the variables of an equal part, in the order of those of this one; None for another part."""
        if type(node) is not type(self.expr) or len(walk(node)) != self.size:
            return None
        other, variables = canonical(node)
        return variables if other == self.canonical[0] else None

    def replaced(self, expr: Expr, name: str, axes: Sequence[str]) -> Expr:
        """Return an expression with accesses to a tensor of some axes in the place of the part."""
        mine = self.canonical[1]

        def access(node: Expr) -> Expr | None:
            theirs = self.variables_of(node)
            return None if theirs is None else Access(name, tuple([theirs[mine.index(v)] for v in axes]))

        return rewrite_outermost(expr, access)


def _share(values: dict[str, tuple[Expr, tuple[str, ...]]]) -> None:
    """Make statements of reductions that several results have, and let results read others that they contain."""
    exprs = [expr for expr, _ in values.values()]
    exprs += [part for expr in exprs for part in outermost_reductions(expr)]
    for part in sorted([Part(e) for e in exprs if e.children], key=lambda part: -part.size):
        users = [n for n, (e, _) in values.items() if any(part.variables_of(node) is not None for node in walk(e))]
        if len(users) < 2:
            continue
        name = next((n for n in users if part.variables_of(values[n][0]) is not None), f"t{len(values)}")
        owner, axes = values.setdefault(name, (part.expr, part.canonical[1]))
        free = free_variables(owner)
        for user in users:
            if user != name:
                expr, own = values[user]
                values[user] = Part(owner).replaced(expr, name, [v for v in axes if v in free]), own
