import re

import numpy as np
import pytest
import scipy.sparse

from ir.examples import spmv, tensor, verify
from weft.codegen import OUT_OF_MEMORY
from weft.codegen.c_printer import print_function
from weft.compiler import generate
from weft.config import config
from weft.errors import LoweringError
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
    Function,
    If,
    Parallel,
    Param,
    Return,
    Set,
    Store,
    Update,
    Var,
    While,
)
from weft.ir.builder import add, block, cast, eq, increment, lit, load, lt, mul, var
from weft.ir.passes.simplify import simplify

from .compiled import dense, module

i, j, k, p = var("i"), var("j"), var("k"), var("p")
COUNTS, THREADS = var("counts", "int64*"), var("threads")
PLAIN = ("-Wno-unknown-pragmas", "-Wno-unused-parameter")


def test_golden(golden):
    golden("spmv.c", generate([simplify(spmv())], config.code))
    golden("row_sums.c", generate([row_sums()], config.code))


@pytest.mark.parametrize("make", [spmv, lambda: simplify(spmv()), lambda: spmv(simd=False)])
def test_spmv(make):
    B = scipy.sparse.random(30, 20, density=0.2, format="csr", random_state=0)
    x, y = np.random.default_rng(0).random(20), np.full(30, np.nan)
    kernel = module(make(), flags=("-fopenmp-simd", "-Wno-unused-variable"))["spmv"]
    assert kernel(dense(y), ((30, 20), (B.indptr, B.indices), B.data), dense(x)) == 0
    np.testing.assert_allclose(y, B @ x)


def row_sums(*, zero=True, in_loop=False, factor=1):
    """Row sums of a dense matrix through a scratch row, in parallel; ``factor`` makes the scratch larger."""
    y, A = tensor("y", 1, output=True), tensor("A", 2)
    rows, columns = A.dimensions
    scratch, total = var("w", "float64*"), var("total", "float64")
    allocate = Allocate(scratch, mul(Binary("*", columns, lit(factor)), var("grow")), zero)
    work = block(
        For(j, lit(0), columns, Store(scratch, j, load(A.vals, add(mul(i, columns), j)))),
        Declare(total, lit(0.0, "float64")),
        For(j, lit(0), columns, increment(total, load(scratch, j)), (("+", "total"),)),
        Store(y.vals, i, total),
    )
    grow = Declare(var("grow"), y.dimensions[0])
    if in_loop:
        loop = For(i, lit(0), rows, block(allocate, work, Free(scratch)))
        return Function("row_sums", (y, A), Parallel(THREADS, grow, loop, Block()))
    loop = For(i, lit(0), rows, work)
    return Function("row_sums", (y, A), Parallel(THREADS, block(grow, allocate), loop, Free(scratch)))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("flags", [("-fopenmp-simd",), PLAIN], ids=["openmp", "plain"])
@pytest.mark.parametrize("in_loop", [False, True])
def test_parallel(threads, flags, in_loop):
    A = np.random.default_rng(1).random((17, 9))
    kernel = module(simplify(row_sums(in_loop=in_loop)), flags=flags)["row_sums"]
    y = np.zeros(17)
    assert kernel(dense(y), dense(A), threads=threads) == 0
    np.testing.assert_allclose(y, A.sum(axis=1))


@pytest.mark.parametrize("flags", [("-fopenmp-simd",), PLAIN], ids=["openmp", "plain"])
@pytest.mark.parametrize("in_loop", [False, True])
def test_out_of_memory_in_parallel(flags, in_loop):
    kernel = module(row_sums(in_loop=in_loop, factor=1 << 61), flags=flags)["row_sums"]
    y = np.full(4, 5.0)
    assert kernel(dense(y), dense(np.ones((4, 3))), threads=2) == OUT_OF_MEMORY
    assert (y == 5).all()


def test_out_of_memory_frees_what_is_held():
    y = tensor("y", 1, output=True)
    small, large = var("small", "int32*"), var("large", "float64*")
    inner = block(Allocate(large, Binary("*", i, lit(1 << 61))), Store(y.vals, i, lit(1.0, "float64")), Free(large))
    body = block(Allocate(small, lit(10), zero=True), For(i, lit(0), y.dimensions[0], inner), Free(small))
    function = verify(Function("f", (y,), body))
    text = generate([function], config.code)
    assert text.count("goto done;") == 3  # of two allocations, and where the loop is told to stop
    assert re.search(r"done:;\n  weft_free\(small\);\n  weft_free\(large\);\n  return weft_status;", text)
    kernel = module(function)["f"]
    vals = np.zeros(3)
    assert kernel(dense(vals)) == OUT_OF_MEMORY
    assert vals.tolist() == [1, 0, 0]
    assert kernel(dense(np.zeros(1))) == 0


def test_return_frees_scratch():
    y = tensor("y", 1, output=True)
    w = var("w", "float64*")
    early = If(lt(y.dimensions[0], lit(2)), Return(lit(7)))
    body = block(Allocate(w, lit(4)), early, Store(w, lit(0), lit(1.0, "float64")), Free(w))
    kernel = module(Function("f", (y,), body))
    assert kernel["f"](dense(np.zeros(1))) == 7
    assert kernel["f"](dense(np.zeros(2))) == 0


