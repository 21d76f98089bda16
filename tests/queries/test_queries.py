"""The attribute query language: parsing, canonical form, Table 1 of the 2020 paper, and results against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats_for_tests import FORMATS, SHAPES, drawn, sparse

import weft
from weft.errors import IndexOverflowError, NotationError
from weft.queries.canonical import canonical
from weft.queries.parser import parse
from weft.queries.table1_rewrites import (
    SourceFacts,
    counter_to_histogram,
    fold_constants,
    inline_temporary,
    optimize,
    reduction_to_assign,
    simplify_width_count,
)

# The matrix of the paper's Fig. 1.
FIGURE = weft.from_coords([[0, 0, 1, 1, 2, 2, 3, 3, 3], [0, 1, 1, 2, 0, 2, 1, 3, 4]], np.arange(1.0, 10), shape=(4, 6))


def statement(text, shape=(4, 6)):
    query = parse(text, len(shape))
    return canonical(query, query.aggregates[0], shape)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("choose [i] -> id() as a", "'select' is expected", 0),
        ("select i -> id() as a", r"'\[' is expected", 7),
        ("select [i -> id() as a", "',' is expected", 10),
        ("select [z] -> id() as a", "z is no axis", 8),
        ("select [i] id() as a", "'->' is expected", 11),
        ("select [i] -> sum(j) as a", "count, max, min or id", 14),
        ("select [i] -> count() as a", "one coordinate or more", 14),
        ("select [i] -> max(i, j) as a", "one coordinate", 14),
        ("select [i] -> id(j) as a", "none", 14),
        ("select [i] -> count(j)", "'as' is expected", 22),
        ("select [i] -> count(j) as 3", "a name", 26),
        ("select [i] -> count(j) as a b", "nothing may follow", 28),
        ("select [i] -> count(j/0) as a", "block sizes", 22),
        ("select [#i] -> id() as a", "counter", 8),
        ("select [i] -> count(j) as a; drop", "no part of a query", 27),
    ],
)
def test_malformed_queries_point_at_the_place(text, message, place):
    with pytest.raises(NotationError, match=message) as caught:
        parse(text, 2)
    assert str(caught.value).splitlines()[-1].index("^") - 2 == place


def test_text_and_objects():
    for text in (
        "select [i] -> count(j) as n",
        "select [] -> min(j-i) as lb, max(j-i) as ub",
        "select [i/2,j/3] -> id() as ne",
    ):
        assert str(parse(text)) == text
        assert parse(str(parse(text))) == parse(text)


def test_canonical_forms():
    assert str(statement("select [j-i] -> id() as Q")) == "∀i ∀j Q(j-i) |= map(B(i,j), 1)"
    assert str(statement("select [i] -> max(j) as Q")) == "∀i ∀j Q(i) max= map(B(i,j), j+1)"
    assert str(statement("select [i] -> min(j) as Q")) == "∀i ∀j Q(i) max= map(B(i,j), 6-j)"
    assert str(statement("select [] -> max(j-i) as Q")) == "∀i ∀j Q() max= map(B(i,j), j-i+4)"
    found = statement("select [i] -> count(j) as Q", (2, 3, 4))
    assert str(found) == "(∀i ∀j Q(i) += map(W(i,j), 1)) where (∀i ∀j ∀k W(i,j) |= map(B(i,j,k), 1))"


def test_table_1():
    count = statement("select [i] -> count(j) as Q")
    assigned = reduction_to_assign(count)
    assert str(assigned) == "(∀i ∀j Q(i) += map(W(i,j), 1)) where (∀i ∀j W(i,j) = map(B(i,j), 1))"
    inlined = inline_temporary(assigned)
    assert str(inlined) == "∀i ∀j Q(i) += map(map(B(i,j), 1), 1)"
    folded = fold_constants(inlined)
    assert str(folded) == "∀i ∀j Q(i) += map(B(i,j), 1)"
    counted = simplify_width_count(folded, SourceFacts(innermost=1, only_nonzeros=True))
    assert str(counted) == "∀i Q(i) += width(B(i))*1"
    assert str(reduction_to_assign(counted)) == "∀i Q(i) = width(B(i))*1"
    whole = optimize(statement("select [] -> count(i*size(j)+j) as Q"), SourceFacts())
    assert str(whole) == "∀i ∀j Q() += map(B(i,j), 1)"  # no two entries have the same
    nth = statement("select [] -> max(#i) as K")
    assert str(nth) == "∀i ∀j Q() max= map(B(i,j), #i+1)"
    assert str(counter_to_histogram(nth)) == "(∀i Q() max= W(i)) where (∀i ∀j W(i) += map(B(i,j), 1))"


def test_passes_leave_what_does_not_fit():
    slices = statement("select [i] -> count(j) as Q", (2, 3, 4))
    assert reduction_to_assign(slices) == slices  # k is reduced over in the temporary
    assert inline_temporary(slices) == slices  # which is a reduction
    folded = optimize(statement("select [i] -> count(j) as Q"), SourceFacts())
    assert folded == simplify_width_count(folded, SourceFacts(innermost=1))  # zeros may be stored
    assert folded == simplify_width_count(folded, SourceFacts(innermost=0, only_nonzeros=True))  # i is not reduced over
    assert counter_to_histogram(folded) == folded
    columns = optimize(statement("select [j] -> count(i) as Q"), SourceFacts(innermost=1, only_nonzeros=True))
    assert str(columns) == "∀i ∀j Q(j) += map(B(i,j), 1)"


def test_the_paper_s_figure_10():
    for format in FORMATS[2]:
        found = weft.query(FIGURE.asformat(format), "select [i] -> count(j) as nir, min(j) as minir, max(j) as maxir")
        assert found["nir"].tolist() == [2, 2, 2, 3]
        assert found["minir"].tolist() == [0, 1, 0, 1]
        assert found["maxir"].tolist() == [1, 2, 2, 4]
        assert weft.query(FIGURE.asformat(format), "select [j] -> id() as ne")["ne"].tolist() == [1, 1, 1, 1, 1, 0]


def test_bandwidths_diagonals_and_counters():
    found = weft.query(FIGURE, "select [] -> min(j-i) as lb, max(j-i) as ub, max(#i) as K, count(j) as columns")
    assert (found["lb"], found["ub"], found["K"], found["columns"]) == (-2, 1, 2, 5)
    diagonals = weft.query(FIGURE, "select [j-i] -> id() as ne, count(i) as n")
    assert diagonals.origin == (-3,)
    assert (np.flatnonzero(diagonals["ne"]) + diagonals.origin[0]).tolist() == [-2, 0, 1]
    assert diagonals["n"].tolist() == [0, 2, 0, 4, 3, 0, 0, 0, 0]
    assert weft.query(FIGURE, "select [i/2] -> count(j/2) as blocks")["blocks"].tolist() == [2, 3]
    assert str(found.statements["K"]) == "(∀i Q() max= W(i)) where (∀i ∀j W(i) += map(B(i,j), 1))"


def test_widths_are_asked_of_the_level():
    A = weft.random((50, 60), density=0.2, format="csr", rng=3)
    found = weft.query(A, "select [i] -> count(j) as n")
    assert str(found.statements["n"]) == "∀i Q(i) = width(B(i))*1"
    assert found["n"].tolist() == np.diff(A.to_scipy_sparse().indptr).tolist()
    assert weft.query(A.T, "select [j] -> count(i) as n")["n"].tolist() == found["n"].tolist()


def test_refusals():
    with pytest.raises(NotationError, match="two results"):
        weft.query(FIGURE, "select [i] -> count(j) as n, max(j) as n")
    with pytest.raises(NotationError, match="counter such as #i"):
        weft.query(FIGURE, "select [i] -> min(#i) as n")
    huge = weft.from_coords([[0], [0]], [1.0], shape=(10**10, 5))
    with pytest.raises(weft.errors.DensifyError, match="max_densify_bytes"):
        weft.query(huge, "select [i] -> count(j) as n")
    assert weft.query(huge, "select [] -> count(i) as n")["n"] == 1


@given(data=st.data())
def test_against_numpy(data):
    shape = data.draw(st.sampled_from(SHAPES))
    dense = drawn(data, shape, 0.0)
    A = sparse(dense, 0.0, data.draw(st.sampled_from(FORMATS[len(shape)])))
    axes = data.draw(st.permutations(range(len(shape))))
    m = data.draw(st.integers(0, len(shape)))
    n = data.draw(st.integers(m, len(shape)))
    over, args, rest = axes[:m], axes[m:n], axes[n:]
    names = "ijk"
    here = (dense != 0).transpose(axes).any(axis=tuple(range(n, len(shape)))) if rest else (dense != 0).transpose(axes)
    inner = tuple(range(m, n))
    asked = ["id() as any"]
    expected = {"any": here.any(axis=inner) if inner else here}
    if args:
        asked.append(f"count({','.join(names[a] for a in args)}) as n")
        expected["n"] = here.sum(axis=inner)
        size = shape[args[0]]
        one = here.any(axis=tuple(range(m + 1, n)))
        place = np.arange(size).reshape([-1 if a == m else 1 for a in range(m + 1)])
        asked += [f"max({names[args[0]]}) as last", f"min({names[args[0]]}) as first"]
        expected["last"] = np.where(one, place, -1).max(axis=m, initial=-1)
        expected["first"] = np.where(one, place, size).min(axis=m, initial=size)
    found = weft.query(A, f"select [{','.join(names[a] for a in over)}] -> {', '.join(asked)}")
    for label, result in expected.items():
        np.testing.assert_array_equal(found[label], result)
        assert found[label].dtype == (bool if label == "any" else np.int64)


@pytest.mark.parametrize(
    "text",
    [
        "select [] -> max(i*6000000000000000000) as n",
        "select [i*6000000000000000000] -> id() as n",
        "select [] -> min((i*6000000000000000000)/6000000000000000000) as n",  # wraps around on the way
        "select [i] -> max(j-6000000000000000000-6000000000000000000) as n",
    ],
)
def test_expressions_that_64_bits_do_not_hold_are_refused(text):
    A = weft.asarray(np.eye(3), format="csr")
    with pytest.raises(IndexOverflowError, match=r"shape \(3, 3\).*64-bit.*select"):
        weft.query(A, text)
    found = weft.query(A, "select [] -> max(i*3000000000000000000) as n")
    assert found["n"] == 6 * 10**18
