"""Derivatives as text: which statement each expression gets, and that weft reads it."""

import numpy as np
import pytest
from tests.oracle import evaluate_dense

import weft
from weft.errors import NotationError, UnsupportedError
from weft.index_notation import tensors
from weft.index_notation.operator_table import OPERATORS
from weft.index_notation.parser import parse
from weft.playground.stages import answer
from weft.playground.state import State

TEXTS = {
    ("y(i) = A(i,j)*x(j)", "A"): "A_bar(i,j) = y_bar(i)*x(j)",
    ("y(i) = A(i,j)*x(j)", "x"): "x_bar(j) = sum(i, y_bar(i)*A(i,j))",
    ("C(i,k) = A(i,j)*A(j,k)", "A"): "A_bar(i,j) = sum(k, C_bar(i,k)*A(j,k)) + sum(i1, C_bar(i1,j)*A(i1,i))",
    ("s = x(i)*x(i)", "x"): "x_bar(i) = 2*(s_bar*x(i))",
    ("y(i) = x(i)/z(i)", "x"): "x_bar(i) = y_bar(i)/z(i)",
    ("y(i) = x(i) - z(i)", "z"): "z_bar(i) = -y_bar(i)",
    ("y(i) = power(x(i), 3)", "x"): "x_bar(i) = y_bar(i)*(3*power(x(i), 2))",
    ("y(i) = exp(x(i))", "x"): "x_bar(i) = y_bar(i)*exp(x(i))",
    # A nested sum is a nested sum again: no statement has more loops than the expression.
    ("y(i) = A(i,j)*sum(k, B(j,k)*x(k))", "x"): "x_bar(k) = sum(j, sum(i, y_bar(i)*A(i,j))*B(j,k))",
    # What does not depend on an index has it from the operand.
    ("s = sum(i, x(i))", "x"): "x_bar(i) = left(s_bar, x(i))",
    ("y(i) = sum(j, A(i,j) + x(i))", "x"): "x_bar(i) = sum(j, left(y_bar(i), A(i,j)))",
    # Repeated indices.
    ("s = A(i,i)", "A"): "A_bar(i,i1) = select(identity(i,i1), s_bar)",
    ("y(i) = floor(x(i))", "x"): "x_bar(i) = select(False, x(i))",
    ("y(i) = abs(x(i))", "x"): "x_bar(i) = sign(x(i))*y_bar(i)",
    ("y(i) = float64(x(i))", "x"): "x_bar(i) = y_bar(i)",
    ("ij,jk->ik", 0): "A_bar(i,j) = sum(k, out_bar(i,k)*B(j,k))",
    ("ij,jk", "B"): "B_bar(j,k) = sum(i, out_bar(i,k)*A(i,j))",
    # Names that are taken.
    ("y(i) = y_bar(i)*x_bar(i)*x(i)", "x"): "x_bar1(i) = y_bar1(i)*(y_bar(i)*x_bar(i))",
}  # fmt: skip


@pytest.mark.parametrize(("text", "wrt"), TEXTS)
def test_statement(text, wrt):
    statement = weft.derivative(text, wrt)
    assert statement == TEXTS[text, wrt]
    parse(statement)


def test_sampled_statement():
    statement = weft.derivative("y(i) = A(i,j)*x(j)", "A", structure="stored")
    assert statement == "A_bar(i,j) = select(A_stored(i,j), y_bar(i)*x(j))"


def test_derivative_of_a_derivative():
    """Of a polynomial: the Hessian of x(i)*A(i,j)*x(j) is A(i,j) + A(j,i)."""
    second = weft.derivative(weft.derivative("s = x(i)*A(i,j)*x(j)", "x"), "x")
    A = np.arange(9.0).reshape(3, 3)
    product = weft.evaluate(second, A=A, s_bar=1.0, x_bar_bar=np.array([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(product, (A + A.T)[1])


@pytest.mark.parametrize("op", OPERATORS)
def test_each_operator_has_partials_or_raises_by_name(op):
    row = OPERATORS[op]
    if not op.isidentifier():
        return  # such operators say what data say, and no expression of users has them
    args = ", ".join(f"{name}(i)" for name in "xyu"[: row.arity])
    if row.partials is None:
        with pytest.raises(UnsupportedError, match=rf"\b{op} has no derivative"):
            weft.derivative(f"z(i) = {op}({args})", "x")
        return
    assert len(row.partials) == row.arity
    for name in "xyu"[: row.arity]:
        parse(weft.derivative(f"z(i) = {op}({args})", name))


@pytest.mark.parametrize(
    ("text", "wrt", "message"),
    [
        ("y(i) = any(j, A(i,j))", "A", r"any has no derivative, in any\(j, bool\(A\(i,j\)\)\)"),
        ("y(i) += A(i,j)*x(j)", "A", r"in y\(i\) \+= A.*write the sum.*: y_new\(i\) = y\(i\) \+ A\(i,j\)\*x\(j\)$"),
        ("y(i) = A(i,j)*x(j)", "B", r"has no operand B; its operands are A, x"),
        ("...ij,jk->...ik", 0, r"write letters instead of '\.\.\.'"),
    ],
)
def test_errors(text, wrt, message):
    with pytest.raises((UnsupportedError, NotationError), match=message):
        weft.derivative(text, wrt)


def test_the_playground_shows_derivatives():
    def shown(text):
        (section,) = (each for each in answer(State(text, (("A", "csr"),))).sections if each.key == "derivatives")
        return section.text

    assert shown("y(i) = A(i,j)*x(j)").splitlines() == [
        "A_bar(i,j) = select(A_stored(i,j), y_bar(i)*x(j))",
        "x_bar(j) = sum(i, y_bar(i)*A(i,j))",
    ]
    assert "any has no derivative" in shown("y(i) = any(j, A(i,j))")


STEPS = {"ldexp", "nextafter", "heaviside"}  # whose second operand is no place for a difference
SMOOTH = [
    name
    for name, row in OPERATORS.items()
    if name.isidentifier() and row.partials and set(row.partials) != {"0"} and name not in STEPS
]


def slopes(op, names, arrays, changes, step=1e-5):
    """Central differences of an operator for changes of its operands."""
    both = [OPERATORS[op].ufunc(*(arrays[n] + sign * step * changes[n] for n in names)) for sign in (1, -1)]
    return (both[0] - both[1]) / (2 * step)


@pytest.mark.parametrize("op", SMOOTH)
def test_partials_are_slopes(op):
    """The oracle computes each statement, so that no kernel is compiled."""
    rng, ends = np.random.default_rng(0), (1.2, 1.9) if op == "arccosh" else (0.2, 0.9)
    names = "xyu"[: OPERATORS[op].arity]
    arrays = {name: rng.uniform(*ends, 5) for name in names}
    if op in ("select", "kept", "left", "where"):
        arrays["x" if op != "left" else "y"] = np.arange(5) % 2 == 0
    text = f"z(i) = {op}({', '.join(f'{name}(i)' for name in names)})"
    bar = rng.uniform(0.5, 1, 5)
    for name in names:
        if arrays[name].dtype == bool:
            continue
        unit = {each: np.full(5, float(each == name)) if arrays[each].dtype != bool else False for each in names}
        expected = slopes(op, names, arrays, unit) * bar
        statement = parse(weft.derivative(text, name))
        read = {each: value for each, value in {**arrays, "z_bar": bar}.items() if each in tensors(statement)}
        single = op in ("float32", "complex64")  # whose rounding is all of a small difference
        found = evaluate_dense(statement, read).real
        np.testing.assert_allclose(found, expected.real, rtol=1e-2 if single else 1e-6, atol=1e-9)