def test_statements():
    y = tensor("y", 1, output=True)
    n, flag, total = y.dimensions[0], var("flag", "bool"), var("total", "int64")
    body = block(
        Comment("counts */ pairs"),
        Declare(total),
        Set(total, lit(0)),
        Declare(flag, lit(False, "bool")),
        Declare(k, lit(0)),
        While(lt(k, n), block(increment(total, k), Update("+", k, lit(1)))),
        Update("+", flag, lt(lit(3), k)),
        Update("*", flag, lt(lit(3), k)),
        If(flag, Store(y.vals, lit(0), cast(total, "float64")),
           If(eq(k, lit(2)), Store(y.vals, lit(0), lit(-1.0, "float64")), Store(y.vals, lit(0), lit(-2.0, "float64")))),
        Update("-", load(y.vals, lit(0)), lit(0.5, "float64")),
        Store(COUNTS, lit(1), total),
    )  # fmt: skip
    kernel = module(Function("f", (y,), body))["f"]
    counts = np.zeros(2, dtype=np.int64)
    for size, expected in ((5, 9.5), (2, -1.5), (1, -2.5)):
        vals = np.zeros(size)
        assert kernel(dense(vals), counts=counts) == 0
        assert vals[0] == expected
        assert counts[1] == size * (size - 1) // 2


def test_the_end_of_a_loop_is_evaluated_once():
    y = Param("y", (var("y1_dim"),), (), var("y_vals", "int64*"), output=True)
    end = load(y.vals, lit(0))
    body = block(Declare(k, lit(2)), For(i, lit(0), end, Update("+", end, lit(1))),
                 For(i, lit(0), k, block(Update("-", k, lit(1)), Update("+", end, lit(10)))))  # fmt: skip
    text = print_function(Function("f", (y,), body)).text
    assert "i = 0, i_end = y_vals[0]; i < i_end; i++" in text
    kernel = module(Function("f", (y,), body))["f"]
    vals = np.array([3])
    assert kernel(dense(vals)) == 0
    assert vals[0] == 3 + 3 + 20


def test_sorting_a_segment():
    A = Param("A", (), (var("A1_crd", "int32*"),), var("A_vals", "float64*"), output=True)
    crd, w, q = A.arrays[0], var("w", "int32*"), var("q", "int32*")
    sort = Evaluate(Call("weft_sort_int32", (q, lit(5), w), "void"))
    body = block(Allocate(w, lit(5)), Declare(q, Binary("+", crd, lit(2))), sort, Free(w))
    kernel = module(Function("f", (A,), body))["f"]
    crd = np.array([9, 8, 7, 6, 5, 4, 3, 2], dtype=np.int32)
    assert kernel(((), (crd,), None)) == 0
    assert crd.tolist() == [9, 8, 3, 4, 5, 6, 7, 2]


def test_read_only_pointers_are_const():
    y, x = tensor("y", 1, output=True), tensor("x", 1)
    q = var("q", "float64*")
    body = block(Declare(q, Binary("+", x.vals, lit(1))), Store(y.vals, lit(0), load(q, lit(0))))
    assert "const double *q = x_vals + 1;" in generate([Function("f", (y, x), body)], config.code)
    kernel = module(Function("f", (y, x), body))["f"]
    vals = np.zeros(1)
    assert kernel(dense(vals), dense(np.array([1.0, 2.0]))) == 0
    assert vals[0] == 2


def test_names_are_mangled():
    y = Param("main", (Var("int"),), (), Var("α_vals", "float64*"), output=True)
    body = For(Var("exp"), lit(0), Var("int"), Store(y.vals, Var("exp"), Cast(Var("exp"), "float64")))
    kernel = module(Function("weft_tensor", (y, Param("counts", (), (), Var("z", "float64*"))), body))["weft_tensor"]
    vals = np.zeros(3)
    assert kernel(dense(vals), dense(vals)) == 0
    assert vals.tolist() == [0, 1, 2]


def test_same_input_same_text():
    assert generate([spmv(), row_sums()], config.code) == generate([spmv(), row_sums()], config.code)
    assert "math.h" not in generate([spmv()], config.code)
    assert "weft_alloc" not in generate([spmv()], config.code)


def test_undeclared_names_are_an_error():
    with pytest.raises(LoweringError, match="nothing"):
        generate([Function("f", (), Return(Var("nothing")))], config.code)


def test_thread_numbers():
    y = Param("y", (var("y1_dim"),), (), var("y_vals", "int64*"), output=True)
    me = var("me")
    loop = For(i, lit(0), y.dimensions[0], Store(y.vals, i, me))
    region = Parallel(THREADS, Declare(me, Call("weft_thread", (), "int64")), loop, Block())
    kernel = module(Function("f", (y,), region))["f"]
    vals, seen = np.full(50_000, -1), set()
    for _ in range(1000):  # a worker that gets no core takes no iteration
        assert kernel(dense(vals), threads=2) == 0
        seen |= set(vals.tolist())
        if len(seen) > 1:
            break
    assert seen == {0, 1}
    vals[:] = -1
    assert kernel(dense(vals), threads=1) == 0
    assert (vals == 0).all()
