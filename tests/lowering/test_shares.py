"""Sums in shares of an operand's positions: the same bits on any number of threads."""

import re
from functools import cache

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.errors import ScheduleError

SHAPE, ENTRIES = (3000, 900), 300_000


def matrix(rows, rng):
    """A matrix whose entries are in the given rows, without duplicates."""
    cells = np.unique(SHAPE[1] * rows + rng.integers(0, SHAPE[1], len(rows)))
    return scipy.sparse.csr_array((rng.normal(size=len(cells)), np.divmod(cells, SHAPE[1])), shape=SHAPE)


ROWS = {
    "even": lambda rng: rng.integers(0, SHAPE[0], ENTRIES),
    "some full rows": lambda rng: np.where(rng.random(ENTRIES) < 0.4, 17, rng.integers(1000, 2000, ENTRIES)),
    "last row": lambda rng: np.full(ENTRIES, SHAPE[0] - 1),
    "none": lambda rng: np.empty(0, int),
}
CASES = {  # each with whether it is shared
    ("s = A(i,j)*B(i,j)", "csr", "csr"): True,
    ("s = A(i,j)*B(i,j)", "coo", "dense"): True,
    ("s = x(j)*x(j)", "", ""): True,
    ("s = A(i,j)*B(i,j)", "dcsr", "dcsr"): False,
    ("s = y(i)*A(i,j)*x(j)", "csr", ""): True,
    ("s = y(i)*A(i,j)*x(j)", "coo", ""): True,
    ("s = y(i)*A(i,j)*x(j)", "csc", ""): True,
    ("s = y(i)*A(i,j)*x(j)", "bsr", ""): True,
    ("s = sqrt(sum(i, j, A(i,j)*A(i,j)))", "csr", ""): True,
    ("s = max(i, j, A(i,j))", "csr", ""): True,
    ("s = sum(i, max(j, A(i,j)))", "csr", ""): True,
    ("s = sum(i, max(j, A(i,j)))", "coo", ""): True,
    ("s = sum(i, y(i)*y(i))*sum(i, j, y(i)*A(i,j))", "dcsr", ""): True,
    ("z(j) = A(i,j)*y(i)", "csr", ""): True,
    ("z(j) = A(i,j)", "csr", ""): True,
    ("z(j) = 2*A(i,j)*y(i) - 3*x(j)", "csr", ""): True,
    ("z(j) = A(i,j)*y(i)", "dcsr", ""): True,
    ("z(j) = A(i,j)*y(i)", "coo", ""): True,
    ("z(i) = A(i,j)*x(j)", "csc", ""): True,
    ("s = A(i,j)", "ell", ""): True,
    ("z(i) = A(i,j)*x(j)", "dok", ""): True,
    ("z(i) = A(i,j)*x(j)", "hicoo", ""): True,
    ("z(j) = A(i,j)*y(i)", "bsr", ""): True,
    ("z(j) = A(i,j)*y(i)", "dense", ""): False,  # tiles of the result are shared
}


