import pytest

from weft.ir import (
    Allocate,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Declare,
    Evaluate,
    For,
    Free,
    If,
    Parallel,
    Return,
    Scan,
    Select,
    Set,
    Store,
    Unary,
    Update,
    While,
    rewrite,
    used_names,
    walk,
)
from weft.ir.builder import add, lit, load, lt, mul, sub, var
from weft.ir.printer import expression_text, statement_text
from weft.ir.traversal import declared_names, free_variables, rebuild

from .examples import spmv

x, y, z, f = var("x"), var("y"), var("z"), var("f", "float64")
a = var("a", "float64*")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (add(x, sub(y, z)), "x + (y - z)"),
        (sub(add(x, y), z), "x + y - z"),
        (sub(x, add(y, z)), "x - (y + z)"),
        (mul(add(x, y), z), "(x + y) * z"),
        (add(mul(x, y), z), "x * y + z"),
        (Unary("-", lit(-1)), "-(-1)"),
        (Unary("!", lt(x, y)), "not (x < y)"),
        (Binary("&&", lt(x, y), Binary("||", lt(y, z), lt(z, x))), "x < y and (y < z or z < x)"),
        (Select(lt(x, y), x, Select(lt(y, z), y, z)), "x if x < y else y if y < z else z"),
        (load(a, add(x, lit(1))), "a[x + 1]"),
        (Cast(x, "float64"), "float64(x)"),
        (lit(-0.0, "float64"), "-0.0"),
    ],
)
def test_expressions(expr, text):
    assert expression_text(expr) == text


def test_statements():
    loop = For(x, lit(0), y, Update("+", f, load(a, x)), (("+", "f"),))
    stmt = Block((
        Comment("all of them"), Declare(f), Set(f, lit(0.5, "float64")), Allocate(a, y, zero=True), loop,
        If(lt(x, y), Return(lit(1)), If(lt(y, x), Store(a, x, f), Block())),
        While(lt(x, y), Evaluate(Call("weft_f", (x, a), "int64"))),
        Parallel(lit(2), Block(), For(z, lit(0), y, Store(a, z, f)), Block()), Scan(z, a, x, y, "+"),
        Scan(z, a, x, y, "maximum", x), Free(a),
    ))  # fmt: skip
    assert (
        statement_text(stmt)
        == """\
# all of them
f: float64
f = 0.5
a: float64* = zeros(y)
for x in 0 .. y simd(+: f):
  f += a[x]
if x < y:
  return 1
elif y < x:
  a[x] = f
else:
  pass
while x < y:
  weft_f(x, a)
parallel threads(2):
  for z in 0 .. y:
    a[z] = f
scan + a[x .. y]
scan maximum a[x .. y] after x
free a
"""
    )


def test_traversal():
    body = spmv().body
    assert rewrite(body, lambda node: None) is body
    assert rebuild(x, lambda child: y) is x
    renamed = rewrite(body, lambda node: var("k") if node == var("i") else None)
    assert "i" not in used_names(renamed)
    assert renamed.var == var("k")
    assert declared_names(body) == ["i", "py1", "pB1", "unused", "t", "pB2", "j", "px1"]
    assert list(free_variables(body)) == ["B1_dim", "y1_dim", "B2_pos", "B2_crd", "B_vals", "x_vals", "y_vals"]
    assert walk(body)[0] is body
    loop = For(x, y, z, Block(), ())
    every = [Update("+", load(a, x), f), loop, Parallel(x, Block(), loop, Block())]
    for node in (*every, Allocate(a, x, zero=True), If(lt(x, y), Block()), Call("g", (x, y), "int64")):
        changed = rewrite(node, lambda n: var("q") if n == x else None)
        assert rewrite(changed, lambda n: x if n == var("q") else None) == node
