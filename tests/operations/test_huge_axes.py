"""Functions that compute coordinates, along axes that are longer than 32-bit integers count."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.errors import IndexOverflowError, ShapeError
from weft.storage import check

INT32 = 2**31
SIZES = (INT32 - 2, INT32 - 1, INT32, INT32 + 1, INT32 + 5, 2**33, 2**62)
FORMATS = ("coo", "coo_aos", "csf", "dcsr", "dcsc", "dok", "csr")
FEW = 3


class Model:
    """A tensor as a dictionary from coordinates, which are Python's integers, to values."""

    def __init__(self, shape, entries):
        self.shape, self.entries = tuple(shape), dict(entries)

    def moved(self, shape, move):
        """Every entry where a function of its coordinates says: at a list of places."""
        found = {}
        for at, value in self.entries.items():
            for to in move(at):
                found[tuple(to)] = value
        return Model(shape, found)

    def tensor(self, format, wide=False):
        rows = [np.array([c[k] for c in self.entries], np.int64) for k in range(len(self.shape))]
        if not wide and all(len(row) == 0 or row.max() < INT32 for row in rows):
            rows = [row.astype(np.int32) for row in rows]
        return weft.from_coords(rows, np.array(list(self.entries.values()), float), self.shape).asformat(format)


def same(found, model):
    check(found._storage)
    assert found.shape == model.shape
    coords, values = found.to_coo()
    got = {tuple(int(c) for c in at): v for *at, v in zip(*coords, values, strict=True) if v}
    assert got == {at: v for at, v in model.entries.items() if v}


@st.composite
def models(draw, axes=2):
    """A tensor of one axis that is huge, at a drawn place, and small ones; its entries are near the edges."""
    huge = draw(st.sampled_from(SIZES))
    place = draw(st.integers(0, axes - 1))
    shape = [huge if k == place else FEW for k in range(axes)]
    near = st.sampled_from(sorted({0, 1, 7, *(c for c in range(INT32 - 4, INT32 + 3) if c < huge), huge - 2, huge - 1}))
    at = st.tuples(*(near if k == place else st.integers(0, FEW - 1) for k in range(axes)))
    entries = draw(st.dictionaries(at, st.integers(1, 9), max_size=5))
    return Model(shape, entries), place


def slices(model, key):
    ranges = [range(*s.indices(n)) for s, n in zip(key, model.shape, strict=True)]
    return model.moved(
        [len(r) for r in ranges],
        lambda at: (
            [[r.index(c) for r, c in zip(ranges, at, strict=True)]]
            if all(c in r for r, c in zip(ranges, at, strict=True))
            else []
        ),
    )


def along(model, axis, size, to):
    """An axis of another size, along which coordinates go where a function says."""
    shape = [size if k == axis else n for k, n in enumerate(model.shape)]
    return model.moved(shape, lambda at: [(*at[:axis], c, *at[axis + 1 :]) for c in to(at[axis])])


bounds = st.one_of(st.none(), st.sampled_from([0, 1, 5, -1, -3, INT32 - 1, INT32, INT32 + 2, -INT32, 2**33, 2**61]))
shifts = st.sampled_from([1, -1, 6, INT32, -INT32 - 3, 2**33 + 1, 2**62 - 1, -(2**61)])


