"""Results whose values are inserted as they are computed, in formats that loops do not append to."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.formats_for_tests import FORMATS

import weft
from weft.analysis.contributions import contribution_order, entry_order_of, has_one_position_each
from weft.code_options import CodeOptions
from weft.compiler import plan_loops, schedule_entry_loops
from weft.concrete_notation.traversal import foralls_of
from weft.config import config
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.ir.printer import function_text
from weft.module import Module
from weft.remapping.nodes import counters_of

RESULTS = ("dia", "ell", "bsr", "csb", "hash", "dok", "skyline", "banded", "hyb", "lil")
CASES = {
    "copy": ("C(i,j) = A(i,j)", lambda a, b, x: a),
    "scale": ("C(i,j) = 2*A(i,j)", lambda a, b, x: 2 * a),
    "columns": ("C(i,j) = A(i,j)*x(j)", lambda a, b, x: a * x),
    "sum": ("C(i,j) = A(i,j) + B(i,j)", lambda a, b, x: a + b),
    "product": ("C(i,j) = A(i,j)*B(i,j)", lambda a, b, x: a * b),
    "transpose": ("C(i,j) = A(j,i)", lambda a, b, x: a.T),
    "SDDMM": ("C(i,j) = A(i,j)*P(i,k)*P(j,k)", lambda a, b, x: a * (P @ P.T)),
    "matmul": ("C(i,j) = A(i,k)*B(k,j)", lambda a, b, x: a @ b),
    "minimum": ("C(i,j) = min(k, A(i,k)*P(j,k))", lambda a, b, x: (a[:, None, :3] * P[None]).min(2)),
}
P = np.random.default_rng(7).integers(1, 5, (6, 6)).astype(float)[:, :3]


def dense(seed, shape=(6, 6), density=0.4):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < density, rng.integers(-4, 5, shape), 0).astype(float)


def repeated(d):
    """Return a coordinate list of a matrix, in any order, in which each entry comes twice."""
    rng, (i, j) = np.random.default_rng(3), np.nonzero(d)
    half = rng.integers(-3, 4, len(i))
    order = rng.permutation(2 * len(i))
    values = np.concatenate([d[i, j] - half, half])[order]
    return weft.asarray(sp.coo_array((values, (np.tile(i, 2)[order], np.tile(j, 2)[order])), shape=d.shape))


def operands(text, **all):
    return {name: value for name, value in all.items() if f"{name}(" in text.partition("=")[2]}


def same_arrays(one, other):
    pairs = zip((*one._storage.arrays, one._storage.vals), (*other._storage.arrays, other._storage.vals), strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("source", ["csr", "csc", "coo", "dia", "bsr", "hash"])
@pytest.mark.parametrize("case", [name for name in CASES if name != "minimum"])
def test_against_dense(case, source):
    text, expected = CASES[case]
    a, b, x = dense(1), dense(2), np.arange(1.0, 7.0)
    A, B = (weft.asarray(d).asformat(source) for d in (a, b))
    # Each pair of a case and an operand's format meets some of the results; all pairs with results come up.
    first = (sorted(CASES).index(case) + ["csr", "csc", "coo", "dia", "bsr", "hash"].index(source)) % 3
    for result in RESULTS[first::3]:
        given = operands(text, A=A, B=B, x=x, P=P)
        found = weft.evaluate(text, format=result, **given)
        found.check_format()
        np.testing.assert_array_equal(found.todense(), expected(a, b, x), err_msg=result)
        with config.override(num_threads=2, parallel_threshold=0):
            assert same_arrays(weft.evaluate(text, format=result, **given), found)


@pytest.mark.parametrize("result", RESULTS)
def test_the_structure_is_that_of_a_converted_result(result):
    a, b = dense(3, (5, 7)), dense(4, (5, 7))
    A, B = (weft.asarray(d).asformat("csr") for d in (a, b))
    text = "C(i,j) = A(i,j) - B(i,j)"
    with config.override(disable={"nearest-format"}):
        placed = weft.evaluate(text, A=A, B=B, format=result)
        assert "converts the result" not in weft.explain(text, A=A, B=B, format=result)
    with config.override(disable={"direct-insertion"}):
        assert same_arrays(placed, weft.evaluate(text, A=A, B=B, format=result))
        assert f"converts the result from csr to {result}" in weft.explain(text, A=A, B=B, format=result)
    with config.override(disable={"direct-insertion", "nearest-format"}):
        assert same_arrays(placed, weft.evaluate(text, A=A, B=B, format=result))


@pytest.mark.parametrize("result", ["dia", "banded", "skyline", "csb", "ell", "hash"])
@pytest.mark.parametrize("text", ["C(i,j) = A(i,j)", "C(i,j) = A(i,j) + B(i,j)", "C(i,j) = A(i,k)*B(k,j)"])
def test_duplicates_are_added(text, result):
    a, b = dense(5), dense(6)
    expected = {"A(i,j)": a, "A(i,j) + B(i,j)": a + b, "A(i,k)*B(k,j)": a @ b}[text.partition(" = ")[2]]
    A, B = repeated(a), repeated(b)
    np.testing.assert_array_equal(weft.evaluate(text, format=result, **operands(text, A=A, B=B)).todense(), expected)
    np.testing.assert_array_equal(A.asformat(result).todense(), a)


def test_narrow_duplicates_wrap_around_before_they_are_widened():
    values = np.array([100, 100, 7], np.int8)
    A = weft.asarray(sp.coo_array((values, ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    for dtype in ("int8", "int64"):
        found = weft.evaluate("C(i,j) = A(i,j)", A=A, format="dia", dtype=dtype).todense()
        np.testing.assert_array_equal(found, [[0, np.int8(-56)], [7, 0]])


@pytest.mark.parametrize("result", ["dia", "ell", "bsr", "hash", "dok"])
@pytest.mark.parametrize("fill", [1.5, np.inf, np.nan])
def test_other_fill_values(result, fill):
    rng = np.random.default_rng(8)
    a, b = (np.where(rng.random((5, 4)) < 0.4, rng.integers(-3, 4, (5, 4)), fill) for _ in range(2))
    A, B = (weft.asarray(d, fill_value=fill, format="csr") for d in (a, b))
    with np.errstate(invalid="ignore"):
        found = weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=B, format=result)
        np.testing.assert_array_equal(found.todense(), a + b)
    found.check_format()
    np.testing.assert_equal(found.fill_value, fill + fill)


def test_minimum_with_an_infinite_fill_value():
    a, b = (np.where(dense(seed) != 0, dense(seed), np.inf) for seed in (1, 2))
    A, B = (weft.asarray(d, fill_value=np.inf, format="csr") for d in (a, b))
    expected = (a[:, :, None] + b[None]).min(1)
    for result in RESULTS:
        found = weft.evaluate("C(i,j) = min(k, A(i,k) + B(k,j))", A=A, B=B, format=result)
        np.testing.assert_array_equal(found.todense(), expected, err_msg=result)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 9), (9, 1)])
@pytest.mark.parametrize("result", RESULTS)
def test_shapes(result, shape):
    for d in (np.zeros(shape), dense(9, shape, 0.5)):
        A = weft.asarray(d).asformat("csr")
        found = weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=A, format=result)
        np.testing.assert_array_equal(found.todense(), d + d)
        found.check_format()


@pytest.mark.parametrize("result", ["dia", "ell", "bsr", "hash"])
def test_two_phases(result):
    a, b = dense(1), dense(2)
    A, B = (weft.asarray(d).asformat("csr") for d in (a, b))
    kernel = weft.compile("C(i,j) = A(i,j) + B(i,j)", A="csr", B="csr", C=result)
    found = kernel.assemble(A, B)
    assert not found.todense().any()
    np.testing.assert_array_equal(kernel.compute(found, A * 3, B).todense(), 3 * a + b)
    with pytest.raises(weft.errors.StorageError, match="another structure"):
        kernel.compute(found, B, A)


def test_reports():
    text = weft.explain("C(i,j) = 2*A(i,j)", A="csr", C="dia", stages=True)
    assert "values are inserted into dia as they are computed" in text
    assert "level 1 (squeezed): select [j-i] -> id() as nz" in text
    source = weft.compile("C(i,j) = 2*A(i,j)", A="csr", C="ell").source
    assert "weft_query1(" in source
    assert "weft_insert(" in source


def test_a_query_of_outer_coordinates_needs_no_inner_loop():
    dia = TensorType.of("float64", parse_format("dia", 2))
    loose = TensorType.of("float64", parse_format("dia", 2).unsorted())  # diagonals in no order are not merged
    module = Module(plan_loops(parse("C(i,j) = A(i,j) + B(i,j)"), {"C": dia, "A": loose, "B": loose}))
    first, *_, last = [function_text(module.lowered(name).ir) for name in module.ordinary]
    assert "for j in" in last  # over the columns of a diagonal
    assert "for j in" not in first


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_copy_contributes_entries_in_their_order(order):
    for name in FORMATS[order]:
        format = parse_format(name, order)
        source = TensorType.of("float64", format)
        target = TensorType.of("float64", parse_format("coo" if order > 1 else "s", order))
        if format.is_curved:
            continue
        loops = schedule_entry_loops(source, target, CodeOptions())
        program = loops.schedule.program
        by_loops = contribution_order(program, loops.schedule.target, {"A": source})
        by_levels = entry_order_of(format, [loop.var for loop in foralls_of(program.stmt)])
        counted = any(counters_of(c) for c in format.remapping.coordinates)  # loops know no counters of others
        known = by_levels.by[: len(by_loops.by)] if counted else by_levels.by
        assert by_loops.by == known, name
        assert by_loops.consecutive == by_levels.consecutive, name
        assert by_loops.once == (by_levels.once and not counted), name
        assert by_loops.distinct == format.is_unique or not format.is_unique, name


def test_formats_in_which_values_can_be_added():
    added = {name for name in FORMATS[2] if has_one_position_each(parse_format(name, 2), True)}
    assert {"dia", "banded", "skyline", "dense"} <= added
    assert added.isdisjoint({"csr", "coo", "ell", "bsr", "dok", "hash", "hyb", "jad"})


def test_a_constant_has_no_operand_whose_entries_are_copied():
    kernel = weft.compile("y(j) = 2.0", y="hash_vector")
    assert "finds places by what came before" in kernel.explain()
    assert "query1" in kernel.stages["c"]
