from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import StorageError
from weft.formats import Compressed, Dense, Format, Singleton, parse_format
from weft.runtime import tuple_order
from weft.runtime.loader import open_all, support_function
from weft.storage import Storage, check, coordinate_storage, entry_order, segment_order, tensor_type
from weft.storage.entry_order import chain_order


def make(shape, format, *arrays, vals=None, dtypes=None):
    format = parse_format(format, len(shape))
    arrays = tuple(np.asarray(a, np.int32) if not isinstance(a, np.ndarray) else a for a in arrays)
    names = tuple(dtypes) if dtypes else ("int32",) * len(format.roles)
    vals = np.ones(len(arrays[-1]) if arrays else int(np.prod(shape))) if vals is None else vals
    return Storage(shape, tensor_type("float64", format, names), arrays, vals)


UNSORTED = Format("(i,j) -> (i,j)", [Dense(), Compressed(ordered=False)])
ANYTHING = Format("(i,j) -> (i,j)", [Dense(), Compressed(ordered=False, unique=False)])
REPEATED_COO = Format("(i,j) -> (i,j)", [Compressed(unique=False), Singleton(unique=False)])

GOOD = [
    make((2, 3), "csr", [0, 1, 3], [2, 0, 1]),
    make((2, 3), "csr", [0, 0, 0], []),
    make((0, 3), "csr", [0], []),
    make((2, 0), "csr", [0, 0, 0], []),
    make((2, 3), UNSORTED, [0, 2, 3], [2, 0, 1]),
    make((2, 3), ANYTHING, [0, 3, 3], [2, 0, 2]),
    make((2, 3), "coo", [0, 3], [0, 0, 1], [0, 2, 1]),
    make((2, 3), REPEATED_COO, [0, 3], [0, 0, 1], [2, 2, 1]),
    make((2, 3, 4), "coo", [0, 3], [0, 0, 1], [2, 2, 0], [1, 3, 0]),
    make((2, 3, 4), "csf", [0, 1], [1], [0, 2], [0, 2], [0, 1, 3], [3, 0, 1]),
    make((5,), "coo", [0, 2], [1, 4]),
    make((2, 3), "dense"),
    make((), "dense", vals=np.ones(1)),
]

BAD = [
    (make((2, 3), "csr", [0, 2, 1], [0, 1]), "level 2 .*pos decreases"),
    (make((2, 3), "csr", [1, 1, 2], [0, 1]), "starts at 1"),
    (make((2, 3), "csr", [0, 2], [0, 1]), "2 parents need 3"),
    (make((2, 3), "csr", [], []), "2 parents need 3"),
    (make((2, 3), "csr", [0, 1, 3], [0, 1]), "crd has 2"),
    (make((2, 3), "csr", [0, 1, 1], [0, 1]), "crd has 2 entries instead of 1"),
    (make((2, 3), "csr", [0, 1, 2], [0, 3]), r"outside \[0, 3\)"),
    (make((2, 3), "csr", [0, 1, 2], [-1, 0]), r"outside \[0, 3\)"),
    (make((2, 3), "csr", [0, 2, 2], [1, 0]), "not sorted|lexicographic"),
    (make((2, 3), "csr", [0, 2, 2], [1, 1]), "duplicates|twice"),
    (make((2, 3), UNSORTED, [0, 3, 3], [2, 0, 2]), "twice"),
    (make((2, 3), "csr", [0, 1, 2], [0, 1], vals=np.ones(3)), "3 values for 2 positions"),
    (make((2, 3), "dense", vals=np.ones(5)), "5 values for 6 positions"),
    (make((2, 3), "coo", [0, 2], [0, 0], [1, 1]), "twice"),
    (make((2, 3), "coo", [0, 2], [0, 0], [1, 0]), "lexicographic"),
    (make((2, 3), "coo", [0, 2], [1, 0], [0, 1]), "lexicographic|not sorted"),
    (make((2, 3), "coo", [0, 2], [0, 1], [0, 3]), r"level 2 .*outside \[0, 3\)"),
    (make((2, 3), "coo", [0, 2], [0, 1], [0]), "crd has 1"),
    (make((2, 3, 4), "coo", [0, 2], [0, 0], [1, 0], [0, 1]), "lexicographic"),
    (make((2, 3), "csr", np.array([0, 1, 2], np.int64), [0, 1]), "dtype int64 instead of int32"),
    (make((2, 3), "csr", np.array([0.0, 1, 2]), [0, 1]), "dtype float64"),
    (make((2, 3), "csr", np.array([[0, 1, 2]], np.int32), [0, 1]), "1-D"),
    (make((2, 3), "csr", np.arange(6, dtype=np.int32)[::2], [0, 1]), "contiguous"),
    (make((2, 3), "csr", [0, 1, 2]), "1 index arrays instead of 2"),
    (make((2, 3), "csr", [0, 1, 2], [0, 1], vals=np.ones(2, np.float32)), "values have dtype float32"),
    (make((2, 3), "csr", [0, 1, 2], [0, 1], vals=np.ones((2, 1))), "values are not 1-D"),
    (make((-2, 3), "csr", [0], []), "negative"),
]  # fmt: skip


