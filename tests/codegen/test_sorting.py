import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.codegen import emit_library

from .compiled import build

NAMES = ["weft_sort_int32", "weft_sort_int64", "weft_order_int32", "weft_sort_tuples"]
FFI, LIBRARY = build(
    emit_library(NAMES),
    declarations="""
    void weft_sort_int32(int32_t *, int64_t, int32_t *, int64_t *);
    void weft_sort_int64(int64_t *, int64_t, int64_t *, int64_t *);
    void weft_order_int32(const int32_t *, int64_t, int32_t *, int64_t *, int64_t *, int64_t *);
    int64_t weft_sort_tuples(int64_t, int64_t, const void *const *, const int64_t *, const int64_t *, int64_t *,
                             void *const *);
    """,
)

WATCH = FFI.new("int64_t[2]")


def pointer(array):
    return FFI.cast(f"{array.dtype.name}_t *", array.ctypes.data)


def check_sort(keys):
    found = keys.copy()
    scratch = np.zeros(max(len(keys), 1), dtype=keys.dtype)
    getattr(LIBRARY, f"weft_sort_{keys.dtype.name}")(pointer(found), len(keys), pointer(scratch), WATCH)
    np.testing.assert_array_equal(found, np.sort(keys))


@pytest.mark.parametrize("ty", ["int32", "int64"])
def test_every_length(ty):
    rng = np.random.default_rng(1)
    for n in [*range(140), 255, 256, 1000, 1023, 1024, 1025, 8191, 8192, 100_000]:
        for low, high in ((0, 2), (0, 100), (-50, 50), (0, 1_000_000), (-(1 << 31), (1 << 31) - 1)):
            check_sort(rng.integers(low, high, n).astype(ty))
        for spread in (3, 15, 17, 40):  # sorted by a bitmap, or not
            few = rng.permutation(n * spread)[:n].astype(ty) - n
            check_sort(few)
            check_sort(np.where(np.arange(n) == 1, few[:1], few) if n > 1 else few)
        check_sort(np.arange(n, dtype=ty))
        check_sort(np.arange(n, dtype=ty)[::-1].copy())
        check_sort(np.full(n, 7, dtype=ty))
        check_sort(rng.permutation(n).astype(ty) * 4096)


def test_wide_int64():
    rng = np.random.default_rng(2)
    for n in (2, 3, 4, 5, 30, 64, 65, 300, 5000):
        check_sort(rng.integers(-(1 << 63), (1 << 63) - 1, n, dtype=np.int64))
        check_sort(rng.integers(0, 1 << 31, n) * 2 - 1)


@given(st.sampled_from(["int32", "int64"]).flatmap(
    lambda ty: st.lists(st.integers(np.iinfo(ty).min, np.iinfo(ty).max)).map(lambda keys: np.array(keys, dtype=ty))
))  # fmt: skip
def test_any_keys(keys):
    check_sort(keys)


def test_the_places_of_elements():
    rng = np.random.default_rng(3)
    for n in [*range(140), 1000, 70_000]:
        for spread in (1, 7, 20_000):
            some = [
                rng.permutation(n) * spread, np.arange(n)[::-1] * spread, np.arange(n) + (np.arange(n) == 2) * n,
                rng.integers(0, max(n, 1), n), rng.permutation(n) // 2, np.arange(n)[::-1] // 2, np.full(n, spread),
            ]  # fmt: skip
            for keys in some:
                listed = keys.astype(np.int32)
                order, scratch = np.zeros(max(n, 1), np.int32), np.zeros((2, max(n, 1)), np.int64)
                LIBRARY.weft_order_int32(
                    pointer(listed), n, pointer(order), pointer(scratch[0]), pointer(scratch[1]), WATCH
                )
                np.testing.assert_array_equal(order[:n], np.argsort(listed, kind="stable"))


def addresses(arrays):
    return FFI.new("void *[]", [FFI.NULL if a is None else FFI.cast("void *", a.ctypes.data) for a in arrays])


def check_tuples(lists, dimensions, left_out=()):
    """Sort tuples, whose lists come sorted but for those left out, and compare with NumPy's sort by several keys."""
    n = len(lists[0])
    found = np.full(n, -1, dtype=np.int64)
    widths, sizes = np.array([c.itemsize for c in lists], dtype=np.int64), np.array(dimensions, dtype=np.int64)
    ordered = [None if k in left_out else np.full(n, -1, c.dtype) for k, c in enumerate(lists)]
    status = LIBRARY.weft_sort_tuples(
        n, len(lists), addresses(lists), pointer(widths), pointer(sizes), pointer(found), addresses(ordered)
    )
    expected = np.lexsort(lists[::-1])
    in_order = np.array_equal(expected, np.arange(n))
    assert status == -in_order
    np.testing.assert_array_equal(found, np.full(n, -1) if in_order else expected)
    for made, column in zip(ordered, lists, strict=True):
        if made is not None:
            np.testing.assert_array_equal(made, np.full(n, -1) if in_order else column[expected])


SHAPES = [
    (1,), (50,), (7, 9), (1, 7, 1), (1000, 1000), (3, 4, 5), (1 << 20, 1 << 20, 1 << 20), (1 << 30,) * 4,
    (1 << 62, 5), (5, 1 << 62), (3, (1 << 63) - 1, 3), ((1 << 63) - 1, 3, 3), ((1 << 63) - 1,) * 3,
]  # fmt: skip


@pytest.mark.parametrize("dimensions", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 3, 100, 5000, 70_000])
def test_tuples(n, dimensions):
    rng = np.random.default_rng(n)
    lists = []
    for k, size in enumerate(dimensions):
        narrow = size < 1 << 31 and k % 2 == 0
        crowded = min(size, 4) if k == 0 else size
        lists.append(rng.integers(0, crowded, n).astype("int32" if narrow else "int64"))
    check_tuples(lists, dimensions, left_out=(len(lists) - 1,) if n == 100 else ())


@pytest.mark.parametrize("dimensions", [(60, 50, 40), (1 << 40, 1 << 40, 1 << 40), ((1 << 63) - 1, 50, 9)])
@pytest.mark.parametrize("last", [1, 2])
def test_tuples_in_order_by_the_last_ones(last, dimensions):
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, size, 3000) for size in dimensions]
    order = np.lexsort(lists[::-1][:last])
    check_tuples([c[order] for c in lists], dimensions)


def test_tuples_in_order():
    i, j = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 5], dtype=np.int32)
    check_tuples([i, j], (2, 6))
    check_tuples([i[:0], j[:0]], (0, 0))
