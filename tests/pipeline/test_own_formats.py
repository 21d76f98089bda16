"""Formats of one's own, drawn by Hypothesis: converted and computed with like those of the catalogue."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from strategies import own_formats
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


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(cases())
def test_formats_of_ones_own(case):
    dense, named, own, other = case
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
