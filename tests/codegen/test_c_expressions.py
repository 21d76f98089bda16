import math
import operator
import random

import numpy as np
import pytest

from weft.codegen.c_expressions import Expressions
from weft.errors import LoweringError
from weft.ir import Binary, Block, Call, Cast, Const, Function, Load, Param, Select, Store, Unary
from weft.ir.builder import lit, var
from weft.ir.types import wrap

from .compiled import dense, module

x, y, z = var("x"), var("y"), var("z")
f, s, c, b = var("f", "float64"), var("s", "int8"), var("c", "complex128"), var("b", "bool")
a = var("a", "int32*")


def op(text, left, right):
    return Binary(text, left, right)


def text(expr):
    return Expressions(lambda name: name).text(expr)


TABLE = [
    (op("+", x, op("-", y, z)), "x + (y - z)"),
    (op("-", op("+", x, y), z), "x + y - z"),
    (op("-", x, op("+", y, z)), "x - (y + z)"),
    (op("*", op("+", x, y), z), "(x + y) * z"),
    (op("/", x, op("*", y, z)), "x / (y * z)"),
    (op("%", op("*", x, y), z), "x * y % z"),
    (op("-", x, lit(-1)), "x - -1"),
    (Unary("-", lit(-1)), "-(-1)"),
    (Unary("-", Unary("-", x)), "-(-x)"),
    (Unary("!", op("<", x, y)), "!(x < y)"),
    (Unary("~", op("+", x, y)), "~(x + y)"),
    (op("&", op("<<", x, y), z), "(x << y) & z"),
    (op("<<", op("+", x, y), z), "(x + y) << z"),
    (op("|", op("&", x, y), z), "(x & y) | z"),
    (op("==", op("<", x, y), op("<", y, z)), "(x < y) == (y < z)"),
    (op("||", op("&&", b, b), b), "(b && b) || b"),
    (op("&&", b, op("&&", b, b)), "b && (b && b)"),
    (Select(b, x, Select(b, y, z)), "b ? x : b ? y : z"),
    (op("+", Select(b, x, y), z), "(b ? x : y) + z"),
    (Load(a, op("+", x, lit(1))), "a[x + 1]"),
    (Load(op("+", a, x), y), "(a + x)[y]"),
    (Cast(op("+", x, y), "float64"), "(double)(x + y)"),
    (op("*", Cast(x, "float64"), f), "(double)x * f"),
    (Cast(Load(a, x), "int64"), "(int64_t)a[x]"),
    # C would compute these in int.
    (op("+", s, s), "(int8_t)(s + s)"),
    (op("*", op("+", s, s), s), "(int8_t)((int8_t)(s + s) * s)"),
    (op("<", s, s), "s < s"),
    (Unary("-", s), "(int8_t)-s"),
    (op("*", lit(100000), lit(100000)), "(int64_t)100000 * 100000"),
    (op("<<", lit(1), x), "(int64_t)1 << x"),
    (op("<", lit(1), lit(2)), "1 < 2"),
    # bool and complex arithmetic.
    (op("+", b, b), "b | b"),
    (op("*", b, b), "b & b"),
    (op("+", c, c), "c + c"),
    (op("*", c, c), "weft_multiply_complex128(c, c)"),
    (op("<", c, c), "weft_less_complex128(c, c)"),
    (Call("weft_maximum_float64", (f, op("+", f, f)), "float64"), "weft_maximum_float64(f, f + f)"),
    # Constants.
    (lit(True, "bool"), "true"),
    (lit(-(1 << 63)), "INT64_MIN"),
    (lit((1 << 63) - 1), "9223372036854775807"),
    (lit((1 << 64) - 1, "uint64"), "18446744073709551615u"),
    (lit(-(1 << 31), "int32"), "INT32_MIN"),
    (lit(0.1, "float64"), "0.1"),
    (lit(0.1, "float32"), "0.10000000149011612f"),
    (lit(-0.0, "float64"), "-0.0"),
    (lit(1, "float64"), "1.0"),
    (lit(math.inf, "float32"), "__builtin_inff()"),
    (lit(-math.inf, "float64"), "-__builtin_inf()"),
    (lit(math.nan, "float64"), '__builtin_nan("")'),
    (lit(complex(-0.0, 1), "complex64"), "__builtin_complex(-0.0f, 1.0f)"),
]


@pytest.mark.parametrize(("expr", "expected"), TABLE, ids=[expected for _, expected in TABLE])
def test_table(expr, expected):
    assert text(expr) == expected


def test_unknown_prelude_function():
    with pytest.raises(LoweringError, match="weft_nothing"):
        text(Call("weft_nothing", (), "int64"))


# Random trees, compiled and compared with Python.

PYTHON = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
VALUES = [-3, 2, 7]


