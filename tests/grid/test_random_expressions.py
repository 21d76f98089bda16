"""Random expressions on random operands in random formats, against the dense oracle."""

import numpy as np
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st
from tests import strategies
from tests.oracle import evaluate_dense

from weft import SparseTensor, execution
from weft.config import config
from weft.errors import DeviceError, FormatError, ShapeError, StorageError
from weft.execution import thresholds
from weft.formats import parse_format
from weft.index_notation import accesses, to_text, use_computation_dtype
from weft.index_notation.nodes import Apply, Reduce
from weft.optimizations import NAMES
from weft.records import replace
from weft.tensor.devices import storage_on

from .grid import array, densified, stored


def extremes(expr):
    """The reductions that have no value over nothing."""
    match expr:
        case Reduce(op=op, body=body):
            return [expr] * (op in ("maximum", "minimum")) + extremes(body)
        case Apply(args=args):
            return [r for arg in args for r in extremes(arg)]
    return []


@given(data=st.data())
def test_against_the_oracle(data):
    compare_with_oracle(data)


@pytest.mark.parametrize("disabled", [*([name] for name in NAMES), NAMES], ids=[*NAMES, "all"])
@settings(max_examples=4)
@given(data=st.data())
def test_without_optimisations(data, disabled):
    with config.override(disable=disabled):
        compare_with_oracle(data)


def made_in(format, evaluate):
    """The result in a format, which may refuse it only if it refuses the conversion of a result in another, too."""
    try:
        return evaluate(format)
    except (FormatError, StorageError) as error:
        if format is None:
            raise
        listed = evaluate(parse_format("coo", format.order))
        with pytest.raises((FormatError, StorageError)):
            execution.convert(listed, format, strict=True)
        event(f"refused: {type(error).__name__}")
        reject()


def made_on_threads(threads, format, evaluate):
    """What ``made_in`` returns, which is the same on another number of threads."""
    made = made_in(format, evaluate)
    with config.override(num_threads=threads):
        again = made_in(format, evaluate)
    assert [a.dtype for a in again.arrays] == [a.dtype for a in made.arrays]
    np.testing.assert_array_equal(densified(again), densified(made))
    return made


def evaluated_on(device, evaluate, operands):
    """The result for operands on a device; None if it refuses that, or for the CPU."""
    if device == "cpu":
        return None
    there = {name: storage_on(operand, device) for name, operand in operands.items()}
    try:
        return storage_on(evaluate(there), "cpu")
    except (DeviceError, FormatError, StorageError) as error:
        if "fails on" in str(error):  # a kernel does, as it has been compiled
            raise
        event("refused by a device")
        return None


def compare_with_oracle(data):
    assignment = data.draw(strategies.assignments())
    extents = data.draw(strategies.extents)
    density = data.draw(strategies.densities)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays, operands, finite = {}, {}, True
    for access in accesses(assignment.value):
        if access.tensor in arrays:
            shape = arrays[access.tensor].shape
            if shape != tuple(extents[v] for v in access.indices):
                return  # one tensor cannot have two shapes
            continue
        dtype = data.draw(strategies.dtypes)
        shape = [extents[v] for v in access.indices]
        fill = data.draw(strategies.fills(dtype)) if shape else 0
        special = data.draw(strategies.specials(dtype)) if shape else 1
        found = np.asarray(array(shape, density, rng, dtype))
        found = np.where((found != 0) & (rng.random(shape) < 0.2), np.asarray(special, dtype), found)
        arrays[access.tensor] = np.where(found == 0, np.asarray(fill, dtype), found)
        try:
            operands[access.tensor] = stored(arrays[access.tensor], data.draw(strategies.any_formats(len(shape))), fill)
        except FormatError:  # not every format stores negative coordinates
            reject()
        finite &= bool(np.isfinite([fill, special]).all())
    if not arrays:
        return
    if finite:  # a number times infinity is not the sum of its parts times infinity
        operands = {n: data.draw(strategies.with_repeats(SparseTensor(A)))._storage for n, A in operands.items()}
    order = len(assignment.target.indices)
    wanted = data.draw(strategies.result_formats(order))
    wanted = wanted if wanted is None else parse_format(wanted, order)
    dtype = data.draw(st.sampled_from([None, None, None, "int64", "float64", "complex128"]))
    if any(extents[v] == 0 for r in extremes(assignment.value) for v in r.vars):
        with pytest.raises((ShapeError, OverflowError), match=r"identity|out of bounds"):
            execution.evaluate(assignment, operands, format=wanted)
        return
    try:
        with np.errstate(all="ignore"):
            expected = evaluate_dense(assignment, arrays)
    except OverflowError:  # a number of the expression that an operand's dtype does not hold
        with pytest.raises(OverflowError, match="out of bounds"):
            execution.evaluate(assignment, operands, format=wanted)
        return
    truth = expected.dtype == bool
    if dtype is not None and np.can_cast(expected.dtype, dtype, "safe"):
        wider = use_computation_dtype(assignment, tuple((name, a.dtype) for name, a in arrays.items()), dtype)
        with np.errstate(all="ignore"):
            expected = evaluate_dense(wider, arrays).astype(dtype)
    else:
        dtype = None
    with (
        config.override(optimization=0, num_threads=data.draw(st.sampled_from([1, 2])), parallel_threshold=0),
        pytest.MonkeyPatch.context() as patch,
    ):
        scanned = data.draw(st.sampled_from([0, thresholds.THRESHOLDS.scanned_entries]))  # or searched
        changed = replace(thresholds.THRESHOLDS, scanned_entries=scanned, scan_ratio=0)
        patch.setattr(thresholds, "THRESHOLDS", changed)
        device = data.draw(strategies.devices)
        got = evaluated_on(
            device, lambda there: execution.evaluate(assignment, there, format=wanted, dtype=dtype), operands
        )
        if got is None:
            got = made_on_threads(
                data.draw(st.sampled_from([1, 3, 7])),
                wanted,
                lambda format: execution.evaluate(assignment, operands, format=format, dtype=dtype),
            )
        execution.verify(got)
        found = densified(got)
    assert found.dtype == expected.dtype, to_text(assignment)
    if not finite:  # what is absent and annihilates does so even against infinity and NaN
        if truth:
            return
        found = np.where(np.isnan(expected), expected, found)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8, err_msg=to_text(assignment))
