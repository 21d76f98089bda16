import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.ir import (
    Allocate,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Const,
    Declare,
    Evaluate,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Return,
    Select,
    Set,
    Store,
    Unary,
    Update,
    While,
    walk,
)
from weft.ir.builder import block, lit, load, lt, var
from weft.ir.passes.simplify import simplify, simplify_expression
from weft.ir.printer import expression_text, function_text, statement_text
from weft.ir.types import wrap
from weft.ir.verify import problems

from .examples import spmv, tensor

x, y = var("x"), var("y")
f, b = var("f", "float64"), var("b", "bool")
TRUE, FALSE = lit(True, "bool"), lit(False, "bool")


def op(text, left, right):
    return Binary(text, left, right)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (op("+", op("+", x, lit(2)), lit(3)), "x + 5"),
        (op("*", op("-", x, x), y), "0"),
        (op("/", lit(-7), lit(2)), "-3"),
        (op("%", lit(-7), lit(2)), "-1"),
        (op("/", lit(1), lit(0)), "1 / 0"),
        (op("/", x, lit(1)), "x"),
        (op("*", lit(1 << 40), lit(1 << 40)), "0"),
        (op("<", lit(1), lit(2)), "true"),
        (op("<=", x, x), "true"),
        (op("&&", op("!=", x, x), b), "false"),
        (op("||", b, FALSE), "b"),
        (Unary("!", lt(x, y)), "x >= y"),
        (Unary("!", lt(f, f)), "not (f < f)"),
        (Select(op("==", lit(1), lit(1)), x, y), "x"),
        (Cast(Cast(lit(300), "int8"), "int64"), "44"),
        (Cast(x, "int64"), "x"),
        (Load(var("a", "int32*"), op("+", x, lit(0))), "a[x]"),
        (Call("g", (op("+", lit(1), lit(1)),), "int64"), "g(2)"),
        # Floats keep their meaning.
        (op("*", f, lit(0.0, "float64")), "f * 0.0"),
        (op("*", f, lit(1.0, "float64")), "f * 1.0"),
        (op("+", f, lit(0.0, "float64")), "f + 0.0"),
        (op("-", f, f), "f - f"),
        (op("/", f, f), "f / f"),
        (op("==", f, f), "f == f"),
        (op("<", lit(math.nan, "float64"), lit(1.0, "float64")), "nan < 1.0"),
        (Unary("-", lit(0.0, "float64")), "-0.0"),
    ],
)
def test_expressions(expr, text):
    assert expression_text(simplify_expression(expr)) == text


def run(*stmts):
    """The text of the simplified body of a function with these statements."""
    function = Function("f", (tensor("A", 1, output=True),), Block(stmts))
    assert problems(function) == []
    after = simplify(function)
    assert problems(after) == []
    return statement_text(after.body)


n, out = var("A1_dim"), var("A_vals", "float64*")
store = Store(out, x, lit(1.0, "float64"))


def test_spmv():
    after = simplify(spmv())
    assert (
        function_text(after)
        == """\
function spmv(y out, B, x)
  for i in 0 .. B1_dim:
    t: float64 = 0.0
    for pB2 in int64(B2_pos[i]) .. int64(B2_pos[i + 1]) simd(+: t):
      j: int64 = int64(B2_crd[pB2])
      t += B_vals[pB2] * x_vals[j]
    y_vals[i] = t
"""
    )
    assert simplify(after) == after


def test_copies_of_what_never_changes():
    assert run(Declare(y, n), Declare(x, y), store) == "A_vals[A1_dim] = 1.0\n"
    assert run(Declare(x, lit(3)), store) == "A_vals[3] = 1.0\n"


def test_copies_of_what_changes_stay():
    kept = run(Declare(y, n), Declare(x, y), Set(y, lit(1)), store, Store(out, y, lit(2.0, "float64")))
    assert kept.startswith("y: int64 = A1_dim\nx: int64 = y\n")
    assert run(Declare(x, n), Update("+", x, lit(1)), store).startswith("x: int64 = A1_dim\n")


