"""Ordinary expressions whose kernels are shipped, and the tensors that they are run for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from ..records import record
from ..sections import sections

CORE, MORE = (sections(__file__, "expressions.txt")[name].splitlines() for name in ("core", "more"))
"""The most ordinary expressions, which every build has, the most important first; then others, of which a build has as
many as there is time for."""


@record
class Operands:
    """Properties of the tensors that expressions are run for, and the number of threads that run them."""

    dtype: str  # of the values
    index_dtype: str  # of the index arrays
    n: int  # the number of rows
    threads: int = 1


Run = tuple[Operands, str]
"""An expression, with the properties of its operands."""

USUAL = tuple(Operands("float64", "int32", n, threads) for n, threads in ((200, 1), (4_000, 1), (4_000, 2)))
"""Small and large matrices need different kernels. Small ones run on one thread, however many there are."""


def core() -> list[Run]:
    """Return the runs whose kernels every build has."""
    return [(kind, line) for line in CORE for kind in USUAL]


def others(machine: bool) -> Iterator[list[Run]]:
    """Yield further runs, the most important first: fewer in a build for one machine than in wheels."""
    serial = [kind for kind in USUAL if kind.threads == 1]
    yield [(kind, line) for line in MORE for kind in serial]
    # Other dtypes and index dtypes need kernels of their own.
    sizes = sorted({kind.n for kind in USUAL})
    rare = [Operands("float64", "int64", n) for n in sizes] + [Operands(t, "int32", 200) for t in ("float32", "int64")]
    yield [(kind, line) for line in CORE for kind in rare]
    if not machine:
        rest = [Operands(t, "int32", sizes[-1]) for t in ("float32", "int64")]
        rest += [Operands(t, "int64", 200) for t in ("float32", "int64")]
        rest += [Operands("bool", index, 200) for index in ("int32", "int64")]
        yield [(kind, line) for line in CORE for kind in rest]
        yield [(kind, line) for line in MORE for kind in rare]


def names(of: Operands) -> Mapping[str, Any]:
    """Return the tensors and arrays that expressions use, by their names."""
    # Values are positive, so that no divisor is zero. Random coordinates may repeat, as those of users may.
    rng, n = np.random.default_rng(0), of.n
    entries = 1600 if n < 1000 else 3 * n

    def listed() -> sp.coo_array:
        values = rng.random(entries) + 0.25 if of.dtype[0] == "f" else rng.integers(1, 4, entries)
        return sp.coo_array((values.astype(of.dtype), tuple(rng.integers(0, n, (2, entries)))), shape=(n, n))

    def cube() -> weft.SparseTensor:
        return weft.random((7, 5, 6), density=0.4, rng=rng, dtype=of.dtype).asformat("coo", index_dtype=of.index_dtype)

    def stored(tensor: Any, format: str, **options: Any) -> weft.SparseTensor:
        return weft.asarray(tensor).asformat(format, index_dtype=of.index_dtype, **options)

    # Two operands of each kind differ in structure: operands of one structure get other kernels.
    first, second = listed(), listed()
    A, B, S3, T3 = stored(sp.csr_array(first), "csr"), stored(sp.csr_array(second), "csr"), cube(), cube()
    far = weft.asarray(sp.csr_array(first), fill_value=np.inf) if of.dtype[0] == "f" else A
    return {
        "np": np, "weft": weft, "n": n, "A": A, "B": B, "C": stored(A, "csc"), "H": stored(B, "csc"),
        "O": stored(first, "coo"), "Q": stored(second, "coo"), "J": stored(far, "csr"),
        "U": weft.from_coords(np.stack([first.row, first.col]), first.data, (n, n), duplicates="keep"),
        "R": A.asformat("bsr", blocksize=(2, 2)), "I": weft.eye(n, dtype=of.dtype, format="csr"),
        "S3": S3, "T3": T3, "F3": stored(S3, "csf"), "G3": stored(T3, "csf"),
        "U3": weft.asarray(sp.random_array((7, 5, 6), density=0.4, rng=rng).astype(of.dtype)),
        "V": stored(A[0], "coo"), "W": stored(B[0], "coo"),
        "G": weft.csr_array((np.ones(n, of.dtype), (np.arange(n) % 7, np.arange(n))), shape=(7, n)),
        "small": A[:20, :20], "x": np.ones(n, of.dtype), "y": np.full(n, 2, of.dtype),
        "D": np.ones((n, 8), of.dtype), "L": np.full((n, 8), 2, of.dtype), "N": np.ones((n, 3), of.dtype),
        "N3": np.ones((5, 6), of.dtype), "E": np.ones((n, n) if n < 1000 else (1, n), of.dtype),
        "rows": np.array([5, 3, 150, 3]), "mask": np.arange(n) % 3 == 0,
    }  # fmt: skip
