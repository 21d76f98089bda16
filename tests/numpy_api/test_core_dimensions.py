"""The axes that products are summed over do not broadcast, as NumPy's do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft
from weft.errors import ShapeError

SHAPES = [(1,), (0,), (3,), (4,), (3, 1), (1, 3), (3, 4), (0, 3), (2, 3, 4), (2, 4, 3), (2, 1, 3)]
PRODUCTS = ["matvec", "vecmat", "vecdot", "matmul", "dot", "inner", "outer", "linalg.cross", "linalg.tensordot"]


def named(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def outcome(function, *arguments):
    try:
        found = function(*arguments)
    except (ValueError, IndexError):  # NumPy's tensordot raises that for too few axes
        return ValueError
    return found.todense() if isinstance(found, weft.SparseTensor) else np.asarray(found)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_all_shapes(name):
    numpy, own = named(np, name), named(weft, name)
    for first, second in itertools.product(SHAPES, SHAPES):
        a, b = (np.arange(1.0, 1 + np.prod(shape)).reshape(shape) for shape in (first, second))
        wanted = outcome(numpy, a, b)
        A = weft.asarray(a, format="coo")
        for other in (b, weft.asarray(b, format="coo")):
            found = outcome(own, A, other)
            assert (found is ValueError) == (wanted is ValueError), (first, second)
            if wanted is not ValueError:
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found, wanted, err_msg=f"{first} {second}")


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (weft.matvec, ((3, 1), (5,))),
        (weft.matvec, ((3, 4), (1,))),
        (weft.matvec, ((3, 1), (0,))),
        (weft.matvec, ((3,), (3,))),
        (weft.vecmat, ((3,), (1, 4))),
        (weft.vecmat, ((1,), (3, 4))),
        (lambda *x: weft.linalg.multi_dot(x), ((3, 1), (4, 2))),
        (lambda *x: weft.linalg.multi_dot(x), ((3, 2), (2, 1), (4,))),
        (weft.linalg.cross, ((1,), (3,))),
    ],
)
def test_a_core_dimension_of_one_does_not_stretch(function, shapes):
    arrays = [weft.asarray(np.ones(shape), format="coo") for shape in shapes]
    with pytest.raises(ShapeError, match=r"different lengths|too few|size 3"):
        function(*arrays)
