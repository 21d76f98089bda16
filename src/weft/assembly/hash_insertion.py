"""Insertion into hash tables that grow (2018 paper, section 3.4), in any order and with duplicates.

One pass over a list of coordinates stores each value at the slot of its coordinate, or at a free slot. The pass stops
if a table would be more than half full, and stores the position that it has reached in ``counts``. After the table has
been replaced by a larger one, the pass is continued from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.derived_variables import level_variables
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Assign, Program
from ..formats import Format, LevelFormat, TensorType
from ..formats.capabilities import HashTable, Locate
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, mul
from ..lowering.environment import Environment
from ..lowering.result_writer import COUNTS, FunctionKind
from ..lowering.scalar_expressions import lower_expr, update
from .entry_lowering import EntryLowerer

__all__ = ["FULL", "HashInsertionLowerer", "tables_of"]

FULL = 2
"""Return value of a pass that stops since a table has no room left."""


def tables_of(format: Format) -> Format | None:
    """Return the format with the same arrays whose levels are located by arithmetic above growing tables, or None.

    Parameters
    ----------
    format : Format
        The format of the result.
    """
    seen = format.looked_up or format
    if not format.is_unique or format.is_structured or not seen.levels or not seen.levels[-1].capability(HashTable):
        return None
    return seen if all(level.has_every and not level.roles for level in seen.levels[:-1]) else None


class HashInsertionLowerer(EntryLowerer):
    """Lowerer of the pass that inserts entries into hash tables.

    Parameters
    ----------
    program : Program
        Loops over the entries around one assignment to the result.
    target : Access
        The result, stored in the format that ``tables_of`` returns.
    types : mapping
        The type of every tensor by name.
    names : mapping
        The C name of every tensor and index variable.
    adds : bool
        If true, a value is added to one that is already stored. Otherwise it replaces the stored value.
    options : CodeOptions
        The settings that affect code.
    """

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        adds: bool,
        options: CodeOptions,
    ):
        super().__init__(program, target, types, names, FunctionKind.COMPUTE, options)
        self.adds = adds
        self.used = ir.Var(f"{self.made.name}_used", "int64*")
        self.take(self.made, (self.used,))
        self.path = level_variables(target, self.made.type.format)

    def lower(self, operands: Sequence[str]) -> ir.Function:
        body = self.statement(self.program.stmt, Environment())
        return self.function("grow", operands, block(*self.scratch, body, *self.release))

    def assign(self, stmt: Assign, env: Environment) -> ir.Stmt:
        value = cast(lower_expr(stmt.value, lambda a: self.read(a, env)), self.made.type.dtype)
        levels: tuple[LevelFormat, ...] = self.made.type.format.levels
        coords = tuple(env.coords[v] for v in self.path)
        # Levels above are located by arithmetic: their position selects the table.
        parent: ir.Expr = lit(0)
        for level, m, coord in zip(levels[:-1], self.made.levels, coords, strict=False):
            parent = level.require(Locate).locate(m, parent, coord)
        table, m, p, of = levels[-1].require(HashTable), self.made.levels[-1], self.name("p"), self.name("table")
        used, here = ir.Load(self.used, of), ir.Load(self.made.vals, p)
        # The table would be more than half full with one entry more.
        full = gt(mul(add(used, lit(1)), lit(2)), ir.Load(m.arrays["width"], lit(0)))
        stop = block(ir.Store(COUNTS, lit(0), self.position(self.source, env)), ir.Return(lit(FULL)))
        enters = block(if_(full, stop), increment(used), table.settle(m, p, coords), ir.Store(self.made.vals, p, value))
        there = update("add", here, value) if self.adds else ir.Store(self.made.vals, p, value)
        return block(
            ir.Declare(of, table.table_of(parent)),
            ir.Declare(p, table.slot(m, parent, coords)),
            if_(table.is_free(m, p), enters, there),
        )
