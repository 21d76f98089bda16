"""The interpreter computes what the printed C computes."""

import math

import pytest

from weft.ir.builder import lit
from weft.ir.interpreter import value_of
from weft.ir.nodes import Binary


@pytest.mark.parametrize("a", [-7, -1, 0, 1, 7, 2**62 + 1])
@pytest.mark.parametrize("b", [-3, -2, 2, 3])
def test_quotients_are_rounded_towards_zero(a, b):
    quotient, rest = (value_of(Binary(op, lit(a), lit(b)), {}) for op in "/%")
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or math.copysign(1, rest) == math.copysign(1, a)
