"""Results that share the index arrays of an operand: in all formats and spellings, beside dense NumPy arrays."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from strategies import any_formats
from weft.config import config
from weft.errors import StorageError
from weft.execution.entry_lists import list_entries
from weft.execution.structure import same_structure
from weft.formats import parse_format
from weft.storage import check

FORMATS = [
    "csr", "csc", "coo", "coo_aos", "dcsr", "csf", "gcxs", "ell", "jad", "dia", "bsr", "csb", "mode_generic", "hicoo",
    "hash", "dok", "lil", "skyline", "banded", "hyb",
]  # fmt: skip
DTYPES = ["bool", "int8", "uint32", "int64", "float32", "complex128"]
SHAPES = [(7, 5), (5, 9), (1, 1), (0, 4), (4, 0)]

VALUES_ONLY = {
    "2*A(i,j)": lambda A, B, s: 2 * A,
    "abs(A(i,j))": lambda A, B, s: np.abs(A),
    "-A(i,j)": lambda A, B, s: -A,
    "A(i,j)*A(i,j)": lambda A, B, s: A * A,
    "A(i,j)": lambda A, B, s: +A,
    "s*A(i,j)": lambda A, B, s: s * A,
}
BESIDE_ARRAYS = {
    "A(i,j)*x(j)": lambda A, x, y, X: A * x,
    "y(i)*A(i,j)": lambda A, x, y, X: y[:, None] * A,
    "A(i,j)*X(i,j)": lambda A, x, y, X: A * X,
    "-A(i,j)*x(j)*2*y(i)": lambda A, x, y, X: -A * x * 2 * y[:, None],
}
PAIRS = {
    "A(i,j) + B(i,j)": np.add,
    "A(i,j) - B(i,j)": np.subtract,
    "A(i,j)*B(i,j)": np.multiply,
    "maximum(A(i,j), B(i,j))": np.maximum,
}


def drawn(shape, dtype="float64", seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, shape) * np.where(rng.random(shape) < 0.5, 1, -1) if dtype != "bool" else 1
    return np.where(rng.random(shape) < density, values, 0).astype(dtype)


def held(dense, format):
    return weft.asarray(dense).asformat(format)


def evaluated(text, format=None, **operands):
    """A result whose arrays are checked."""
    found = weft.evaluate(
        f"C(i,j) = {text}", **operands, format=format or next(iter(operands.values()))._storage.format
    )
    check(found._storage)
    return found


def equal(found, wanted):
    np.testing.assert_array_equal(found.todense(), wanted)


def shares(found, operand):
    """Whether the index arrays of a result are those of an operand."""
    ours, its = found._storage.arrays, operand._storage.arrays
    return len(ours) == len(its) and all(a is b for a, b in zip(ours, its, strict=True))


def same_arrays(one, other):
    for a, b in zip(one._storage.arrays, other._storage.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one._storage.format == other._storage.format


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_alone(format, shape):
    dense = drawn(shape)
    A = held(dense, format)
    for text, numpy in VALUES_ONLY.items():
        found = evaluated(text, A=A, **({"s": 3.0} if "s*" in text else {}))
        assert shares(found, A), text
        equal(found, numpy(dense, None, 3.0))
        assert found.nnz == A.nnz
        same_arrays(found, A)
    for found, op in [(2 * A, "2*A(i,j)"), (abs(A), "abs(A(i,j))"), (-A, "-A(i,j)")]:
        same_arrays(found, evaluated(op, A=A))
        np.testing.assert_array_equal(found._storage.vals, evaluated(op, A=A)._storage.vals)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_beside_arrays(format, shape):
    dense, x, y, X = drawn(shape), drawn(shape[1:], seed=1), drawn(shape[:1], seed=2), drawn(shape, seed=3)
    A = held(dense, format)
    for text, numpy in BESIDE_ARRAYS.items():
        operands = {name: value for name, value in {"x": x, "y": y, "X": X}.items() if f"{name}(" in text}
        found = evaluated(text, A=A, **operands)
        assert shares(found, A), text
        equal(found, numpy(dense, x, y, X))
        assert found.nnz == A.nnz
    by_operator = A * x
    equal(by_operator, dense * x)
    if parse_format(format, 2).is_structured:
        same_arrays(by_operator, A)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_over_other_axes(format, shape):
    dense, x, y, X = drawn(shape), drawn(shape[1:], seed=1), drawn(shape[:1], seed=2), drawn(shape, seed=3)
    A = held(dense, format)
    for text, wanted in {
        "A(i,j)*X(k,j)*y(k)": dense * (y @ X),
        "A(i,j)*X(i,k)*x(k)": dense * (X @ x)[:, None],
        "A(i,j)*sum(k, X(i,k)*x(k))": dense * (X @ x)[:, None],
        "2*sum(k, A(i,j)*X(i,k)*x(k))": 2 * dense * (X @ x)[:, None],
    }.items():
        operands = {name: value for name, value in {"x": x, "y": y, "X": X}.items() if f"{name}(" in text}
        found = evaluated(text, A=A, **operands)
        equal(found, wanted)
        counts = format in ("ell", "jad", "hyb", "hicoo", "dok")  # loops over what is counted are not those of sums
        if not counts and "sum" not in text:
            assert shares(found, A), text


@pytest.mark.parametrize("format", FORMATS)
def test_two_operands(format):
    dense, other = drawn((7, 6)), drawn((7, 6), seed=5)
    A, B = held(dense, format), held(other, format)
    for text, op in PAIRS.items():
        for second, array in ((A * 3, 3 * dense), (A.copy() * 3, 3 * dense), (B, other)):
            found = evaluated(text, A=A, B=second)
            equal(found, op(dense, array))
            assert shares(found, A) == (second is not B), text
            by_operator = op(A, second)
            equal(by_operator, op(dense, array))
    difference = A - A  # no operator stores what equals the fill value
    assert not difference.todense().any()
    assert format == "dia" or difference.nnz == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", ["csr", "dia", "ell", "bsr", "hash", "coo"])
def test_dtypes(dtype, format):
    dense = drawn((6, 5), dtype)
    A = held(dense, format)
    doubled = evaluated("A(i,j)*A(i,j)", A=A)
    assert shares(doubled, A)
    assert doubled.dtype == (dense * dense).dtype
    equal(doubled, dense * dense)
    equal(evaluated("A(i,j) + B(i,j)", A=A, B=A.copy()), dense + dense)
    x = drawn((5,), dtype, seed=3)
    found = evaluated("A(i,j)*x(j)", A=A, x=x)
    assert shares(found, A)
    assert found.dtype == (dense * x).dtype
    equal(found, dense * x)
    wide = weft.evaluate("C(i,j) = A(i,j)*A(i,j)", A=A, format=format, dtype="complex128")
    equal(wide, dense.astype(complex) ** 2)


@pytest.mark.parametrize("fill", [1.0, -2.5, np.inf, np.nan])
@pytest.mark.parametrize("format", ["csr", "coo", "ell", "bsr", "dia", "hash", "hicoo"])
def test_fill_values(format, fill):
    dense = np.where(drawn((6, 7)) != 0, drawn((6, 7), seed=8, density=1), fill)
    A = weft.asarray(dense, fill_value=fill).asformat(format)
    for text, numpy in (("2*A(i,j)", 2 * dense), ("A(i,j) + 1", dense + 1), ("-A(i,j)", -dense)):
        found = evaluated(text, A=A)
        assert shares(found, A)
        equal(found, numpy)
    found = evaluated("A(i,j) + B(i,j)", A=A, B=A.copy())
    assert shares(found, A)
    equal(found, dense + dense)
    equal(weft.asarray(A + A), dense + dense)
    x = drawn((7,), seed=1)
    equal(evaluated("A(i,j) + x(j)", "csr", A=A, x=x), dense + x)
    shifted = evaluated("A(i,j) + 1", A=held(np.zeros((6, 7)), format))
    equal(shifted, np.ones((6, 7)))


@pytest.mark.parametrize("format", FORMATS)
def test_infinity_and_nan_beside_what_is_not_stored(format):
    dense = drawn((7, 6))
    A, x = held(dense, format), np.array([1, np.inf, np.nan, -np.inf, 0, 2])
    stored = np.zeros((7, 6), bool)
    stored[list_entries(A._storage).arrays[1:]] = True  # with padding, which is a stored zero to arithmetic
    with np.errstate(invalid="ignore"):
        wanted = np.where(stored, dense * x, 0)
        scaled = np.where(stored, dense * np.inf, 0)
    equal(evaluated("A(i,j)*x(j)", A=A, x=x), wanted)
    found = evaluated("s*A(i,j)", A=A, s=np.inf)
    equal(found, scaled)
    for other in ("csr", "coo", "csc"):
        np.testing.assert_array_equal(found.asformat(other).todense(), scaled)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(weft.asarray(found.sum(axis=0)).todense(), scaled.sum(axis=0))


def test_explicit_zeros_stay():
    A = weft.from_coords([[0, 1, 2], [1, 0, 2]], [0.0, 3.0, 0.0], (4, 4), format="csr")
    for text, operands in (("2*A(i,j)", {}), ("A(i,j)*x(j)", {"x": np.ones(4)}), ("A(i,j) + B(i,j)", {"B": A.copy()})):
        assert evaluated(text, A=A, **operands).nnz == 3
    assert (A + A).nnz == 1


def test_duplicates_are_kept_where_the_expression_is_linear():
    loose = parse_format("csr", 2).unsorted(unique=False)
    A = weft.from_levels((2, 3), loose, [{}, {"pos": [0, 3, 4], "crd": [2, 0, 2, 1]}], [1.0, 2.0, 3.0, -4.0])
    dense = A.todense()
    for text, wanted in (("2*A(i,j)", 2 * dense), ("A(i,j)*x(j)", dense * [1, 2, 3])):
        found = weft.evaluate(
            f"C(i,j) = {text}", A=A, format=loose, **({"x": np.array([1.0, 2, 3])} if "x" in text else {})
        )
        assert shares(found, A)
        np.testing.assert_array_equal(found.todense(), wanted)
    for text, wanted in (("A(i,j)*A(i,j)", dense * dense), ("abs(A(i,j))", abs(dense))):
        np.testing.assert_array_equal(weft.evaluate(f"C(i,j) = {text}", A=A).todense(), wanted)
    np.testing.assert_array_equal(weft.evaluate("C(i,j) = maximum(A(i,j), B(i,j))", A=A, B=A.copy()).todense(), dense)
    narrow = A.astype("int8")
    wide = weft.evaluate("C(i,j) = A(i,j)*x(j)", A=narrow, x=np.full(3, 100))
    np.testing.assert_array_equal(wide.todense(), dense.astype("int8") * np.full(3, 100))


@pytest.mark.parametrize("length", [0, 2, 4, 6])
def test_diagonals_in_an_array_that_is_shorter_than_the_tensor(length):
    source = scipy.sparse.dia_array((drawn((3, length), density=1), [-1, 0, 2]), shape=(5, 6))
    A, dense, x = weft.asarray(source), source.toarray(), drawn((6,), seed=2)
    for found, wanted in (
        (evaluated("2*A(i,j)", A=A), 2 * dense),
        (evaluated("A(i,j)*x(j)", A=A, x=x), dense * x),
        (evaluated("A(i,j) + B(i,j)", A=A, B=A.copy()), 2 * dense),
        (A + A, 2 * dense),
        (A * x, dense * x),
    ):
        equal(found, wanted)
        np.testing.assert_array_equal(found.to_scipy_sparse().toarray(), wanted)


def test_a_result_that_is_written_leaves_its_operand_as_it_is():
    for format in ("csr", "ell", "dia", "hash"):
        dense = drawn((5, 5))
        A = held(dense, format)
        found = evaluated("A(i,j)*x(j)", A=A, x=np.ones(5))
        found[0, 4], found[4, 0] = 7.0, 0.0
        np.testing.assert_array_equal(A.todense(), dense)
        A[1, 1] = 9.0
        dense[0, 4], dense[4, 0] = 7, 0
        np.testing.assert_array_equal(found.todense(), dense)


def test_the_format_of_a_function_of_one_tensor_is_its_own():
    for format in ("coo", "dok", "ell", "hicoo", "csc"):
        A = held(drawn((5, 5)), format)
        for text in ("2*A(i,j)", "abs(A(i,j))", "A(i,j) + 1"):
            assert str(weft.evaluate(f"C(i,j) = {text}", A=A).format) == format
    A = held(drawn((5, 5)), "dia")
    assert str(weft.evaluate("C(i,j) = A(i,j)*x(j)", A=A, x=np.ones(5)).format) == "dia"
    assert str(weft.evaluate("C(i,j) = 2*A(j,i)", A=A).format) != "dia"
    assert isinstance(weft.evaluate("C(i,j) = A(i,j) + x(j)", A=A, x=np.ones(5)), np.ndarray)


def test_explain_says_that_arrays_are_shared():
    A, line = held(drawn((5, 5)), "ell"), "C shares the index arrays of A: only values are computed"
    for text, operands in (("2*A(i,j)", {}), ("A(i,j)*x(j)", {"x": np.ones(5)}), ("A(i,j) + B(i,j)", {"B": A.copy()})):
        told = weft.explain(f"C(i,j) = {text}", A=A, format="ell", **operands)
        assert line in told.splitlines()
        assert ("equal structures" in told) == ("B" in operands)
        assert "shares the index arrays" in weft.explain(
            f"C(i,j) = {text}", A=A, format="ell", stages="all", **operands
        )
    assert line not in weft.explain("C(i,j) = A(i,j) + B(i,j)", A=A, B=held(drawn((5, 5), seed=3), "ell"))


TOTALS = {
    "A(i,j)": lambda A: A.sum(dtype=A.dtype),
    "sum(i, sum(j, A(i,j)*A(i,j)))": lambda A: (A * A).sum(dtype=A.dtype),
    "abs(sum(i, j, 2*A(j,i)))*3 + sum(i, j, abs(A(i,j)))": lambda A: 3 * abs(2 * A.sum()) + np.abs(A).sum(),
    "max(i, j, A(i,j))": lambda A: A.max(initial=0) if A.dtype.kind != "c" else None,
    "A(i,j)*A(j,i)": lambda A: (A * A.T).sum() if A.shape[0] == A.shape[1] else None,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", TOTALS)
def test_totals(text, format):
    dtypes, shapes = ("float64", "int64", "complex128", "float32"), ((7, 5), (5, 5), (0, 4), (1, 1))
    for dtype, shape in zip(dtypes, shapes, strict=True):
        dense = drawn(shape, dtype, seed=5)
        wanted = TOTALS[text](dense)
        if wanted is not None and not (0 in shape and "max" in text):
            found = weft.evaluate(f"s = {text}", A=held(dense, format))
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_totals_with_entries_that_are_not_stored_or_are_stored_twice():
    A = weft.from_coords([[0, 1, 0], [2, 0, 2]], [3.0, -5.0, 4.0], shape=(2, 3), duplicates="keep")
    assert not A.is_unique
    assert weft.evaluate("s = A(i,j)", A=A) == 2
    assert weft.evaluate("s = A(i,j)*A(i,j)", A=A) == 49 + 25
    line = "loops: over the stored values of A, whatever their coordinates are"
    for format in ("csr", "coo"):
        B, C = A.asformat(format).with_fill(np.inf), A.asformat(format)
        assert weft.evaluate("s = min(i, j, A(i,j))", A=B) == -5
        assert line in weft.explain("s = min(i, j, A(i,j))", A=B)
        assert weft.evaluate("s = A(i,j)", A=B) == np.inf
        assert weft.evaluate("s = min(i, j, A(i,j))", A=C.with_fill(-9)) == -9
        assert line in weft.explain("s = sqrt(sum(i, j, A(i,j)*A(i,j)))", A=C)
        assert line not in weft.explain("s = max(i, j, A(i,j))", A=C)
        window = C[:, 1:]
        assert weft.evaluate("s = A(i,j)", A=window) == 7
        kernel = weft.compile("s = A(i,j)", A=format)
        assert kernel.compute(kernel.assemble(C), C) == kernel(C) == 2
    a = weft.asarray([1.0, 0.0, 3.0], format="coo")
    assert weft.evaluate("s = sum(i, a(i)*b(i)) + sum(i, a(i)*0.5)", a=a, b=np.array([2.0, 5.0, 1.0])) == 7


def test_formats_share_one_kernel():
    texts = {
        weft.explain("C(i,j) = 2*A(i,j)", A=held(drawn((5, 5)), format), format=format, stages="c")
        for format in ("csr", "dia", "hicoo")
    }
    assert len(texts) == 1


def test_switched_off():
    dense = drawn((6, 6))
    for format in ("csr", "ell", "dia"):
        A, x = held(dense, format), drawn((6,), seed=2)
        with config.override(disable=("shared-structure", "equal-structures")):
            for text, wanted, operands in (
                ("2*A(i,j)", 2 * dense, {}),
                ("A(i,j)*x(j)", dense * x, {"x": x}),
                ("A(i,j) + B(i,j)", 2 * dense, {"B": A.copy()}),
            ):
                found = evaluated(text, A=A, **operands)
                assert not shares(found, A)
                equal(found, wanted)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_assemble_and_compute(format):
    dense, x = drawn((5, 6)), drawn((6,), seed=3)
    A = held(dense, format)
    for text, wanted, beside in (("2*A(i,j)", 2 * dense, ()), ("A(i,j)*x(j)", dense * x, (x,))):
        named = {"x": "dense"} if beside else {}
        k = weft.compile(f"C(i,j) = {text}", A=format, C=format, **named)
        made = k.assemble(A, *beside)
        assert not made.todense().any()
        assert shares(made, A)
        equal(k.compute(made, A, *beside), wanted)
        equal(k.compute(made, A * 3, *beside), 3 * wanted)
        equal(k(A, *beside), wanted)
        with pytest.raises(StorageError):
            k.compute(made, held(drawn((5, 6), seed=9, density=0.1), format), *beside)


def test_structures_are_compared_block_by_block():
    A = weft.random((300, 300), nnz=3000, format="csr", rng=0)
    s = A._storage
    assert same_structure([s, s])
    assert same_structure([s, A.copy()._storage, (A * 2)._storage])
    for place in (0, 255, 256, 1999, 2999):
        other = A.copy()._storage
        crd = other.arrays[1].copy()
        crd[place] += 1
        assert not same_structure([s, type(s)(s.shape, s.type, (other.arrays[0], crd), s.vals)])
    assert not same_structure([s, weft.random((300, 300), nnz=2999, format="csr", rng=0)._storage])
    assert not same_structure([s, type(s)((300, 301), s.type, s.arrays, s.vals)])


@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_any_format(data):
    order = data.draw(st.sampled_from([1, 2, 2, 2, 3]))
    format = data.draw(any_formats(order))
    shape = tuple(data.draw(st.lists(st.sampled_from([0, 1, 3, 5, 8]), min_size=order, max_size=order)))
    dense = drawn(shape, seed=data.draw(st.integers(0, 99)), density=data.draw(st.sampled_from([0.0, 0.3, 1.0])))
    A, axes = weft.asarray(dense).asformat(format), ",".join("ijk"[:order])
    last, x = "ijk"[order - 1], drawn(shape[-1:], seed=1, density=0.8)
    own = A._storage.format
    if own.is_dense:
        return
    for text, wanted, operands in (
        (f"2*A({axes})", 2 * dense, {}),
        (f"abs(A({axes}))", abs(dense), {}),
        (f"A({axes})*x({last})", dense * x, {"x": x}),
        (f"A({axes}) + B({axes})", 4 * dense, {"B": A * 3}),
    ):
        found = weft.evaluate(f"C({axes}) = {text}", A=A, format=own, **operands)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), wanted)
        assert shares(found, A) or not own.is_unique
