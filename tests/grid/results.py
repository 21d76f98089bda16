"""Results in every format of the catalogue: operations, operands of all formats and contents, and the cases of them.

Each case is one operation with its operands in some formats and its result in another. All of them are more than a
suite has time for: by default each operation has every format of its first operand and every format of its result at
least once. With WEFT_TEST_GRID=pairs each format of an operand also meets each format of a result, and with
WEFT_TEST_GRID=all every operation has all pairs of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.oracle import evaluate_dense

import weft
from weft.config import config
from weft.execution.entry_lists import list_entries
from weft.formats import Format
from weft.index_notation import accesses, parse

EXTENTS = {"i": 6, "j": 7, "k": 5}
SEED = 36

RESULTS: dict[str, str | Format] = {
    **{name: name for name in weft.formats if name != "hash_vector"},
    "bsr of 3 x 2": weft.formats["bsr"](2, blocksize=(3, 2)),
    "sd": "sd",
}
"""What matrices are computed into, by name."""
VECTORS = ("dense", "s", "coo", "coo_aos", "dok", "hash_vector")
"""What sums of rows and columns are computed into."""
UNSORTED = ("coo, unsorted", "csr, unsorted", "csc, unsorted", "csr, with fills")
"""Operands as users hold them: unsorted, with duplicates, or with entries that are the fill value."""
OPERANDS = (*RESULTS, *UNSORTED)


@dataclass(frozen=True)
class Operation:
    """An expression, with the fill values of its operands; ``like`` has an operand the structure of another one."""

    text: str
    fills: Mapping[str, float] = field(default_factory=dict)
    dtype: str = "float64"
    like: Mapping[str, str] = field(default_factory=dict)
    dense: str = ""  # operands that are NumPy's arrays
    spreads: bool = False  # NaN and infinity meet absent entries

    @cached_property
    def indices(self) -> dict[str, tuple[str, ...]]:
        """The variables of each operand."""
        return {access.tensor: access.indices for access in accesses(parse(self.text).value)}

    @cached_property
    def names(self) -> list[str]:
        """Its sparse operands."""
        return [name for name in self.indices if name not in self.dense]

    @cached_property
    def order(self) -> int:
        return len(parse(self.text).target.indices)


INF, NAN = float("inf"), float("nan")
OPERATIONS: dict[str, Operation] = {
    "copy": Operation("C(i,j) = A(i,j)"),
    "copy with fill 2": Operation("C(i,j) = A(i,j)", {"A": 2.0}),
    "transposed copy": Operation("C(i,j) = A(j,i)", dtype="float32"),
    "scale": Operation("C(i,j) = 2*A(i,j)"),
    "scale with fill NaN": Operation("C(i,j) = 2*A(i,j)", {"A": NAN}),
    "add": Operation("C(i,j) = A(i,j) + B(i,j)"),
    "add of one structure": Operation("C(i,j) = A(i,j) + B(i,j)", like={"B": "A"}),
    "add with fills 2 and inf": Operation("C(i,j) = A(i,j) + B(i,j)", {"A": 2.0, "B": INF}, spreads=True),
    "subtract": Operation("C(i,j) = A(i,j) - B(i,j)", dtype="int64"),
    "multiply": Operation("C(i,j) = A(i,j)*B(i,j)", spreads=True),
    "minimum with fill inf": Operation("C(i,j) = minimum(A(i,j), B(i,j))", {"A": INF, "B": INF}),
    "matmul": Operation("C(i,j) = A(i,k)*B(k,j)", spreads=True),
    "min-plus": Operation("C(i,j) = min(k, A(i,k) + B(k,j))", {"A": INF, "B": INF}),
    "SDDMM": Operation("C(i,j) = A(i,j)*V(i,k)*W(k,j)", dense="VW", spreads=True),
    "sum of three": Operation("C(i,j) = A(i,j) + B(i,j) + D(i,j)"),
    "row sums": Operation("y(i) = A(i,j)"),
    "column sums": Operation("y(j) = A(i,j)"),
}
CONTENTS = ("few", "few", "few", "NaN and infinity", "nothing", "one element", "no rows", "all", "diagonals")
"""What operands hold."""


@dataclass(frozen=True)
class Case:
    """An operation, the format of its result, those of its operands, and what these hold."""

    operation: str
    result: str
    formats: tuple[str, ...]
    contents: str = "few"
    threads: bool = False  # whether two threads make it, too

    def __str__(self) -> str:
        return f"{self.operation}: {', '.join(self.formats)} -> {self.result}, {self.contents}"


# -- operands -------------------------------------------------------------------------------------------------------
def extents(contents: str) -> dict[str, int]:
    match contents:
        case "one element":
            return dict.fromkeys(EXTENTS, 1)
        case "no rows":
            return {**EXTENTS, "i": 0}
    return EXTENTS


def values(shape: tuple[int, ...], contents: str, where: np.random.Generator, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers, of which sums are exact in any order, and NaN where nothing is stored."""
    density = {"nothing": 0.0, "one element": 1.0, "all": 1.0}.get(contents, 0.3)
    found = np.where(where.random(shape) < density, rng.choice([-3, -2, -1, 1, 2, 3, 4, 5], shape), np.nan)
    if contents == "diagonals":
        found = np.where(np.isin(np.subtract.outer(*map(np.arange, shape)), (-2, 0, 1)), found, np.nan)
    return found