def whole(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else np.asarray(found)


@cache
def operands_with(rows):
    rng = np.random.default_rng(1)
    a, b = (matrix(ROWS[rows](rng), rng) for _ in range(2))
    return {"A": a, "B": b, "x": rng.normal(size=SHAPE[1]), "y": rng.normal(size=SHAPE[0])}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_bits_do_not_depend_on_threads(case, rows):
    text, *formats = case
    values = {name: value for name, value in operands_with(rows).items() if re.search(rf"\b{name}\(", text)}
    dense = {name: whole(weft.asarray(value)) for name, value in values.items()}
    stored = {name: f for name, f in zip("AB", formats, strict=True) if f not in ("", "dense")}
    values = {
        name: weft.asarray(value, format=stored[name]) if name in stored else dense[name]
        for name, value in values.items()
    }
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=1):
            results.append(whole(weft.evaluate(text, **values)))
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])
    with weft.config.override(disable={"positions"}):
        expected = whole(weft.evaluate(text, **values))
    np.testing.assert_allclose(results[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_what_is_shared_is_said(case):
    text, *formats = case
    kernel = weft.compile(text, **{n: f for n, f in zip("AB", formats, strict=True) if f and f"{n}(" in text})
    assert ("whose sums are joined in order" in kernel.explain()) == CASES[case]
    assert ("_shares" in kernel.source) == CASES[case]


@pytest.mark.parametrize("settings", [{"reassociate": False}, {"disable": {"positions"}}], ids=str)
def test_sums_stay_whole_if_they_must(settings):
    for text in ("s = A(i,j)*x(j)", "y(j) = A(i,j)*x(i)"):
        with weft.config.override(**settings):
            assert "in shares of" not in weft.explain(text, A="csr", stages=True)
        assert "in shares of" in weft.explain(text, A="csr", stages=True)


SCHEDULES = [  # share sizes that cut a matrix of 300 entries anywhere
    ("s = A(i,j)*x(j)", "csr", 2, 7),
    ("s = A(i,j)*x(j)", "csr", 1, 3),
    ("s = A(i,j)*x(j)", "coo", 1, 1),
    ("s = sum(i, max(j, A(i,j)))", "coo", 1, 2),
    ("s = A(i,j)*x(j)", "dcsr", 2, 1000),
    ("y(j) = A(i,j)*z(i)", "csr", 2, 30),
]


@pytest.mark.parametrize("case", SCHEDULES, ids=str)
def test_users_cut_loops(case):
    text, format, level, share = case
    rng = np.random.default_rng(3)
    A = weft.random((40, 30), nnz=300, format=format, rng=rng)
    a, x, z = A.todense(), rng.normal(size=30), rng.normal(size=40)
    kernel = weft.compile(text, A=format, schedule=lambda s: s.positions("A", level, share=share))
    assert f"in shares of {share} positions of A{level}" in kernel.explain(stages=True)
    expected = z @ a if text.startswith("y(j)") else (a.max(axis=1) if "max" in text else a @ x).sum()
    with weft.config.override(num_threads=2, parallel_threshold=1):
        np.testing.assert_allclose(kernel(*({"A": A, "x": x, "z": z}[n] for n in kernel.operands)), expected)


@pytest.mark.parametrize(
    ("text", "formats", "schedule", "reason"),
    [
        ("s = A(i,j)*x(j)", {"A": "csr"}, lambda s: s.positions("A", 3), "A has levels 1 to 2, not 3"),
        ("s = A(i,j)*x(j)", {"A": "csr"}, lambda s: s.positions("B", 1), "B is no operand"),
        ("s = A(i,j)*x(j)", {"A": "csr"}, lambda s: s.positions("x", 1), "over j do not all add to one sum"),
        ("s = A(i,j)*x(j)", {"A": "csr"}, lambda s: s.positions("A", 2, share=0), "at least one position"),
        ("y(i) = A(i,j)*x(j)", {"A": "csr"}, lambda s: s.positions("A", 1), "has one position for each row"),
        ("y(i) = A(i,j)*x(j)", {"A": "coo"}, lambda s: s.positions("A", 2), "listed by level 1, not by level 2"),
        ("y(i) = A(i,j)*x(j)", {"A": "csr", "x": "s"}, lambda s: s.positions("A", 2), "A is merged with x"),
        ("Y(i,k) = A(i,j)*X(j,k)", {"A": "ell"}, lambda s: s.positions("A", 2), "A is not stored by i and then by"),
        ("y(i) = prod(j, A(i,j))", {"A": "csr"}, lambda s: s.positions("A", 2), "a row of y is not a sum over j"),
        ("B(i,j) = A(i,j)", {"A": "csr", "B": "csr"}, lambda s: s.positions("A", 2), "only if it is dense"),
        ("s = A(i,j)*x(j)", {"A": "skyline"}, lambda s: s.positions("A", 2), "do not follow one another"),
    ],
)  # fmt: skip
def test_reasons(text, formats, schedule, reason):
    with pytest.raises(ScheduleError, match=reason):
        weft.compile(text, schedule=schedule, **formats)


LONG_ROWS = [  # each with the level that cuts rows of its first operand
    ("y(i) = A(i,j)*x(j)", "csr", 2),
    ("y(i) = A(i,j)*x(j)", "csr unsorted", 2),
    ("y(i) = A(i,j)*x(j)", "dcsr", 2),
    ("y(i) = A(i,j)*x(j)", "coo", 1),
    ("y(i) = sum(j, sqrt(A(i,j)))", "coo", 1),
    ("C(i,k) = A(i,j)*X(j,k)", "csr", 2),
    ("C(i,k) = A(i,j)*X(j,k)", "coo", 1),
    ("M(i,k) = T(i,j,l)*X(j,k)*Z(l,k)", "csf", 3),
    ("M(i,k) = T(i,j,l)*X(j,k)*Z(l,k)", "coo", 1),
    ("y(i) = sum(j, max(l, T(i,j,l)))", "coo", 1),
]
SHORT = {
    "even": lambda rng: rng.integers(0, 50, 3000),
    "two fifths in one": lambda rng: np.where(rng.random(3000) < 0.4, 17, rng.integers(0, 50, 3000)),
    "first and last": lambda rng: rng.choice([0, 49], 3000),
    "the last": lambda rng: np.full(3000, 49),
    "one entry": lambda rng: np.array([3]),
    "none": lambda rng: np.empty(0, int),
}


def operands_of(text, format, rows):
    rng = np.random.default_rng(4)
    i = SHORT[rows](rng)
    i, j = np.divmod(np.sort(400 * i + rng.integers(0, 400, len(i))), 400)
    l, values = rng.integers(0, 9, len(i)), rng.random(len(i))
    made = {
        "A": lambda: weft.asarray(scipy.sparse.coo_array((values, (i, j)), shape=(50, 400))),  # with duplicates
        "T": lambda: weft.from_coords([i, j, l], values, shape=(50, 400, 9)),
        "x": lambda: rng.random(400), "X": lambda: rng.random((400, 6)), "Z": lambda: rng.random((9, 6)),
    }  # fmt: skip
    made = {name: make() for name, make in made.items() if re.search(rf"\b{name}\(", text)}
    name = next(iter(made))
    return {**made, name: made[name] if format == "coo" else made[name].asformat(format)}


BANDS = {  # each with the coordinates of a matrix of 4000 rows and 3000 columns
    "band": lambda rng, i: 3 * i // 4 + rng.integers(-3, 4, len(i)),
    "upper band": lambda rng, i: 3 * i // 4 + rng.integers(0, 12, len(i)),
    "steps back": lambda rng, i: 3 * (i ^ 8) // 4 + rng.integers(0, 5, len(i)),
    "a few far": lambda rng, i: np.where(rng.random(len(i)) < 0.003, 3000 * rng.random(len(i)), 3 * i // 4).astype(int),
    "a long row": lambda rng, i: np.where(i == 200, rng.integers(0, 3000, len(i)), 3 * i // 4),
    "one column": lambda rng, i: np.full(len(i), 2999),
    "anywhere": lambda rng, i: rng.integers(0, 3000, len(i)),
    "empty": lambda rng, i: i[:0],
}


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("format", ["csr", "dcsr", "csc"])
def test_bands_are_shared_in_the_order_of_one_thread(format, band):
    rng = np.random.default_rng(8)
    i = np.r_[rng.integers(0, 4000, 16000), np.full(60, 200)]
    j = np.clip(BANDS[band](rng, i), 0, 2999)
    i, j = np.divmod(np.unique(3000 * i[: len(j)] + j), 3000)
    i, j, shape = (j, i, (3000, 4000)) if format == "csc" else (i, j, (4000, 3000))
    A, x = weft.from_coords([i, j], rng.normal(size=len(i)), shape).asformat(format), rng.normal(size=4000)
    text = "y(i) = A(i,j)*x(j)" if format == "csc" else "y(j) = A(i,j)*x(i)"
    kernel = weft.compile(text, A=format, schedule=lambda loops: loops.positions("A", 2, share=10))
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=1):
            results.append(kernel(A, x))
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])
    with weft.config.override(disable={"positions"}):
        np.testing.assert_array_equal(weft.evaluate(text, A=A, x=x), results[0])


@pytest.mark.parametrize("rows", SHORT)
@pytest.mark.parametrize("case", LONG_ROWS, ids=str)
def test_long_rows_are_cut(case, rows):
    text, format, level = case
    operands = operands_of(text, weft.formats["csr"](2).unsorted() if format == "csr unsorted" else format, rows)
    first, *_ = operands
    types = {name: value.layout for name, value in operands.items() if isinstance(value, weft.SparseTensor)}
    kernel = weft.compile(
        text, **types, **{text[0]: "dense"}, schedule=lambda loops: loops.positions(first, level, share=70)
    )
    assert "long_rows" in kernel.source
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=1):
            results.append(whole(kernel(*(operands[name] for name in kernel.operands))))
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])
    expected = whole(weft.evaluate(text, **{name: whole(value) for name, value in operands.items()}))
    np.testing.assert_allclose(results[0], expected, rtol=1e-12)


