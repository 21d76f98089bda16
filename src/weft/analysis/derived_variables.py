"""Logical and physical index variables (2018 paper, section 3.1): how a structured format's levels see an expression.

A structured operand is walked by the variables of its levels (``i/2``, ``j-i``); every other operand keeps its own,
which follow from them by the remapping, and the other way round. Such facts are *derived*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from ..formats import Format, TensorType, level_bounds
from ..index_notation.nodes import Access
from ..records import record
from ..remapping.images import is_natural
from ..remapping.inverse import linear, significance
from ..remapping.nodes import Axis, Binary, Constant, IndexExpr, axes_of, to_text

__all__ = [
    "DerivedVariable",
    "derived_variables",
    "leaves_tensor",
    "level_variables",
    "passes_edge",
    "radix_components",
    "single_coordinate_levels",
    "size_of",
    "spelling",
]  # fmt: skip


@lru_cache(maxsize=4096)
def level_variables(access: Access, format: Format) -> tuple[str, ...]:
    """The tensor path: one variable for each level, in their order.

    A level that stores an axis has that axis's variable. Any other has a variable of its own, called by what the
    remapping makes of the axes' variables (``i/2``): levels of two tensors that mean the same have the same one. Only
    a counter (``#i``) is never another tensor's.
    """
    if not format.is_structured:
        return tuple([access.indices[axis] for axis in format.mode_order])
    texts = [to_text(c, access.indices) for c in format.remapping.coordinates]
    return tuple(f"{text}@{access.tensor}" if "#" in text else text for text in texts)


@record
class DerivedVariable:
    """``var`` follows from the variables ``of``.

    Parameters
    ----------
    var : str
        The variable.
    value : IndexExpr
        Its value; ``Axis(n)`` is the variable ``of[n]``.
    of : tuple of str
        What it is made of.
    axes : tuple of str
        The variables of the tensor's axes, whose sizes the value may need.
    inside : bool
        Whether the value is certain to be a coordinate of the tensor; a block may reach beyond its edge.
    natural : bool
        Whether the value is certain not to be below 0; a block of ``(i+1)/2`` may begin there.
    sizes : tuple of (int or None)
        How many values each of the variables ``of`` has, where the remapping says: inside a block.
    """

    var: str
    value: IndexExpr
    of: tuple[str, ...]
    axes: tuple[str, ...]
    inside: bool = True
    natural: bool = True
    sizes: tuple[int | None, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(self.of[n] for n in axes_of(self.value))


def derived_variables(accesses: Iterable[Access], types: Mapping[str, TensorType]) -> tuple[DerivedVariable, ...]:
    """What follows from what, by the remappings of the structured operands among ``accesses``."""
    found: dict[DerivedVariable, None] = {}
    for access in accesses:
        format = types[access.tensor].format
        if format.is_structured:
            found.update(dict.fromkeys(_of(access, format)))
    return tuple(found)


def passes_edge(value: IndexExpr, format: Format) -> bool:
    """Whether levels show coordinates from which an axis would have ``value`` beyond the edge of the tensor."""
    made_of = sorted(axes_of(value))
    bounded = format.levels[made_of[-1]].bounded and level_bounds.is_bounded_by(value, made_of[-1])
    return any(format.levels[k].pads for k in made_of) and not bounded


def leaves_tensor(format: Format, k: int) -> bool:
    """Whether the coordinate of an axis that a level computes may lie beyond the edge of the tensor.

    So do those of ``i`` in ``(j-i, j, i)``, unless the level over ``j`` is bounded by what is above it.
    """
    value = level_bounds.computed(format.remapping, k)
    if value is None or not isinstance(format.remapping.coordinates[k], Axis):
        return False
    last = max(axes_of(value), default=k)
    return passes_edge(value, format) and all(level.pads for level in format.levels[last + 1 : k])


def _of(access: Access, format: Format) -> Iterable[DerivedVariable]:
    levels = level_variables(access, format)
    sizes = _sizes(format)
    for axis, value in enumerate(format.remapping.inverse()):
        if value is not None and not isinstance(value, Axis):
            inside = not passes_edge(value, format)
            natural = inside or is_natural(value, format.remapping.coordinates)
            yield DerivedVariable(access.indices[axis], value, levels, access.indices, inside, natural, sizes)
    for k, value in enumerate(format.remapping.coordinates):
        if not isinstance(value, Axis) and "#" not in levels[k]:
            yield DerivedVariable(levels[k], value, access.indices, access.indices)


def single_coordinate_levels(
    accesses: Iterable[Access], types: Mapping[str, TensorType]
) -> tuple[DerivedVariable, ...]:
    """The levels that store nothing and have one coordinate, which follows from those above: their loops are none."""
    found: dict[DerivedVariable, None] = {}
    for access in accesses:
        format = types[access.tensor].format
        levels = level_variables(access, format)
        for k, level in enumerate(format.levels if format.is_structured else ()):
            value = level_bounds.computed(format.remapping, k) if level.branchless and not level.roles else None
            if value is not None:
                found[DerivedVariable(levels[k], value, levels, access.indices, sizes=_sizes(format))] = None
    return tuple(found)


def size_of(variable: str, accesses: Iterable[Access], types: Mapping[str, TensorType]) -> int | None:
    """How many values a level's variable has, where the remapping alone says: inside a block."""
    for access in accesses:
        format = types[access.tensor].format
        for v, c in zip(level_variables(access, format), format.remapping.coordinates, strict=True):
            if v == variable and (size := _size_of_digit(c)) is not None:
                return size
    return None


def radix_components(variable: str, derived: Sequence[DerivedVariable]) -> tuple[str, ...]:
    """The variables whose order, the first deciding first, is that of ``variable``: its digits, or it alone.

    ``i`` follows from ``i/2`` and ``i%2``, and loops over these in this order visit it in order. Empty where a
    variable follows from others in no such way.
    """
    found = next((d for d in derived if d.var == variable), None)
    if found is None:
        return (variable,)
    if found.of == found.axes:  # a level's variable, of the axes'
        axes = significance([found.value])
        return tuple(found.of[axis] for axis in axes or ())
    factors = linear(found.value)
    if factors is None or any(k is not None and f <= 0 for k, f in factors.items()):
        return ()
    places = sorted(((f, k) for k, f in factors.items() if k is not None), reverse=True)
    for (above, _), (factor, k) in pairwise(places):
        size = found.sizes[k]
        if size is None or size * factor > above:
            return ()
    return tuple(found.of[k] for _, k in places)


def _sizes(format: Format) -> tuple[int | None, ...]:
    return tuple(_size_of_digit(c) for c in format.remapping.coordinates)


def _size_of_digit(value: IndexExpr) -> int | None:
    """How many values a coordinate has inside a block."""
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
    """A readable identifier for a level's variable: ``i/2`` is ``i_div_2``."""
    parts = re.findall(r">>|<<|.", variable)
    return "".join(_SPELLED.get(c, c if c.isalnum() else "_") for c in parts)
