"""Merges that threads share by ranges of coordinates: every array as from one thread."""

import re

import numpy as np
import pytest
from tests.formats_for_tests import sparse

import weft
from weft.compiler import plan_loops
from weft.formats import Compressed, Dense, TensorType, parse_format
from weft.index_notation import parse
from weft.module import Module
from weft.storage import check

OWN = weft.Format("(i,j) -> (j/2,i,j%2)", [Compressed(), Compressed(), Dense()])
CASES = [  # each with the format of its operands, and of its result
    ("C(i,j,k) = A(i,j,k) + B(i,j,k)", "csf", "csf", lambda a, b: a + b),
    ("C(i,j,k) = A(i,j,k)*B(i,j,k)", "csf", "csf", lambda a, b: a * b),
    ("C(i,j) = A(i,j,k)*B(i,j,k)", "csf", "dcsr", lambda a, b: (a * b).sum(axis=2)),
    ("C(i,j) = A(i,j) + B(i,j)", "coo", "csr", lambda a, b: a + b),
    ("C(i,j) = A(i,j) + B(i,j)", "coo", "coo", lambda a, b: a + b),
    ("C(i,j) = A(i,j) + B(i,j)", "dia", "dia", lambda a, b: a + b),
    ("C(i,j) = A(i,j) + B(i,j)", OWN, OWN, lambda a, b: a + b),
    ("C(i,j) = A(i,j) + B(i,j) - D(i,j)", "dcsr", "dcsr", lambda a, b, d: a + b - d),
    ("C(i,j) = A(i,j) + B(i,k)*D(k,j)", "dcsr", "dcsr", lambda a, b, d: a + b @ d),
    ("C(i,j) = E(i,j) + A(i,j)", "dcsr", "csr", lambda e, a: e + a),
    ("y(i) = A(i,j)*B(i,j)", "dcsr", "dense", lambda a, b: (a * b).sum(axis=1)),
    ("z(i) = v(i) + w(i)", "s", "s", lambda v, w: v + w),
]
N = 24
KINDS = {  # which rows of the two operands have entries
    "even": lambda rng: (rng.random(N) < 0.7, rng.random(N) < 0.7),
    "skewed": lambda rng: (np.arange(N) % 7 == 3, np.arange(N) < 2),
    "one row": lambda rng: (np.arange(N) == 5, np.arange(N) == 5),
    "apart": lambda rng: (np.arange(N) < N / 2, np.arange(N) >= N / 2),
    "one empty": lambda rng: (np.arange(N) >= 0, np.arange(N) < 0),
    "none": lambda rng: (np.arange(N) < 0, np.arange(N) < 0),
}


def operands_of(text, format, kind, fill=0.0):
    rng = np.random.default_rng(7)
    rows = dict(zip("AB", KINDS[kind](rng), strict=True))
    found = {}
    for name, indices in dict.fromkeys(re.findall(r"(\w)\(([^)]*)\)", text.partition("=")[2])):
        shape = (N,) * (indices.count(",") + 1)
        value = np.where(rng.random(shape) < 0.3, rng.integers(1, 9, shape), fill).astype(float)
        if name in rows:
            value[~rows[name]] = fill
        found[name] = sparse(value, fill, "csr" if name == "E" else format)
    return found


def arrays_of(result):
    return [*result._storage.arrays, result._storage.vals] if isinstance(result, weft.SparseTensor) else [result]


def assert_same_on_threads(text, operands, format):
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=1):
            results.append(weft.evaluate(text, **operands, format=format))
    for result in results[1:]:
        if isinstance(result, weft.SparseTensor):
            check(result._storage)
        for mine, theirs in zip(arrays_of(result), arrays_of(results[0]), strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
    return results[0]


def whole(value):
    return value.todense() if isinstance(value, weft.SparseTensor) else value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case[:3])))
def test_as_from_one_thread(case, kind):
    text, format, into, expected = case
    operands = operands_of(text, format, kind)
    found = assert_same_on_threads(text, operands, into)
    np.testing.assert_array_equal(whole(found), expected(*map(whole, operands.values())))


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case[:3])))
def test_merges_are_cut(case):
    text, _, into, _ = case
    operands = operands_of(*case[:2], "even")
    formats = {name: value.layout for name, value in operands.items() if isinstance(value, weft.SparseTensor)}
    assert "cuts[" in weft.compile(text, **formats, **{text[0]: into}).source


def test_fill_values_and_duplicates():
    operands = operands_of("C(i,j) = A(i,j) + B(i,j)", "dcsr", "even", fill=2.0)
    found = assert_same_on_threads("C(i,j) = A(i,j) + B(i,j)", operands, "dcsr")
    assert found.fill_value == 4
    np.testing.assert_array_equal(found.todense(), sum(whole(value) for value in operands.values()))
    rng = np.random.default_rng(1)
    rows, columns = np.sort(rng.integers(0, 5, 400)), rng.integers(0, 3, 400)
    A, B = (weft.from_coords([rows, columns], rng.random(400), (5, 3), duplicates="keep") for _ in "AB")
    assert not A.is_unique
    found = assert_same_on_threads("C(i,j) = A(i,j) + B(i,j)", {"A": A, "B": B}, "coo")
    np.testing.assert_allclose(found.todense(), A.todense() + B.todense())


def test_ranges_are_bounded_by_positions():
    """Not by a pass over the operands, which would take half as long as the merge."""
    csf = TensorType.of("float64", parse_format("csf", 3))
    loops = plan_loops(parse(CASES[0][0]), dict.fromkeys("ABC", csf), skip_fill=True)
    assert "3_crd[" not in Module(loops).text("parts/bound")


def test_threads_poll_in_their_ranges():
    source = weft.compile(CASES[0][0], A="csf", B="csf").source
    share = source[source.index("One iteration of the loop that threads share") :]
    assert "weft_poll(watch)" in share[: share.index("The share of one thread")]


def test_merges_stay_whole_if_they_must():
    assert "parallel: the loop over i\n" in weft.explain(CASES[0][0], A="csf", B="csf")
    with weft.config.override(disable={"merge-cuts"}):
        assert "since the loop over i merges A and B" in weft.explain(CASES[0][0], A="csf", B="csf")
