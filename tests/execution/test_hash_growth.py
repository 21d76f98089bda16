"""Hash tables that entries are put into one by one: in any order, more than once, growing as they fill."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.execution.hash_growth import _LEAST, _tables, _with_widths, inserted, list_of
from weft.formats import Hashed, parse_format
from weft.storage import check, tensor_type
from weft.storage.storage import rebuilt

TABLES = {1: ["hash_vector", "dok"], 2: ["dok", "hash"], 3: ["dok", "hash"]}


def empty(name, shape, dtype="float64", index="int64", fill=0):
    format = parse_format(name, len(shape))
    type = tensor_type(dtype, format, (index,) * len(format.roles), np.dtype(dtype).type(fill).item())
    return _with_widths(shape, type, np.full(_tables(type, shape), _LEAST))


def dense_of(storage):
    check(storage)
    return weft.SparseTensor(storage).todense()


@given(st.data())
def test_entries_in_any_order(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    made = empty(
        data.draw(st.sampled_from(TABLES[len(shape)])), shape, index=data.draw(st.sampled_from(["int32", "int64"]))
    )
    dense = np.zeros(shape)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for adds in data.draw(st.lists(st.booleans(), max_size=4)):
        n = data.draw(st.sampled_from([0, 1, 5, 100]))
        rows, vals = [rng.integers(0, size, n) for size in shape], rng.integers(1, 9, n).astype(float)
        before = made
        kept = dense_of(before)
        made = inserted(made, list_of(shape, rows, vals), adds)
        for place, value in zip(zip(*rows, strict=True), vals, strict=True):
            dense[place] = dense[place] + value if adds else value
        np.testing.assert_array_equal(dense_of(made), dense)
        np.testing.assert_array_equal(dense_of(before), kept)


@pytest.mark.parametrize("name", ["dok", "hash"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_tables_of_nothing(name, shape):
    made = inserted(empty(name, shape), list_of(shape, [np.empty(0, int)] * 2, np.empty(0)), True)
    np.testing.assert_array_equal(dense_of(made), np.zeros(shape))


@pytest.mark.parametrize("name", ["dok", "hash"])
def test_tables_grow(name):
    shape, n = (3, 4000), 3000
    rng = np.random.default_rng(0)
    columns = rng.permutation(4000)[:n]
    made = inserted(empty(name, shape), list_of(shape, [np.ones(n, int), columns], np.arange(1.0, n + 1)), True)
    check(made)
    widths = np.diff(made.arrays[0]) if name == "hash" else made.arrays[0]
    assert n <= widths.max() // 2 < 2 * n
    assert widths.sum() - widths.max() <= 2 * 16  # the other tables did not grow
    expected = np.zeros(shape)
    expected[1, columns] = np.arange(1.0, n + 1)
    np.testing.assert_array_equal(dense_of(made), expected)


@pytest.mark.parametrize("name", ["dok", "hash"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "bool"])
def test_duplicates_are_added_in_their_order(name, dtype):
    rows = np.array([[2, 0, 2, 1, 2, 0], [1, 3, 1, 0, 1, 3]])
    vals = np.array([1, 0, 2, 3, 4, 5]).astype(dtype)
    A = weft.from_coords(rows, vals, shape=(3, 4), duplicates="keep")
    made = A.asformat(name)
    check(made._storage)
    np.testing.assert_array_equal(made.todense(), A.todense())
    assert made.nnz == 3
    filled = weft.from_coords(rows, vals, shape=(3, 4), duplicates="keep", fill_value=vals.dtype.type(1))
    np.testing.assert_array_equal(filled.asformat(name).todense(), filled.asformat("coo").todense())


def test_whole_coordinates_of_huge_axes():
    n = 500
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 2**42, n), rng.integers(0, 2**41, n)]
    made = inserted(empty("dok", (2**42, 2**41)), list_of((2**42, 2**41), rows, np.ones(n)), True)
    check(made)
    coords, _ = weft.SparseTensor(made).to_coo()
    np.testing.assert_array_equal(coords[:, np.lexsort(coords[::-1])], np.stack(rows)[:, np.lexsort(rows[::-1])])


def test_assignment_leaves_what_shares_the_tables():
    A = weft.random((30, 40), nnz=50, format="dok", rng=0)
    B, before = -A, A.todense()
    A[np.arange(30), np.arange(30)] = 3.0
    np.testing.assert_array_equal(B.todense(), -before)
    before[np.arange(30), np.arange(30)] = 3.0
    np.testing.assert_array_equal(A.todense(), before)
    A[np.arange(5), 0] = 0
    before[:5, 0] = 0
    np.testing.assert_array_equal(A.todense(), before)
    check(A._storage)


# -- tables of earlier versions, all of which had one number of slots ------------------------------------------------
EARLIER = {  # by shape: the number of slots, and the coordinate and the value in each slot
    (3, 9): (4, [1, -1, -1, 5, -1, -1, -1, -1, -1, 2, -1, -1], [1.0, 0, 0, 2.0, 0, 0, 0, 0, 0, 3.0, 0, 0]),
    (0, 9): (16, [], []),
    (9,): (4, [1, -1, -1, 5], [1.0, 0, 0, 2.0]),
}


def of_earlier(shape):
    slots, crd, vals = EARLIER[shape]
    name, above = ("hash", [None]) if len(shape) == 2 else ("hash_vector", [])
    return name, slots, above, np.array(crd, np.int32), np.array(vals)


@pytest.mark.parametrize("shape", EARLIER)
def test_tables_of_earlier_versions_are_read(shape, tmp_path):
    name, slots, above, crd, vals = of_earlier(shape)
    width, dense = np.array([slots], np.int32), np.zeros(shape)
    for slot in np.flatnonzero(crd >= 0):
        dense[(slot // slots, crd[slot])[-len(shape) :]] = vals[slot]
    by_name = weft.from_levels(shape, name, [*above, {"width": width, "crd": crd}], vals)
    in_order = weft.from_levels(shape, name, [*above, (width, crd)], vals)
    format = parse_format(name, len(shape))
    pickled = rebuilt(shape, "float64", format, ("int32", "int32"), 0, (width, crd), vals)
    weft.save(tmp_path / "a.npz", by_name)
    arrays = dict(np.load(tmp_path / "a.npz"))
    level = len(shape) - 1
    arrays[f"level{level}_width"] = width
    del arrays[f"level{level}_pos"]
    np.savez(tmp_path / "b.npz", **arrays)
    for A in (by_name, in_order, weft.SparseTensor(pickled), weft.load(tmp_path / "b.npz")):
        np.testing.assert_array_equal(dense_of(A._storage), dense)
        np.testing.assert_array_equal(A.asformat("coo").todense(), dense)


def test_slots_beyond_int32_get_wide_positions():
    level, pos = Hashed(), np.array([0, 2**30, -(2**31), -(2**30)], np.int32)  # three tables of 2**30 slots
    with pytest.raises(weft.errors.IndexOverflowError, match="3221225472 slots"):
        level.size_to_be(3, 9, {"pos": pos})
    assert level.size_to_be(3, 9, {"pos": pos.astype(np.int64) % 2**32}) == 3 * 2**30
