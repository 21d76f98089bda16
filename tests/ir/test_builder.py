import pytest

from weft.ir import Binary, Block, Cast, Comment, Const, Select, Var
from weft.ir.builder import add, block, cast, eq, if_, land, lit, lor, lt, maximum, minimum, mul, not_, sub, var
from weft.ir.printer import expression_text

x, y = var("x"), var("y")
narrow, real = var("n", "int32"), var("f", "float64")
TRUE, FALSE = lit(True, "bool"), lit(False, "bool")


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (add(x, lit(0)), "x"),
        (add(lit(0), x), "x"),
        (add(lit(2), lit(3)), "5"),
        (add(x, lit(3, "int32")), "x + 3"),
        (add(narrow, x), "int64(n) + x"),
        (sub(x, lit(0)), "x"),
        (sub(x, x), "0"),
        (mul(x, lit(1)), "x"),
        (mul(lit(0), x), "0"),
        (mul(lit(1 << 62), lit(4)), "0"),
        (add(real, lit(0, "float64")), "f + 0.0"),
        (mul(real, lit(0, "float64")), "f * 0.0"),
        (sub(real, real), "f - f"),
        (lt(narrow, x), "int64(n) < x"),
        (land(), "true"),
        (land(TRUE, lt(x, y)), "x < y"),
        (land(lt(x, y), FALSE), "false"),
        (land(lt(x, y), lt(y, x), TRUE), "x < y and y < x"),
        (lor(lt(x, y), eq(x, y)), "x < y or x == y"),
        (lor(lt(x, y), TRUE), "true"),
        (not_(not_(lt(x, y))), "x < y"),
        (minimum(x, y), "x if x < y else y"),
        (minimum(x, x), "x"),
        (maximum(lit(2), lit(3)), "3"),
        (add(var("p", "int32*"), x), "p + x"),
    ],
)
def test_expressions(built, text):
    assert expression_text(built) == text


def test_cast():
    assert cast(x, "int64") is x
    assert cast(narrow, "int64") == Cast(narrow, "int64")
    assert cast(lit(300), "int8") == Const(44, "int8")
    assert cast(lit(1), "float64") == Cast(lit(1), "float64")


def test_block_flattens_and_drops():
    a, b = Comment("a"), Comment("b")
    assert block(a, None, Block((b, Block()))) == Block((a, b))
    assert block(Block((a,))) is a
    assert block() == Block()


def test_if():
    assert if_(TRUE, Comment("a")) == Comment("a")
    assert if_(FALSE, Comment("a")) == Block()


def test_types_follow_the_operands():
    assert Binary("<", real, real).ty == "bool"
    assert Select(TRUE, real, real).ty == "float64"
    assert add(var("p", "int32*"), x).ty == "int32*"
    assert isinstance(minimum(narrow, x), Select)
    assert Var("n", "int32") == narrow
