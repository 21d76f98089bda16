"""Ranges hold every value that NumPy computes, and say when they know nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import evaluate_dense

from weft.execution.value_ranges import Range, range_of
from weft.index_notation import parse, tensors
from weft.index_notation.checks import fold_literals
from weft.index_notation.nodes import Access, Apply, Assignment, Expr, Literal
from weft.index_notation.operator_table import OPERATORS
from weft.storage import Storage

UNARY = [name for name, row in OPERATORS.items() if row.monotone and row.arity == 1 and row.c != "cast"]
BINARY = [name for name, row in OPERATORS.items() if row.monotone and row.arity == 2 and not row.absorbs]
ENDS = [0.0, -0.0, 1.0, -1.0, 0.3, 2.5, -7.0, 1e-3, 1e-200, -1e-320, 1e200, np.inf, -np.inf, np.nan]


def expressions() -> st.SearchStrategy[Expr]:
    leaves = st.sampled_from([Access("x", ("i",)), Access("y", ("j",)), Access("s", ()), Literal(2), Literal(0.5)])

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        one = st.builds(lambda op, a: Apply(op, (a,)), st.sampled_from(UNARY), inner)
        two = st.builds(lambda op, a, b: Apply(op, (a, b)), st.sampled_from(BINARY), inner, inner)
        return st.one_of(one, two)

    return st.recursive(leaves, grow, max_leaves=4)


def values(size: int) -> st.SearchStrategy[np.ndarray]:
    near = st.lists(st.sampled_from(ENDS), min_size=size, max_size=size)
    among = st.lists(st.floats(0.01, 100), min_size=size, max_size=size)
    return st.one_of(near, among).map(np.array)


@given(expr=expressions(), x=values(4), y=values(3), s=st.sampled_from(ENDS), dtype=st.sampled_from(["f8", "f4", "i4"]))
def test_all_values_are_within(expr, x, y, s, dtype):
    with np.errstate(all="ignore"):
        arrays = {name: np.asarray(a).astype(dtype) for name, a in (("x", x), ("y", y), ("s", s))}
        try:
            found = range_of(fold_literals(expr), {name: Storage.dense(a) for name, a in arrays.items()})
            read = {name: arrays[name] for name in tensors(expr)} | {"x": arrays["x"], "y": arrays["y"]}
            held = evaluate_dense(Assignment(Access("t", ("i", "j")), expr_over_all(expr)), read)
        except TypeError:  # NumPy does not compute this
            return
    if found is None:
        return
    assert not np.isnan(held).any()
    assert held.min() >= found.low
    assert held.max() <= found.high
    assert np.abs(held.astype(float)).min() >= found.near


def expr_over_all(expr: Expr) -> Expr:
    """The expression with something of both axes, which does not change it."""
    nothing = [Apply("left", (Access(name, (v,)), Access(name, (v,)))) for name, v in (("x", "i"), ("y", "j"))]
    return Apply("left", (Apply("left", (expr, nothing[0])), nothing[1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x(i)", Range(-3, 2, 1)),
        ("minimum(x(i), 1)", Range(-3, 1, 1)),
        ("absolute(x(i))", Range(1, 3, 1)),
        ("-x(i)", Range(-2, 3, 1)),
        ("max(i, x(i))", Range(-3, 2, 1)),
        ("1/x(i)", Range(-1, 1, 1 / 3)),
        ("sqrt(x(i))", None),
        ("sin(x(i))", None),
        ("k(i)", Range(-128, 127, 1)),
        ("k(i) - 1", None),
        ("minimum(k(i), -2)", Range(-128, -2, 2)),
        ("sum(i, x(i))", None),
        ("sum(i, absolute(x(i)))", Range(0, np.inf, 0)),
        ("c(i)", None),
        ("n(i)", None),
    ],
)
def test_what_is_known(text, expected):
    operands = {
        "x": np.array([-3.0, 2, -1]),
        "k": np.array([-128, 127, 1], "int8"),
        "c": np.array([1j]),
        "n": np.array([1, np.nan]),
    }
    value = parse(f"y = {text}" if "," in text and "(i," in text else f"y(i) = {text}").value
    found = range_of(value, {name: Storage.dense(array) for name, array in operands.items()})
    assert found == expected
