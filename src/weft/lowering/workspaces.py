"""Workspaces: temporaries inside a kernel, allocated once for each thread.

- A ``scalar`` workspace is a variable.
- A ``dense`` workspace is an array that is filled before use.
- A ``list`` workspace is an array with flags and a list of the coordinates that were written. Its cost depends only on
  the number of written coordinates. The list is sorted for the consumer if that needs order.
- A ``hash`` workspace is a hash table with such a list, for dimensions too large for an array.
- A ``flags`` workspace is an array with a flag for each coordinate, and may be over several dimensions. It is used
  once, for a whole result of which most coordinates are expected to be written.
- A ``pairs`` workspace is a list of coordinates and a list of their values. It only sorts, and reduces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..concrete_notation.nodes import SMALL_WORKSPACE, Assign, Where, Workspace
from ..concrete_notation.traversal import foralls_of, result_of
from ..formats import Dense, Format, LevelVars, TensorType
from ..formats.tensor_vars import TensorVars
from ..formats.workspace_levels import Listed, ListedHashed, Marked, Paired
from ..index_notation.operator_table import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import block, cast, eq, gt, if_, increment, lit, not_, product, sub
from ..ir.passes.simplify import simplify_expression
from ..remapping import Remapping
from .environment import Environment
from .function_kind import FunctionKind
from .scalar_expressions import lower_expr, update

if TYPE_CHECKING:
    from .lowerer import Lowerer

_LEVELS = {
    "dense": Dense(), "scalar": Dense(), "list": Listed(), "hash": ListedHashed(), "flags": Marked(),
    "pairs": Paired(),
}  # fmt: skip
LISTED = ("list", "hash", "flags", "pairs")
"""Kinds of workspaces that record which coordinates were written."""
_VISITS = ir.Var("visits")


def neutral_of(w: Workspace) -> Any:
    """Return the value of a workspace before anything is reduced into it."""
    return OPERATORS[w.op].start(w.dtype)


def declare(owner: Lowerer) -> None:
    """Declare the arrays of every workspace, and add their allocation and release to the owner."""
    for w in owner.workspaces.values():
        if w.kind == "scalar":
            continue
        name = owner.names[w.name]
        arrays: dict[str, ir.Var] = {}
        if owner.kind not in (FunctionKind.BOUND, FunctionKind.WIDEST):
            arrays = {"hash": _hashed, "pairs": _paired}.get(w.kind, _array)(owner, w, name)
        # To the loops a workspace is a tensor like any other.
        vals = ir.Var(f"{name}_vals", f"{w.dtype}*")
        variables = tuple(LevelVars(k, owner.extents[v], arrays) for k, v in enumerate(w.indices))
        owner.tensors[w.name] = TensorVars(name, owner.types[w.name], (), (), vals, variables)


def types(owner: Lowerer) -> dict[str, TensorType]:
    """Return the types of all workspaces by name, in the form of tensor types."""
    return {name: _type(w) for name, w in owner.workspaces.items()}


def _type(w: Workspace) -> TensorType:
    order = len(w.indices)
    last = Paired(unique=False) if w.repeats else _LEVELS[w.kind]
    levels = (*[Dense()] * (order - 1), last)[:order]
    return TensorType.of(w.dtype, Format(Remapping.identity(order), levels), "int64")


def _in_order(owner: Lowerer) -> bool:
    """Return whether the consumer needs a sorted list.

    A result in which coordinates are located does not, and neither does a count of the listed coordinates alone.
    """
    return bool(owner.target.chains) and (owner.kind is not FunctionKind.COUNT or not owner.reaches_stored_only)


def _scratch(owner: Lowerer, var: ir.Var, size: ir.Expr, zero: bool = False) -> ir.Var:
    owner.scratch.append(ir.Allocate(var, size, zero))
    owner.release.append(ir.Free(var))
    return var


def _values(owner: Lowerer, w: Workspace, name: str, size: ir.Expr) -> None:
    """Add the array of values, and counters of visits for each element if implicit entries are counted."""
    _scratch(owner, ir.Var(f"{name}_vals", f"{w.dtype}*"), size)
    absences = owner.implicit_entries.get(w.name)
    if absences is not None and absences.passing is None and w.kind != "flags":
        _scratch(owner, absences.visited, size)


def _extent(owner: Lowerer, w: Workspace, env: Environment | None = None) -> ir.Expr:
    """Return the number of elements of a workspace, or with ``env`` of those in the current register strips."""
    widths = {s.inner: lit(s.width) for s in env.strips.values()} if env else {}
    return product(widths.get(v, owner.extents[v]) for v in w.indices)


def _few(owner: Lowerer, w: Workspace) -> int | None:
    """Return the number of elements if it is a constant of at most ``SMALL_WORKSPACE``, else None."""
    size = simplify_expression(_extent(owner, w))
    found = int(size.value) if isinstance(size, ir.Const) else SMALL_WORKSPACE + 1  # type: ignore[arg-type]
    return found if found <= SMALL_WORKSPACE else None


def _paired(owner: Lowerer, w: Workspace, name: str) -> dict[str, ir.Var]:
    """Add the lists of a ``pairs`` workspace, in order of writing and sorted, and return them by role."""
    size = _widest(owner, name) if w.repeats else _extent(owner, w)
    types = {"come": "int32*", "list": "int32*", "order": "int32*", "keys": "int64*", "spare": "int64*"}
    if owner.holds_values:
        types["values"] = f"{w.dtype}*"
        _values(owner, w, name, size)
    arrays = {role: _scratch(owner, ir.Var(f"{name}_{role}", ty), size) for role, ty in types.items()}
    return {**arrays, "size": ir.Var(f"{name}_size")}


def _array(owner: Lowerer, w: Workspace, name: str) -> dict[str, ir.Var]:
    size = _extent(owner, w)
    if w.kind == "dense" and _few(owner, w) is not None:
        return {}  # declared where it is used
    if owner.holds_values:
        _values(owner, w, name, size)
    if w.kind not in ("list", "flags"):
        return {}
    if w.kind == "flags" and (absences := owner.implicit_entries.get(w.name)) is not None:
        return {"mark": _scratch(owner, absences.visited, size, zero=True)}
    arrays = {"mark": _scratch(owner, ir.Var(f"{name}_mark", "bool*"), size, zero=True)}
    if w.kind == "flags":
        return arrays
    arrays["list"] = _scratch(owner, ir.Var(f"{name}_list", "int32*"), size)
    if _in_order(owner):
        arrays["spare"] = _scratch(owner, ir.Var(f"{name}_spare", "int32*"), size)
    arrays["size"] = ir.Var(f"{name}_size")
    return arrays


def _widest(owner: Lowerer, name: str) -> ir.Var:
    """Return the largest number of values that reach a workspace at one time, which separate loops count first."""
    widest = ir.Var(f"{name}_widest")
    finder = type(owner)(
        owner.program, owner.target.access, owner.given, owner.names, FunctionKind.WIDEST, owner.options
    )
    finder.widest = widest
    finder.share_names(owner)
    owner.scratch += [ir.Declare(widest, lit(0)), finder.statement(owner.program.stmt, Environment())]
    return widest


def _hashed(owner: Lowerer, w: Workspace, name: str) -> dict[str, ir.Var]:
    """Add a hash table with room for all values, so that it never grows, and return its arrays by role."""
    widest = _widest(owner, name)
    size, mask = ir.Var(f"{name}_room"), ir.Var(f"{name}_mask")
    owner.scratch += [
        ir.Declare(size, ir.Call("weft_hash_size", (widest,), "int64")),
        ir.Declare(mask, sub(size, lit(1))),
    ]
    # Key -1 is a free slot.
    keys = _scratch(owner, ir.Var(f"{name}_keys", "int64*"), size)
    q = owner.name("q")
    owner.scratch.append(ir.For(q, lit(0), size, ir.Store(keys, q, lit(-1))))
    if owner.holds_values:
        _values(owner, w, name, size)
    arrays = {"keys": keys, "mask": mask, "size": ir.Var(f"{name}_size")}
    for role in ("list", "slots", "spare"):
        arrays[role] = _scratch(owner, ir.Var(f"{name}_{role}", "int64*"), widest)
    return arrays


def _nothing(w: Workspace) -> Any:
    """Return a start value that leaves the first reduced value unchanged: 0.0 would turn a sum of -0.0 into 0.0."""
    if w.op != "add":
        return neutral_of(w)
    return {"f": -0.0, "c": complex(-0.0, -0.0)}.get(np.dtype(w.dtype).kind, 0)


def _written_by(owner: Lowerer, stmt: Where) -> Workspace:
    """Return the workspace that the producer of a statement writes."""
    return owner.workspaces[result_of(stmt.producer).target.tensor]


def made(owner: Lowerer, stmt: Where, env: Environment) -> ir.Stmt:
    """Return the code that computes a scalar workspace."""
    w = _written_by(owner, stmt)
    if not owner.holds_values:
        return block()
    producer = owner.statement(stmt.producer, env)
    begin = ir.Declare(owner.scalar(w), lit(neutral_of(w), w.dtype))
    if (absences := owner.implicit_entries.get(w.name)) is None:
        return block(begin, producer)
    rest = absences.rest(owner, owner.scalar(w), absences.visited)
    return block(begin, ir.Declare(absences.visited, lit(0)), producer, rest)


def where(owner: Lowerer, stmt: Where, env: Environment) -> ir.Stmt:
    """Return the code of the producer, which writes a workspace, and of the consumer, which reads it."""
    w = _written_by(owner, stmt)
    kind = owner.kind
    # Functions without values need only those workspaces that tell coordinates; bounds and widths need none.
    if not owner.holds_values and w.kind not in LISTED:
        return owner.statement(stmt.consumer, env)
    if kind is FunctionKind.BOUND:
        return owner.statement(stmt.producer, env)
    if kind is FunctionKind.WIDEST:
        keep = if_(gt(_VISITS, owner.widest), ir.Set(owner.widest, _VISITS))
        return block(ir.Declare(_VISITS, lit(0)), owner.statement(stmt.producer, env), keep)
    if w.kind == "scalar":
        return block(made(owner, stmt, env), owner.statement(stmt.consumer, env))
    producer = owner.statement(stmt.producer, env)
    tensor = owner.tensors[w.name]
    q = owner.name("q")
    # A dense workspace is filled; one with few elements is an array on the stack.
    if w.kind == "dense":
        begin, few = ir.Store(tensor.vals, q, lit(neutral_of(w), w.dtype)), _few(owner, w)
        reset = ir.For(q, lit(0), _extent(owner, w, env), begin, unroll=bool(env.strips))
        array = block() if few is None else ir.Array(tensor.vals, few)
        absences = owner.implicit_entries.get(w.name)
        none = block() if absences is None else ir.Declare(absences.visited, lit(0))
        rests = _rests(owner, w, env)
        return block(array, reset, none, producer, rests, owner.statement(stmt.consumer, env))
    # Flags are zero when allocated and are not cleared, since the workspace is used once.
    if w.kind == "flags":
        start = ir.For(q, lit(0), _extent(owner, w), ir.Store(tensor.vals, q, lit(_nothing(w), w.dtype)))
        stmts = (start if owner.holds_values else block(), producer, _rests(owner, w, env))
        return block(*stmts, owner.statement(stmt.consumer, env))
    (m,) = tensor.levels
    empty = ir.Declare(m["size"], lit(0))
    # Pairs are sorted by coordinate through a permutation.
    if w.kind == "pairs":
        lists = (m["come"], m["size"], m["order"], m["keys"], m["spare"])
        order, place = ir.Evaluate(ir.Call("weft_order_int32", lists, "int64")), ir.Load(m["order"], q)
        moved = [ir.Store(m["list"], q, ir.Load(m["come"], place))]
        if owner.holds_values:
            moved.append(ir.Store(tensor.vals, q, ir.Load(m["values"], place)))
        move = ir.For(q, lit(0), m["size"], block(*moved))
        return block(empty, producer, order, move, owner.statement(stmt.consumer, env))
    # After the consumer only the elements on the list are cleared.
    clear: ir.Stmt
    if w.kind == "list":
        clear = ir.Store(m["mark"], ir.Load(m["list"], q), lit(False, "bool"))
    else:
        clear = ir.Store(m["keys"], ir.Load(m["slots"], q), lit(-1))
    sort: ir.Stmt = block()
    if _in_order(owner):
        ty = m["list"].ty[:-1]
        sort = ir.Evaluate(ir.Call(f"weft_sort_{ty}", (m["list"], m["size"], m["spare"]), "int64"))
    return block(
        empty,
        producer,
        _rests(owner, w, env),
        sort,
        owner.statement(stmt.consumer, env),
        ir.For(q, lit(0), m["size"], clear),
    )


def _rests(owner: Lowerer, w: Workspace, env: Environment) -> ir.Stmt:
    """Return a loop that reduces implicit entries into each coordinate that may have been written, if they count."""
    absences = owner.implicit_entries.get(w.name)
    if absences is None or not owner.holds_values:
        return block()
    tensor, q = owner.tensors[w.name], owner.name("q")
    m, size = tensor.levels[-1], _extent(owner, w, env)
    slot: ir.Expr = q
    if w.kind in ("list", "hash"):
        slot, size = ir.Load(m["list" if w.kind == "list" else "slots"], q), m["size"]
    visited = absences.visited if absences.passing else ir.Load(absences.visited, slot)
    rest = absences.rest(owner, ir.Load(tensor.vals, slot), visited)
    return ir.For(q, lit(0), size, rest, unroll=w.kind == "dense" and bool(env.strips))


def reads_written_only(owner: Lowerer, stmt: Where) -> bool:
    """Return whether a consumer visits only the coordinates that were written to its workspace.

    The answer is true for workspaces that do not record which coordinates were written.
    """
    w = _written_by(owner, stmt)
    loops = [loop for loop in foralls_of(stmt.consumer) if loop.var in w.indices]
    points = (point for loop in loops for point in owner.lattice(loop, Environment(), record=False))
    return w.kind not in LISTED or all(any(it.reads(w.name) for it in point.iterators) for point in points)


def assign(owner: Lowerer, w: Workspace, stmt: Assign, env: Environment) -> ir.Stmt:
    """Return the code that reduces one value into a workspace."""
    kind = owner.kind
    if kind is FunctionKind.WIDEST:
        return increment(_VISITS)
    # Each write may become one coordinate of every chain that ends in a variable of the workspace.
    if kind is FunctionKind.BOUND:
        target = owner.target
        return block(*[increment(n) for n, c in zip(target.counters, target.chains, strict=True)
                       if target.variable(c.last) in w.indices])  # fmt: skip
    value = cast(lower_expr(stmt.value, lambda a: owner.read(a, env)), w.dtype) if owner.holds_values else lit(0)
    if w.kind == "scalar":
        var = owner.scalar(w)
        reduced = ir.Set(var, value) if stmt.op is None else update(stmt.op, var, value)
        absences = owner.implicit_entries.get(w.name)
        return reduced if absences is None else block(reduced, increment(absences.visited))
    tensor = owner.tensors[w.name]
    if w.kind == "dense":
        at = ir.Load(tensor.vals, owner.position(stmt.target, env))
        return ir.Store(at.array, at.index, value) if stmt.op is None else update(stmt.op, at, value)
    m = tensor.levels[-1]
    if w.kind == "flags":
        at = ir.Load(tensor.vals, owner.position(stmt.target, env))
        count = ir.Load(m["mark"], at.index)
        set_mark = ir.Store(m["mark"], at.index, lit(True, "bool")) if count.ty == "bool" else increment(count)
        return block(set_mark, update(stmt.op or "add", at, value)) if owner.holds_values else set_mark
    coord = env.coords[w.indices[0]]
    entered = ir.Store(m["come" if w.kind == "pairs" else "list"], m["size"], cast(coord, m["list"].ty[:-1]))
    if w.kind == "pairs":
        store = ir.Store(m["values"], m["size"], value) if owner.holds_values else block()
        return block(entered, store, increment(m["size"]))
    # The first value of a coordinate is stored and listed, later ones are reduced into it.
    slot, before, seen, mark = _SLOTS[w.kind](owner, m, coord)
    new = [mark, entered, increment(m["size"])]
    if not owner.holds_values:
        return block(before, if_(not_(seen), block(*new)))
    new.append(ir.Store(tensor.vals, slot, value))
    more = update(stmt.op or "add", ir.Load(tensor.vals, slot), value)
    if (absences := owner.implicit_entries.get(w.name)) is not None:
        visited = ir.Load(absences.visited, slot)
        new.append(ir.Store(visited.array, slot, lit(1)))
        more = block(more, increment(visited))
    return block(before, if_(not_(seen), block(*new), more))


def _array_slot(owner: Lowerer, m: LevelVars, coord: ir.Expr) -> _Slot:
    """Return the slot of a coordinate in an array over the dimension, with a flag for each coordinate."""
    return coord, block(), ir.Load(m["mark"], coord), ir.Store(m["mark"], coord, lit(True, "bool"))


def _hash_slot(owner: Lowerer, m: LevelVars, coord: ir.Expr) -> _Slot:
    """Return the slot of a coordinate in a hash table, whose keys say which coordinates it has."""
    slot = owner.name("slot")
    located = ir.Declare(slot, ir.Call("weft_hash_slot", (m["keys"], m["mask"], coord), "int64"))
    mark = block(ir.Store(m["keys"], slot, coord), ir.Store(m["slots"], m["size"], slot))
    return slot, located, eq(ir.Load(m["keys"], slot), coord), mark


_Slot = tuple[ir.Expr, ir.Stmt, ir.Expr, ir.Stmt]
"""Slot of a coordinate, code that locates it, the condition that it has a value, and code that marks it so."""
_SLOTS: Mapping[str, Callable[[Lowerer, LevelVars, ir.Expr], _Slot]] = {"list": _array_slot, "hash": _hash_slot}
