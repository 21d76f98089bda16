"""Runs of entries with one coordinate, summed before they are added to the result: where they are long on average."""

import re

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.lowering.loops import RUN


def coordinates(rng, shape, count, duplicates=False):
    """Coordinates in order."""
    cells = rng.choice(np.prod(shape), count, replace=duplicates)
    return np.stack(np.unravel_index(np.sort(cells), shape))


def dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


@pytest.mark.parametrize("average", [0.5, RUN - 1, RUN, 2 * RUN, 40])
def test_sums_of_short_and_of_long_rows(average):
    rng = np.random.default_rng(0)
    coords = coordinates(rng, (20, 50), int(20 * average))
    A = weft.from_coords(coords, rng.random(coords.shape[1]), shape=(20, 50)).asformat("coo")
    d, x, z = A.todense(), rng.random(50), rng.random(20)
    np.testing.assert_allclose(A @ x, d @ x)
    np.testing.assert_allclose(dense(weft.evaluate("y(i) = z(i) - A(i,j)*x(j)", A=A, x=x, z=z)), z - d @ x)


@pytest.mark.parametrize("average", [0.5, RUN, 30])
@pytest.mark.parametrize("text", ["A(i,j) = B(i,j,k)*c(k)", "A(i,j) = B(i,j,k)", "A(j,i) = B(i,j,k)*c(k)*d(i,j)"])
def test_fibres_of_tensors(text, average):
    rng = np.random.default_rng(1)
    coords = coordinates(rng, (4, 5, 40), int(20 * average))
    B = weft.from_coords(coords, rng.random(coords.shape[1]), shape=(4, 5, 40)).asformat("coo")
    d, c, e = B.todense(), rng.random(40), rng.random((4, 5))
    operands = {"B": B, "c": c, "d": e}
    found = weft.evaluate(text, format="dense", **{n: operands[n] for n in operands if f"{n}(" in text})
    whole = d * (c if "c(" in text else 1) * (e[:, :, None] if "d(" in text else 1)
    expected = whole.sum(axis=2)
    np.testing.assert_allclose(dense(found), expected.T if "A(j,i)" in text else expected)


@pytest.mark.parametrize("average", [2, 2 * RUN])
def test_duplicates_are_added_once_each(average):
    rng = np.random.default_rng(2)
    count = int(20 * average)
    coords, values = coordinates(rng, (20, 9), count, duplicates=True), rng.random(count)
    A = weft.asarray(scipy.sparse.coo_array((values, tuple(coords)), shape=(20, 9)))
    assert not A.layout.is_unique
    x = rng.random(9)
    expected = np.zeros(20)
    np.add.at(expected, coords[0], values * x[coords[1]])
    np.testing.assert_allclose(A @ x, expected)


def test_both_ways_are_compiled_where_sums_are_gathered():
    k = weft.compile("y(i) = A(i,j)*x(j)", A="coo", y="dense")
    assert f">= {RUN} * A1_dim" in k.source
    for text, formats in [("C(i,k) = A(i,j)*X(j,k)", {"C": "dense"}), ("y(j) = A(i,j)*x(i)", {"y": "dense"})]:
        assert f">= {RUN} *" not in weft.compile(text, A="coo", **formats).source


@pytest.mark.parametrize(
    "text",
    [
        "y(j) = sum(i, max(k, B(i,j,k)))",
        "s = sum(i, max(j, A(i,j)))",
        "s = prod(i, sum(j, A(i,j)))",
        "y(i) = max(j, sum(k, B(i,j,k)))",
        "s = sum(i, 2 + sum(j, A(i,j)))",
    ],
)
@pytest.mark.parametrize("entries", [1, 3, RUN, 40])
def test_what_is_gathered_by_another_operator_stays_together(text, entries):
    """However few entries there are."""
    rng = np.random.default_rng(3)
    flat = coordinates(rng, (4, 20), entries)
    A = weft.from_coords(flat, -rng.random(entries), shape=(4, 20)).asformat("coo")
    B = weft.from_coords(coordinates(rng, (4, 2, 10), entries), -rng.random(entries), shape=(4, 2, 10)).asformat("coo")
    a, b = A.todense(), B.todense()
    expected = {
        "y(j) = sum(i, max(k, B(i,j,k)))": b.max(axis=2).sum(axis=0),
        "s = sum(i, max(j, A(i,j)))": a.max(axis=1).sum(),
        "s = prod(i, sum(j, A(i,j)))": a.sum(axis=1).prod(),
        "y(i) = max(j, sum(k, B(i,j,k)))": b.sum(axis=2).max(axis=1),
        "s = sum(i, 2 + sum(j, A(i,j)))": (2 + a.sum(axis=1)).sum(),
    }[text]
    found = weft.evaluate(text, **({"A": A} if "A(" in text else {"B": B}))
    np.testing.assert_allclose(dense(found), expected)


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("y(j) = sqrt(A(i,j))", lambda d, x: np.sqrt(d).sum(0)),
        ("y(j) = A(i,j)*A(i,j)*x(i)", lambda d, x: (d * d * x[:, None]).sum(0)),
        ("y(j) = sqrt(A(i,j) + x(i))", lambda d, x: np.sqrt(d + x[:, None]).sum(0)),
        ("y(i,j) = sqrt(A(i,j))*x(i)", lambda d, x: np.sqrt(d) * x[:, None]),
        ("y(i,j) = A(i,j)*2 + 1", lambda d, x: d * 2 + 1),
    ],
)
def test_what_is_no_multiple_of_an_entry(text, result, duplicates):
    """Each entry goes by itself where none comes twice, and adds nothing where there is none; else sums do."""
    rng = np.random.default_rng(3)
    coords = coordinates(rng, (12, 10), 70, duplicates)
    values, x = rng.random(70), rng.random(12)
    A = weft.asarray(scipy.sparse.coo_array((values, tuple(coords)), shape=(12, 10)))
    assert A.layout.is_unique != duplicates
    d = np.zeros((12, 10))
    np.add.at(d, tuple(coords), values)
    for format in ("dense", "coo") if "y(i,j)" in text else ("dense",):
        found = (
            weft.evaluate(text, A=A, x=x, format=format) if "x(" in text else weft.evaluate(text, A=A, format=format)
        )
        np.testing.assert_allclose(dense(found), result(d, x))


