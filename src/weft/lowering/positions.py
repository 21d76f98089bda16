"""Positions, coordinates and bounds of the levels of tensors, at one place of a loop nest."""

from __future__ import annotations

from ..analysis.merge_lattice import LevelIterator
from ..errors import LoweringError
from ..formats.capabilities import Locate, PositionIteration, PositionTiles, ValueIteration
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir import used_names
from ..ir.builder import lit, maximum
from .environment import Environment
from .function_state import FunctionState


def position(f: FunctionState, access: Access, env: Environment) -> ir.Expr:
    """Return the position of a value."""
    depth = len(f.context.types[access.tensor].format.levels)
    if depth == 0:
        return lit(0)
    p = env.pos.get((access, depth - 1))
    if p is None:
        raise LoweringError(f"no position of {access} at {sorted(env.coords)}")
    return p


def bounds_of(f: FunctionState, it: LevelIterator, v: str, env: Environment) -> tuple[ir.Expr, ir.Expr]:
    """Return the bounds of an iterator: coordinates or positions, as its level iterates."""
    if it.access is None:
        return lit(0), f.context.extents[v]
    if (limits := env.limits.get(it.key)) is not None:
        return limits
    m = f.tensors[it.access.tensor].levels[it.level]
    by_value = it.format.capability(ValueIteration)
    if by_value is not None:
        parent = lit(0) if it.certain else _parent(it, env)
        begin, stop = by_value.coord_bounds(m, parent, () if it.certain else coordinates_above(f, it, env))
        # An interval over a sum of axes would have a negative length if the axes have size 0.
        summed = it.format.has_every and len(used_names(stop)) > 1
        return begin, maximum(begin, stop) if summed else stop
    end = env.segments.get((it.access, it.level - 1))
    begin, stop = it.format.require(PositionIteration).pos_bounds(m, _parent(it, env))
    # Iterator chaining (2018, section 4.3): the children of a run of duplicates are one segment.
    return begin, stop if end is None else end


def tile_bounds_of(
    f: FunctionState, it: LevelIterator, tile: tuple[ir.Expr, ir.Expr], env: Environment
) -> tuple[ir.Expr, ir.Expr]:
    """Return the positions of an iterator in a tile, an interval of the numbers of coordinates."""
    assert it.access is not None
    level = f.tensors[it.access.tensor].levels[it.level]
    return it.format.require(PositionTiles).tile_bounds(level, _parent(it, env), tile)


def coordinate(f: FunctionState, it: LevelIterator, p: ir.Expr, env: Environment) -> ir.Expr:
    """Return the coordinate that an iterator has at a position."""
    assert it.access is not None
    m = f.tensors[it.access.tensor].levels[it.level]
    return it.format.require(PositionIteration).pos_access(m, p, _parent(it, env), coordinates_above(f, it, env))


def child_position(f: FunctionState, it: LevelIterator, p: ir.Expr, coord: ir.Expr) -> ir.Expr:
    """Return the position of the children and values of a coordinate that is iterated at position ``p``."""
    assert it.access is not None
    m = f.tensors[it.access.tensor].levels[it.level]
    return it.format.require(PositionIteration).child_pos(m, p, coord)


def coordinates_above(f: FunctionState, it: LevelIterator, env: Environment) -> tuple[ir.Expr, ...]:
    """Return the coordinates of the levels above the level of an iterator."""
    assert it.access is not None
    variables = level_variables(it.access, f.context.types[it.access.tensor].format)
    return tuple(env.coords[v] for v in variables[: it.level])


def _parent(it: LevelIterator, env: Environment) -> ir.Expr:
    assert it.access is not None
    parent = env.parent(it.access, it.level)
    if parent is None:
        raise LoweringError(f"{it} is iterated before its parent")
    return parent


def locate_levels(
    f: FunctionState, access: Access, env: Environment, pos: dict[tuple[Access, int], ir.Expr]
) -> list[ir.Stmt]:
    """Add the positions of levels whose parent and coordinate are known to ``pos``, and return their declarations."""
    tensor = f.tensors[access.tensor]
    format = tensor.type.format
    stmts: list[ir.Stmt] = []
    for k, (level, v) in enumerate(zip(format.levels, level_variables(access, format), strict=True)):
        if (access, k) in pos:
            continue
        parent = lit(0) if k == 0 else pos.get((access, k - 1))
        coord = env.coords.get(v)
        located = level.capability(Locate)
        if parent is None or coord is None or located is None or located.locates != "direct":
            break
        p = located.locate(tensor.levels[k], parent, coord)
        if not isinstance(p, ir.Var | ir.Const):
            name = f.name(f"p{tensor.name}{k + 1}")
            stmts.append(ir.Declare(name, p))
            p = name
        pos[(access, k)] = p
    return stmts