@pytest.mark.parametrize("format", FORMATS)
class TestShapes:
    def tensor(self, model, format, wide):
        if format == "csr" and model.shape[0] > 100:
            format = "csc"  # no array over a huge axis
        return model.tensor(format, wide)

    @given(models(), bounds, bounds, st.sampled_from([None, 2, -1, -3, INT32 + 1]), st.booleans())
    def test_slices(self, format, drawn, start, stop, step, wide):
        model, place = drawn
        key = tuple(slice(start, stop, step) if k == place else slice(None) for k in range(2))
        same(self.tensor(model, format, wide)[key], slices(model, key))

    @given(models(), shifts, st.booleans())
    def test_roll(self, format, drawn, shift, wide):
        model, place = drawn
        n = model.shape[place]
        wanted = along(model, place, n, lambda c: [(c + shift) % n])
        same(weft.roll(self.tensor(model, format, wide), shift, axis=place), wanted)

    @given(models(), st.booleans())
    def test_flip_and_diff(self, format, drawn, wide):
        model, place = drawn
        n, A = model.shape[place], self.tensor(model, format, wide)
        same(weft.flip(A, axis=place), along(model, place, n, lambda c: [n - 1 - c]))
        shape = [n - 1 if k == place else FEW for k in range(2)]
        wanted = {}
        for at, value in model.entries.items():
            for by, sign in ((0, -1), (-1, 1)):
                to = tuple(c + by if k == place else c for k, c in enumerate(at))
                if 0 <= to[place] < n - 1:
                    wanted[to] = wanted.get(to, 0) + sign * value
        same(weft.diff(A, axis=place), Model(shape, wanted))

    @given(models(), models(), st.booleans())
    def test_concat(self, format, one, other, wide):
        (a, place), (b, also) = one, other
        if place != also or a.shape[place] + b.shape[place] >= 2**63:
            return
        n = a.shape[place]
        both = along(b, place, n + b.shape[place], lambda c: [c + n])
        both.entries.update(a.entries)
        same(weft.concat([self.tensor(a, format, wide), self.tensor(b, format, False)], axis=place), both)

    @given(models(), st.booleans())
    def test_stack(self, format, drawn, wide):
        model, _ = drawn
        A = self.tensor(model, format, wide)
        for axis in range(3):
            shape = (*model.shape[:axis], 2, *model.shape[axis:])
            wanted = model.moved(shape, lambda at, axis=axis: [(*at[:axis], k, *at[axis:]) for k in range(2)])
            same(weft.stack([A, A], axis=axis), wanted)

    @given(models(), st.sampled_from([0, 1, INT32, 2**61]), st.integers(0, 3), st.booleans())
    def test_pad(self, format, drawn, before, after, wide):
        model, place = drawn
        widths = [(before, after) if k == place else (1, 0) for k in range(2)]
        shape = [a + n + b for (a, b), n in zip(widths, model.shape, strict=True)]
        wanted = model.moved(shape, lambda at: [[c + a for c, (a, _) in zip(at, widths, strict=True)]])
        same(weft.pad(self.tensor(model, format, wide), widths), wanted)

    @given(models(), st.integers(0, 3), st.booleans())
    def test_tile_and_repeat(self, format, drawn, count, wide):
        model, place = drawn
        n = model.shape[place]
        if n * count >= 2**63:
            return
        A = self.tensor(model, format, wide)
        times = [count if k == place else 1 for k in range(2)]
        same(weft.tile(A, times), along(model, place, n * count, lambda c: [c + k * n for k in range(count)]))
        wanted = along(model, place, n * count, lambda c: [c * count + k for k in range(count)])
        same(weft.repeat(A, count, axis=place), wanted)

    @given(models(), models(), st.booleans())
    def test_kron(self, format, one, other, wide):
        (a, _), (b, _) = one, other
        shape = [m * n for m, n in zip(a.shape, b.shape, strict=True)]
        A, B = self.tensor(a, format, wide), self.tensor(b, format, False)
        if max(shape) >= 2**63:
            with pytest.raises(ShapeError):
                weft.kron(A, B)
            return
        wanted = {}
        for (p, v), (q, w) in itertools.product(a.entries.items(), b.entries.items()):
            wanted[tuple(i * n + j for i, j, n in zip(p, q, b.shape, strict=True))] = v * w
        same(weft.kron(A, B), Model(shape, wanted))

    @given(models(3), st.booleans())
    def test_axes_and_reshape(self, format, drawn, wide):
        model, _ = drawn
        A = model.tensor("csf" if format in ("dcsr", "dcsc", "csr") else format, wide)
        same(weft.moveaxis(A, 0, 2), model.moved([*model.shape[1:], model.shape[0]], lambda at: [(*at[1:], at[0])]))
        same(A.transpose(2, 1, 0), model.moved(model.shape[::-1], lambda at: [at[::-1]]))
        m, n, p = model.shape
        if m * n * p < 2**63:
            same(weft.reshape(A, (m * n, p)), model.moved([m * n, p], lambda at: [(at[0] * n + at[1], at[2])]))
            same(weft.ravel(A), model.moved([m * n * p], lambda at: [((at[0] * n + at[1]) * p + at[2],)]))

    @given(models(), st.data())
    def test_take(self, format, drawn, data):
        model, place = drawn
        n = model.shape[place]
        wanted = data.draw(st.lists(st.sampled_from([0, 7, 1, n - 1, n - 2, -1, -n, INT32 - 3]), max_size=4))
        index = np.array(wanted, np.int64)
        places = [k % n for k in wanted]
        found = along(model, place, len(places), lambda c: [k for k, w in enumerate(places) if w == c])
        A = self.tensor(model, format, False)
        same(weft.take(A, index, axis=place), found)
        for at in itertools.product(*(places if k == place else range(FEW) for k in range(2))):
            assert A[at] == model.entries.get(at, 0)

    @given(models(), shifts, st.booleans())
    def test_diagonals(self, format, drawn, k, wide):
        model, _ = drawn
        A = self.tensor(model, format, wide)
        same(weft.tril(A, k), model.moved(model.shape, lambda at: [at] if at[1] - at[0] <= k else []))
        same(weft.triu(A, k), model.moved(model.shape, lambda at: [at] if at[1] - at[0] >= k else []))
        m, n = model.shape
        count = max(0, min(m - max(0, -k), n - max(0, k)))
        wanted = model.moved([count], lambda at: [(min(at),)] if at[1] - at[0] == k else [])
        same(weft.diagonal(A, k), wanted)

    @given(models(), st.data(), st.booleans())
    def test_assignment(self, format, drawn, data, wide):
        model, place = drawn
        n = model.shape[place]
        A = self.tensor(model, format, wide)
        start = data.draw(st.sampled_from([0, n - 3, n - 2]))
        step = data.draw(st.sampled_from([1, 2]))
        key = tuple(slice(start, start + 3, step) if k == place else slice(None) for k in range(2))
        shape = [len(range(*s.indices(m))) for s, m in zip(key, model.shape, strict=True)]
        new = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        A[key] = weft.asarray(new, format="coo")
        wanted = dict(model.entries)
        for at in np.ndindex(*shape):
            to = tuple(range(*s.indices(m))[c] for s, m, c in zip(key, model.shape, at, strict=True))
            wanted[to] = new[at]
        same(A, Model(model.shape, wanted))


