"""Formats of one's own, drawn by Hypothesis: converted and computed with like those of the catalogue."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from strategies import own_formats
from weft.formats import (
    Banded,
    Compressed,
    Dense,
    Format,
    Hashed,
    Morton,
    Offset,
    Range,
    Singleton,
    Squeezed,
    parse_format,
)
from weft.storage import check

NAMED = {1: ["coo", "dense", "hash_vector"], 2: ["coo", "dense", "csr", "csc", "dia", "bsr", "hash"], 3: ["coo", "csf"]}


@st.composite
def cases(draw):
    order = draw(st.sampled_from([1, 2, 2, 2, 3]))
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 3, 5, 7, 8, 20]), min_size=order, max_size=order)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    dense = np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)
    return dense, draw(st.sampled_from(NAMED[order])), draw(own_formats(order)), draw(own_formats(order))


def checked(A):
    check(A._storage)
    return A.todense()


def compare(dense, named, own, other):
    """Conversions, products and sums with a format beside NumPy."""
    A = weft.asarray(dense).asformat(named)
    B = A.asformat(own)
    np.testing.assert_array_equal(checked(B), dense)
    np.testing.assert_array_equal(checked(B.asformat(named)), dense)
    np.testing.assert_array_equal(checked(B.asformat(other)), dense)
    np.testing.assert_array_equal(checked(B * 2), 2 * dense)
    np.testing.assert_array_equal(checked(B + A), 2 * dense)
    np.testing.assert_array_equal(checked(B * A), dense * dense)
    np.testing.assert_array_equal(checked(weft.einsum("...,...->...", B, A, format=own)), dense * dense)
    np.testing.assert_array_equal(weft.asarray(B.sum(axis=-1)).todense(), dense.sum(axis=-1))
    if dense.ndim == 2:
        np.testing.assert_array_equal(B @ np.arange(dense.shape[1]), dense @ np.arange(dense.shape[1]))
        np.testing.assert_array_equal(weft.asarray(B @ A.T).todense(), dense @ dense.T)


@settings(
    max_examples=settings.default.max_examples // 6,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(cases())
def test_formats_of_ones_own(case):
    compare(*case)


LIST = [Compressed(unique=False), Singleton(unique=False), Singleton()]


@pytest.mark.parametrize(
    ("remapping", "levels"),
    [
        ("(i,j) -> (j-i,j)", [Compressed(), Compressed()]),  # sorted with what is below 0
        ("(i,j) -> (i,j>>1,j&1)", [Dense(), Banded(), Squeezed()]),  # padding beyond the edge
        ("(i,j) -> (i>>1,j,i&1)", [Squeezed(), Compressed(unique=False), Singleton()]),  # names of variables
        ("(i,j) -> (i/2,i%2,j)", [Dense(), Dense(), Dense()]),  # dense, but not an ndarray
        ("(i,j) -> (i/2,i%2,j)", [Dense(), Dense(), Compressed()]),  # rows beyond the edge, which hold nothing
        ("(i,j) -> (i/2,j/2,i%2,j%2)", [Dense(), Compressed(), Dense(), Compressed()]),
        ("(i,j) -> (i/2/2,i/2%2,i%2,j/2,j%2)", [Dense(), Compressed(), Dense(), Dense(), Compressed()]),
        ("(i,j) -> (i,j)", [Squeezed(), Squeezed()]),
        ("(i,j) -> (j,i)", [Range(), Dense()]),
        ("(i,j) -> (j/2,j%2,i)", [Squeezed(), Compressed(), Range()]),  # edges are undone before the next pass
        ("(i,j) -> (i,j/2,j%2)", [Hashed(), Hashed(), Squeezed()]),  # rows without entries have no place
        ("(i,j) -> (i,i+j,j)", [Compressed(), Compressed(), Offset()]),  # room below what is computed
        ("(i,j) -> (i/2,j/2,i%2,j%2)", [Compressed(unique=False), Singleton(), Dense(), Dense()]),
        ("(i,j) -> (i,j/2,i/3,j%2)", [Hashed(), *LIST]),  # a coordinate that follows from one above
        ("(i,j) -> (j%2,i,j/2)", [Hashed(), Morton(unique=False), Singleton(ordered=False)]),
        ("(i,j) -> (i,j/2,j%2)", [Morton(unique=False), Singleton(ordered=False), Squeezed()]),
        ("(i,j) -> (i*size(j)+j)", [Hashed()]),
        ("(i,j) -> (i+j,i,j)", [Dense(), Dense(), Offset()]),  # a coordinate that follows, beyond the edge
        ("(i,j) -> (j-i,j,i)", [Squeezed(), Dense(), Offset()]),
        ("(i,j) -> (j-i,i,j)", [Compressed(), Dense(), Offset()]),
        ("(i,j) -> (j+2*i,i>>1,j,i&1)", [Dense(), *LIST[::2], Compressed()]),  # sums of axes where one has no size
    ],
)
@pytest.mark.parametrize("named", ["coo", "dense"])
def test_formats_that_were_wrong_once(remapping, levels, named):
    rng = np.random.default_rng(0)
    own = Format(remapping, levels)
    for shape, density in [((7, 8), 0.4), ((20, 5), 0.1), ((1, 1), 1.0), ((0, 3), 0.0), ((0, 0), 0.0)]:
        dense = np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)
        compare(dense, named, own, Format("(i,j) -> (j>>1,i,j&1)", [Compressed(), Dense(), Dense()]))


@pytest.mark.parametrize("named", ["csf", "coo", "dense"])
@pytest.mark.parametrize("last", [Compressed(), Hashed(), Dense()])
def test_entries_that_meet_at_a_tuple_are_one_position(named, last):
    own = Format("(i,j,k) -> (i,j,k)", [Compressed(unique=False), Singleton(), last])
    rng = np.random.default_rng(0)
    for shape, density in [((3, 4, 5), 0.4), ((1, 1, 3), 0.9), ((1, 1, 1), 1.0), ((2, 0, 3), 0.0)]:
        dense = np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)
        compare(dense, named, own, parse_format("csf", 3))


CUT = [
    ("(i,j) -> (i,j/2,j%2)", [Compressed(), Dense(), Compressed()]),
    ("(i,j) -> (i,j-i)", [Compressed(), Compressed()]),
    ("(i,j) -> (i/2,i%2,j)", [Compressed(), Dense(), Compressed()]),
    ("(i,j) -> (i/2,j/2,i%2,j%2)", [Compressed(), Compressed(), Dense(), Dense()]),
    ("(i,j) -> (i,i+j,j)", [Compressed(), Compressed(), Offset()]),
    ("(i,j) -> (j/3,i,j%3)", [Compressed(), Dense(), Compressed()]),
]
FILLED = [
    ("(i,j) -> (i,j)", [Compressed(), Dense()]),
    ("(i,j) -> (j,i)", [Compressed(), Dense()]),
    ("(i,j) -> (i/2,i%2,j)", [Compressed(), Dense(), Dense()]),
    ("(i,j) -> (i/2,i%2,j)", [Dense(), Compressed(), Dense()]),
    ("(i,j) -> (i,j/3,j%3)", [Dense(), Compressed(), Dense()]),
]


@pytest.mark.parametrize("target", FILLED, ids=str)
@pytest.mark.parametrize("source", CUT, ids=str)
def test_dense_levels_below_appended_ones(source, target):
    """What no entry reaches is filled, whatever the variables that the entries' levels have."""
    own, goal, rng = Format(*source), Format(*target), np.random.default_rng(0)
    for shape in [(6, 5), (5, 7)]:
        dense = np.where(rng.random(shape) < 0.2, rng.integers(1, 9, shape), 0).astype(float)
        A = weft.asarray(dense).asformat("csr")
        B = A.asformat(own)
        np.testing.assert_array_equal(checked(B), dense)
        np.testing.assert_array_equal(checked(B.asformat(goal)), dense)
        np.testing.assert_array_equal(
            checked(weft.evaluate("C(i,j) = B(i,j) + A(i,j)", A=A, B=B, format=goal)), 2 * dense
        )
        x = np.ones(shape[1])
        np.testing.assert_array_equal(checked(weft.evaluate("C(i,j) = B(i,j)*x(j)", B=B, x=x, format=goal)), dense)
