"""Passes over the entries of one tensor, in which each entry is handled otherwise than by an assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.implicit_values import without_conversions
from ..analysis.iteration_graph import distinct_accesses
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Program, assignments
from ..formats import TensorType
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import block
from ..lowering.environment import Environment
from ..lowering.lowerer import Lowerer
from ..lowering.result_writer import FunctionKind
from ..records import replace

__all__ = ["EntryLowerer", "among_threads", "source_access"]


def among_threads(stmt: ir.Stmt) -> ir.Stmt:
    """Return ``stmt`` with stores that several threads may execute on one element, if all store the same value.

    Parameters
    ----------
    stmt : Stmt
        A store, or a block of stores.
    """
    match stmt:
        case ir.Store(array=array, index=index, value=value):
            return ir.Evaluate(ir.Call(f"weft_store_same_{value.ty}", (array, index, value), "int64"))
        case ir.Block(stmts=stmts):
            return ir.Block(tuple(among_threads(s) for s in stmts))
    return stmt


def source_access(program: Program) -> Access:
    """Return the access that reads the source.

    Parameters
    ----------
    program : Program
        Loops around one assignment.
    """
    return next(a for s in assignments(program.stmt) for a in distinct_accesses(without_conversions(s.value)))


class EntryLowerer(Lowerer):
    """Lowerer of loops over a tensor around one assignment; ``assign`` of a subclass lowers what is done for an entry.

    Parameters
    ----------
    program : Program
        The loops.
    target : Access
        The assigned tensor. Its levels are neither located nor appended to by the loops.
    types : mapping
        The type of every tensor by name.
    names : mapping
        The C name of every tensor and index variable.
    kind : FunctionKind
        The function kind, which decides if values are needed.
    options : CodeOptions
        The settings that affect code.
    skip_fill : bool
        If true, entries equal to the fill value are left out.
    """

    apart = places = True

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        kind: FunctionKind,
        options: CodeOptions,
        skip_fill: bool = False,
    ):
        super().__init__(program, target, types, names, kind, options, skip_fill)
        self.target.chains = ()  # nothing is appended
        self.made = self.tensors[target.tensor]
        self.source = source_access(program)

    def take(self, made: TensorVars, arrays: Sequence[ir.Var]) -> None:
        """Add ``arrays`` to the parameters of the function, after the arrays of the result."""
        self.made = replace(made, arrays=(*made.arrays, *arrays))
        self.tensors[self.target.access.tensor] = self.made

    def function(self, name: str, operands: Sequence[str], body: ir.Stmt) -> ir.Function:
        """Return a function whose parameters are the result and the operands."""
        names = [self.target.access.tensor, *operands]
        params = tuple(self.tensors[n].param(output=n == names[0]) for n in names)
        return ir.Function(name, params, block(self.read_fills(), body))

    def resolve(self, env: Environment, targets: Sequence[Access]) -> tuple[Environment, list[ir.Stmt]]:
        # The result of a pass has no position that ``locate`` could determine.
        return super().resolve(env, [a for a in targets if a != self.target.access])
