"""Structures of operands: whether they are equal, and whether they are those that ``assemble`` saw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import FormatError, StorageError
from ..formats import TensorType
from ..storage import Storage
from ..variant import Variant


class Structure:
    """Shapes, types and index arrays of the operands of a kernel.

    The arrays are kept alive, so that no other array can have the identity of one. The contents of arrays are compared
    only if an operand has other arrays. ``variant`` is that of the loops if they decide the order of entries.
    """

    __slots__ = ("_operands", "text", "variant")

    def __init__(
        self, text: str, operands: Sequence[str], storages: Sequence[Storage], variant: Variant | None = None
    ) -> None:
        self.text, self.variant = text, variant
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


def sharing_line(result: str, operand: str) -> str:
    """Return the line that says that a result shares the index arrays of an operand."""
    return f"{result} shares the index arrays of {operand}: only values are computed"


def require_structure(text: str, result: Storage, storages: Sequence[Storage], variant: Variant | None = None) -> None:
    """Raise if ``assemble`` did not make a result for operands of this structure."""
    structure: Structure | None = getattr(result, "assembled_for", None)
    if structure is None or structure.text != text:
        made = "" if structure is None else f", but for {structure.text}"
        raise StorageError(f"assemble did not make this result for {text}{made}; call assemble, then compute")
    if structure.variant != variant:
        raise StorageError(f"assemble ordered the entries by other settings in {text}; call assemble again")
    if (reason := structure.why_not(storages)) is not None:
        raise StorageError(
            f"{reason}: assemble saw another structure in {text}; call assemble again for these operands"
        )


def check_writable(text: str, result: Storage, type: TensorType, shape: tuple[int, ...]) -> None:
    """Raise if values of a type and shape cannot be written to a result."""
    if result.shape != shape or result.type != type:
        raise FormatError(
            f"compute of {text} fills a tensor of {type} and shape {shape}, not one of {result.type} and "
            f"shape {result.shape}; pass what assemble returned for these operands"
        )
    if not result.vals.flags.writeable:
        raise FormatError("compute cannot fill the result, whose values are read-only; pass a copy()")


_FIRST, _LARGEST = 256, 1 << 14
"""Elements of the first block that is compared, and of the largest one. Each block is twice as long as the last."""


def same_structure(storages: Sequence[Storage]) -> bool:
    """Return whether tensors of one type have the same shape and equal index arrays.

    Sizes are compared first, then arrays that are not the same object, up to the first block that differs.
    """
    first, *others = storages
    shape, size, arrays = first.shape, first.vals.size, first.arrays
    for other in others:
        if other.shape != shape or other.vals.size != size:
            return False
    pairs = [(a, b) for other in others for a, b in zip(arrays, other.arrays, strict=True) if a is not b]
    if first.is_on_device:  # whose arrays are not read to be compared
        return not pairs
    # The beginnings of all arrays come first, those of inner levels first: most structures that differ do so there.
    for a, b in reversed(pairs):
        if len(a) != len(b) or a[:_FIRST].tobytes() != b[:_FIRST].tobytes():
            return False
    return all(_equal(a, b) for a, b in pairs if len(a) > _FIRST)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays of one length and dtype have equal bytes, giving up at the first block that differs."""
    begin, block, size = _FIRST, 2 * _FIRST, len(a)
    while begin < size:
        end = begin + block
        # Bytes are compared faster than elements, and the copies of a block stay in the cache.
        if a[begin:end].tobytes() != b[begin:end].tobytes():
            return False
        begin, block = end, min(2 * block, _LARGEST)
    return True