def evaluate(e, ty):
    match e:
        case Const(value):
            return value
        case Load(_, Const(at)):
            return wrap(VALUES[at], ty)
        case Binary("&&", p, q):
            return evaluate(p, ty) and evaluate(q, ty)
        case Binary("||", p, q):
            return evaluate(p, ty) or evaluate(q, ty)
        case Binary("/" | "%" as sign, p, q):
            p, q = evaluate(p, ty), evaluate(q, ty) | 1
            quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
            return wrap(quotient if sign == "/" else p - quotient * q, ty)
        case Binary(sign, p, q):
            value = PYTHON[sign](evaluate(p, ty), evaluate(q, ty))
            return value if e.ty == "bool" else wrap(value, ty)
        case Unary("!", p):
            return not evaluate(p, ty)
        case Unary(sign, p):
            value = evaluate(p, ty)
            return wrap(-value if sign == "-" else ~value, ty)
        case Select(cond, p, q):
            return evaluate(p if evaluate(cond, ty) else q, ty)
    raise AssertionError(e)


def condition(rng, depth, ty):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return op(rng.choice(["<", "<=", "==", "!="]), tree(rng, depth - 1, ty), tree(rng, depth - 1, ty))
    if kind < 0.8:
        return op(rng.choice(["&&", "||"]), condition(rng, depth - 1, ty), condition(rng, depth - 1, ty))
    return Unary("!", condition(rng, depth - 1, ty))


def tree(rng, depth, ty):
    kind = rng.random()
    if depth <= 0 or kind < 0.1:
        if rng.random() < 0.5:
            return Load(var("A_vals", f"{ty}*"), lit(rng.randrange(3)))
        return lit(wrap(rng.choice([0, 1, -1, 5, -128, 127, 100000, 1 << 40, -(1 << 63), (1 << 63) - 1]), ty), ty)
    if kind < 0.75:
        sign = rng.choice("+-*&|^/%" if rng.random() < 0.3 else "+-*")
        right = tree(rng, depth - 1, ty)
        right = op("|", right, lit(1, ty)) if sign in "/%" else right
        return op(sign, tree(rng, depth - 1, ty), right)
    if kind < 0.9:
        return Unary(rng.choice("-~"), tree(rng, depth - 1, ty))
    return Select(condition(rng, depth - 1, ty), tree(rng, depth - 1, ty), tree(rng, depth - 1, ty))


@pytest.mark.parametrize("ty", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_random_trees(ty):
    rng = random.Random(ty)
    trees = [tree(rng, 4, ty) for _ in range(120)]
    # INT_MIN / -1 traps: keep trees that divide only sensibly.
    low = wrap(1 << (int(ty.lstrip("uint")) - 1), ty)
    trees = [t for t in trees if not divides_lowest(t, ty, low)]
    assert len(trees) > 60
    A = Param("A", (var("A1_dim"),), (), var("A_vals", f"{ty}*"))
    Y = Param("Y", (var("Y1_dim"),), (), var("Y_vals", f"{ty}*"), output=True)
    body = Block(tuple(Store(Y.vals, lit(at), t) for at, t in enumerate(trees)))
    run = module(Function("trees", (Y, A), body), flags=("-O0", "-Wno-overflow", "-Wno-type-limits", "-w"))["trees"]
    result = np.zeros(len(trees), dtype=ty)
    assert run(dense(result), dense(np.array([wrap(v, ty) for v in VALUES], dtype=ty))) == 0
    for found, t in zip(result.tolist(), trees, strict=True):
        assert found == evaluate(t, ty), text(t)


def divides_lowest(t, ty, low):
    match t:
        case Binary("/" | "%", p, q) if evaluate(p, ty) == low and evaluate(q, ty) == -1:
            return True
        case Binary(_, p, q):
            return divides_lowest(p, ty, low) or divides_lowest(q, ty, low)
        case Unary(_, p):
            return divides_lowest(p, ty, low)
        case Select(cond, p, q):
            return any(divides_lowest(part, ty, low) for part in (cond, p, q))
    return False


def test_random_float_trees():
    rng = random.Random(7)
    values = np.array([0.1, -0.0, 3.7, np.inf, np.nan])

    def grow(depth):
        if depth == 0:
            if rng.random() < 0.7:
                return Load(var("A_vals", "float64*"), lit(rng.randrange(5)))
            return lit(rng.choice([0.0, -0.0, 1.5, math.nan, -math.inf, 1e-300, 0.1]), "float64")
        if rng.random() < 0.2:
            return Unary("-", grow(depth - 1))
        return op(rng.choice("+-*/"), grow(depth - 1), grow(depth - 1))

    def value(e):
        with np.errstate(all="ignore"):
            match e:
                case Const(v):
                    return np.float64(v)
                case Load(_, Const(at)):
                    return values[at]
                case Unary(_, p):
                    return -value(p)
                case Binary("/", p, q):
                    return value(p) / value(q)
                case Binary(sign, p, q):
                    return PYTHON[sign](value(p), value(q))

    trees = [grow(3) for _ in range(300)]
    A = Param("A", (var("A1_dim"),), (), var("A_vals", "float64*"))
    Y = Param("Y", (var("Y1_dim"),), (), var("Y_vals", "float64*"), output=True)
    body = Block(tuple(Store(Y.vals, lit(at), t) for at, t in enumerate(trees)))
    run = module(Function("trees", (Y, A), body), flags=("-O2", "-ffp-contract=off", "-Wno-div-by-zero"))["trees"]
    result = np.zeros(len(trees))
    assert run(dense(result), dense(values)) == 0
    expected = np.array([value(t) for t in trees])
    np.testing.assert_array_equal(result, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))
