import pytest

from weft.ir import (
    Allocate,
    Binary,
    Block,
    Cast,
    Comment,
    Const,
    Declare,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Return,
    Scan,
    Select,
    Set,
    Store,
    Unary,
    Update,
    While,
)
from weft.ir.builder import lit, lt, var
from weft.ir.verify import problems

from .examples import spmv, tensor, verify

x, w = var("x"), var("w", "float64*")
f, b, n32 = var("f", "float64"), var("b", "bool"), var("n32", "int32")
out, n = var("A_vals", "float64*"), var("A1_dim")
one = lit(1.0, "float64")
LOOP = For(x, lit(0), n, Store(out, x, one))


def reasons(*stmts):
    return problems(Function("f", (tensor("A", 1, output=True),), Block(stmts)))


def test_spmv_is_well_formed():
    assert problems(spmv()) == []
    assert verify(spmv()) == spmv()


@pytest.mark.parametrize(
    ("stmts", "reason"),
    [
        ([Set(x, lit(1))], "x is used before it is declared"),
        ([If(lt(n, n), Declare(x, n)), Store(out, x, one)], "x is used before it is declared"),
        ([Declare(x, n), Declare(x, n)], "x is declared twice in one scope"),
        ([Declare(n32), Set(var("n32"), lit(1))], "n32 is declared int32 and used as int64"),
        ([Declare(x, one)], "the initial value of x: 1.0 is float64, not int64"),
        ([Declare(f), Set(f, Binary("+", one, lit(1)))], "the right side of +: 1 is int64, not float64"),
        ([If(n, Comment(""))], "the condition A1_dim is int64, not bool"),
        ([While(n, Comment(""))], "the condition A1_dim is int64, not bool"),
        ([Store(out, one, one)], "the index 1.0 is float64, not an integer"),
        ([Store(n, n, one)], "A1_dim is indexed and is no array but int64"),
        ([Store(out, n, lit(1))], "the value stored: 1 is int64, not float64"),
        ([Update("/", Load(out, n), one)], "there is no update /= of float64"),
        ([Update("|", Load(out, n), one)], "there is no update |= of float64"),
        ([Update("+", Load(out, n), lit(1))], "the value added: 1 is int64, not float64"),
        ([Store(out, n, Select(n, one, one))], "the condition A1_dim is int64, not bool"),
        ([Store(out, n, Unary("~", one))], "~ of 1.0, which is float64"),
        ([Store(out, n, Binary("%", one, one))], "% of float64 operands"),
        ([Store(out, n, Cast(out, "float64"))], "the cast of A_vals to float64"),
        ([Store(out, n, Const(1j, "float64"))], "the constant 1j cannot be float64"),
        ([For(x, lit(0), n, Set(x, lit(1)))], "the loop variable x is assigned"),
        ([For(x, lit(0, "int32"), n, Comment(""))], "the start of a loop: 0 is int32, not int64"),
        ([For(f, one, one, Comment(""))], "the loop variable f is float64, not an integer"),
        ([For(x, lit(0), n, Comment(""), (("+", "t"),))], "the simd reduction +: t"),
        ([For(x, lit(0), n, Comment(""), unroll=True)], "the loop over x cannot be unrolled"),
        ([For(x, lit(0), lit(4), Comment(""), (), unroll=True)], "the loop over x cannot be unrolled"),
        ([Allocate(w, n)], "the scratch array w is never freed"),
        ([Allocate(w, one), Free(w)], "the size 1.0 is float64, not an integer"),
        ([Allocate(w, n), Free(w), If(lt(n, n), Declare(w))], "the scratch array w shares its name"),
        ([Free(out)], "A_vals is freed and was not allocated"),
        ([Return(one)], "the status 1.0 is float64, not int64"),
        ([Parallel(one, Block(), LOOP, Block())], "the number of threads 1.0 is float64, not int64"),
        ([Parallel(n, Return(lit(0)), LOOP, Block())], "a return inside a parallel region"),
        ([Declare(b), Parallel(n, Set(b, lt(n, n)), LOOP, Block())], "changes b, which its threads share"),
        ([Declare(var("z", "float16"))], "z has no known type: float16"),
        ([Store(out, n, Binary("**", one, one))], "there is no operator **"),
        ([Scan(x, out, lit(0), n, "+")], "there is no scan + of float64"),
        ([Allocate(w, n), Scan(x, w, lit(0), n, "*"), Free(w)], "there is no scan * of"),
        ([Scan(x, out, lit(0), one, "+")], "a number of a scan: 1.0 is float64, not int64"),
    ],
)
def test_reasons(stmts, reason):
    assert any(reason in found for found in reasons(*stmts)), reasons(*stmts)


def test_legal():
    assert reasons(Allocate(w, n), Parallel(n, Block(), LOOP, Block()), Free(w)) == []
    assert reasons(Declare(w, Binary("+", out, n)), Store(w, n, one)) == []
    assert reasons(If(lt(n, n), Declare(x, n)), Declare(x, n), Store(out, x, one)) == []
