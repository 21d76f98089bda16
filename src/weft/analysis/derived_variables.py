"""Derived variables: logical and physical index variables of structured formats (2018 paper, section 3.1).

A structured operand is iterated by the variables of its levels, such as ``i/2`` and ``j-i``. Every other operand keeps
the variables of its axes. The remapping makes each kind of variable follow from the other. A variable that follows from
others is *derived*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ..formats import Format, TensorType, level_bounds
from ..formats.capabilities import ValueIteration
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..records import cached, keeps_hash, record
from ..remapping.images import is_natural
from ..remapping.inverse import linear, significance
from ..remapping.nodes import Axis, Binary, Constant, IndexExpr, axes_of


@keeps_hash
@record
class DerivedVariable:
    """A variable ``var`` that follows from the variables ``of``."""

    var: str
    value: IndexExpr  # Its value; ``Axis(n)`` is the variable ``of[n]``
    of: tuple[str, ...]  # the variables from which it follows
    axes: tuple[str, ...]  # the variables of the tensor's axes, whose sizes the value may need
    # True if the value is certain to be a coordinate of the tensor; a block may reach beyond its edge.
    inside: bool = True
    natural: bool = True  # True if the value is certain not to be negative; a block of ``(i+1)/2`` may begin below 0
    # Number of values of each of the variables ``of``, if the remapping determines it, as it does inside a block.
    sizes: tuple[int | None, ...] = ()

    @cached
    def needs(self) -> frozenset[str]:
        return frozenset([self.of[n] for n in axes_of(self.value)])

    @cached
    def digits(self) -> tuple[str, ...]:
        """Return the variables that order this one lexicographically (:func:`radix_components`)."""
        if self.of == self.axes:  # a level's variable, which follows from the axes
            axes = significance([self.value])
            return tuple(self.of[axis] for axis in axes or ())
        factors = linear(self.value)
        if factors is None or any(k is not None and f <= 0 for k, f in factors.items()):
            return ()
        # The factors must be those of a number system: the values of each digit times its factor must not exceed the
        # factor of the next more significant digit.
        places = sorted(((f, k) for k, f in factors.items() if k is not None), reverse=True)
        for (above, _), (factor, k) in pairwise(places):
            size = self.sizes[k]
            if size is None or size * factor > above:
                return ()
        return tuple(self.of[k] for _, k in places)


def derived_variables(accesses: Iterable[Access], types: Mapping[str, TensorType]) -> tuple[DerivedVariable, ...]:
    """Return how variables follow from each other by the remappings of structured operands."""
    definitions: dict[DerivedVariable, None] = {}
    for access in accesses:
        format = types[access.tensor].format
        if format.is_structured:
            definitions.update(dict.fromkeys(_of(access, format)))
    return tuple(definitions)


def passes_edge(value: IndexExpr, format: Format) -> bool:
    """Return whether the levels can give an axis a coordinate beyond the edge of the tensor."""
    made_of = sorted(axes_of(value))
    # A bounded level leaves out exactly the coordinates for which the axis lies outside.
    counted = format.levels[made_of[-1]].capability(ValueIteration)
    bounded = counted is not None and counted.bounded and level_bounds.is_bounded_by(value, made_of[-1])
    return any(format.levels[k].pads for k in made_of) and not bounded


def leaves_tensor(format: Format, k: int) -> bool:
    """Return whether an axis's coordinate that level ``k`` computes, as in ``(j-i, j, i)``, may be beyond an edge."""
    value = level_bounds.computed(format.remapping, k)
    if value is None or not isinstance(format.remapping.coordinates[k], Axis):
        return False
    last = max(axes_of(value), default=k)
    return passes_edge(value, format) and all(level.pads for level in format.levels[last + 1 : k])


def _of(access: Access, format: Format) -> Iterable[DerivedVariable]:
    levels = level_variables(access, format)
    sizes = _sizes(format)
    # Variables of axes follow from those of levels, by the inverse remapping.
    for axis, value in enumerate(format.remapping.inverse()):
        if value is not None and not isinstance(value, Axis):
            inside = not passes_edge(value, format)
            natural = inside or is_natural(value, format.remapping.coordinates)
            yield DerivedVariable(access.indices[axis], value, levels, access.indices, inside, natural, sizes)
    # Variables of levels follow from those of axes, by the remapping. A counter has no such value.
    for k, value in enumerate(format.remapping.coordinates):
        if not isinstance(value, Axis) and "#" not in levels[k]:
            yield DerivedVariable(levels[k], value, access.indices, access.indices)


def single_coordinate_levels(
    accesses: Iterable[Access], types: Mapping[str, TensorType]
) -> tuple[DerivedVariable, ...]:
    """Return the levels that need no loop: they store nothing, and one coordinate follows from the levels above."""
    definitions: dict[DerivedVariable, None] = {}
    for access in accesses:
        format = types[access.tensor].format
        levels = level_variables(access, format)
        for k, level in enumerate(format.levels if format.is_structured else ()):
            value = level_bounds.computed(format.remapping, k) if level.branchless and not level.roles else None
            if value is not None:
                definitions[DerivedVariable(levels[k], value, levels, access.indices, sizes=_sizes(format))] = None
    return tuple(definitions)


def size_of(variable: str, accesses: Iterable[Access], types: Mapping[str, TensorType]) -> int | None:
    """Return the number of values of a level's variable inside a block, as for ``i%2``; None for other variables."""
    for access in accesses:
        format = types[access.tensor].format
        for v, c in zip(level_variables(access, format), format.remapping.coordinates, strict=True):
            if v == variable and (size := _size_of_digit(c)) is not None:
                return size
    return None


def radix_components(variable: str, derived: Sequence[DerivedVariable]) -> tuple[str, ...]:
    """Return the variables that order ``variable`` lexicographically, the most significant first.

    These are the digits of a derived variable, or the variable alone if it is not derived. For example, ``i`` follows
    from ``i/2`` and ``i%2``, and loops over these in this order visit ``i`` in order.
    """
    definition = next((d for d in derived if d.var == variable), None)
    return (variable,) if definition is None else definition.digits


def _sizes(format: Format) -> tuple[int | None, ...]:
    return tuple(_size_of_digit(c) for c in format.remapping.coordinates)


def _size_of_digit(value: IndexExpr) -> int | None:
    """Return the number of values of a coordinate inside a block; None for other coordinates."""
    match value:
        case Binary(op="%", right=Constant(value=size)):
            return size
        case Binary(op="&", right=Constant(value=mask)):
            return mask + 1
    return None


_SPELLED = {
    "/": "_div_", "%": "_mod_", "-": "_minus_", "+": "_plus_", "*": "_times_", "#": "nth_", "@": "_of_",
    ">>": "_shr_", "<<": "_shl_", "&": "_and_", "|": "_or_", "^": "_xor_",
}  # fmt: skip


def spelling(variable: str) -> str:
    """Return a readable identifier for a level's variable; that of ``#i@A(i,j)`` has no indices behind the tensor."""
    parts = re.findall(r">>|<<|.", re.sub(r"(@\w+)\(.*", r"\1", variable))
    return "".join(_SPELLED.get(c, c if c.isalnum() else "_") for c in parts)
