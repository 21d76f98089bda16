"""Integers of different dtypes, which wrap around where NumPy's do: each part in its own dtype."""

import numpy as np
import pytest

import weft

FORMATS = ["csr", "csc", "coo", "dia", "dok", "dense"]
PAIRS = [("int16", "uint8"), ("uint8", "int16"), ("int64", "uint32")]


def matrix(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    return (rng.integers(1, 120, shape) * (rng.random(shape) < 0.5)).astype(dtype)


@pytest.mark.parametrize("dtypes", PAIRS, ids="-".join)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_taken_off_is_converted_first(format, dtypes):
    x, y = (matrix((5, 6), dtype, seed) for seed, dtype in enumerate(dtypes))
    A, B = weft.asarray(x, format=format), weft.asarray(y, format=format)
    for found, wanted in [(A - B, x - y), (x - B, x - y), (A - y, x - y), (-A - B, -x - y)]:
        got = found.todense() if isinstance(found, weft.SparseTensor) else found
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("out", ["csr", "dense", "dok"])
@pytest.mark.parametrize("inner", ["csr", "dense"])
@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_sum_wraps_around_in_its_own_dtype(sign, inner, out):
    x, e, g = matrix((5, 6), "int16", 0), matrix((5, 4), "uint8", 1), matrix((4, 6), "uint8", 2)
    product = np.einsum("ik,kj->ij", e, g)
    assert (product != e.astype(int) @ g).any()  # it does wrap around
    operands = {"A": weft.asarray(x, format="coo")}
    operands |= {name: weft.asarray(y, format=inner) for name, y in (("E", e), ("G", g))}
    found = weft.evaluate(f"C(i,j) = A(i,j) {sign} sum(k, E(i,k)*G(k,j))", format=out, **operands)
    np.testing.assert_array_equal(found.todense(), x + product if sign == "+" else x - product)


@pytest.mark.parametrize("format", ["csr", "coo", "dok", "dia", "dense"])
def test_a_part_in_another_dtype_keeps_it(format):
    x, y, z = matrix((5, 6), "int16", 0), matrix((5, 6), "uint8", 1), matrix((5, 6), "uint8", 2)
    operands = {name: weft.asarray(v, format=format) for name, v in zip("ABC", (x, y, z), strict=True)}
    found = weft.evaluate("D(i,j) = A(i,j) - (B(i,j) - C(i,j))", **operands)
    np.testing.assert_array_equal(found.todense(), x - (y - z))


@pytest.mark.parametrize("number", [-1, 300])
@pytest.mark.parametrize("format", ["dense", "csr", "dok"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64"])
def test_numbers_that_a_dtype_does_not_hold(dtype, format, number):
    """Refused as by NumPy, in comparisons taken by their value; what is absent is compared the same way."""
    x = np.array([[0, 3, 0], [1, 0, 100]], dtype)
    A = weft.asarray(x, format=format)

    def computed(text):
        return weft.asarray(weft.evaluate(f"C(i,j) = {text}", A=A)).todense()

    for name in ("equal", "less", "greater_equal"):
        compare = getattr(np, name)
        np.testing.assert_array_equal(computed(f"{name}(A(i,j), {number})"), compare(x, number))
        np.testing.assert_array_equal(computed(f"{name}({number}, A(i,j))"), compare(number, x))
    for text, function in {"A(i,j)*{}": np.multiply, "A(i,j) + {}": np.add, "minimum(A(i,j), {})": np.minimum}.items():
        try:
            wanted = function(x, number)
        except OverflowError:
            with pytest.raises(OverflowError, match=f"{number} out of bounds for {dtype} in "):
                computed(text.format(number))
        else:
            np.testing.assert_array_equal(computed(text.format(number)), wanted)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("format", ["csr", "coo", "dense"])
def test_parts_beside_wider_numbers_stay_in_their_dtype(format, dtype):
    """Also where the stored values are computed as a vector: nobody has asked for the dtype of the result."""
    x, s = matrix((5, 6), dtype, 4), 2.0
    x[x > 100] = np.iinfo(dtype).min
    A = weft.asarray(x, format=format)
    for text, wanted in [
        ("y(i,j) = s*(-A(i,j))", s * -x),
        ("y = s*(-A(i,j))", (s * -x).sum()),
        ("y = s*(-(not_equal(A(i,j), 0)*A(i,j)))", (s * -x).sum()),
        ("y(i,j) = s*(A(i,j) + A(i,j))", s * (x + x)),
    ]:
        found = weft.evaluate(text, A=A, s=s)
        np.testing.assert_array_equal(found.todense() if isinstance(found, weft.SparseTensor) else found, wanted)
        kernel = weft.compile(text, A=format, dtypes={"A": dtype})
        found = kernel(A=A, s=s)
        np.testing.assert_array_equal(found.todense() if isinstance(found, weft.SparseTensor) else found, wanted)


def test_masks_are_negated_as_numbers_with_the_sums_that_they_select():
    """The loops of such a sum are priced without the sum inside it, where only the mask is left."""
    x = np.array([[1, 0, 3], [100, 2, 0]], np.uint32)
    A, rows = weft.asarray(x, format="csr"), x.sum(axis=1, keepdims=True, dtype=np.uint32)
    for text, wanted in [
        ("y = s*(-(not_equal(A(i,j), 0)*sum(j, A(i,j))))", (2.0 * -((x != 0) * rows)).sum()),
        ("y = s*(not_equal(A(i,j), 0)*sum(j, A(i,j)) - not_equal(A(i,j), 3)*sum(j, A(i,j)))",
         (2.0 * ((x != 0) * rows - (x != 3) * rows)).sum()),
    ]:  # fmt: skip
        assert weft.evaluate(text, A=A, s=2.0) == wanted
