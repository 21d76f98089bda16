"""Fill values that kernels read when they run: one library for all of them, and the results of constants."""

import numpy as np
import pytest

import weft
from weft.analysis.runtime_fills import evaluate, with_runtime_fills
from weft.concrete_notation.values import CastExpr, RuntimeValue
from weft.config import config
from weft.execution.alternatives import WIDE_INDEX
from weft.execution.evaluation import evaluate as compute
from weft.execution.evaluation import plan_for
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.index_notation.nodes import Access, Apply
from weft.runtime import loader

SHAPE = (13, 17)
FORMATS = ("csr", "csc", "coo", "dcsr", "dia", "ell", "bsr", "hash", "dok")


def tensor(seed, fill, dtype="float64", format="csr", shape=SHAPE):
    rng = np.random.default_rng(seed)
    values = np.full(shape, fill, dtype)
    stored = rng.random(shape) < 0.3
    values[stored] = rng.integers(-5, 6, stored.sum()) if np.dtype(dtype).kind != "u" else 4
    return weft.asarray(weft.asarray(values, fill_value=fill), format=format)


def assert_same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.todense(), expected)


def libraries():
    return set(loader._libraries)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "hypot": np.hypot,
    "sum": lambda a, b: a.sum(axis=1),
    "max": lambda a, b: a.max(axis=0),
    "matmul": lambda a, b: a @ b.T,
    "vector": lambda a, b: a @ np.arange(1.0, 18),
    "nested": lambda a, b: np.minimum(a + b, a * b),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_other_fill_values_need_no_other_library(name):
    operation, b = OPERATIONS[name], tensor(2, 0)
    before = None
    for n in range(100):
        fill = 1.625 + n / 8
        a = tensor(1, fill)
        found, expected = operation(a, b), operation(a.todense(), b.todense())
        if name in ("sum", "matmul", "vector"):
            np.testing.assert_allclose(found.todense() if hasattr(found, "todense") else found, expected)
        else:
            assert_same(found, expected)
        if n:
            assert libraries() == before
        before = libraries()


def test_a_maximum_with_each_of_many_numbers_is_added_by_one_library():
    a, b = tensor(1, 0), tensor(2, 0)
    seen = []
    for n in range(100):
        x = 0.3 + n / 7
        found = np.maximum(a, x) + b
        assert found.fill_value == x
        assert_same(found, np.maximum(a.todense(), x) + b.todense())
        seen.append(libraries())
    assert seen[0] == seen[-1]


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_of_other_fill_values_need_no_other_library(format):
    before = None
    for n, fill in enumerate((2.5, 3.5, -7.25)):
        a = tensor(3, fill)
        for to in (format, "dense", "csc"):
            for threads in (1, 2):
                with config.override(num_threads=threads, parallel_threshold=0):
                    found = a.asformat(format).asformat(to)
                assert found.fill_value == fill or to == "dense"
                assert_same(found, a.todense())
        assert_same(weft.asarray(a.todense(), format=format, fill_value=fill), a.todense())
        if n:
            assert libraries() == before
        before = libraries()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int8", "int64", "uint16"])
@pytest.mark.parametrize("format", ["csr", "coo", "dia"])
def test_dtypes(dtype, format):
    a, b = tensor(4, 3, dtype, format), tensor(5, 5, "float32" if dtype == "int8" else dtype)
    for operation in (np.add, np.multiply, np.subtract, np.not_equal, np.equal):
        assert_same(operation(a, b), operation(a.todense(), b.todense()))
    found = compute(parse("C(i,j) = A(i,j) * B(i,j) + A(i,j)"), {"A": a._storage, "B": b._storage})
    assert_same(weft.SparseTensor(found), a.todense() * b.todense() + a.todense())


def test_operators_of_fill_values_may_give_algebraic_ones():
    # Equal fill values cancel, so that a product with the difference stores no more than the difference.
    a, b, c = tensor(6, 2.5), tensor(7, 2.5), tensor(8, 4.5)
    text = "D(i,j) = (A(i,j) - B(i,j)) * C(i,j)"
    found = weft.SparseTensor(compute(parse(text), {n: t._storage for n, t in zip("ABC", (a, b, c), strict=True)}))
    assert_same(found, (a.todense() - b.todense()) * c.todense())
    assert found.fill_value == 0
    assert found.nnz <= a.nnz + b.nnz
    # The next fill values do not cancel: the plan is another one.
    other = tensor(7, 3.5)
    found = weft.SparseTensor(compute(parse(text), {n: t._storage for n, t in zip("ABC", (a, other, c), strict=True)}))
    assert found.fill_value == -4.5
    assert_same(found, (a.todense() - other.todense()) * c.todense())


def test_answers_hold_within_larger_expressions():
    assignment = parse("D(i) = (A(i) - B(i)) * C(i)")
    types = {
        n: TensorType.of("float64", parse_format("s", 1), fill=f) for n, f in zip("ABC", (2.5, 2.5, 7), strict=True)
    }
    changed, fills = with_runtime_fills(assignment, types, "float64")
    fill = changed["A"].fill
    assert isinstance(fill, RuntimeValue)
    assert (Apply("subtract", (Access("A.fill"), Access("B.fill"))), 0.0) in fill.answers
    assert fills == {"A.fill": 2.5, "B.fill": 2.5, "C.fill": 7.0}
    assert evaluate(fill.of(CastExpr(fill.expr, "int8"), "int8"), fills) == 2


def test_algebraic_fill_values_stay_in_the_types():
    for fill in (0, 1.0, np.inf, -np.inf, np.nan, -0.0):
        types = {"A": TensorType.of("float64", parse_format("csr", 2), fill=fill)}
        changed, fills = with_runtime_fills(parse("B(i,j) = A(i,j)"), types, "float64")
        assert changed["A"] is types["A"]
        assert not fills


def test_plans_of_two_fill_values_share_their_functions():
    def plan(fill):
        type = TensorType.of("float64", parse_format("csr", 2), fill=fill)
        return plan_for(parse("C(i,j) = A(i,j) * B(i,j)"), (type, TensorType.of("float64", parse_format("csr", 2))))

    first, second = plan(2.5), plan(3.5)
    assert first.kernel.module is second.kernel.module
    assert first.kernel is not second.kernel


def test_results_too_large_for_int32_take_the_fill_value_along():
    a, b = tensor(9, 2.5), tensor(10, 6.5)
    kernel = plan_for(parse("C(i,j) = A(i,j) + B(i,j)"), (a._storage.type, b._storage.type)).kernel
    found = kernel.taking(WIDE_INDEX).run((a._storage, b._storage))
    assert found.type.fill == 9.0
    assert set(found.type.index_dtypes) == {"int64"}
    assert_same(weft.SparseTensor(found), a.todense() + b.todense())


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_read_the_fill_value(threads):
    a, b = tensor(11, 2.5, shape=(300, 200)), tensor(12, 5.5, shape=(300, 200))
    with config.override(num_threads=threads, parallel_threshold=0):
        assert_same(a + b, a.todense() + b.todense())
        assert_same(a.max(axis=1), a.todense().max(axis=1))
        assert_same(np.minimum(a, b), np.minimum(a.todense(), b.todense()))
