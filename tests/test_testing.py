"""Assertions on tensors, and versions."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.testing import assert_allclose, assert_equal

S = sp.csr_array(np.array([[0.0, 1.0], [2.0, np.nan]]))
A = weft.asarray(S)


@pytest.mark.parametrize("other", [S, A, A.tocsc(), A.asformat("coo"), A.todense(), A.asformat("dense")])
def test_equal_tensors(other):
    assert_equal(A, other)
    assert_allclose(other, A)


def test_numbers_and_dtypes():
    assert_equal(weft.full((2, 2), 3), 3)
    assert_equal(weft.asarray([1, 2], format="coo"), [1.0, 2.0])
    assert_allclose(weft.eye(3) * (1 + 1e-9), weft.eye(3))
    assert_equal(weft.asarray([True, False], format="coo"), np.array([True, False]))


@pytest.mark.parametrize("check", [assert_equal, assert_allclose])
def test_what_differs_is_named(check):
    with pytest.raises(AssertionError, match=r"(?s)what\n2 of 4 elements differ:\n\(0, 1\): 1.0 .*\n\(1, 0\): 2.0"):
        check(A, A.T, err_msg="what")
    with pytest.raises(AssertionError, match=r"Shapes differ: \(2, 2\) and \(3, 3\)"):
        check(A, weft.eye(3))
    with pytest.raises(AssertionError, match=r"\.\.\. and 4 more"):
        check(weft.eye(9, format="csr"), weft.zeros((9, 9), format="csr"))
    with pytest.raises(AssertionError, match="1 of 1"):
        check(weft.asarray(1.0), 2.0)


def test_nothing_is_made_dense():
    large = weft.from_coords([[0, 10**9], [5, 7]], [1.0, 2.0], (2 * 10**9, 10**9))
    assert_equal(large, large.copy())
    with pytest.raises(AssertionError, match=r"\(0, 5\): 1.0 is not 2.0"):
        assert_equal(large, large * weft.from_coords([[0, 10**9], [5, 7]], [2.0, 1.0], large.shape))


def test_versions(capsys):
    weft.show_versions()
    text = capsys.readouterr().out
    assert all(f"\n{name} " in text for name in ("weft", "numpy", "scipy", "threads", "shipped", "compiler"))


def test_scipy_matrices():
    assert sp.isspmatrix_csr(A.to_scipy(matrix=True))
    assert np.shares_memory(A.to_scipy(matrix=True).data, S.data)
    assert weft.to_scipy(A, "coo").format == "coo"
