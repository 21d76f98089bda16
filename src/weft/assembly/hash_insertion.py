"""Insertion into hash tables that grow (2018 paper, section 3.4), in any order and with duplicates.

One pass over a list of coordinates stores each value at the slot of its coordinate, or at a free slot. The pass stops
if a table would be more than half full, and stores the position that it has reached in ``counts``. After the table has
been replaced by a larger one, the pass is continued from there.
"""

from __future__ import annotations

from ..abi import FULL
from ..concrete_notation.nodes import Assign
from ..formats import LevelFormat
from ..formats.capabilities import HashTable, Locate
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, mul
from ..lowering.environment import Environment
from ..lowering.function_kind import COUNTS
from ..lowering.function_state import FunctionState
from ..lowering.operand_values import value_of
from ..lowering.positions import position
from ..lowering.scalar_expressions import update
from ..records import replace
from .entry_writer import EntryWriter
from .insertion_pass import source_of


class HashInsertionWriter(EntryWriter):
    """Writer of the pass that inserts entries into hash tables."""

    def __init__(self, f: FunctionState, access: Access, adds: bool):  # adds, or replaces, a stored value
        super().__init__(f, access)
        self.adds = adds
        self.used = ir.Var(f"{self.vars.name}_used", "int64*")
        self.use(replace(self.vars, arrays=(*self.vars.arrays, self.used)))

    def store(self, stmt: Assign, env: Environment) -> ir.Stmt:
        f = self.f
        value = cast(value_of(f, stmt.value, env), self.vars.type.dtype)
        levels: tuple[LevelFormat, ...] = self.vars.type.format.levels
        coords = tuple(env.coords[v] for v in self.path)
        # Levels above are located by arithmetic: their position selects the table.
        parent: ir.Expr = lit(0)
        for level, m, coord in zip(levels[:-1], self.vars.levels, coords, strict=False):
            parent = level.require(Locate).locate(m, parent, coord)
        table, m = levels[-1].require(HashTable), self.vars.levels[-1]
        p, of = f.name("p"), f.name("table")
        used, here = ir.Load(self.used, of), ir.Load(self.vars.vals, p)
        # The table would be more than half full with one entry more.
        full = gt(mul(add(used, lit(1)), lit(2)), table.slots(m, of))
        stop = block(ir.Store(COUNTS, lit(0), position(f, source_of(f.context.program), env)), ir.Return(lit(FULL)))
        enters = block(if_(full, stop), increment(used), table.settle(m, p, coords), ir.Store(self.vars.vals, p, value))
        there = update("add", here, value) if self.adds else ir.Store(self.vars.vals, p, value)
        return block(
            ir.Declare(of, table.table_of(parent)),
            ir.Declare(p, table.slot(m, parent, coords)),
            if_(table.is_free(m, p), enters, there),
        )