def test_copies_respect_scopes():
    inner = block(Declare(n, lit(5)), store)  # another A1_dim
    text = run(Declare(x, n), For(y, lit(0), n, inner))
    assert "A_vals[5]" not in text
    shadow = block(Declare(n, op("+", y, lit(5))), store, Store(out, n, lit(2.0, "float64")))
    text = run(Declare(x, n), For(y, lit(0), n, shadow))
    assert "x: int64 = A1_dim" in text
    assert "A_vals[x] = 1.0" in text
    text = run(Declare(x, lit(1)), If(op("<", n, lit(3)), block(Declare(x, lit(2)), store)), store)
    assert text == "if A1_dim < 3:\n  A_vals[2] = 1.0\nA_vals[1] = 1.0\n"


def test_branches_and_loops():
    assert run(Declare(x, lit(0)), If(FALSE, store)) == ""
    assert run(Declare(x, n), If(FALSE, Return(lit(1)), store)) == "A_vals[A1_dim] = 1.0\n"
    assert run(For(x, lit(3), lit(3), store)) == ""
    assert run(For(x, lit(0), n, Comment("nothing"))) == ""
    assert run(Declare(x, n), If(lt(x, lit(1)), Block(), store)) == "if A1_dim >= 1:\n  A_vals[A1_dim] = 1.0\n"
    assert run(While(FALSE, Evaluate(Call("g", (), "int64")))) == ""


def test_unwrapped_branch_does_not_clash():
    declared = block(Declare(x, load(var("A_vals", "float64*"), n).index), Set(x, lit(1)), store)
    text = run(If(TRUE, declared), Declare(x, n), Set(x, lit(2)), store)
    assert text.startswith("if true:\n  x: int64")


def test_unread_variables_go():
    assert run(Declare(x, n), Update("+", x, lit(1))) == ""
    assert run(Declare(x, n), For(y, lit(0), n, Update("+", x, y))) == ""
    scratch = var("w", "float64*")
    assert run(Allocate(scratch, n), Free(scratch)) == ""


def test_effects_stay():
    assert run(Evaluate(Call("g", (n,), "int64"))) == "g(A1_dim)\n"
    parallel = Parallel(var("threads"), Block(), For(x, lit(0), n, store), Block())
    assert "parallel threads(threads):" in run(parallel)
    counting = block(Declare(y, lit(0)), While(lt(y, n), Update("+", y, lit(1))))
    assert "y += 1" in run(counting)


INTEGERS = st.sampled_from([-(1 << 63), -7, -1, 0, 1, 2, 9, (1 << 63) - 1]).map(lit)
TREES = st.recursive(
    INTEGERS | st.sampled_from([x, y]),
    lambda inner: (
        st.builds(Binary, st.sampled_from("+-*&|^"), inner, inner)
        | st.builds(Unary, st.sampled_from("-"), inner)
        | st.builds(Select, st.builds(Binary, st.sampled_from(["<", "==", ">="]), inner, inner), inner, inner)
    ),
    max_leaves=12,
)
FUNCTIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<": operator.lt, "==": operator.eq, ">=": operator.ge,
}  # fmt: skip


def evaluate(e, env):
    match e:
        case Const(value):
            return value
        case Binary(text, left, right):
            value = FUNCTIONS[text](evaluate(left, env), evaluate(right, env))
            return value if isinstance(value, bool) else wrap(value, "int64")
        case Unary("-", a):
            return wrap(-evaluate(a, env), "int64")
        case Select(cond, left, right):
            return evaluate(left if evaluate(cond, env) else right, env)
    return env[e.name]


@given(TREES, st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-3, 3))
def test_values_are_kept(tree, first, second):
    env = {"x": first, "y": second}
    after = simplify_expression(tree)
    assert evaluate(after, env) == evaluate(tree, env)
    assert sum(1 for _ in walk(after)) <= sum(1 for _ in walk(tree))
