"""Rows of results that are written as a whole, or not at all (``whole-rows``)."""

from __future__ import annotations

import numpy as np
import pytest

import weft

X = np.array([[1.0, -0.0, np.nan], [0.0, 2.0, -3.0], [-0.0, -0.0, np.inf], [4.0, 5.0, 6.0]])


def three_axes() -> weft.SparseTensor:
    """Return a tensor with explicit zeros, a coordinate without children, and one whose children have none."""
    arrays = [([0, 3], [0, 1, 2]), ([0, 2, 2, 3], [0, 2, 1]), ([0, 2, 3, 3], [0, 3, 2])]
    levels = [{"pos": np.array(pos), "crd": np.array(crd)} for pos, crd in arrays]
    return weft.from_levels((4, 3, 4), "csf", levels, np.array([1.0, 0.0, -2.0]))


def matrix() -> weft.SparseTensor:
    return weft.random((6, 4), nnz=7, format="csr", rng=0)


OPERANDS = {
    "C(i,j,r) = T(i,j,k)*X(k,r)": {"T": three_axes(), "format": "csf"},
    "C(i,r) = A(i,k)*X(k,r)": {"A": matrix(), "format": "csr"},
    "C(i,r) = y(i)*sum(k, A(i,k)*X(k,r))": {"A": matrix(), "y": np.arange(6.0), "format": "csr"},
}
"""Statements whose rows are whole, with their operands but ``X``."""


def entries(text: str, **operands: object) -> list[bytes]:
    C = weft.evaluate(text, **operands)
    return [np.ascontiguousarray(array).tobytes() for array in (*C.to_coo()[0], C.to_coo()[1])]


@pytest.mark.parametrize("text", OPERANDS)
def test_whole_rows_have_the_bits_and_the_pattern_of_listed_ones(text: str) -> None:
    operands = {**OPERANDS[text], "X": X}
    assert "all of which is written" in weft.explain(text, **operands)
    whole = entries(text, **operands)
    with weft.config.override(disable=["whole-rows"]):
        assert "with a list of the coordinates set" in weft.explain(text, **operands)
        assert entries(text, **operands) == whole
    none = {**operands, "X": X[:, :0]}
    assert weft.evaluate(text, **none).nnz == 0


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "complex64"])
def test_whole_rows_of_every_kind_of_number(dtype: str) -> None:
    A, Y = matrix().astype(dtype), np.arange(8).reshape(4, 2).astype(dtype)
    C = weft.evaluate("C(i,r) = A(i,k)*Y(k,r)", A=A, Y=Y, format="csr")
    np.testing.assert_array_equal(C.todense(), A.todense() @ Y)


def test_rows_are_listed_where_a_loop_below_may_be_empty() -> None:
    D = weft.asarray(np.eye(12).reshape(4, 3, 12)[:, :, :5], format="dds")
    text = "C(i,r) = A(i,k)*D(k,r,l)"
    assert "with a list" in weft.explain(text, A=matrix(), D=D, format="csr")
    C = weft.evaluate(text, A=matrix(), D=D, format="csr")
    np.testing.assert_array_equal(C.todense(), np.einsum("ik,krl->ir", matrix().todense(), D.todense()))


def test_rows_are_listed_where_a_tensor_is_read_in_two_formats() -> None:
    A = weft.random((30, 30), nnz=20, format="csc", rng=0)
    C = weft.evaluate("C(i,j) = A(i,k)*A(j,k)", A=A)
    assert C.nnz == np.count_nonzero(A.todense() @ A.todense().T)
