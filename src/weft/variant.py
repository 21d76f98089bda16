"""Variant: the assumptions for which loops are scheduled, beyond the types of the tensors."""

from __future__ import annotations

from typing import Literal as OneOf

from .code_options import CodeOptions, code_options
from .records import keeps_hash, record


@keeps_hash
@record
class Variant:
    """Assumptions about the assignment, its data and the machine, for which a schedule is chosen.

    A plan starts with the defaults. The plan makes another variant with properties that its operands turn out to have.
    """

    conversion: bool = False  # True if the assignment is a conversion, which must not need another one
    # Workspaces that collect coordinates. Hash tables are used if dimensions are too large for an array. Arrays without
    # a list are used if most coordinates of the whole result will have an entry.
    accumulator: OneOf["list", "hash", "dense"] = "list"
    tile: bool = True  # True to cut loops into tiles if that pays; loops that are scheduled by hand stay whole
    # True if dimensions are too large for dense levels. Tensors that are stored plainly or converted then have none.
    no_dense_levels: bool = False
    no_dense_result: bool = False  # True if an axis of the result is too long for an array
    # True if vectors have so many entries that none is iterated for each row of another operand.
    hash_lookup: bool = False
    parallel_loops: bool = False  # True if threads are to share the loops
    long_rows: bool = False  # True if a row has a large part of all entries, and is cut into pieces for threads
    # True if operands of the result's format, with its indices, all have equal index arrays.
    same_structure: bool = False
    one_diagonal: bool = False  # True if operands that list their diagonals have no other than the main one
    # True if the result has 64-bit index arrays, since there are coordinates or positions beyond 32 bits.
    wide_index: bool = False
    whole: bool = False  # True if a result that one kernel can make is not to be converted
    options: CodeOptions = code_options()  # the settings that affect code

    @property
    def converts_operands(self) -> bool:
        """True if operands can be converted before the loops; devices have no conversions."""
        return self.options.target != "cuda"

    @property
    def has_lanes(self) -> bool:
        """True if several threads of a device share the innermost loops."""
        return self.options.target == "cuda"

    @property
    def stores_again(self) -> bool:
        """True if operands may be stored in other formats first: where they can be, but in a conversion."""
        return self.converts_operands and not self.conversion

    @property
    def tiles(self) -> bool:
        """True if loops are cut into tiles where that pays."""
        return self.tile and self.options.enabled("tiling")


DEFAULT = Variant()
