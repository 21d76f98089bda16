"""Merges take the loop that their data predict, and no bit of a result changes."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.config import config

ROWS, COLUMNS = 5000, 300


def drawn(seed, dtype="float64", index="int32", rows=ROWS, length=8):
    """A matrix with empty rows, and with zeros, a NaN and a negative zero among its values."""
    rng = np.random.default_rng(seed)
    count = rows * length
    made = sp.csr_array(
        (np.ones(count, dtype), (rng.integers(0, rows, count) // 3 * 2, rng.integers(0, COLUMNS, count))),
        shape=(rows, COLUMNS),
    )
    made.sum_duplicates()
    made.data = rng.integers(-2, 3, made.nnz).astype(dtype)
    if made.data.dtype.kind == "f":
        made.data[:2] = np.nan, -0.0
    made.indptr, made.indices = made.indptr.astype(index), made.indices.astype(index)
    return made


def moved(a):
    """The same rows, moved by one column, of which the last is not moved to."""
    b = a.copy()
    b.indices = np.minimum(b.indices + 1, COLUMNS - 1).astype(b.indices.dtype)
    b.sum_duplicates()
    return b


def both(text, a, b, threads=1):
    """The arrays of a result with the second loop, and without."""
    results = []
    for switched_off in ((), ("merge-branches",)):
        with config.override(disable=set(switched_off), num_threads=threads, parallel_threshold=0):
            c = weft.evaluate(text, A=weft.asarray(a), B=weft.asarray(b))
        results.append([x.tobytes() for x in ((c.indptr, c.indices, c.data) if c.ndim == 2 else (np.asarray(c),))])
    return results


@pytest.mark.parametrize(
    ("dtype", "index"), [("float64", "int32"), ("float32", "int64"), ("complex128", "int32"), ("int8", "int32")]
)
@pytest.mark.parametrize("operator", "+-*")
def test_results_have_the_bits_of_the_other_loop(operator, dtype, index):
    a = drawn(0, dtype, index)
    for b in (drawn(1, dtype, index), drawn(2, dtype, index, length=1), moved(a)):
        one, other = both(f"C(i,j) = A(i,j) {operator} B(i,j)", a, b)
        assert one == other


@pytest.mark.parametrize("text", ["C(i,j) = A(i,j) + B(i,j)", "C(i,j) = A(i,j) * B(i,j)", "y(i) = A(i,j)*B(i,j)"])
def test_each_chunk_of_each_thread_may_take_its_own_loop(text):
    a = drawn(0, rows=160_000, length=3)
    b = moved(a)
    b.indices[: b.nnz // 2] = drawn(1, rows=160_000, length=3).indices[: b.nnz // 2]
    b.sort_indices()
    b.has_canonical_format = False
    b.sum_duplicates()
    one, other = both(text, a, b, threads=2)
    assert one == other
