"""What makes loops fast is there where it can be, and nowhere else; values do not hang on it."""

import numpy as np
import pytest
from tests.oracle import evaluate_dense

import weft
from weft.compiler import plan_loops
from weft.concrete_notation import to_text
from weft.concrete_notation.nodes import Forall, Where
from weft.execution.kernel import Kernel, insertion_kernel
from weft.execution.loops import Loops
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.ir import For, walk
from weft.module import Module
from weft.records import replace
from weft.variant import DEFAULT


def types(**formats):
    return {name: TensorType.of("float64", parse_format(f, order)) for name, (f, order) in formats.items()}


def loops(text, **formats):
    """How many loops there are, without those by which threads share positions."""
    variant = replace(DEFAULT, options=replace(DEFAULT.options, disabled=frozenset({"positions"})))
    function = Module(plan_loops(parse(text), types(**formats), variant)).evaluation.ir
    return sum(isinstance(n, For) for n in walk(function.body))


@pytest.mark.parametrize("format", ["csr", "csf"])
def test_adjoining_segments_are_one_loop(format):
    order = 2 if format == "csr" else 3
    last = "ijk"[order - 1]
    text = f"y({last}) = A({','.join('ijk'[:order])})"
    assert loops(text, y=("dense", 1), A=(format, order)) == 2  # zeros, and all entries


def test_segments_that_are_asked_for_are_loops_of_their_own():
    assert loops("y(j) = A(i,j)*x(i)", y=("dense", 1), A=("csr", 2), x=("dense", 1)) == 3
    assert loops("y(j) = A(i,j)", y=("dense", 1), A=("lil", 2)) == 3  # there is room between segments


@pytest.mark.parametrize(("have", "wanted"), [("csr", "csc"), ("csc", "csr"), ("coo", "csc"), ("ell", "csc")])
def test_memory_is_fetched_ahead_of_entries_that_are_scattered(have, wanted):
    a, b = (TensorType.of("float64", parse_format(f, 2)) for f in (have, wanted))
    assert "weft_prefetch_" in insertion_kernel(a, b, False).source


@pytest.mark.parametrize(("have", "wanted"), [("csr", "coo"), ("lil", "csc"), ("dia", "csr")])
def test_nothing_is_fetched_where_entries_follow_each_other_or_later_ones_are_not_listed(have, wanted):
    a, b = (TensorType.of("float64", parse_format(f, 2)) for f in (have, wanted))
    found = insertion_kernel(a, b, False)
    assert isinstance(found, str) or "weft_prefetch_" not in found.source


def test_an_outer_product_is_not_counted():
    loops = plan_loops(parse("C(i,j) = x(i)*y(j)"), types(C=("csr", 2), x=("s", 1), y=("s", 1)))
    kernel = Kernel(Loops(None, Module(loops)))
    (bound,) = kernel.loops.run.bounds
    assert bound({"x": (3,), "y": (5,)}) == 15


@pytest.mark.parametrize(("op", "fill"), [("max", -np.inf), ("min", np.inf), ("prod", 1.0)])
def test_a_reduction_meets_entries_as_they_come(op, fill):
    type = TensorType.of("float64", parse_format("csr", 2), fill=fill)
    assignment = parse(f"y(j) = {op}(i, A(i,j))")
    loops = plan_loops(assignment, {"y": TensorType.of("float64", parse_format("dense", 1), fill=fill), "A": type})
    assert not loops.schedule.conversions
    dense = np.where(np.eye(5, 7) + np.eye(5, 7, 2) > 0, 2.5, fill)
    A = weft.asarray(dense, format="csr", fill_value=fill)
    found = weft.evaluate(f"y(j) = {op}(i, A(i,j))", A=A)
    np.testing.assert_array_equal(weft.asarray(found).todense(), evaluate_dense(assignment, {"A": dense}))


def test_duplicates_are_summed_before_another_reduction():
    A = weft.from_coords([[0, 0, 2], [1, 1, 3]], [-2.0, 3.0, 4.0], (3, 4), duplicates="keep", format="coo")
    found = weft.evaluate("y(j) = max(i, A(i,j))", A=A)
    np.testing.assert_array_equal(weft.asarray(found).todense(), A.todense().max(axis=0))


@pytest.mark.parametrize(
    ("text", "entered"),
    [
        ("a = A(i,j)*B(k,l)", 4),  # two nests beside each other
        ("a = A(i,j)*B(i,l)", 3),  # rows are shared
        ("y(i) = A(i,j)*B(i,l)", 3),
        ("a = A(i,j)*x(i)*B(k,l)", 4),
        ("a = A(i,j)*x(j)*B(k,l)*x(l)", 4),
    ],
)
def test_sums_that_no_index_connects_are_made_apart(text, entered):
    known = types(a=("dense", 0), y=("dense", 1), x=("dense", 1), A=("csr", 2), B=("csr", 2))
    stmt = to_text(plan_loops(parse(text), known).schedule.program.stmt)
    assert stmt.count("forall") == entered
    assert max(len(line) - len(line.lstrip()) for line in stmt.splitlines()) <= 8


def test_sums_are_made_outside_the_loops_that_do_not_change_them():
    known = types(x=("dense", 1), y=("dense", 1), Y=("csr", 2), A=("csr", 2))
    stmt = plan_loops(parse("y(i) = x(i)/sum(j, x(j))"), known).schedule.program.stmt
    assert isinstance(stmt, Where)
    assert isinstance(stmt.consumer, Forall)
    assert stmt.consumer.parallel
    stmt = plan_loops(parse("Y(i,j) = A(i,j)*sum(k, A(i,k))"), known).schedule.program.stmt
    assert isinstance(stmt, Forall)
    assert isinstance(stmt.body, Where)
    assert isinstance(stmt.body.consumer, Forall)


def test_sums_in_a_dtype_of_their_own_are_not_made_apart():
    """int8 times int64 is summed in int64; a sum of the int8 alone would be in int8."""
    A, B = weft.asarray(np.array([[100, 100]], "int8")), weft.asarray(np.array([[1, 2, 3]]))
    assert weft.einsum("ij,kl->", A.asformat("csr"), B.asformat("csr")) == 1200