@cache
def content(operation: str, contents: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each sparse operand's array, and which of its elements are stored."""
    given, sizes = OPERATIONS[operation], extents(contents)
    made = {}
    for n, name in enumerate(given.names):
        shape = tuple(sizes[v] for v in given.indices[name])
        of = given.names.index(given.like.get(name, name))
        found = values(shape, contents, np.random.default_rng((SEED, of)), np.random.default_rng((SEED, n, 1)))
        stored = ~np.isnan(found)
        array = np.where(stored, found, given.fills.get(name, 0))
        if contents == "NaN and infinity" and not given.spreads and given.dtype != "int64":
            array.flat[np.flatnonzero(stored)[:3]] = [NAN, INF, -INF][: stored.sum()]
        made[name] = (array.astype(given.dtype), stored)
    return made


def dense_operands(operation: str, contents: str) -> dict[str, np.ndarray]:
    given, sizes = OPERATIONS[operation], extents(contents)
    rng = np.random.default_rng(SEED)
    return {
        name: rng.integers(1, 5, [sizes[v] for v in given.indices[name]]).astype(given.dtype) for name in given.dense
    }


@cache
def operand(operation: str, contents: str, name: str, format: str) -> weft.SparseTensor:
    array, stored = content(operation, contents)[name]
    fill = OPERATIONS[operation].fills.get(name, 0)
    if format not in UNSORTED:
        return _coo(array, stored, fill).asformat(RESULTS[format])
    if format == "csr, with fills":
        more = stored | (np.arange(array.size).reshape(array.shape) % 3 == 0)
        return _coo(array, more, fill).asformat("csr")
    rows, columns = np.nonzero(stored)
    entries = array[stored]
    if fill == 0:  # every second entry is the sum of two
        again = slice(0, len(rows), 2)
        parts = np.where(np.isfinite(entries[again]), entries[again] + 1, entries[again])
        rest = np.where(np.isfinite(entries[again]), -1, 0)
        entries = np.concatenate([entries, rest.astype(entries.dtype)])
        entries[again] = parts
        rows, columns = (np.concatenate([axis, axis[again]]) for axis in (rows, columns))
    order = np.random.default_rng(SEED).permutation(len(rows))
    if format == "coo, unsorted":
        return weft.from_coords(
            [rows[order], columns[order]], entries[order], array.shape, fill_value=fill, duplicates="keep"
        )
    made = {"csr, unsorted": sp.csr_array, "csc, unsorted": sp.csc_array}[format]
    major = rows if made is sp.csr_array else columns
    order = order[np.argsort(major[order], kind="stable")]
    count = array.shape[0 if made is sp.csr_array else 1]
    pos = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=count))]).astype(np.int32)
    minor = (columns if made is sp.csr_array else rows)[order].astype(np.int32)
    return weft.asarray(made((entries[order], minor, pos), shape=array.shape), fill_value=fill)


