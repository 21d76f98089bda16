"""Programs: an assignment as several, whose intermediate results are tensors of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..records import keeps_hash, record
from .checks import explicit_sums
from .nodes import Access, Apply, Assignment, Reduce
from .printer import to_text
from .traversal import free_variables, has_reduction, walk


@keeps_hash
@record
class Numbers:
    """Numbers of a tensor, rounded, so that tensors of about one size have one program."""

    shape: tuple[int, ...]
    levels: tuple[int, ...]  # positions of the levels, from the outermost on; the last number is that of stored values
    # For each axis the most entries that a coordinate has, and the root of the sum of their squares, as far as known.
    degrees: tuple[tuple[int, int] | None, ...] = ()


@record
class Program:
    """Assignments in the order in which they run; each reads the operands and the results of those before it."""

    statements: tuple[Assignment, ...]  # The last one computes the result
    whole: Assignment  # the result, in terms of the operands
    reasons: tuple[str, ...]  # the reason for each intermediate result
    arrays: frozenset[str] = frozenset()  # names of the intermediate results that are stored as arrays
    entries: tuple[float, ...] = ()  # expected entries of the intermediate results; empty if nothing was estimated
    rules: tuple[str, ...] = ()  # names of the rules by which the program was made
    # Axes of operands, by their places, along which sparse operands are joined in intermediate results.
    joins: tuple[tuple[int, int], ...] = ()

    @property
    def parts(self) -> tuple[Assignment, ...]:
        """The intermediate results."""
        return self.statements[:-1]

    @property
    def last(self) -> Assignment:
        """The result, in terms of the intermediate results."""
        return self.statements[-1]

    @property
    def text(self) -> str:
        """The statements in lines of their own, each with its reason."""
        return self.text_after({})

    def text_after(self, last: Mapping[str, int]) -> str:
        """Return the text with the entries that intermediate results had at the last call, as far as they are known."""
        sizes = [f"{n:,.0f} entries expected" for n in self.entries] or [""] * len(self.parts)
        names = [part.target.tensor for part in self.parts]
        actual = [f"{last[name]:,} at the last call" if name in last else "" for name in names]
        sizes = [", ".join(filter(None, pair)) for pair in zip(sizes, actual, strict=True)]
        lines = [f"{len(self.statements)} statements"]
        for part, size, reason in zip(self.parts, sizes, self.reasons, strict=True):
            array = "an array" if part.target.tensor in self.arrays else ""
            lines += [to_text(part), f"  {'; '.join(filter(None, (array, size, reason)))}"]
        lines.append(to_text(self.last))
        return "\n".join([*lines, *([f"rules: {', '.join(self.rules)}"] if self.rules else [])])


@lru_cache(maxsize=4096)
def may_have_parts(assignment: Assignment) -> bool:
    """Return whether intermediate results may make an assignment cheaper: it reduces something that can be cut."""
    if assignment.op is not None or not assignment.value.children:
        return False
    value = explicit_sums(assignment).value
    if not {*assignment.target.indices} <= {*free_variables(value)}:
        return False  # an error, which is raised for the whole
    return any(isinstance(node, Reduce) and _has_parts(node) for node in walk(value)) or any(
        isinstance(node, Apply) and node.op not in ("add", "subtract", "negative") and has_reduction(node)
        for node in walk(value)
    )


def _has_parts(node: Reduce) -> bool:
    """Return whether a reduction may come apart: of three tensors or more, or a part that fewer loops need."""
    every = {*free_variables(node.body)}
    dear = any(
        isinstance(part, Apply) and len(part.args) > 1 and part.op != "multiply" and {*free_variables(part)} < every
        for part in walk(node.body)
    )
    read = node.distinct_accesses
    return dear or has_reduction(node.body) or len(read) > 2 or any(_apart(node, a, b) for a in read for b in read)


def _apart(node: Reduce, one: Access, other: Access) -> bool:
    """Return whether a sum may run over one operand alone, before it meets what another adds."""
    alone = {*one.indices} - {*other.indices}
    return bool(alone & {*node.vars}) and not {*other.indices} <= {*one.indices}
