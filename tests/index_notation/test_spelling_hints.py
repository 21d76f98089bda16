"""Notation of other languages, and what errors say to write instead."""

import pytest

from weft.errors import NotationError
from weft.index_notation import parse


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("y[i] = x(i)", "write indices in parentheses: y(i)", "["),
        ("y(i) = A[i,j]", "write indices in parentheses", "["),
        ("y(i) = x(i)**2", "there is no '**' here; write power(a, 2)", "**"),
        ("y(i) = x(i) > 2", "write greater(a, b)", ">"),
        ("y(i) = x(i) >= 2", "write greater_equal(a, b)", ">="),
        ("y(i) = x(i) == 2", "write equal(a, b)", "=="),
        ("y(i) = x(i) != 2", "write not_equal(a, b)", "!="),
        ("y(i) = A(i,j) @ x(j)", "what is not on the left is summed over", "@"),
        ("y(i) = a(i) // b(i)", "write floor_divide(a, b)", "//"),
        ("y(i) = a(i) & b(i)", "logical_and(a, b)", "&"),
        ("y(i) -= a(i)", "write y(i) += -a", "-="),
        ("ij,j->i", "weft.einsum", "->"),
        ("y(i) = A(i,j).T", "A(j,i) is the transpose", "."),
        ("y(i) = np.exp(x(i))", "write functions without np: exp(x(i))", "."),
        ("y(i) = A(i,:)", "slice it before", ":"),
        ("y(i) = x(i) ? a(i) : b(i)", "where(condition, a, b)", "?"),
        ("y(i) = mean(j, A(i,j))", "write sum(j, A(i,j))/n", "mean"),
        ("y(i) = Sum(j, A(i,j))", "did you mean 'sum'?", "Sum"),
        ("y(i) = sqr(x(i))", "did you mean 'sqrt'?", "sqr"),
        ("y(i) = frobnicate(x(i))", "NumPy's ufuncs by name, as exp, power and greater, and sum, prod", "frobnicate"),
        ("y(i) = A(i+1,j)", "an index is a variable alone; for one coordinate or a shift, slice A before", "+"),
        ("y(i) = A(i,0)", "A[0], A[:, 0], A[1:]", "0"),
        ("y(i) = A(-1,i)", "slice A before", "-"),
        ("y(0) = A(i,j)", "compute all of y and take a part of it", "0"),
    ],
)
def test_errors_say_what_to_write(text, message, place):
    with pytest.raises(NotationError) as caught:
        parse(text)
    first, shown, caret = str(caught.value).split("\n")
    assert message in first
    assert shown == f"  {text}"
    assert caret.index("^") - 2 == text.index(place)
