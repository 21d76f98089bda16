"""Loops over the inside of blocks that store coordinates: what is gathered there must not reach beyond the edge."""

import numpy as np
import pytest

import weft
from weft.formats import Compressed, Dense, Format, Singleton

OWN = Format("(i,j) -> (i/4,j/4,i%4,j%4)", [Dense(), Dense(), Compressed(unique=False), Singleton()])


@pytest.mark.parametrize("format", ["hicoo", "csb", "mode_generic", "bsr", OWN])
def test_factors_beside_blocks_at_the_edge(format):
    rng = np.random.default_rng(0)
    for shape in [(5, 6), (1, 1), (8, 8), (13, 2)]:
        a, b, x = rng.random(shape), rng.random(shape[0]), rng.random(shape[1])
        A = weft.asarray(a).asformat(format)
        for text, expected in [
            ("y(i) = b(i)*A(i,j)", b * a.sum(1)), ("y(i) = b(i)*(-A(i,j))", -b * a.sum(1)),
            ("y(j) = x(j)*A(i,j)", x * a.sum(0)), ("y(i) = b(i)*A(i,j)*x(j)", b * (a @ x)),
        ]:  # fmt: skip
            given = {name: value for name, value in {"b": b, "x": x}.items() if f"{name}(" in text}
            found = weft.evaluate(text, A=A, **given)
            np.testing.assert_allclose(found.todense() if isinstance(found, weft.SparseTensor) else found, expected)
