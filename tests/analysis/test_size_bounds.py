"""A bound is never less than the coordinates that come up: memory of results is made by it."""

from itertools import chain, combinations

import numpy as np
import pytest
from tests.grid.grid import EXTENTS, array, stored
from tests.oracle import evaluate_dense

from weft.analysis.coordinate_sets import bound
from weft.analysis.implicit_values import typed_implicit_value
from weft.concrete_notation.values import UNKNOWN
from weft.index_notation import accesses, explicit_sums, parse

EXPRESSIONS = [
    "y(i,j) = A(i)*B(j)",
    "y(i,j) = A(j)*B(j)*C(i,j)",
    "y(i,j) = A(i)*B(i)*C(j)",
    "y(i,j) = A(i)*(B(j)*C(i))",
    "y(i,j,k) = A(i,j)*B(k)",
    "y(i,j,k) = A(i)*B(j)*C(j,k)",
    "y(i,j) = A(i,j) + B(i)*C(j)",
    "y(i,j) = A(i,j) + B(i,j)",
    "y(i,j) = sum(k, A(j)*B(j)*C(i,j,k))",
    "y(i,j) = A(i)*sum(k, B(j,k))",
    "y(i,j) = sum(k, A(i,k)*B(k))*C(j)",
]
FORMATS = {"dense": ["dense"] * 3, "compressed": ["s", "ss", "sss"], "mixed": ["d", "ds", "sds"]}


@pytest.mark.parametrize("formats", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("fills", [{}, {"A": 2.0}, {"B": 2.0}, {"A": 2.0, "C": 2.0}], ids=str)
def test_no_bound_is_too_low(text, formats, fills):
    assignment = explicit_sums(parse(text))
    target, rng, found = assignment.target.indices, np.random.default_rng(0), 0
    for density in (0.0, 0.3, 0.7, 1.0):
        held, types, sizes = {}, {}, {}
        for access in accesses(assignment.value):
            name, shape = access.tensor, [EXTENTS[v] for v in access.indices]
            found_at, fill = array(shape, density, rng), fills.get(name, 0)
            held[name] = np.where(found_at == 0, fill, found_at)
            storage = stored(held[name], formats[len(shape) - 1], fill)
            types[name], sizes[name] = storage.type, storage.level_sizes
        absent = typed_implicit_value(assignment.value, types)
        if absent is UNKNOWN:
            return
        coordinates = evaluate_dense(assignment, held) != absent
        for down in chain.from_iterable(combinations(target, n) for n in range(1, len(target) + 1)):
            rest = tuple(k for k, v in enumerate(target) if v not in down)
            at_most = bound(assignment.value, frozenset(down), types)
            if at_most is not None:
                assert at_most(sizes) >= coordinates.any(axis=rest).sum(), (down, formats)
                found += 1
    assert found or fills