@pytest.mark.parametrize("storage", GOOD)
def test_good_storage_passes(storage):
    check(storage)


@pytest.mark.parametrize(("storage", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_bad_storage_says_why(storage, reason):
    with pytest.raises(StorageError, match=reason) as caught:
        check(storage)
    assert str(storage.shape) in str(caught.value)
    assert f"format {storage.format}" in str(caught.value)


@pytest.fixture(params=["NumPy", "compiled"])
def examiner(request, monkeypatch):
    """NumPy or compiled code examines coordinates, however few there are."""
    monkeypatch.setattr(entry_order, "_LONG", 2)
    if request.param == "compiled":
        open_all([support_function(tuple_order.EXAMINER)])
        tuple_order.examiner.cache_clear()
        assert tuple_order.examiner() is not None
    else:
        monkeypatch.setattr(tuple_order, "examiner", lambda: None)


@pytest.mark.parametrize(
    ("pos", "crd", "expected"),
    [
        ([0, 0], [], (True, True)),
        ([0, 1], [5], (True, True)),
        ([0, 2, 4], [0, 1, 0, 1], (True, True)),
        ([0, 2, 2, 4], [0, 1, 0, 1], (True, True)),
        ([0, 2, 4], [0, 0, 0, 1], (True, False)),
        ([0, 2, 4], [1, 0, 0, 1], (False, False)),
        ([0, 0, 0, 3], [1, 2, 3], (True, True)),
        ([0, 3, 3, 3], [1, 2, 2], (True, False)),
    ],
)
def test_segment_order(examiner, pos, crd, expected):
    assert segment_order(np.array(pos, np.int32), np.array(crd, np.int32)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_chain_order_agrees_with_sorting(examiner, seed):
    rng = np.random.default_rng(seed)
    n, axes = int(rng.integers(0, 6)), int(rng.integers(1, 4))
    rows = rng.integers(0, 2, (axes, n))
    if rng.random() < 0.5:
        rows = rows[:, np.lexsort(rows[::-1])]
    for k, found in enumerate(chain_order(tuple(rows))):
        tuples = [tuple(c) for c in rows[: k + 1].T]
        ordered = tuples == sorted(tuples)
        assert found == (ordered, ordered and len(set(tuples)) == len(tuples))


@pytest.mark.parametrize("segments", [None, "int32", "int64"])
@pytest.mark.parametrize("examiner", ["compiled"], indirect=True)
def test_order_across_blocks(examiner, segments):
    """Compiled code looks at 4096 coordinates at a time, and notices a step down at any edge."""
    for n in (4095, 4096, 4097, 8193):
        for at in {1, 2, 4095, 4096, 4097, 8191, 8192, n - 1} & set(range(1, n)):
            for step in (0, -1):  # a coordinate that repeats, and one that is less
                for dtype in ("int32", "int64"):
                    last = np.arange(n, dtype=dtype)
                    last[at:] += step - 1
                    first = np.repeat(np.arange(2, dtype="int64"), (at, n - at))
                    starts = np.array([0, 0, at, at, n], segments) if segments else None
                    for crds in ((last,), (first, last), (np.zeros_like(first), last)):
                        found = entry_order.chain_order(crds, starts)
                        with weft.config.override(disable=["compiled-order"]):
                            assert found == entry_order.chain_order(crds, starts)
                    starts = np.array([0, at + 1, n], segments) if segments and at + 1 < n else None
                    assert entry_order.chain_order((last,), starts) == ((step == 0, False),)


def test_coordinate_storage_promises_what_is_true():
    rows = np.array([[0, 0, 1], [1, 1, 0]], np.int32)
    s = coordinate_storage((2, 2), tuple(rows), np.ones(3))
    assert str(s.format) == "coo"
    assert not s.format.is_canonical
    assert [level.ordered for level in s.format.levels] == [True, True]
    check(s)
    s = coordinate_storage((2, 2), tuple(rows[:, ::-1].copy()), np.ones(3))
    assert [level.ordered for level in s.format.levels] == [False, False]
    check(s)
    s = coordinate_storage((2, 2), tuple(rows[:, 1:].copy()), np.ones(2))
    assert s.format.is_canonical
    assert s.format == parse_format("coo", 2)
    check(s)
