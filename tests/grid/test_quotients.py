"""Quotients and the like in index notation: as sparse as what is divided, wherever divisors' values allow that."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from tests import strategies
from tests.formats_for_tests import FORMATS, sparse
from tests.oracle import evaluate_dense

import weft
from weft import execution
from weft.config import config
from weft.errors import DensifyError, FormatError
from weft.formats import parse_format
from weft.index_notation import accesses, parse, to_text
from weft.storage import check

from .grid import array, densified, stored

HUGE = 10**6
SPARSE = [f for f in FORMATS[2] if not f.startswith("dense")]


@pytest.fixture
def huge():
    """A matrix that nothing could visit all of."""
    coords = [np.arange(10) * 99_991, np.arange(10)[::-1] * 77_773]
    return weft.from_coords(coords, np.arange(1.0, 11), (HUGE, HUGE), format="csr")


def dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


OPERATORS = [
    "{0}/{1}", "remainder({0}, {1})", "floor_divide({0}, {1})", "fmod({0}, {1})", "power({0}, {1})",
    "float_power({0}, {1})", "arctan2({0}, {1})", "minimum({0}, {1})", "fmin({0}, {1})",
]  # fmt: skip
DIVISORS = [
    "s", "z(i)", "z(j)", "(s + z(i))", "(1 + sum(k, E(i,k)))", "sqrt(z(i)*z(j))", "(z(i) + z(j))", "exp(-z(i)*z(j))",
    "hypot(z(i), z(j))", "maximum(z(j), s)", "(E(i,j) + z(j))", "(3 - z(i)/(1 + z(j)))",
]  # fmt: skip


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_costs_the_entries(huge, operator, divisor):
    given = {"E": huge, "s": 2.5, "z": np.linspace(0.5, 3, HUGE)}
    text = operator.format("E(i,j)", divisor)
    named = {access.tensor for access in accesses(parse(f"O(i,j) = {text}").value)}
    found = weft.evaluate(f"O(i,j) = {text}", **{name: given[name] for name in named})
    assert found.nnz == huge.nnz
    assert str(found.format) == "csr"
    assert found.fill_value == 0
    rows, columns = huge.to_coo()[0]
    at = text.replace("E(i,j)", "e(i)").replace("sum(k, E(i,k))", "e(i)").replace("z(j)", "v(i)")
    values = {"e": huge.data, "s": 2.5, "z": given["z"][rows], "v": given["z"][columns]}
    one_by_one = parse(f"O(i) = {at}")
    expected = evaluate_dense(one_by_one, {a.tensor: values[a.tensor] for a in accesses(one_by_one.value)})
    np.testing.assert_allclose(found.data, expected, rtol=1e-13)


def test_steps_of_common_algorithms_cost_the_entries(huge):
    z = np.linspace(1, 2, HUGE)
    entries, (rows, columns) = huge.data, huge.to_coo()[0]
    for text, to, value in [
        ("y(j) = E(i,j)*x(i)/z(i)", columns, entries * z[rows] / z[rows]),
        ("y(i) = E(i,j)*x(j)/z(i)", rows, entries * z[columns] / z[rows]),
        ("y(i) = sum(j, E(i,j)/z(j))", rows, entries / z[columns]),
    ]:
        y = weft.evaluate(text, E=huge, z=z, **({"x": z} if "x" in text else {}))
        np.testing.assert_allclose(y, np.bincount(to, value, HUGE))
    V = np.random.default_rng(0).random((HUGE, 2))
    expected = scipy.sparse.csr_array((entries / z[rows], (rows, columns)), shape=huge.shape) @ V
    np.testing.assert_allclose(dense(weft.evaluate("O(i,k) = E(i,j)*V(j,k)/z(i)", E=huge, V=V, z=z)), expected)


def test_rows_are_normalised():
    E = weft.asarray(scipy.sparse.csr_array(np.diag(np.arange(1.0, 2001)) + np.eye(2000, k=3)))
    squares = "sum(j, E(i,j)*E(i,j))"
    for total in ("sum(k, E(i,k))", "sum(j, E(i,j))", f"({squares} + sum(k, E(i,k)) - {squares})"):
        found = weft.evaluate(f"P(i,j) = E(i,j)/{total}", E=E)
        assert found.nnz == E.nnz
        np.testing.assert_allclose(dense(weft.sum(found, axis=1)), 1)
    with config.override(max_densify_bytes=10**6), pytest.raises(DensifyError, match=r"write E\(i,j\)\*\(1/sum"):
        weft.evaluate("P(i,j) = E(i,j)/sum(k, E(i,k))", E=weft.triu(E, 1))  # some rows are zero


@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf, -np.inf, -2.0])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("divisor", ["s", "z(i)", "z(j)", "(z(i) + 0*s)", "(z(i)*z(j))", "(sum(k, E(i,k))*z(i))"])
def test_what_the_divisor_holds_decides_each_time(operator, divisor, value):
    text = f"O(i,j) = {operator.format('E(i,j)', divisor)}"
    a = array((5, 5), 0.4, np.random.default_rng(3))
    for held in (2.0, value, 2.0):
        z = np.array([1.5, 2, held, 3, 0.5])
        arrays = {"E": a, "s": np.float64(held), "z": z}
        arrays = {access.tensor: arrays[access.tensor] for access in accesses(parse(text).value)}
        expected = evaluate_dense(parse(text), arrays)
        for E in (weft.asarray(a, format="csr"), weft.asarray(a, format="coo")):
            found = weft.evaluate(text, **{**arrays, "E": E})
            np.testing.assert_allclose(dense(found), expected, rtol=1e-14)


@pytest.mark.parametrize("format", SPARSE)
def test_every_format(format):
    a = array((6, 5), 0.4, np.random.default_rng(4))
    E, z = weft.asarray(a, format=format), np.linspace(1, 2, 6)
    for text, expected in [("E(i,j)/z(i)", a / z[:, None]), ("E(i,j)/s", a / 2), ("power(E(i,j), s)", a**2)]:
        named = {"z": z} if "z" in text else {"s": 2.0}
        found = weft.evaluate(f"O(i,j) = {text}", E=E, **named)
        assert found.nnz <= E.nnz < a.size or format in ("ell", "skyline", "banded", "bsr", "dia", "hyb", "sd")
        np.testing.assert_allclose(found.todense(), expected)


def test_divisors_that_vanish_when_multiplied():
    """Products of numbers that are no zeros may be zero, and sums of numbers that are finite may not be."""
    a = array((3, 3), 0.4, np.random.default_rng(5))
    for dtype, small, large in (("float64", 1e-200, 1e308), ("float32", 1e-30, 3e38)):
        E = weft.asarray(a.astype(dtype), format="csr")
        tiny, vast = np.full(3, small, dtype), np.full(3, large, dtype)
        for text, z in (("E(i,j)/(z(i)*z(j))", tiny), ("E(i,j)/(z(i) + z(j) - z(j) - z(i))", vast)):
            with np.errstate(all="ignore"):
                expected = evaluate_dense(parse(f"O(i,j) = {text}"), {"E": a.astype(dtype), "z": z})
            np.testing.assert_array_equal(dense(weft.evaluate(f"O(i,j) = {text}", E=E, z=z)), expected)


def test_integers():
    a = array((4, 4), 0.5, np.random.default_rng(6), "int8")
    E = weft.asarray(a, format="csr")
    for held in (3, -3, 0):
        d = np.array([2, held, 5, 1], "int8")
        for text in ("E(i,j)/d(j)", "floor_divide(E(i,j), d(j))", "remainder(E(i,j), d(j))", "E(i,j)/(d(i)*d(j))"):
            expected = evaluate_dense(parse(f"O(i,j) = {text}"), {"E": a, "d": d})
            found = weft.evaluate(f"O(i,j) = {text}", E=E, d=d)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(dense(found), expected)
        wide = weft.evaluate("O(i,j) = floor_divide(E(i,j), d(j))", E=E, d=d, dtype="float64")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(dense(wide), a.astype(float) // d)
    shifted = weft.evaluate("O(i,j) = left_shift(E(i,j), d(j))", E=E, d=np.array([0, 1, 2, 3], "int8"))
    assert shifted.nnz == E.nnz


@pytest.mark.parametrize("fill", [np.inf, -np.inf, np.nan, -0.0, 1.0, 2.0])
def test_other_fill_values(fill):
    a = np.where(np.eye(4, k=1) > 0, 3.0, fill)
    E = sparse(a, fill, "csr")
    for z in (np.linspace(1, 2, 4), np.array([1, -1, 2, 3.0]), np.array([1, 0, np.inf, np.nan])):
        for text in ("E(i,j)/z(i)", "power(E(i,j), z(j))", "E(i,j) + z(i)", "maximum(E(i,j), z(i))"):
            found = weft.evaluate(f"O(i,j) = {text}", E=E, z=z)
            expected = evaluate_dense(parse(f"O(i,j) = {text}"), {"E": a, "z": z})
            np.testing.assert_array_equal(dense(found), expected, err_msg=text)
    absorbs = {"E(i,j)/z(i)": not 0 < abs(fill) < np.inf, "power(E(i,j), z(j))": fill in (0, 1)}
    for text, expected in {**absorbs, "maximum(E(i,j), z(i))": not fill < 2}.items():
        found = weft.evaluate(f"O(i,j) = {text}", E=E, z=np.linspace(1, 2, 4))
        assert (isinstance(found, weft.SparseTensor) and found.nnz == E.nnz) == expected, text


COMPARISONS = ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal"]


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons(op, fill):
    """What is absent compares with all alike, wherever the values lie on one side of it."""
    a = np.where(np.eye(5, k=1) > 0, 3.0, fill)
    E = sparse(a, fill, "csr")
    vectors = np.linspace(3, 4, 5), -np.ones(5), np.array([-1, 1, 2, 3, 0.0]), np.array([1, 2, np.nan, 4, 5])
    for z in vectors:
        for text in (f"{op}(E(i,j), z(j))", f"{op}(z(i), E(i,j))", f"{op}(E(i,j), s)"):
            named = {"z": z} if "z" in text else {"s": z[2]}
            found = weft.evaluate(f"O(i,j) = {text}", E=E, **named)
            expected = evaluate_dense(parse(f"O(i,j) = {text}"), {"E": a, **named})
            np.testing.assert_array_equal(dense(found), expected, err_msg=text)
            if z is vectors[0] and (fill == 0 or "equal" not in op.split("_")):
                assert found.nnz == E.nnz


def test_comparisons_cost_the_entries(huge):
    found = weft.evaluate("O(i,j) = greater(E(i,j), s)", E=huge, s=4.5)
    assert (found.nnz, bool(found.fill_value), found.data.sum()) == (10, False, 6)
    found = weft.evaluate("y(i) = any(j, greater(E(i,j), z(j)))", E=huge, z=np.full(HUGE, 8.5))
    assert found.sum() == 2
    found = weft.evaluate("O(i,j) = power(z(i), E(i,j))", E=huge, z=np.full(HUGE, 0.0))
    assert (found.nnz, found.fill_value) == (10, 1)


def test_a_sparse_divisor():
    a, b = array((4, 4), 0.5, np.random.default_rng(8)), array((4, 4), 0.5, np.random.default_rng(9))
    E = weft.asarray(a, format="csr")
    for fill in (0.0, 1.0):
        F = sparse(np.where(b == 0, fill, b), fill, "csr")
        found = weft.evaluate("O(i,j) = E(i,j)/F(i,j)", E=E, F=F)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(dense(found), a / F.todense())
        assert fill == 0 or found.nnz == E.nnz


def test_compiled_kernels_look_at_each_call(huge):
    k = weft.compile("O(i,j) = E(i,j)/s", E="csr")
    assert "O: csr" in repr(k)
    assert k(huge, 2.0).nnz == huge.nnz
    with pytest.raises(DensifyError, match="0/s may be nan"):
        k(huge, 0.0)
    small = weft.random((4, 4), density=0.3, rng=0, format="csr")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(dense(k(small, 0.0)), small.todense() / 0.0)
        np.testing.assert_array_equal(k(small, 4.0).todense(), small.todense() / 4)
        given = weft.compile("O(i,j) = E(i,j)/z(i)", E="csr", O="csr")(small, np.zeros(4))
        np.testing.assert_array_equal(given.todense(), small.todense() / 0.0)
    assert str(given.format) == "csr"
    assert "0/s is 0 for every value of s (assumed, and looked up at each call)" in k.explain(stages=True)
    made = k.assemble(small, 2.0)
    assert made.nnz == small.nnz
    np.testing.assert_array_equal(k.compute(made, small, 4.0).todense(), small.todense() / 4)
    with pytest.raises(FormatError, match="0/s may be nan"):
        k.compute(made, small, 0.0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("text", ["E(i,j)*w(i)/z(i)", "E(i,j)/w(i)/z(i)", "E(i,j)/(w(i)*z(i))", "E(i,j)/w(i)/z(j)"])
def test_arrays_in_either_order(text, order):
    """Full operands have a value at every coordinate: no loop is merged, and each can be cut into tiles."""
    E = np.asarray(np.arange(9.0).reshape(3, 3), order=order)
    arrays = {"E": E, "w": np.array([1.0, 2, 4]), "z": np.array([0.5, 1, 3])}
    expected = evaluate_dense(parse(f"y(i) = sum(j, {text})"), arrays)
    np.testing.assert_allclose(weft.evaluate(f"y(i) = sum(j, {text})", **arrays), expected)


def test_quotients_are_scheduled_by_hand():
    E, z = weft.random((6, 5), density=0.4, rng=0, format="csr"), np.linspace(1, 2, 6)
    k = weft.compile(
        "y(j) = E(i,j)/z(i)*x(j)",
        E="csr",
        schedule=lambda loops: loops.precompute("E(i,j)/z(i)", name="w", kind="scalar"),
    )
    np.testing.assert_allclose(k(E, z, np.ones(5)), (E.todense() / z[:, None]).sum(axis=0))


def test_explain_says_what_was_looked_at(huge):
    z = np.ones(HUGE)
    report = weft.explain("O(i,j) = E(i,j)/z(i)", E=huge, z=z, stages=True)
    assert "0/z(i) is 0 for every value of z(i) (looked up at this call): only what E(i,j) stores is visited" in report
    z[5] = 0
    report = weft.explain("O(i,j) = E(i,j)/z(i)", E=huge, z=z, stages=True)
    assert "has values at all of i, j because 0/z(i) may be nan; write E(i,j)*(1/z(i)), which is 0 there" in report
    with pytest.raises(DensifyError, match=r"0/z\(i\) is nan at i = 5: 10{12} elements.*E: \(1000000, 1000000\) csr"):
        weft.evaluate("O(i,j) = E(i,j)/z(i)", E=huge, z=z)
    with pytest.raises(DensifyError, match=r"arctan2\(0, z\(i\)\) is 3\.14\d* at i = 0, 1, 2 and 999,997 more"):
        weft.evaluate("O(i,j) = arctan2(E(i,j), z(i))", E=huge, z=z - 2)


def test_what_is_dense_anyway_is_not_refused():
    E, D = weft.random((50, 50), density=0.1, rng=0, format="csr"), np.ones((50, 50))
    with config.override(max_densify_bytes=1000):
        found = weft.evaluate("O(i,j) = D(i,j) + E(i,j)/z(i)", D=D, E=E, z=np.zeros(50))
        assert np.isnan(found).sum() == 2500 - E.nnz
        given = weft.evaluate("O(i,j) = E(i,j)/z(i)", E=E, z=np.zeros(50), format="dense")
        assert np.isnan(dense(given)).sum() == 2500 - E.nnz
        masked = weft.evaluate("O(i,j) = E(i,j)*(E(i,j)/z(i))", E=E, z=np.zeros(50))
        assert masked.nnz == E.nnz
        with pytest.raises(DensifyError, match="2500 elements"):
            weft.evaluate("O(i,j) = E(i,j)/z(i)", E=E, z=np.zeros(50))


def test_operators_and_notation_agree():
    a = array((5, 4), 0.4, np.random.default_rng(10)) - array((5, 4), 0.2, np.random.default_rng(11))
    A = weft.asarray(a, format="csr")
    for d in (np.linspace(1, 2, 4), np.array([1, -1, 2, 3.0]), np.array([1, 0, 2, 3.0]), -np.ones(4)):
        for ufunc in (np.divide, np.remainder, np.power, np.arctan2, np.minimum, np.maximum, np.fmod):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = ufunc(a, d)
                first = ufunc(A, d)
            second = weft.evaluate(f"O(i,j) = {ufunc.__name__}(A(i,j), d(j))", A=A, d=d)
            np.testing.assert_array_equal(dense(first), expected)
            np.testing.assert_array_equal(dense(second), expected)
            assert type(first) is type(second) or ufunc in (np.minimum, np.maximum)


@given(data=st.data())
def test_random_quotients(data):
    """Against the oracle: any format, dtype, fill value, and divisors that hold anything."""
    assignment = data.draw(strategies.quotients())
    n = data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    dtype = data.draw(st.sampled_from(["float64", "float64", "float32", "int64", "int8"]))
    special = st.sampled_from([1, 1, 1, 0, -2] + [-0.0, np.inf, -np.inf, np.nan] * (dtype[0] == "f"))
    fill = data.draw(strategies.fills(dtype))
    arrays, operands = {}, {}
    for access in accesses(assignment.value):
        shape = (n,) * len(access.indices)
        if access.tensor in arrays:
            continue
        if access.tensor in "EF":
            found = array(shape, data.draw(strategies.densities), rng, dtype)
            found = np.where(found == 0, np.asarray(fill, dtype), found)
            try:
                operands[access.tensor] = stored(found, data.draw(strategies.any_formats(len(shape))), fill)
            except FormatError:  # not every format stores negative coordinates
                assume(False)
        else:
            found = rng.integers(1, 5, shape).astype(dtype)
            found = np.where(rng.random(shape) < 0.3, np.asarray(data.draw(special), dtype), found)
            operands[access.tensor] = stored(found, "dense")
        arrays[access.tensor] = found
    try:
        expected = evaluate_dense(assignment, arrays)
    except (ValueError, TypeError):  # integers to negative powers; what NumPy has no loop for
        assume(False)
    order = len(assignment.target.indices)
    wanted = data.draw(st.one_of(st.none(), strategies.formats(order).map(lambda f: parse_format(f, order))))
    with config.override(optimization=0, num_threads=1):
        got = execution.evaluate(assignment, operands, format=wanted)
    check(got)
    found = densified(got)
    assert found.dtype == expected.dtype
    if any(a.tensor == "F" for a in accesses(assignment.value)):  # absent zeros annihilate NaN, too
        found = np.where(np.isnan(expected), expected, found)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8, err_msg=to_text(assignment))


@pytest.mark.parametrize("full_rows", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "C(i,k) = sum(j, A(i,j)*A(k,j))/(sum(j, A(i,j)) + sum(l, A(k,l)) - sum(m, A(i,m)*A(k,m)))",
        "C(i,k) = sum(j, A(k,j)*A(i,j))/(sum(j, A(i,j)) + sum(l, A(k,l)) - sum(m, A(i,m)*A(k,m)))",
        "C(i,j) = A(i,j)/(sum(k, A(i,k)) - A(i,j) + A(i,j))",
        "C(i,j) = minimum(A(i,j), sum(k, A(i,k)) - A(i,j))",
    ],
)
def test_a_divisor_is_looked_at_where_the_numerator_has_no_entry(text, full_rows):
    """There the numerator is zero also in the divisor: sums of rows alone decide."""
    whole = np.kron(np.eye(2), [[1.0, 0, 3], [0, 2, 0], [0, 4, 5]])
    if not full_rows:
        whole[2] = 0
    A = weft.asarray(whole, format="csr")
    found = weft.evaluate(text, A=A)
    with np.errstate(all="ignore"):
        expected = evaluate_dense(parse(text), {"A": whole})
    np.testing.assert_allclose(dense(found), expected)
    if full_rows or "minimum" in text:
        assert "only what" in weft.explain(text, A=A)
