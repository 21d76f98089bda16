"""Grids: an expression, every mix of operand formats and several result formats, against the dense oracle.

By default each two operands meet in each pair of their formats, and so do each operand and the result. With
WEFT_TEST_GRID=all every mix of formats is run.
"""

from __future__ import annotations

import itertools
import os
import random
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tests.kernel_batches import each
from tests.oracle import evaluate_dense

from weft import execution
from weft.config import config
from weft.formats import Format, parse_format
from weft.index_notation import accesses, parse
from weft.storage import Storage, check, fill_of, tensor_type

MODES = {n: list(itertools.permutations(range(n))) for n in range(1, 5)}
EXTENTS = {"i": 5, "j": 6, "k": 4, "l": 3, "m": 2}


def letters(order: int) -> list[str]:
    """All formats of dense and compressed levels in every mode order: 8 for a matrix, 48 for a third-order tensor."""
    found = []
    for levels in itertools.product("ds", repeat=order):
        for modes in MODES[order]:
            suffix = "" if modes == tuple(range(order)) else ":" + ",".join(map(str, modes))
            found.append("".join(levels) + suffix)
    return found


VECTORS = letters(1)
MATRICES = [*letters(2), "coo"]
TENSORS = [*letters(3), "coo"]


@dataclass(frozen=True)
class Grid:
    """One expression over all mixes of ``formats`` and all ``results`` (None: the inferred format)."""

    text: str
    formats: Mapping[str, Sequence[str]]
    results: Sequence[str | None]

    def cases(self) -> Iterator[tuple[dict[str, str], str | None]]:
        for mix in itertools.product(*self.formats.values()):
            for result in self.results:
                yield dict(zip(self.formats, mix, strict=True)), result

    @cached_property
    def chosen(self) -> list[tuple[dict[str, str], str | None]]:
        """The cases to run: all of them, or a sample in which each two tensors have all pairs of their formats."""
        cases = list(self.cases())
        return cases if os.environ.get("WEFT_TEST_GRID") == "all" else [cases[n] for n in _with_all_pairs(cases)]


def pairs(case: tuple[Mapping[str, str], str | None]) -> list[tuple[Any, ...]]:
    """The pairs of tensors of a case, each with its format; the result has no name."""
    formats, result = case
    return list(itertools.combinations([*formats.items(), ("", result)], 2))


def _with_all_pairs(cases: Sequence[tuple[Mapping[str, str], str | None]]) -> list[int]:
    """The places of few cases that have every pair of formats that any case has, in order."""
    found = [pairs(case) for case in cases]
    order = random.Random(0).sample(range(len(cases)), len(cases))
    lacking, kept = set(itertools.chain(*found)), []
    for new in range(len(found[0]), 0, -1):  # first the cases of which more pairs are new
        for n in order:
            if sum(pair in lacking for pair in found[n]) >= new:
                kept.append(n)
                lacking.difference_update(found[n])
    return sorted(kept)


def array(shape: Sequence[int], density: float, rng: np.random.Generator, dtype: Any = float) -> np.ndarray:
    values = rng.integers(1, 9, shape)
    return (values * (rng.random(shape) < density)).astype(dtype)


def stored(dense: np.ndarray, format: str | Format, fill: object = 0) -> Storage:
    """A dense array in a format, made by the compiler."""
    wanted = parse_format(format, dense.ndim)
    plain = Storage.dense(np.asarray(dense))
    if fill != 0:
        type = tensor_type(plain.type.dtype, plain.format, plain.type.index_dtypes, fill_of(plain.dtype, fill))
        plain = Storage(plain.shape, type, plain.arrays, plain.vals)
    return plain if wanted == plain.format else execution.convert(plain, wanted)


def densified(storage: Storage) -> np.ndarray:
    if not storage.format.is_dense:
        storage = execution.convert(storage, Format.dense(len(storage.shape)))
    return storage.to_dense_array()


def no_empty_slices(storage: Storage) -> bool:
    """Whether every coordinate stored above the last compressed level leads to an entry."""
    levels = storage.format.levels
    for k, level in enumerate(levels):
        if k and level.roles == ("pos", "crd") and levels[k - 1].roles == ("pos", "crd"):
            pos = storage.level_arrays(k)["pos"]
            if (np.diff(pos) == 0).any():
                return False
    return True


def run_case(
    text: str, formats: Mapping[str, str], result: str | None, extents: Mapping[str, int], *,
    density: float = 0.3, dtypes: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Compute one case and compare it with the oracle; raises what is wrong with it."""
    assignment = parse(text)
    rng = np.random.default_rng(zlib.crc32(repr((text, sorted(formats.items()))).encode()))
    arrays: dict[str, np.ndarray] = {}
    for access in accesses(assignment.value):
        if access.tensor not in arrays:
            shape = [extents[v] for v in access.indices]
            arrays[access.tensor] = array(shape, density, rng, (dtypes or {}).get(access.tensor, float))
    operands = {name: stored(dense, formats.get(name, "dense")) for name, dense in arrays.items()}
    order = len(assignment.target.indices)
    wanted = None if result is None else parse_format(result, order)
    got = execution.evaluate(assignment, operands, format=wanted)
    check(got)
    assert no_empty_slices(got), "an empty slice is stored"
    expected = evaluate_dense(assignment, arrays)
    found = densified(got)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected)


def run(
    text: str, cases: Iterable[tuple[Mapping[str, str], str | None]], *, extents: Mapping[str, int] = EXTENTS,
    threads: int = 1, optimization: int = 0, **options: Any,
) -> int:  # fmt: skip
    """Run cases; every failure is reported, with its formats."""
    failures: list[str] = []
    count = 0
    with config.override(optimization=optimization, num_threads=threads, parallel_threshold=0):
        for (formats, result), error in each(cases, lambda case: run_case(text, *case, extents, **options)):
            count += 1
            if error is not None:
                failures.append(f"{text} with {dict(formats)} -> {result}: {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} of {count} cases failed\n" + "\n".join(failures[:5])
    return count


def chunked(grids: Mapping[str, Grid], size: int = 96) -> list[tuple[str, int]]:
    """``(grid, chunk)`` pairs: pieces of the grids of about ``size`` cases, so that workers share them."""
    return [(name, n) for name, grid in grids.items() for n in range(-(-len(grid.chosen) // size))]


def piece(grid: Grid, n: int, size: int = 96) -> list[tuple[dict[str, str], str | None]]:
    return grid.chosen[n * size : (n + 1) * size]