@pytest.mark.parametrize("format", ["csr", "coo", "dcsr"])
def test_long_rows_are_seen(format):
    """By the longest row alone, whatever the number of threads."""
    rng = np.random.default_rng(6)
    rows = np.sort(rng.integers(0, 900, 300_000))
    chosen = []
    for part in (0.0, 0.2, 0.4):
        first = np.sort(np.where(rng.random(300_000) < part, 500, rows))
        A = weft.from_coords([first, np.arange(300_000)], rng.random(300_000), (900, 300_000)).asformat(format)
        x, results = rng.random(300_000), []
        for threads in (1, 3):
            with weft.config.override(num_threads=threads):
                results.append(A @ x)
                chosen.append("long rows, since" in weft.explain("ij,j->i", A, x))
        np.testing.assert_array_equal(*results)
        with weft.config.override(disable={"positions"}):
            np.testing.assert_allclose(A @ x, results[0])
            assert "long rows" not in weft.explain("ij,j->i", A, x)
        with weft.config.override(reassociate=False):
            assert "long rows" not in weft.explain("ij,j->i", A, x)
    assert chosen == [False, False, False, False, True, True]


@pytest.mark.parametrize(
    ("text", "format"), [("s = A(i,j)*x(j)", "csr"), ("y(j) = A(i,j)*x(i)", "csr"), ("y(i) = A(i,j)*x(j)", "jad")]
)
def test_threads_poll_in_their_shares(text, format):
    source = weft.compile(text, A=format).source
    share = source[source.index("One iteration of the loop that threads share") :]
    assert "weft_poll(watch)" in share[: share.index("The share of one thread")]
