"""Fill values and operators other than + and *: law 5, against NumPy on dense arrays."""

import itertools
import re

import numpy as np
import pytest
from tests.kernel_batches import each, together
from tests.oracle import evaluate_dense

import weft
from weft.index_notation import parse
from weft.storage import check

FORMATS = ["ds", "ss", "sd", "ds:1,0", "coo"]
FILLS = [0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
TEXTS = [
    "y(i) = A(i,j)*x(j)",
    "y(i) = max(j, A(i,j))",
    "y(i) = min(j, A(i,j))",
    "y(j) = prod(i, A(i,j))",
    "y = max(i,j, A(i,j))",
    "C(i,j) = A(i,j) + B(i,j)",
    "C(i,j) = A(i,j)*B(i,j)",
    "C(i,j) = A(i,j)/B(i,j)",
    "C(i,j) = maximum(A(i,j), B(i,j))",
    "C(i,j) = minimum(A(i,j), B(i,j)) - 3",
    "C(i,j) = abs(A(i,j)) + 1",
    "C(i,j) = 2*A(i,j) - B(j,i)",
    "y(i) = sum(j, A(i,j)) + 1",
    "C(i,k) = A(i,j)*B(j,k)",
    "C(i,k) = min(j, A(i,j) + B(j,k))",
    "C(i,k) = max(j, A(i,j) + B(j,k) + x(j))",
    "C(i,k) = max(j, A(i,j)*B(j,k))",
]
RNG = np.random.default_rng(3)


def tensor(fill: float, format: str) -> tuple[weft.SparseTensor, np.ndarray]:
    dense = np.full((4, 4), fill, dtype=float)
    stored = RNG.random((4, 4)) < 0.4
    dense[stored] = RNG.integers(-4, 5, stored.sum())
    coords = np.argwhere(stored).T
    return weft.from_coords(coords, dense[stored], shape=(4, 4), fill_value=fill).asformat(format), dense


@pytest.mark.parametrize("text", TEXTS)
def test_fill_values(text):
    fills = list(itertools.product(FILLS, FILLS if "B(" in text else [0]))
    x = np.array([1.0, 2.0, 0.5, -1.0])
    drawn = [
        {"A": tensor(first, FORMATS[n % 5]), "B": tensor(second, FORMATS[(n // 5) % 5]), "x": (x, x)}
        for n, (first, second) in enumerate(fills)
    ]
    assignment = parse(text)

    def compute(n):
        used = {name: pair for name, pair in drawn[n].items() if re.search(rf"\b{name}\(", text)}
        with np.errstate(all="ignore"):
            expected = evaluate_dense(assignment, {name: dense for name, (_, dense) in used.items()})
        got = weft.evaluate(text, **{name: given for name, (given, _) in used.items()})
        if isinstance(got, weft.SparseTensor):
            check(got._storage)
            got = got.todense()
        # What is absent and annihilates does so even against infinity and NaN.
        loose = "*" in text and not np.isfinite(fills[n]).all()
        assert loose or np.allclose(got, expected, equal_nan=True), f"\n{got}\n{expected}"

    failures = [
        f"{drawn[n]['A'][0].format} fill {fills[n][0]}, {drawn[n]['B'][0].format} fill {fills[n][1]}: {error}"
        for n, error in each(range(len(fills)), compute)
        if error is not None
    ]
    assert not failures, f"{len(failures)} of {len(fills)}:\n" + "\n".join(failures[:2])


def test_an_outer_product_has_room_for_rows_that_are_absent():
    """Where nothing annihilates a row its entries are no bound of those of the product: memory was written beyond."""
    b = np.zeros((2, 300))
    b[1] = np.arange(1, 301)
    B = weft.asarray(b, format="csr")
    for fill, format in itertools.product([1.0, np.nan, np.inf], ["sd", "csr", "coo", "dcsr"]):
        A = weft.from_coords([[4], [1]], [3.0], shape=(200, 2), fill_value=fill, format=format)
        C = weft.evaluate("C(i,k) = A(i,j)*B(j,k)", A=A, B=B)
        check(C._storage)
        assert C.nnz == 200 * 300
        np.testing.assert_array_equal(C.todense(), np.outer(np.where(np.arange(200) == 4, 3.0, fill), b[1]))
        x = weft.asarray(b[1], format="s")
        v = weft.from_coords([[4]], [3.0], shape=(200,), fill_value=fill, format="s")
        np.testing.assert_array_equal(weft.evaluate("C(i,k) = v(i)*x(k)", v=v, x=x).todense(), C.todense())


def test_a_maximum_over_nothing_is_an_error():
    A = weft.from_coords(np.empty((2, 0), int), np.empty(0), shape=(3, 0), format="csr")
    with pytest.raises(weft.errors.ShapeError, match="no identity"):
        weft.evaluate("y(i) = max(j, A(i,j))", A=A)


def test_a_condition_decides_beside_a_zero_of_the_other_sign():
    """Where ``x`` stores nothing, ``-x(i)`` is -0.0, and what ``A`` does not store stays 0.0."""
    A = np.where(np.arange(20).reshape(4, 5) % 3, 0.0, 2.0)
    x = np.array([0.0, 3.0, 0.0, 4.0])
    text = "y(i,j) = left(select(A(i,j), -x(i)), A(i,j))"
    found = weft.evaluate(text, format="coo", A=weft.asarray(A, format="csr"), x=weft.asarray(x, format="coo"))
    assert found.nnz == np.count_nonzero(A)
    np.testing.assert_array_equal(found.todense(), np.where(A, -x[:, None], 0))


def test_a_sign_that_promotion_gives_to_zero_is_sized_for():
    """Minus an integer zero is zero, minus what it is promoted to is -0.0: then every coordinate is computed."""
    entries = weft.from_coords([[1], [0]], np.array([3]), (2, 4), format="coo")
    found = weft.evaluate("y(j) = -sum(k, s*-C(j,k))", s=2 + 0j, C=entries, format="s")
    np.testing.assert_array_equal(found.todense(), [0, 6])
    empty = weft.from_coords(np.empty((2, 0), int), np.empty(0, int), (2, 0), format="coo")
    assert weft.evaluate("y(j) = -sum(k, s*-C(j,k))", s=2 + 0j, C=empty, format="s").todense().tolist() == [0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "y(i) = 0 - C(i,j)", "y(i) = C(i,j) + (2 - 2)", "y(i) = 7 - C(i,j)", "y(i) = 3 + C(i,j) - 3",
        "y(j) = -(1 + 2) - C(i,j) - 1", "y(i,k) = 0 - C(i,j)*D(k,j)", "y(i,k) = 2 - 1.5 - C(i,j)*D(k,j)",
        "y(i,j) = 0 + C(i,j) - 0 + D(i,j)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_constants_beside_sums(text, dtype):
    """A constant term is where a dense result begins, zero among them: it is there although nothing is added."""
    arrays = {"C": np.array([[0, 1], [0, 0], [4, 5]], dtype), "D": np.array([[4, 5], [0, 0], [0, 1]], dtype)}
    arrays = {name: array for name, array in arrays.items() if f"{name}(" in text}
    expected = evaluate_dense(parse(text), arrays)

    def compute(case):
        format, result = case
        given = {name: weft.asarray(array, format=format) for name, array in arrays.items()}
        found = weft.evaluate(text, format=result, **given)
        found = found.todense() if isinstance(found, weft.SparseTensor) else found
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)

    formats = ("dense", "dense_f", "csr", "coo", "dia", "bsr", "dcsr")
    together(itertools.product(formats, (None, "dense", "s" if expected.ndim == 1 else "coo")), compute)


def test_a_literal_zero_is_not_an_absent_operand():
    """Zero times NaN is NaN where NaN is stored, and every element of a dense operand is computed."""
    A = weft.from_coords([[0, 1], [1, 0]], [np.nan, 2.0], shape=(2, 2), format="csr")
    np.testing.assert_array_equal(weft.evaluate("C(i,j) = A(i,j)*0", A=A).todense(), [[0, np.nan], [0, 0]])
    np.testing.assert_array_equal(weft.evaluate("y(i) = B(i)*(2 - 2)", B=np.array([np.inf, 3.0])), [np.nan, 0])


@pytest.mark.parametrize(("format", "zeros"), [("csr", (0.0, -0.0)), ("csc", (-0.0, 0.0))])
def test_zeros_of_both_signs_have_plans_of_their_own(format, zeros):
    """Beside a fill value that is read at run time, the sign of a known one still decides the result's."""
    B = weft.asarray([[0.5, 2.0, 2.0]], format=format, fill_value=2.0)
    for zero in zeros:  # each format has plans for one zero before those for the other
        A = weft.asarray([[zero, -1.0, zero]], format=format, fill_value=zero)
        np.testing.assert_array_equal(weft.copysign(B, A).todense(), np.copysign(B.todense(), A.todense()))


MASKED = {
    "y(i) = -(M(i)*B(i))": lambda m, b: -(m * b),
    "y(i,j) = -(M(i)*B(j))": lambda m, b: -np.multiply.outer(m, b),
    "y(i) = 1 - M(i)*B(i)": lambda m, b: 1 - m * b,
    "y = sum(i, -(M(i)*B(i)))": lambda m, b: -(m * b).sum(),
    "y = max(i, -(B(i)*M(i)))": lambda m, b: (-(m * b)).max(),
    "y(j) = sum(i, -select(M(i), B(j)))": lambda m, b: -m.sum() * b,
    "y(i) = -select(M(i), B(i))": lambda m, b: -np.where(m, b, 0),
    "y(i) = invert(logical_and(B(i), M(i)*B(i)))": lambda m, b: ~(m & (b != 0)),
    "y(i,j) = invert(logical_and(B(i), M(j)*B(j)))": lambda m, b: ~np.logical_and.outer(b, m * b),
}


@pytest.mark.parametrize("text", MASKED)
def test_what_an_absent_operand_decides_has_the_dtype_of_the_result(text):
    """An absent entry of a mask makes a product of numbers zero, and no boolean: booleans cannot be negated."""
    m = np.array([True, False, True])

    def compute(case):
        dtype, *formats = case
        b = np.array([1, 0, 2], dtype)
        M, B = (weft.asarray(x, format=format) for x, format in zip((m, b), formats, strict=True))
        found, expected = weft.evaluate(text, M=M, B=B), MASKED[text](m, b)
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(found.todense() if np.ndim(found) else found, expected)

    together(
        itertools.product(("int64", "float64", "complex128"), ("s", "coo", "dense"), ("s", "coo", "dense")), compute
    )