def test_a_vector_on_a_diagonal():
    v = weft.from_coords([np.array([1, 2], np.int32)], [1.0, 2.0], (INT32 - 1,))
    for k in (3, -3, INT32 + 1):
        found = weft.diag(v, k)
        check(found._storage)
        assert found.to_coo()[0].tolist() == [[1 + max(0, -k), 2 + max(0, -k)], [1 + max(0, k), 2 + max(0, k)]]


def test_diagonals_of_many_rows_are_added_level_by_level():
    offsets, data = np.array([-(INT32 + 3), -1]), np.array([[1.0, 2.0], [3.0, 4.0]])
    A = weft.dia_array((data, offsets), shape=(INT32 + 5, 2))
    (rows, columns), values = (A + A).to_coo()
    assert rows.tolist() == [1, 2, INT32 + 3, INT32 + 4]
    assert columns.tolist() == [0, 1, 0, 1]
    assert values.tolist() == [6.0, 8.0, 2.0, 4.0]


def test_axes_that_64_bits_do_not_count():
    n = 2**62
    A = weft.from_coords([[0, n - 1]], [1.0, 2.0], (n,))
    for make in (
        lambda: weft.concat([A, A]),
        lambda: weft.stack([A, A]).reshape(-1),
        lambda: weft.pad(A, (0, n)),
        lambda: weft.tile(A, 2),
        lambda: weft.repeat(A, 2),
        lambda: weft.kron(A, weft.from_coords([[1]], [1.0], (2,))),
        lambda: weft.diag(A, n),
        lambda: weft.zeros((2**63, 1)),
        lambda: weft.from_coords([[0]], [1.0], (2**63,)),
        lambda: weft.from_coords([[2**63 - 1]], [1.0]),
        lambda: weft.block_diag([A[None], A[None]]),
    ):
        with pytest.raises(ShapeError, match=r"2\*\*63|9223372036854775808|64-bit"):
            make()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_indices_of_small_dtypes(dtype):
    dense = np.zeros((300, 2))
    dense[5], dense[299] = (1, 2), (3, 4)
    A = weft.asarray(dense, format="csr")
    index = np.array([5, 0, -1] if np.dtype(dtype).kind == "i" else [5, 0, 7], dtype)
    whole = index.astype(np.int64)  # NumPy's own functions overflow in the dtype of the indices
    np.testing.assert_array_equal(A[index].todense(), dense[index])
    np.testing.assert_array_equal(A[index, 1].todense(), dense[index, 1])
    np.testing.assert_array_equal(weft.delete(A, index, axis=0).todense(), np.delete(dense, whole, axis=0))
    np.testing.assert_array_equal(weft.insert(A, index, 2.5, axis=0).todense(), np.insert(dense, whole, 2.5, axis=0))
    A.put(index, 7.0)
    dense.put(whole, 7.0)
    np.testing.assert_array_equal(A.todense(), dense)


