"""What is asked for in a wider dtype is computed in it from the start."""

import numpy as np
import pytest

import weft
from weft.index_notation import parse, to_text, use_computation_dtype


@pytest.mark.parametrize(
    ("text", "dtypes", "dtype", "wanted"),
    [
        ("y(i) = A(i)*B(i)", ("int8", "int8"), "int64", "y(i) = int64(A(i))*int64(B(i))"),
        ("y(i) = A(i)*B(i)", ("int8", "int64"), "int64", "y(i) = A(i)*B(i)"),  # converted by the product itself
        ("y(i) = A(i)*B(i)*C(i)", ("int8", "int8", "int64"), "int64", "y(i) = int64(A(i))*int64(B(i))*C(i)"),
        ("y(i) = A(i)*B(i)*C(i)", ("int64", "int8", "int8"), "int64", "y(i) = A(i)*B(i)*C(i)"),
        ("y = A(i)", ("int8",), "int64", "y = sum(i, int64(A(i)))"),
        ("y = A(i)", ("int64",), "int64", "y = A(i)"),
        ("y(i) = -A(i)", ("int8",), "float64", "y(i) = -float64(A(i))"),
        ("y(i) = 2*A(i) + 1", ("int8",), "int64", "y(i) = 2*int64(A(i)) + 1"),
        ("y(i) = A(i)/B(i)", ("float32", "float32"), "float64", "y(i) = float64(A(i))/float64(B(i))"),
        ("y = greater(A(i), B(i))", ("float64", "float64"), "int64", "y = sum(i, int64(greater(A(i), B(i))))"),
        (
            "y(i) = greater(A(i), B(i))",
            ("int8", "int8"),
            "int64",
            "y(i) = greater(A(i), B(i))",
        ),  # an answer is converted where it goes
        ("y = max(i, A(i)*B(i))", ("int8", "int8"), "int32", "y = max(i, int32(A(i))*int32(B(i)))"),
        ("y(i) = real(A(i))", ("complex64",), "float64", "y(i) = real(A(i))"),
        ("y = A(i)*B(i)", ("float64", "float64"), "float32", "y = A(i)*B(i)"),  # narrower: converted last
        ("y = A(i)*B(i)", ("int64", "int64"), "float32", "y = A(i)*B(i)"),
    ],
)
def test_conversions(text, dtypes, dtype, wanted):
    known = tuple(zip("ABC", dtypes, strict=False))
    assert to_text(use_computation_dtype(parse(text), known, dtype)) == wanted


@pytest.mark.parametrize("format", ["dense", "s", "coo", "hash_vector"])
def test_nothing_wraps_around_that_the_result_holds(format):
    x, y = np.array([100, -128, 0, 127], np.int8), np.array([100, -128, 5, 2], np.int8)
    A, B = (weft.asarray(v).asformat(format) for v in (x, y))
    wide = x.astype(np.int64) * y
    assert weft.evaluate("y = A(i)*B(i)", A=A, B=B, dtype=np.int64) == wide.sum()
    assert weft.evaluate("y = A(i)", A=A, dtype=np.int64) == x.sum(dtype=np.int64)
    assert weft.evaluate("y = max(i, A(i)*B(i))", A=A, B=B, dtype=np.int64) == wide.max()
    assert weft.einsum("i,i->", A, B, dtype=np.int64) == np.einsum("i,i->", x, y, dtype=np.int64)
    assert weft.einsum("i,i->", A != 0, B != 0, dtype=np.int64) == 3
    got = weft.evaluate("y(i) = A(i)*B(i) - A(i)", A=A, B=B, dtype=np.float64)
    np.testing.assert_array_equal(got.todense(), wide - x.astype(float))