def _coo(array: np.ndarray, stored: np.ndarray, fill: float) -> weft.SparseTensor:
    return weft.from_coords(np.array(np.nonzero(stored)), array[stored], array.shape, fill_value=fill)


# -- results ----------------------------------------------------------------------------------------------------------
def evaluated(case: Case, format: str | Format | None = None) -> weft.SparseTensor:
    """The result of a case, in its format or in another."""
    given = OPERATIONS[case.operation]
    operands: dict[str, Any] = {
        name: operand(case.operation, case.contents, name, of)
        for name, of in zip(given.names, case.formats, strict=True)
    }
    operands |= dense_operands(case.operation, case.contents)
    wanted = RESULTS.get(case.result, case.result) if format is None else format
    found = weft.evaluate(given.text, format=wanted, **operands)
    if isinstance(found, weft.SparseTensor):
        return found
    # An array without elements has its axes in every order.
    return weft.asarray(found) if found.size else weft.asarray(found).asformat(wanted)


def compare(case: Case) -> weft.SparseTensor:
    """Compute a case and compare it with NumPy: values, dtype, fill value, and that its arrays are in order."""
    given = OPERATIONS[case.operation]
    arrays: dict[str, Any] = {name: array for name, (array, _) in content(case.operation, case.contents).items()}
    arrays |= dense_operands(case.operation, case.contents)
    with np.errstate(all="ignore"):
        wanted = evaluate_dense(parse(given.text), arrays)
    found = evaluated(case)
    found.check_format()
    assert found.dtype == wanted.dtype
    assert found.layout == weft.asarray(np.zeros(wanted.shape)).asformat(RESULTS.get(case.result, case.result)).layout
    np.testing.assert_array_equal(found.todense(), wanted)
    scalars = {name: np.asarray(given.fills.get(name, 0), given.dtype) for name in given.names}
    if given.order == 2:
        np.testing.assert_array_equal(found.fill_value, fill_of(case.operation, scalars))
    return found


def fill_of(operation: str, fills: Mapping[str, np.ndarray]) -> np.ndarray:
    """The value of an expression where nothing is stored: that of whole arrays of fill values."""
    given = OPERATIONS[operation]
    arrays = {name: np.full([1] * len(of), fills.get(name, 1.0)) for name, of in given.indices.items()}
    with np.errstate(all="ignore"):
        return evaluate_dense(parse(given.text), arrays)[0, 0]


def arrays(tensor: weft.SparseTensor) -> tuple[np.ndarray, ...]:
    """All arrays of a tensor."""
    return (*tensor._storage.arrays, tensor._storage.vals)


def of_one_structure(case: Case) -> bool:
    """Whether the operands of a case store what csr operands do: no padding, no entries that are the fill value.

    Loops visit padding, and a result in a format of entries alone stores what they visit; a conversion leaves it out.
    """
    for name, format in zip(OPERATIONS[case.operation].names, case.formats, strict=True):
        tensor, stored = operand(case.operation, case.contents, name, format), content(case.operation, case.contents)
        visited = {*zip(*(crd.tolist() for crd in list_entries(tensor._storage).arrays[1:]), strict=True)}
        if tensor.layout.is_dense or len(visited) != stored[name][1].sum():
            return False
    return True


def known_difference(case: Case) -> bool:
    """Whether the structure of a case's result depends on its plan today, which it should not.

    Where rows are enumerated, sums of those that are empty are stored: of csr operands they are, of lists not, and of
    csc operands columns are. A fill value of infinity annihilates, which is not seen where
    operands are to be sorted first.
    """
    unsorted = not {"coo, unsorted", "csc, unsorted", "csr, unsorted"}.isdisjoint(case.formats)
    infinite = INF in OPERATIONS[case.operation].fills.values()
    return OPERATIONS[case.operation].order == 1 or (unsorted and infinite)


def known_fault(case: Case) -> bool:
    """Whether a case fails today: rows that are not sorted are merged with what is computed of every coordinate."""
    return case.operation == "SDDMM" and "csr, unsorted" in case.formats and case.result in ("dense", "dense_f")


