"""IR that several tests use."""

from weft.ir import Cast, Const, Declare, For, Function, If, Param, Store
from weft.ir.builder import add, block, cast, increment, lit, load, mul, var
from weft.ir.nodes import Binary
from weft.ir.verify import problems


def verify(function):
    """The function, which must be well-formed."""
    assert problems(function) == []
    return function


def tensor(name, order, levels=(), *, vals="float64", output=False):
    """A parameter with int32 ``pos`` and ``crd`` for each of ``levels``."""
    arrays = tuple(var(f"{name}{level}_{array}", "int32*") for level in levels for array in ("pos", "crd"))
    dimensions = tuple(var(f"{name}{mode + 1}_dim") for mode in range(order))
    return Param(name, dimensions, arrays, var(f"{name}_vals", f"{vals}*"), output)


def spmv(simd=True):
    """``y(i) = B(i,j) * x(j)`` as a lowering might write it, with much to simplify."""
    y, B, x = tensor("y", 1, output=True), tensor("B", 2, [2]), tensor("x", 1)
    pos, crd = B.arrays
    i, j, p, t = var("i"), var("j"), var("pB2"), var("t", "float64")
    zero = lit(0)
    inner = block(
        Declare(j, Cast(load(crd, p), "int64")),
        Declare(var("px1"), add(mul(zero, x.dimensions[0]), j)),
        increment(t, Binary("*", load(B.vals, p), load(x.vals, var("px1")))),
    )
    outer = block(
        Declare(var("py1"), Binary("+", Binary("*", zero, y.dimensions[0]), i)),
        Declare(var("pB1"), i),
        Declare(var("unused"), cast(load(pos, i), "int64")),
        Declare(t, lit(0.0, "float64")),
        For(p, cast(load(pos, var("pB1")), "int64"), cast(load(pos, add(var("pB1"), lit(1))), "int64"), inner,
            (("+", "t"),) if simd else None),
        If(Const(True, "bool"), Store(y.vals, var("py1"), t)),
    )  # fmt: skip
    return Function("spmv", (y, B, x), For(i, zero, B.dimensions[0], outer))
