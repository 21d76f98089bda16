"""One pass of an assembly by insertion: what its parts know of it, and the arrays that it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..analysis.contributions import contribution_path, copied_access
from ..analysis.insertion_plan import InsertionPass, InsertionPlan, fills_rows, reused_arrays
from ..concrete_notation.nodes import Program
from ..concrete_notation.traversal import assignments
from ..concrete_notation.values import without_conversions
from ..formats import Format, LevelVars
from ..formats.format import level_variables, scratch_dtype
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import lit
from ..lowering.context import LoweringContext
from ..lowering.function_state import FunctionState
from ..records import cached, record, replace

UNKNOWN = ir.Var("unknown")
"""Placeholder for the coordinate of an axis whose loop is not emitted; declared nowhere."""


@record
class Reuse:
    """The arrays of a tensor that a copy of it takes over."""

    copied: Access | None  # the tensor; None if values are computed
    values: bool = False
    levels: Mapping[int, int] = field(default_factory=dict)  # levels of coordinates, and those of the tensor

    @classmethod
    def of(cls, context: LoweringContext, plan: InsertionPlan) -> Reuse:
        """Return what an insertion takes over."""
        copied, types = copied_access(context.program, context.target), context.types
        if copied is None:
            return cls(None)
        return cls(copied, *reused_arrays(types[copied.tensor], types[context.target.tensor], plan, context.options))


@record
class PassContext:
    """A pass of an insertion in a function that is lowered."""

    f: FunctionState
    plan: InsertionPlan
    phase: InsertionPass
    reuse: Reuse
    vars: TensorVars  # the variables of the result, those that only the assembly needs included
    path: tuple[str, ...]  # the variables of the levels of the result
    # The loop before which the scalar counter of a level is set to 0; None for the assignment inside all loops.
    counted: Mapping[int, str | None]

    @property
    def access(self) -> Access:
        """The result."""
        return self.f.context.target

    @property
    def format(self) -> Format:
        """The format of the result."""
        return self.plan.format

    @property
    def last_level(self) -> int:
        """The level for which the pass is, or the number of levels if it inserts."""
        return len(self.format.levels) if self.phase.level is None else self.phase.level

    @property
    def inserts(self) -> bool:
        """True for the last pass, which inserts the entries."""
        return self.phase.level is None

    @cached
    def source(self) -> Access:
        """Return the access that reads the tensor whose entries the loops are over."""
        return source_of(self.f.context.program)

    @cached
    def fills_rows(self) -> bool:
        """Return whether values are filled row by row, as the first entry of each row comes."""
        return fills_rows(self.plan, self.f.context.options)

    def have_positions(self, k: int) -> bool:
        """Return whether every coordinate of the levels above ``k`` has a position, even one without entries."""
        return all(level.has_every and not level.roles for level in self.format.levels[:k])

    def size(self, level: int) -> ir.Expr:
        """Return the number of positions of a level above the assembled one."""
        size: ir.Expr = lit(1)
        for k in range(level + 1):
            size = self.format.levels[k].get_size(self.vars.levels[k], size)
        return size


def source_of(program: Program) -> Access:
    """Return the access that reads the tensor whose entries the loops of a program are over."""
    values = (without_conversions(s.value) for s in assignments(program.stmt))
    return next(a for value in values for a in value.distinct_accesses)


def pass_context(f: FunctionState, plan: InsertionPlan, phase: InsertionPass, vars: TensorVars) -> PassContext:
    """Return the context of a pass, with variables for the arrays that only the assembly needs."""
    access = f.context.target
    levels, format = vars.levels, vars.type.format
    arrays = {
        (k, role): ir.Var(f"{vars.name}{k + 1}_{role}", f"{scratch_dtype(vars.type, format.levels[k], role)}*")
        for k, role in plan.scratch
    }
    # With threads, the memory for their own answers is a parameter, too.
    for k, role in plan.private if phase.threads else ():
        ty = arrays[k, role].ty if (k, role) in arrays else levels[k].arrays[role].ty
        arrays[k, "private"] = ir.Var(f"{vars.name}{k + 1}_private", ty)
    loops, _ = contribution_path(f.context.program.stmt, access)
    inside = (*(loop.var for loop in loops), None)
    return PassContext(
        f, plan, phase, Reuse.of(f.context, plan),
        replace(
            vars, levels=tuple(_with_arrays(m, k, arrays) for k, m in enumerate(levels)),
            arrays=(*vars.arrays, *arrays.values()),
        ),
        level_variables(access, format),
        {k: inside[n] for k, n in plan.counters.items() if n is not None},
    )  # fmt: skip


def _with_arrays(m: LevelVars, k: int, arrays: Mapping[tuple[int, str], ir.Var]) -> LevelVars:
    return replace(m, arrays={**m.arrays, **{role: v for (at, role), v in arrays.items() if at == k}})