def structure(tensor: weft.SparseTensor) -> tuple[np.ndarray, ...]:
    """What must not depend on the plan: the index arrays, or sorted coordinates where entries are found by hashing."""
    storage = tensor._storage
    if any(level.locates == "probe" for level in storage.format.levels):
        coords = tensor.to_coo()[0]
        return (coords[:, np.lexsort(coords[::-1])],)
    return tuple(storage.arrays)


def of_two_steps(case: Case) -> weft.SparseTensor:
    """The result computed into csr, or into a list, from csr operands, and converted."""
    given = OPERATIONS[case.operation]
    plain = Case(case.operation, case.result, ("csr",) * len(given.names), case.contents)
    made = evaluated(plain, "csr" if given.order == 2 else "s")
    return made.asformat(RESULTS.get(case.result, case.result))


def conversions(case: Case) -> Iterator[tuple[str, weft.SparseTensor]]:
    """A copy by other spellings, whose arrays are the same: as a conversion, by einsum, transposed, or assigned."""
    if "copy" not in case.operation or case.result in ("dense", "dense_f"):
        return
    given, wanted = operand(case.operation, case.contents, "A", case.formats[0]), RESULTS[case.result]
    transposed = case.operation == "transposed copy"
    source = given.T if transposed else given
    yield "asformat", source.asformat(wanted)
    yield "einsum", weft.einsum("ij->ji" if transposed else "ij->ij", given, format=wanted)
    yield "transposed", weft.evaluate(f"C(i,j) = A({'i,j' if transposed else 'j,i'})", A=given.T, format=wanted)
    none = np.empty((2, 0), int)
    target = weft.from_coords(none, np.empty(0, source.dtype), source.shape, fill_value=source.fill_value)
    target = target.asformat(wanted)
    target[...] = source
    yield "assigned", target


def of_two_threads(case: Case) -> weft.SparseTensor:
    with config.override(num_threads=2, parallel_threshold=0):
        return evaluated(case)


# -- cases ----------------------------------------------------------------------------------------------------------
def results_of(operation: str) -> Sequence[str]:
    return list(RESULTS) if OPERATIONS[operation].order == 2 else VECTORS


def sampled(pairs: bool = False) -> Iterator[Case]:
    """Each operation with every format of its first operand and of its result; and all ``pairs`` of these formats."""
    rng = random.Random(SEED)
    matrices = [name for name, given in OPERATIONS.items() if given.order == 2]
    sums = [name for name, given in OPERATIONS.items() if given.order == 1]
    results = list(RESULTS)
    others = rng.sample(OPERANDS, len(OPERANDS))
    for n, format in enumerate(OPERANDS):
        for k in range(len(results) if pairs else len(matrices)):
            operation = matrices[k % len(matrices)]
            formats = (format, others[(n + k) % len(others)], others[(n + 2 * k) % len(others)])
            formats = formats[: len(OPERATIONS[operation].names)]
            threads = (n + k) % 7 == 0
            yield Case(operation, results[(n + k) % len(results)], formats, rng.choice(CONTENTS), threads)
        for k, operation in enumerate(sums):
            yield Case(operation, VECTORS[(n + k) % len(VECTORS)], (format,), rng.choice(CONTENTS), n % 7 == 0)


def every() -> Iterator[Case]:
    """All operations with each format of the operands, which all have, and each format of the result."""
    rng = random.Random(SEED)
    for operation, given in OPERATIONS.items():
        for result in results_of(operation):
            for format in OPERANDS:
                for contents in dict.fromkeys(CONTENTS):
                    if contents == "few" or rng.random() < 0.2:
                        yield Case(operation, result, (format,) * len(given.names), contents, threads=True)


def chosen() -> list[Case]:
    """The cases that the environment asks for."""
    match os.environ.get("WEFT_TEST_GRID", ""):
        case "all":
            return list(every())
        case asked:
            return list(sampled(pairs=asked == "pairs"))


def listed(cases: Sequence[Case], size: int = 64) -> dict[str, list[Case]]:
    """Pieces of a list of cases by name, so that workers share them and the kernels of each are compiled together."""
    return {f"{n}": list(cases[n : n + size]) for n in range(0, len(cases), size)}
