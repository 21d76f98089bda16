"""Segments of operands in no order, which are sorted where loops enter them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import weft

UNSORTED = weft.Format("(i,j) -> (i,j)", [weft.Dense(), weft.Compressed(ordered=False)])
REPEATED = weft.Format("(i,j) -> (i,j)", [weft.Dense(), weft.Compressed(ordered=False, unique=False)])
N = 12


def stored(dtype: str, repeats: bool) -> tuple[weft.SparseTensor, np.ndarray]:
    """A matrix whose rows are in no order, some empty, maybe with repeats, and the same as an array."""
    rng = np.random.default_rng(4)
    rows = np.sort(rng.integers(0, N, 50))
    columns = rng.integers(0, N, 50) if repeats else rng.permutation(N * N)[:50] % N
    values = rng.integers(-9, 9, 50).astype(dtype)
    if dtype == "float64":
        values[[3, 8, 9, 20]] = np.nan, np.inf, -0.0, -np.inf
    if not repeats:
        _, once = np.unique(rows * N + columns, return_index=True)
        once = once[np.lexsort((rng.random(len(once)), rows[once]))]
        rows, columns, values = rows[once], columns[once], values[once]
    pos = np.searchsorted(rows, np.arange(N + 1)).astype("int32")
    levels = [{}, {"pos": pos, "crd": columns.astype("int32")}]
    dense = np.zeros((N, N), dtype)
    with np.errstate(all="ignore"):
        np.add.at(dense, (rows, columns), values)
    return weft.from_levels((N, N), REPEATED if repeats else UNSORTED, levels, values), dense


def product(*factors: np.ndarray) -> np.ndarray:
    """The product, which is zero where a factor is absent."""
    with np.errstate(all="ignore"):
        value = np.prod([np.broadcast_to(f, (N, N)) for f in factors], axis=0, dtype=factors[0].dtype)
    return np.where(np.any([np.broadcast_to(f == 0, (N, N)) for f in factors], axis=0), value.dtype.type(0), value)


@pytest.mark.parametrize(("dtype", "repeats"), [("float64", False), ("float64", True), ("int8", True)])
def test_segments_below_skipping_loops_are_sorted_where_they_are_entered(dtype, repeats):
    A, a = stored(dtype, repeats)
    b, c = ((np.arange(N * N).reshape(N, N) * k % 7).astype(dtype) for k in (3, 5))
    b[::2], mask = 0, (np.arange(N) % 3).astype(dtype)
    m, B, C = weft.asarray(mask, format="s"), weft.asarray(b, format="dcsr"), weft.asarray(c, format="csr")
    tensors = {"A": A, "B": B, "C": C, "m": m}
    with np.errstate(all="ignore"):
        cases = [
            ("D(i,j) = A(i,j)*B(i,j)", product(a, b)),
            ("D(i,j) = m(i)*(A(i,j) + C(i,j))", product(mask[:, None], (a + c).astype(dtype))),
            ("D(i,j) = B(i,j)*A(i,j)*A(i,j)", product(b, a, a)),
            ("y(i) = A(i,j)*B(i,j)", product(a, b).sum(axis=1, dtype=dtype)),
        ]
    for text, expected in cases:
        operands = {name: T for name, T in tensors.items() if f"{name}(" in text.split("=")[1]}
        assert "segments of A are sorted where loops enter them" in weft.explain(text, **operands)
        result = weft.evaluate(text, **operands)
        np.testing.assert_array_equal(result.todense(), expected)
        with weft.config.override(disable=["segment-copies"]):
            assert "segments of A" not in weft.explain(text, **operands)
            np.testing.assert_array_equal(weft.evaluate(text, **operands).todense(), expected)


def test_all_segments_are_sorted_before_loops_that_enter_all():
    report = weft.explain("D(i,j) = A(i,j)*B(i,j)", A=UNSORTED, B="csr")
    reason = "coordinates j of A are in no order, and the loop over j merges A with B"
    assert f"each call sorts the coordinates of A, since {reason}" in report


def test_entries_in_no_order_are_multiplied_with_rows_as_they_are_stored():
    rng = np.random.default_rng(2)
    coords, values = rng.integers(0, N, (2, 40)), rng.integers(-9, 9, 40).astype("int8")
    A = weft.from_coords(coords, values, shape=(N, N), duplicates="keep")
    a, b = np.zeros((N, N), "int8"), (np.arange(N * N).reshape(N, N) % 3).astype("int8")
    np.add.at(a, tuple(coords), values)
    B = weft.asarray(b, format="csr")
    assert "each call" not in weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A.format, B="csr", C="dense")
    np.testing.assert_array_equal(weft.evaluate("C(i,k) = A(i,j)*B(j,k)", A=A, B=B, format="dense"), a @ b)
