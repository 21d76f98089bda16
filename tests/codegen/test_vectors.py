"""Functions that are computed for many elements at a time."""

import numpy as np
import pytest

import weft
from ir.examples import verify
from weft.codegen.support.vectors import MANY
from weft.compiler import generate, plan_loops
from weft.config import config
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.index_notation.operator_table import OPERATORS
from weft.ir.passes.vector_math import SIZE, batch_math_calls
from weft.module import Module

from .compiled import build

ONE = sorted({name.removeprefix("weft_").rpartition("_")[0] for name in MANY} - {"power", "scalar_power"})
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    -1e-310,
    1e-40,
    1.0,
    -1.0,
    2.0,
    0.5,
    3.5,
    88.8,
    710.0,
    1e300,
    -745,
]
DEVIATION = {"float64": 2, "float32": 4}  # of a vector function, in units of the last place; libm's own are allowed 3.1


def values(dtype, count=1 << 12):
    rng = np.random.default_rng(0)
    parts = (
        rng.random(count),
        rng.normal(size=count) * 10,
        np.exp(rng.normal(size=count) * 20),
        1 + rng.normal(size=count) / 1e3,
    )
    with np.errstate(over="ignore"):
        return np.concatenate([*parts, SPECIAL]).astype(dtype)


def flat(text, dtype, *names):
    """The IR of an expression over vectors."""
    vector = TensorType.of(dtype, parse_format("dense", 1))
    return Module(plan_loops(parse(text), {"y": vector, **dict.fromkeys(names, vector)})).evaluation.ir


def errors(got, exact, dtype):
    """In units of the last place, where the result is a number."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        off = np.abs(got.astype(exact.dtype) - exact) / np.spacing(np.abs(rounded))
    return off[np.isfinite(rounded) & np.isfinite(got) & np.isfinite(off)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand(name, dtype):
    x = values(dtype)
    ufunc = OPERATORS[name].ufunc
    with np.errstate(all="ignore"):
        exact = ufunc(x.astype(np.longdouble))
    got = getattr(weft, name)(weft.asarray(x)).todense()
    assert got.dtype == dtype
    assert errors(got, exact, dtype).max() <= (3.1 if name == "cbrt" else DEVIATION[dtype] + 0.1)
    with np.errstate(all="ignore"):
        special, wanted = got[-len(SPECIAL) :], ufunc(x[-len(SPECIAL) :])
    np.testing.assert_allclose(special, wanted, rtol=1e-6 if dtype == "float32" else 1e-15, atol=0)
    np.testing.assert_array_equal(np.signbit(special[wanted == 0]), np.signbit(wanted[wanted == 0]))
    # It does not matter where an element stands, nor how many there are.
    for start, stop in ((0, 1), (1, 8), (3, 20), (5, 5 + SIZE), (7, 9 + 2 * SIZE), (len(x) - 3, len(x))):
        np.testing.assert_array_equal(getattr(weft, name)(weft.asarray(x[start:stop])).todense(), got[start:stop])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers(dtype):
    x, y = values(dtype), np.random.default_rng(1).permutation(values(dtype))
    y[::2] = np.round(y[::2])
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        wanted = np.power(x, y)
    got = (weft.asarray(x) ** weft.asarray(y)).todense()
    assert errors(got, exact, dtype).max() <= 2
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["csr", "coo", "dense", "ell", "dcsr"])
def test_in_expressions(format, threads):
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((9, 50)) < 0.4, rng.random((9, 50)), 0)
    A, x = weft.asarray(dense).asformat(format), rng.random(50)
    with config.override(num_threads=threads, parallel_threshold=0):
        found = {
            "log1p": np.log1p(A),
            "nested": weft.evaluate("C(i,j) = expm1(log1p(A(i,j))*cbrt(x(j)))", A=A, x=x),
            "sum": weft.evaluate("s = sum(i, sum(j, log1p(A(i,j))))", A=A),
            "rows": weft.evaluate("y(i) = log1p(A(i,j))*x(j)", A=A, x=x),
            "largest": weft.evaluate("y(i) = max(j, tanh(A(i,j)))", A=A),
            "power": A**1.7,
        }
    found = {name: x.todense() if isinstance(x, weft.SparseTensor) else x for name, x in found.items()}
    np.testing.assert_allclose(found["log1p"], np.log1p(dense), rtol=1e-14)
    np.testing.assert_allclose(found["nested"], np.expm1(np.log1p(dense) * np.cbrt(x)), rtol=1e-14)
    np.testing.assert_allclose(found["sum"], np.log1p(dense).sum(), rtol=1e-13)
    np.testing.assert_allclose(found["rows"], np.log1p(dense) @ x, rtol=1e-13)
    np.testing.assert_allclose(found["largest"], np.tanh(dense).max(1), rtol=1e-14)
    np.testing.assert_allclose(found["power"], dense**1.7, rtol=1e-14)


def test_what_goes_in_batches():
    """Loops of one assignment that does not read what it changes."""

    def batched(text, *names):
        function = flat(text, "float64", *names)
        found = batch_math_calls(function, MANY)
        verify(found)
        return found is not function

    assert batched("y(i) = log1p(x(i))", "x")
    assert batched("y(i) = x(i) + power(log(x(i)), z(i))", "x", "z")
    assert batched("y(i) += cbrt(x(i))", "x")
    assert not batched("y(i) = sqrt(x(i))", "x")
    assert not batched("y(i) = x(i)", "x")


def test_switched_off():
    function = flat("y(i) = log1p(x(i))", "float64", "x")
    assert "weft_each_log1p_float64" in generate([function], config.code)
    with config.override(vector_functions=False):
        assert "weft_each" not in generate([function], config.code)


@pytest.mark.parametrize("flags", [(), ("-march=native", "-Wno-psabi")])
def test_c_without_warnings(flags):
    """On machines that have such vectors, and on others."""
    for dtype in ("float64", "float32"):
        text = "y(i) = " + " + ".join(f"{name}(x(i))" for name in ONE) + " + power(x(i), x(i))"
        build(generate([flat(text, dtype, "x")], config.code), ("-fopenmp-simd", *flags))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_powers_with_one_exponent(dtype):
    x = values(dtype) if dtype != "int32" else np.arange(-500, 500, dtype=dtype)
    for exponent in (2, 3, 4, 1, 0, 7) if dtype == "int32" else (2, 3, 4, 1, 0.5, -1, 0, 1.7, -2, np.nan):
        with np.errstate(all="ignore"):
            exact = x**exponent if dtype == "int32" else np.power(x.astype(np.longdouble), x.dtype.type(exponent))
        for got in (weft.asarray(x) ** exponent, weft.evaluate("y(i) = pow(x(i), b)", x=x, b=x.dtype.type(exponent))):
            got = np.asarray(got)
            if dtype == "int32":
                np.testing.assert_array_equal(got, exact)
                continue
            normal = np.abs(exact) > np.finfo(dtype).tiny
            assert errors(got[normal], exact[normal], dtype).max() <= DEVIATION[dtype] + 0.1
            with np.errstate(all="ignore"):
                special, wanted = got[-len(SPECIAL) :], x[-len(SPECIAL) :] ** exponent
            np.testing.assert_allclose(special, wanted, rtol=1e-6, atol=np.finfo(dtype).tiny)
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(special)[numbers], np.signbit(wanted)[numbers])
