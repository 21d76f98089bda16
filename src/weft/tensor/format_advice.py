"""Suggestion of a format that suits a tensor and an operation, by attribute queries on the tensor's structure."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from ..errors import FormatError
from ..operations.foreign_tensors import convert, count_entries
from ..operations.operands import storage_of
from ..queries.nodes import NAMES
from ..records import record
from ..storage import Storage
from .query import query
from .sparse_tensor import SparseTensor

OPERATIONS = ("spmv", "spgemm", "add", "insert")
FULL = 0.6  # least share of entries among the positions of a format of diagonals or padded rows
BLOCK_FULL = 0.75  # least share of entries among the positions of blocks
BLOCKS = (2, 3, 4, 6, 8)
EMPTY_ROWS = 0.5  # share of empty rows above which only rows with entries are worth storing


@record
class Suggestion:
    """A suggested format with its options and the reasons for it."""

    format: str  # a name of the catalogue
    options: dict[str, Any] = field(default_factory=dict)  # the options of the format, for ``asformat``
    reasons: tuple[str, ...] = ()  # Facts about the structure of the tensor, and the conclusion from them

    def __str__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return "\n".join([f"{self.format}{options}", *(f"  {reason}" for reason in self.reasons)])


def suggest_format(storage: Storage, op: str = "spmv") -> Suggestion:
    """Suggest a format for an operation on a tensor."""
    if op not in OPERATIONS:
        raise FormatError(f"there is no advice on formats for {op!r}, only for {', '.join(OPERATIONS)}")
    tensor = SparseTensor(storage)
    shape = storage.shape
    size = math.prod(shape)
    every = ",".join(NAMES[: len(shape)])
    entries = int(query(tensor, f"select [] -> count({every}) as n")["n"]) if shape else 1
    reasons = [f"{entries} entries of {size}"]
    # Rules that hold for any operation and number of axes come first.
    if size and entries > 0.5 * size:
        return Suggestion("dense", {}, (*reasons, "more than half are stored: coordinates would cost more than zeros"))
    # Formats for matrices alone are considered below.
    if len(shape) != 2:
        if op in ("insert", "add") or len(shape) < 2:
            return Suggestion("coo", {}, (*reasons, "coordinates are appended at no cost"))
        return Suggestion("csf", {}, (*reasons, "a tree stores the coordinates of slices once"))
    if op == "insert":
        return Suggestion("dok", {}, (*reasons, "a hash table takes entries in any order"))
    # The lengths of rows decide between the formats of matrices.
    rows = query(tensor, "select [i] -> count(j) as n")["n"]
    longest, empty = int(rows.max(initial=0)), int((rows == 0).sum())
    mean = entries / max(1, len(rows))
    reasons.append(f"rows of {longest} entries at most, {mean:.1f} on average, {empty} of {len(rows)} empty")
    if empty > EMPTY_ROWS * len(rows):
        return Suggestion("dcsr", {}, (*reasons, "most rows are empty and need not be stored"))
    if op in ("spgemm", "add"):
        return Suggestion("csr", {}, (*reasons, f"{op} walks rows in order"))
    return _for_products(tensor, entries, longest, reasons)


def _for_products(tensor: SparseTensor, entries: int, longest: int, reasons: list[str]) -> Suggestion:
    """Suggest the format of a matrix that multiplies a vector fastest."""
    # From the most regular structure to the least: fewer coordinates have to be read for regular ones.
    n_rows, n_columns = tensor.shape
    diagonals = int(np.count_nonzero(query(tensor, "select [j-i] -> id() as ne")["ne"]))
    reasons.append(f"{diagonals} diagonals")
    if entries >= FULL * diagonals * min(n_rows, n_columns) > 0:
        return Suggestion("dia", {}, (*reasons, "diagonals are full enough: no coordinates are read"))
    for b in reversed(BLOCKS):
        blocks = _blocks(tensor, b)
        if entries >= BLOCK_FULL * blocks * b * b > 0:
            reasons.append(f"{blocks} blocks of {b} x {b}, {entries / (blocks * b * b):.0%} full")
            return Suggestion("bsr", {"blocksize": (b, b)}, (*reasons, "one coordinate is read for each block"))
    if entries >= FULL * n_rows * longest > 0:
        return Suggestion("ell", {}, (*reasons, "rows are of much the same length: loops over them need no bounds"))
    return Suggestion("csr", {}, (*reasons, "nothing more regular than rows"))


def _blocks(tensor: SparseTensor, b: int) -> int:
    """Return the number of blocks of ``b`` rows and columns that hold an entry."""
    return int(query(tensor, f"select [] -> count(i/{b}, j/{b}) as n")["n"])


def block_side(tensor: SparseTensor) -> int:
    """Return the side of the largest square blocks that divide a matrix and are nearly full where not empty; else 1."""
    if tensor.layout.is_dense:
        tensor = SparseTensor(convert(storage_of(tensor), "csr"))
    entries = count_entries(storage_of(tensor))
    for b in reversed(BLOCKS):
        if not any(n % b for n in tensor.shape) and entries >= BLOCK_FULL * _blocks(tensor, b) * b * b > 0:
            return b
    return 1
