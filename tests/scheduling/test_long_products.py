import sys

import pytest

import weft


def lines_that_plan(count, name):
    """How many lines of Python run while a product of so many factors is planned."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace

    text = "y(i) = A(i,j)*" + "*".join(f"{name}{k}({'ij'[k % 2]})" for k in range(count))
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        weft.compile(text, A="csr")
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.compiles_alone  # since other tests would be traced, too
def test_planning_a_product_takes_no_more_than_the_square_of_its_factors():
    weft.compile("y(i) = A(i,j)*x(j)*z(i)", A="csr")  # what is done once
    few, more, many = (lines_that_plan(count, name) for count, name in ((20, "a"), (40, "b"), (80, "c")))
    # Twice the factors add four times the lines if these grow by the square, and eight times if by the cube.
    assert (many - more) / (more - few) < 4
