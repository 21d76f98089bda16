"""Structures of operands, by which ``compute`` recognizes those that ``assemble`` saw (2017 paper, section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..storage import Storage

__all__ = ["Structure"]


class Structure:
    """Shapes, types and index arrays of the operands of a kernel.

    The arrays are kept alive, so that no other array can have the identity of one. The contents of arrays are compared
    only if an operand has other arrays.

    Parameters
    ----------
    text : str
        The expression.
    operands : sequence of str
        Names of its operands.
    storages : sequence of Storage
        The operands.
    """

    __slots__ = ("_operands", "text")

    def __init__(self, text: str, operands: Sequence[str], storages: Sequence[Storage]) -> None:
        self.text = text
        self._operands = tuple([(n, s.type, s.shape, s.arrays) for n, s in zip(operands, storages, strict=True)])

    def why_not(self, storages: Sequence[Storage]) -> str | None:
        """Return the reason why other operands have another structure; None if they have the same.

        The reason names one of the operands.
        """
        for (name, type, shape, arrays), other in zip(self._operands, storages, strict=True):
            if other.type is not type and other.type != type:
                return f"{name} is {other.type} instead of {type}"
            if other.shape != shape:
                return f"{name} has shape {other.shape} instead of {shape}"
            if other.arrays is arrays:
                continue
            for (level, role), mine, its in zip(type.format.roles, arrays, other.arrays, strict=True):
                if mine is not its and not np.array_equal(mine, its):
                    return f"{name} stores other coordinates, as {role} of level {level + 1} says"
        return None