@pytest.mark.parametrize(
    ("text", "apart"),
    [("y(j) = sqrt(A(i,j))", True), ("B(i,j) = A(i,j)", True), ("y(i) = sqrt(A(i,j) + 1)", False)],
)
def test_where_no_run_is_looked_for(text, apart):
    """``_segend`` is where a run ends."""
    k = weft.compile(text, A="coo", **{"B": "coo"} if "B(" in text else {"y": "dense"})
    assert ("_segend" not in k.source) == apart


SHARED = {  # each with the name of its list, and the format of its result
    "y(i) = A(i,j)*x(j)": ("A", "dense"),
    "y(i) = max(j, A(i,j))": ("A", "dense"),
    "C(i,k) = A(i,j)*X(j,k)": ("A", "dense"),
    "C(i,k) = B(i,j,l)*X(j,k)*Z(l,k)": ("B", "dense"),
    "C(i,j) = B(i,j,l)": ("B", "dense"),
    "C(i,j) = A(i,j)": ("A", "dense"),
    "C(i,j) = A(i,j)*Y(i,k)*X(j,k)": ("A", "csr"),
    "C(i,j) = 2*A(i,j)*x(j)": ("A", "dcsr"),
    "D(i,j,l) = B(i,j,l)*x(j)": ("B", "csf"),
}
ROWS = {
    "even": lambda rng: rng.integers(0, 50, 600),
    "one row has two fifths": lambda rng: np.where(rng.random(600) < 0.4, 17, rng.integers(0, 50, 600)),
    "one row": lambda rng: np.full(600, 49),
    "first and last": lambda rng: np.repeat([0, 49], [1, 599]),
    "one entry": lambda rng: np.array([3]),
    "none": lambda rng: np.empty(0, int),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("text", SHARED)
def test_threads_share_lists_without_cutting_rows(text, rows):
    rng = np.random.default_rng(5)
    first = ROWS[rows](rng)
    first, j = np.divmod(np.sort(40 * first + rng.integers(0, 40, len(first))), 40)
    l, values = rng.integers(0, 9, len(first)), rng.random(len(first))
    operands = {
        "A": weft.asarray(scipy.sparse.coo_array((values, (first, j)), shape=(50, 40))),  # with duplicates
        "B": weft.from_coords([first, j, l], values, shape=(50, 40, 9)),
        "x": rng.random(40), "X": rng.random((40, 6)), "Y": rng.random((50, 6)), "Z": rng.random((9, 6)),
    }  # fmt: skip
    operands = {name: value for name, value in operands.items() if re.search(rf"\b{name}\(", text)}
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=1):
            results.append(dense(weft.evaluate(text, **operands, format=SHARED[text][1])))
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])
    whole = {name: dense(value) for name, value in operands.items()}
    np.testing.assert_allclose(results[0], dense(weft.evaluate(text, **whole)))


@pytest.mark.parametrize("text", SHARED)
def test_chunks_of_lists_end_behind_runs(text):
    name, into = SHARED[text]
    coo = weft.formats["coo"](text.partition(f"{name}(")[2].partition(")")[0].count(",") + 1)
    for format, moved in [(coo, True), (coo.unsorted(), False)]:
        assert ("last_cut_coordinate" in weft.compile(text, **{name: format, text[0]: into}).source) == moved
