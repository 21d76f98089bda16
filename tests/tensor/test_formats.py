"""Reductions and binary operators on every format of the catalogue, with fill values that are not zero among them."""

import numpy as np
import pytest
from tests.formats_for_tests import FORMATS, sparse
from tests.kernel_batches import together

import weft
from weft.storage import check

REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "count_nonzero", "nansum", "nanmax", "argmax"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "power", "logical_or"]
SHAPES = {2: [(4, 5), (5, 1)], 3: [(3, 4, 2)]}
CASES = [(n, format) for n in (2, 3) for format in FORMATS[n]]


def dense(shape, fill, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.6, rng.random(shape) + 1, fill)


def same(found, expected):
    found = found.todense() if isinstance(found, weft.SparseTensor) else found
    np.testing.assert_allclose(found, expected)


@pytest.mark.filterwarnings("ignore:All-NaN:RuntimeWarning")
@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize(("n", "format"), CASES)
def test_reductions(n, format, fill):
    for shape in SHAPES[n]:
        d = dense(shape, fill, 0)
        A = sparse(d, fill, format)
        for k, name in enumerate(REDUCTIONS):
            for axis in (None, k % n):
                same(getattr(weft, name)(A, axis=axis), getattr(np, name)(d, axis=axis))


@pytest.mark.parametrize("fill", [0.0, 2.0])
@pytest.mark.parametrize(("n", "format"), CASES)
def test_binary_operators(n, format, fill):
    a, b = (dense(SHAPES[n][0], fill, seed) for seed in (0, 1))
    A, B = sparse(a, fill, format), sparse(b, fill, format)
    pairs = {
        "whole": ((A, B), (a, b)),
        "one row": ((A, B[:1]), (a, b[:1])),
        "one column": ((A[:, :1], B), (a[:, :1], b)),
    }
    cases = [(name, "whole") for name in BINARY]
    cases += [(name, "one row") for name in BINARY[n % 4 :: 4]] + [(name, "one column") for name in BINARY[1::4]]

    def compute(case):
        name, which = case
        ours, theirs = pairs[which]
        with np.errstate(all="ignore"):
            same(getattr(weft, name)(*ours), getattr(np, name)(*theirs))

    together(cases, compute)


@pytest.mark.parametrize("format", FORMATS[2])
def test_index_notation_on_other_fill_values(format):
    d = dense((4, 5), 2.0, 0)
    A = sparse(d, 2.0, format)
    x = np.arange(5.0)
    for text, expected in (("y(i) = A(i,j)", d.sum(1)), ("y(j) = A(i,j)", d.sum(0)), ("C(i,j) = 2 - A(i,j)", 2 - d),
                           ("y(i) = A(i,j)*x(j)", d @ x)):  # fmt: skip
        same(weft.evaluate(text, A=A, **({"x": x} if "x" in text else {})), expected)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("csr", "csr", "csr"), ("csr", "csc", "csr"), ("csc", "csc", "csc"), ("csc", "csr", "csc"),
        ("lil", "csr", "csr"), ("dcsr", "dcsr", "dcsr"), ("csr", "dcsr", "csr"), ("csc", "dia", "csc"),
    ],
)  # fmt: skip
def test_products_are_stored_as_scipy_stores_them(first, second, result):
    a, b = dense((4, 5), 0.0, 1), dense((5, 3), 0.0, 2)
    C = sparse(a, 0.0, first) @ sparse(b, 0.0, second)
    assert C.format == result
    same(C, a @ b)


def test_no_array_over_a_huge_dimension():
    n = 2**40
    coords = [[3, n - 1], [2, n - 2]]
    A = weft.from_coords(coords, [2.0, 3.0], shape=(n, 5 + n), format="dcsc")
    B = weft.from_coords(coords[::-1], [5.0, 7.0], shape=(5 + n, n), format="dcsr")
    C = A @ B
    assert C.nnz == 2
    assert C[3, 3] == 10
    assert C[n - 1, n - 1] == 21


def test_a_result_has_no_array_where_an_operand_has_a_short_one():
    n = 2**27
    A = weft.from_coords([[3, n - 1], [0, 1]], [2.0, 3.0], shape=(n, 2), format="csc")
    B = weft.from_coords([[0, 1], [5, n - 1]], [5.0, 7.0], shape=(2, n), format="csr")
    C = A @ B
    assert C.format == "dcsc"
    coords, values = C.to_coo()
    assert [c.tolist() for c in coords] == [[3, n - 1], [5, n - 1]]
    assert values.tolist() == [10, 21]


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize("format", ["sd", "sd:1,0", "ssd", "sdd", "dsd", "dsd:2,0,1", "sdd:2,1,0"])
def test_arrays_below_coordinates_are_of_entries_alone(format, fill):
    """A slice of an array that holds nothing but the fill value is not stored."""
    n = len(format.split(":")[0])
    d = np.full((5, 4, 3)[:n], fill)
    d[(3, 1, 2)[:n]], d[(3, 0, 2)[:n]] = 7, 8
    A = weft.asarray(d, format=format, fill_value=fill)
    check(A._storage)
    np.testing.assert_array_equal(A.todense(), d)
    entries = weft.from_coords(
        np.array([(3, 1, 2)[:n], (3, 0, 2)[:n]]).T, [7.0, 8.0], d.shape, format=format, fill_value=fill
    )
    assert A.nnz == entries.nnz < d.size
    assert str(A.format) == str(entries.format)


PADDED = ["dia", "skyline", "banded", "bsr", "mode_generic", "sd", "dense", "dense_f"]
WITH_GAPS = np.array([[5.0, 0, 0, 1], [0, 0, 2, 0], [3, 0, 7, 0], [0, 0, 0, 0], [0, 6, 0, 8]])


@pytest.mark.parametrize("fill", [0.0, 1.5, np.nan, -np.inf])
@pytest.mark.parametrize("target", ["csr", "coo", "dcsc", "ell", "jad", "hicoo", "hash", "dok", "lil"])
@pytest.mark.parametrize("source", PADDED)
def test_padding_is_no_entry(source, target, fill):
    D = np.where(WITH_GAPS == 0, fill, WITH_GAPS)
    i, j = np.nonzero(WITH_GAPS)
    A = weft.from_coords([i, j], D[i, j], D.shape, format=source, fill_value=fill)
    B = A.asformat(target)
    assert B.nnz == np.count_nonzero(WITH_GAPS)
    np.testing.assert_array_equal(B.todense(), D)
    coords, values = A.to_coo()
    assert (coords.tolist(), values.tolist()) == ([i.tolist(), j.tolist()], D[i, j].tolist())


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_padded_formats_are_told_by_a_property(format):
    assert weft.formats[format](2).is_padded == (format in PADDED)
    if format in PADDED:
        return
    A = weft.from_coords([[0, 2], [1, 0]], [0.0, 4], (3, 3), format=format)  # a zero that is stored
    assert A.nnz == A.asformat("csr").nnz == len(A.to_coo()[1]) == 2


def test_operands_that_are_stored_again_have_the_values_of_their_padding():
    """A result does not depend on whether loops walk the operand in place: a stored zero times infinity is NaN."""
    A = weft.asarray(WITH_GAPS[:4], format="dia")
    B = weft.asarray(np.full((4, 4), np.inf), format="csr")
    for format in ("csr", "csc", "coo"):
        found = weft.evaluate("C(i,j) = A(i,j)*B(j,i)", A=A, B=B, format=format).todense()
        assert np.isnan(found).sum() == A.nnz - np.count_nonzero(WITH_GAPS[:4])