@pytest.mark.parametrize("format", ["csr", "csc", "gcxs", "coo", "coo_aos", "csf", "dcsr", "dia", "ell", "bsr", "dense",
                                    "hash", "dok", "lil", "jad", "hyb", "csb", "hicoo", "skyline"])  # fmt: skip
@pytest.mark.parametrize("key", [slice(-9, None, -1), slice(-4, -2, -1), slice(0, 2, -1), slice(9, 12), slice(2, 0)])
def test_slices_of_nothing_hold_nothing(format, key):
    dense = np.tril(np.arange(1.0, 17.0).reshape(4, 4))
    A = weft.asarray(dense, format=format)
    for at in (key, (slice(None), key), (key, key), (key, 0), (0, key), (slice(None, None, -1), key)):
        found = A[at]
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), dense[at])
        np.testing.assert_array_equal((found + found).todense(), 2 * dense[at])
        np.testing.assert_array_equal(found.sum(axis=0), dense[at].sum(axis=0)) if dense[at].ndim == 1 else None
        assert weft.concat([found, found]).shape == np.concatenate([dense[at]] * 2).shape


@pytest.mark.parametrize("format", ["csr", "csc", "gcxs", "coo", "dcsr", "dense", "csf"])
def test_no_rows_in_reverse(format):
    for shape in ((0, 3), (3, 0), (0, 0)):
        A = weft.asarray(np.zeros(shape), format=format)
        for at in (np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1]):
            check(A[at]._storage)
            assert A[at].shape == np.zeros(shape)[at].shape
            assert A[at].sum() == 0


FAR = 2**32 + 1
"""A coordinate whose lower 32 bits are those of 1."""


@pytest.mark.parametrize("format", ["dok", "hash", "lil", "coo", "csr", "ell"])
@pytest.mark.parametrize("duplicates", [False, True])
def test_index_arrays_that_are_asked_for_hold_all_coordinates_or_are_refused(format, duplicates):
    rows, columns = [1] * (2 + duplicates), [1, FAR, 1][: 2 + duplicates]
    A = weft.from_coords([rows, columns], np.arange(1.0, 3 + duplicates), (4, 2**40), duplicates="keep")
    with pytest.raises(IndexOverflowError, match="int32"):
        A.asformat(format, index_dtype="int32")
    same(A.asformat(format), Model((4, 2**40), {(1, 1): 4.0 if duplicates else 1.0, (1, FAR): 2.0}))
    if format == "ell":  # coordinates are computed
        return
    near = weft.from_coords([np.array([1], np.int32), np.array([2], np.int32)], [3.0], (4, 2**40))
    same(near.asformat(format, index_dtype="int32"), Model((4, 2**40), {(1, 2): 3.0}))


@pytest.mark.parametrize("format", ["dok", "hash", "lil", "coo", "csr"])
def test_assigned_elements_lie_beyond_32_bits(format):
    """The tensor's own coordinates are arrays of 32 bits."""
    near = np.array([1, 2], np.int32)
    A = weft.from_coords([near, near], [1.0, 2.0], (4, 2**40)).asformat(format, index_dtype="int32")
    A[1, FAR] = 7.0
    A[[0, 3], [FAR, FAR]] = [5.0, 6.0]
    same(A, Model((4, 2**40), {(1, 1): 1.0, (2, 2): 2.0, (1, FAR): 7.0, (0, FAR): 5.0, (3, FAR): 6.0}))
    assert (A[1, 1], A[1, FAR], A[2, FAR]) == (1.0, 7.0, 0.0)
