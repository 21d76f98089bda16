"""``out``, ``order``, ``casting`` and ``dtype`` of einsum, and subscripts beyond ASCII, against NumPy."""

import itertools

import numpy as np
import opt_einsum
import pytest

import weft
from weft.errors import DTypeError

X = np.array([[3, 0, 2], [0, 5, 7]])
Y = np.array([[1, 4], [0, 2], [6, 0]])


def _outcome(call, *args, **keywords):
    try:
        return call(*args, **keywords)
    except TypeError:
        return TypeError


@pytest.mark.parametrize("einsum", [weft.einsum, np.einsum])
@pytest.mark.parametrize("casting", ["safe", "same_kind", "unsafe", "no"])
def test_dtypes_and_casting(einsum, casting):
    for own, wanted, given in itertools.product(("int64", "float64"), (None, "int64", "float64", "float32"), (0, 1)):
        x, y = X.astype(own), Y.astype(own)
        A, B = weft.asarray(x, format="csr"), weft.asarray(y, format="csr")
        for kind in ("float32", "float64") if given else (None,):
            outs = [None if kind is None else np.zeros((2, 2), kind) for _ in range(2)]
            keywords = {"dtype": wanted, "casting": casting}
            expected = _outcome(np.einsum, "ij,jk->ik", x, y, out=outs[0], **keywords)
            found = _outcome(einsum, "ij,jk->ik", A, B, out=outs[1], **keywords)
            if expected is TypeError:
                assert found is TypeError
                continue
            assert found.dtype == expected.dtype
            assert kind is None or found is outs[1]
            np.testing.assert_array_equal(found if kind else found.todense(), expected)


def test_operands_are_converted_before_they_are_multiplied():
    x = np.array([1.5, 2.5])
    A = weft.asarray(x, format="coo")
    for wanted in ("int64", "float64", "complex64"):
        keywords = {"dtype": wanted, "casting": "unsafe"}
        for count in (1, 2, 3):
            subscripts = ",".join(["i"] * count) + "->"
            expected = np.einsum(subscripts, *[x] * count, **keywords)
            for optimize in ("auto", True, False):
                found = weft.einsum(subscripts, *[A] * count, optimize=optimize, **keywords)
                assert (found, found.dtype) == (expected, expected.dtype)


def test_results_in_what_is_given():
    A, B = weft.asarray(1.0 * X, format="csr"), weft.asarray(1.0 * Y, format="csr")
    for out in (weft.zeros((2, 2), format="csc"), weft.zeros((2, 2), format="dense"), np.ones((2, 2), order="F")):
        for call in (weft.einsum, np.einsum):
            assert call("ij,jk->ik", A, B, out=out) is out
            np.testing.assert_array_equal(out if isinstance(out, np.ndarray) else out.todense(), X @ Y)
    total = np.zeros(())
    assert np.einsum("ij->", A, out=total) is total
    assert total == X.sum()
    with pytest.raises(ValueError, match="shape"):
        weft.einsum("ij,jk->ik", A, B, out=np.zeros((2, 3)))
    with pytest.raises(DTypeError, match="operand 1 from float64 to int64 by the rule 'safe'"):
        weft.einsum("ij,jk->ik", A.astype("int64"), B, dtype="int64")


@pytest.mark.parametrize("order", ["C", "F", "A", "K", "f", None])
def test_memory_order(order):
    x, y = 1.0 * X, 1.0 * Y
    for a, b in ((x, y), (np.asfortranarray(x), np.asfortranarray(y))):
        expected = np.einsum("ij,jk->ik", a, b, order=order)
        for found in (
            np.einsum("ij,jk->ik", a, weft.asarray(b), order=order),
            np.einsum("ij,jk->ik", weft.asarray(a), weft.asarray(b), order=order).todense(),
        ):
            np.testing.assert_array_equal(found, expected)
            if order not in ("K", None):
                assert found.flags.f_contiguous == expected.flags.f_contiguous
    sparse = np.einsum("ij,jk->ik", weft.asarray(x, format="csr"), weft.asarray(y, format="csr"), order=order)
    assert sparse.format == "csr"


def test_orders_and_rules_that_there_are_not():
    A = weft.asarray(X, format="csr")
    for keywords, text in (({"order": "X"}, "order must be one of"), ({"casting": "always"}, "casting must be one of")):
        with pytest.raises(ValueError, match=text):
            weft.einsum("ij->i", A, **keywords)


def test_subscripts_beyond_ascii():
    A, B = weft.asarray(X, format="csr"), weft.asarray(Y, format="csr")
    for call in (weft.einsum, np.einsum, opt_einsum.contract):
        for subscripts in ("αβ,βγ->αγ", "aé,éb->ab", "À×,×÷->À÷", "ij,jж->iж"):
            np.testing.assert_array_equal(call(subscripts, A, B).todense(), X @ Y)
    np.testing.assert_array_equal(weft.einsum("γβ,βα", A, B).todense(), (X @ Y).T)  # in the order of the letters
    for optimize in ("auto", True, False):
        np.testing.assert_array_equal(weft.einsum("αβ,βγ,γδ", A, B, A, optimize=optimize).todense(), X @ Y @ X)
    with pytest.raises(weft.errors.ShapeError, match=r"'αβγ,βγ->αγ'"):
        weft.einsum("αβγ,βγ->αγ", A, B)
    text = weft.explain("αβ,βγ->αγ", A, B, stages=True)
    assert "u3b1" in text
    assert text == weft.explain("αβ,βγ->αγ", A, B, stages=True)


def test_more_indices_than_letters():
    count = 60
    names = [opt_einsum.get_symbol(k) for k in range(count + 1)]
    subscripts = ",".join(a + b for a, b in itertools.pairwise(names)) + f"->{names[0]}{names[-1]}"
    x = np.array([[0.0, 1.0], [1.0, 1.0]]) / 1.5
    A = weft.asarray(x, format="csr")
    found = opt_einsum.contract(subscripts, *[A] * count)
    np.testing.assert_allclose(found.todense(), np.linalg.matrix_power(x, count))
