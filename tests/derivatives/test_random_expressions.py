"""Gradients and tangents of random expressions of operands in random formats, against differences of the oracle."""

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests import strategies
from tests.grid.grid import array, densified, stored
from tests.oracle import evaluate_dense

import weft
from weft import SparseTensor
from weft.config import config
from weft.errors import FormatError, UnsupportedError, WeftError
from weft.index_notation import accesses, to_text
from weft.operations.operands import storage_of

STEP = 1e-5  # short, since greatest elements are no smooth places where two are as near


def changed(storage, step):
    return densified(storage.with_values(storage.vals + step, storage.type.fill))


def slope(assignment, operands, changes):
    """The derivative of the oracle's result for changes of stored values, of fourth order in the step."""

    def at(step):
        arrays = {name: changed(storage_of(each), step * changes[name]) for name, each in operands.items()}
        return evaluate_dense(assignment, arrays)

    return (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)


def drawn_operands(draw, assignment, extents):
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    operands = {}
    for access in accesses(assignment.value):
        shape = tuple(extents[v] for v in access.indices)
        if access.tensor in operands:
            if operands[access.tensor].shape != shape:
                reject()
            continue
        fill = draw(st.sampled_from([0, 0, 0, 1.5])) if shape else 0
        values = array(shape, draw(strategies.densities), rng) / 8
        values = np.where(values == 0, fill, values + rng.random(shape))  # no two elements are equal but absent ones
        try:
            storage = stored(values, draw(strategies.any_formats(len(shape))), fill)
        except FormatError:
            reject()
        operands[access.tensor] = draw(strategies.with_repeats(SparseTensor(storage)))
    return operands, rng


@settings(max_examples=12)
@given(data=st.data())
def test_against_differences(data):
    assignment = data.draw(strategies.assignments())
    extents = data.draw(strategies.extents)
    operands, rng = drawn_operands(data.draw, assignment, extents)
    if not operands:
        return
    text = to_text(assignment)
    with config.override(optimization=0, num_threads=1):
        try:
            weft.evaluate(text, **operands)
        except WeftError:
            reject()  # such as a greatest element of nothing
        try:
            value, pullback = weft.vjp(text, **operands)
        except UnsupportedError:
            reject()
        bar = rng.random(np.shape(value)) - 0.5
        gradients = pullback(bar)
        # Elements that equal the fill value stay as they are: beside others of its value they are no smooth places.
        changes = {
            name: np.where(storage_of(each).vals == storage_of(each).type.fill, 0, rng.random(storage_of(each).nnz))
            for name, each in operands.items()
        }
        expected = slope(assignment, operands, changes)
        parts = [storage_of(gradients[name]).vals * changes[name] for name in operands]
        scale = sum(np.abs(part).sum() for part in parts)
        np.testing.assert_allclose(
            sum(part.sum() for part in parts), (expected * bar).sum(), rtol=1e-6, atol=1e-6 * (1 + scale), err_msg=text
        )
        for name, each in operands.items():
            arrays = storage_of(each).arrays
            assert all(a is b for a, b in zip(storage_of(gradients[name]).arrays, arrays, strict=True)), name
        tangents = {
            name: SparseTensor(storage_of(each).with_values(changes[name], 0)) for name, each in operands.items()
        }
        _, tangent = weft.jvp(text, operands, tangents)
    tangent = densified(storage_of(tangent))
    np.testing.assert_allclose(
        tangent, expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max(initial=0)), err_msg=text
    )
