"""Index variables may have any name, also one that generated C has for something of its own."""

import numpy as np
import pytest

import weft

rng = np.random.default_rng(0)
D, E = (np.where(rng.random((5, 5)) < 0.5, rng.random((5, 5)), 0) for _ in range(2))


@pytest.mark.parametrize("v", ["p", "chunk", "pA1", "A1_end", "total1", "w_vals", "C1_pos"])
def test_names_that_c_uses(v):
    A, B = weft.asarray(D, format="dcsr"), weft.asarray(E, format="dcsr")
    for text, formats, expected in (
        (f"C(i,j) = sum({v}, A(i,{v})*B(j,{v}))", {"C": "csr"}, D @ E.T),
        (f"C({v},j) = A({v},j) + B({v},j)", {"C": "dcsr"}, D + E),
        (f"C(i,{v}) = sum(k, A(i,k)*B(k,{v}))", {"C": "csr"}, D @ E),
    ):
        kernel = weft.compile(text, A="dcsr", B="dcsr", **formats)
        np.testing.assert_allclose(kernel(A, B).todense(), expected)
