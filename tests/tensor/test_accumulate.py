"""``+=`` in index notation: what it adds to, in every form, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, FormatError, NotationError, ShapeError

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")

A = np.array([[1.0, 0, 2, 0], [0, 0, 0, 0], [0, 5, 3, 0]])
X = np.arange(4.0)
S = weft.asarray(A, format="csr")
OLD = np.array([[0.0, 1, 2, 3], [0, 0, 5, 0], [7, 0, 0, 1]])


def strided(array):
    return np.repeat(array, 2, axis=0)[::2]


def dense(found):
    return found if isinstance(found, np.ndarray) else found.todense()


HOLDERS = [
    np.asfortranarray, strided, np.matrix, np.ndarray.tolist, sp.coo_array, sp.csr_matrix,
    *(lambda y, f=f: weft.asarray(y, format=f) for f in ("dense", "dense_f", "csr", "coo", "hash", "dia", "ell")),
]  # fmt: skip


@pytest.mark.parametrize("hold", HOLDERS)
def test_whatever_holds_the_left_hand_side(hold):
    y = hold(OLD.copy())
    np.testing.assert_array_equal(dense(weft.evaluate("y(i,j) += A(i,j)", y=y, A=S)), OLD + A)
    np.testing.assert_array_equal(dense(weft.evaluate("y(i,j) += x(j)", y=y, x=X)), OLD + X)  # broadcast
    np.testing.assert_array_equal(dense(hold(OLD)) if isinstance(y, weft.SparseTensor) else OLD, OLD)
    k = weft.compile("y(i,j) += A(i,j)", A="csr", y="dense")
    np.testing.assert_array_equal(dense(k(S, y)), OLD + A)
    np.testing.assert_array_equal(dense(k(A=S, y=y)), OLD + A)


@pytest.mark.parametrize("format", ["s", "coo", "hash_vector", "dok", "dense"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128", "bool"])
def test_formats_and_dtypes_of_vectors(format, dtype):
    old = np.array([0, 3, 1]).astype(dtype)
    found = weft.evaluate("y(i) += A(i,j)*x(j)", y=weft.asarray(old, format=format), A=S, x=X)
    np.testing.assert_array_equal(found, old + A @ X, strict=True)
    assert weft.evaluate("y(i) += z(i)", y=weft.asarray(old, format=format), z=weft.asarray(old)).dtype == dtype


def test_a_sparse_sum_stays_sparse():
    found = weft.evaluate("y(i,j) += A(i,j)", y=weft.asarray(OLD, format="csr"), A=S)
    assert found.format == "csr"
    assert found.nnz == np.count_nonzero(OLD + A)
    assert weft.evaluate("y(i,j) += A(i,j)", y=OLD, A=S, format="coo").format == "coo"
    assert weft.evaluate("y(i,j) += A(i,j)", y=OLD, A=S, dtype="complex64").dtype == np.complex64


@pytest.mark.parametrize(
    "value", ["exp(A(i,j))", "A(i,j)/d(j)", "A(i,j)*A(i,j) - exp(A(i,j))", "A(i,j) + min(k, A(i,k)*d(k))"]
)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "ell", "hash"])
def test_what_is_not_stored_is_added_too(value, format):
    operands = {"A": weft.asarray(A, format=format)} | ({"d": X + 1} if "d(" in value else {})
    whole = dense(weft.evaluate(f"y(i,j) = {value}", **operands))
    np.testing.assert_allclose(weft.evaluate(f"y(i,j) += {value}", y=OLD, **operands), OLD + whole)
    formats = {name: format if name == "A" else "dense" for name in operands}
    k = weft.compile(f"y(i,j) += {value}", **formats)
    np.testing.assert_allclose(dense(k(**operands, y=OLD)), OLD + whole)


def test_shapes_are_compared():
    for short in (np.zeros(2), np.zeros(0), weft.asarray(np.zeros(4), format="s")):
        with pytest.raises(ShapeError, match=r"y.*\b[024]\b"):
            weft.evaluate("y(i) += A(i,j)*x(j)", y=short, A=S, x=X)
        with pytest.raises(ShapeError, match=r"y has shape \(\d,\), but what is added has shape \(3,\)"):
            weft.compile("y(i) += A(i,j)*x(j)", A="csr")(S, X, short)
    for other in (1.0, np.ones((3, 1))):
        with pytest.raises(ShapeError, match=r"y has \d axes"):
            weft.evaluate("y(i) += A(i,j)*x(j)", y=other, A=S, x=X)
    empty = weft.asarray(np.zeros((0, 4)), format="csr")
    assert weft.evaluate("y(i) += A(i,j)*x(j)", y=np.zeros(0), A=empty, x=X).shape == (0,)


def test_the_left_hand_side_must_be_given():
    with pytest.raises(NotationError, match="names y, which is not given"):
        weft.evaluate("y(i) += A(i,j)*x(j)", A=S, x=X)
    with pytest.raises(NotationError, match="names y, which is not given"):
        weft.explain("y(i) += A(i,j)*x(j)", A=S, x=X)
    with pytest.raises(NotationError, match="takes the operands A, x, y, each once"):
        weft.compile("y(i) += A(i,j)*x(j)", A="csr")(S, X)
    with pytest.raises(DTypeError, match="operand y is of type str"):
        weft.evaluate("y(i) += A(i,j)*x(j)", y="abc", A=S, x=X)


def test_an_operand_may_be_the_left_hand_side():
    P = weft.asarray(np.roll(np.eye(5), 1, axis=0), format="csr")
    k = weft.compile("y(i) += P(i,j)*x(j)", P="csr")
    y = np.arange(5.0)
    np.testing.assert_array_equal(weft.evaluate("y(i) += P(i,j)*x(j)", y=y, P=P, x=y), y + np.roll(y, 1))
    np.testing.assert_array_equal(y, np.arange(5.0))
    for vector in (y, weft.asarray(np.arange(5.0)), np.arange(10.0)[::2]):
        wanted = dense(vector) + np.roll(dense(vector), 1)
        assert k.compute(vector, P, vector) is vector
        np.testing.assert_array_equal(dense(vector), wanted)
    twice = weft.compile("B(i,j) = 2*A(i,j)", A="csr")
    B = twice.compute(twice.assemble(S), S)
    np.testing.assert_array_equal(twice.compute(B, B).todense(), 4 * A)


@pytest.mark.parametrize("sign", ["=", "+="])
def test_compute_writes_into_ndarrays_by_the_rules_of_numpy(sign):
    k = weft.compile(f"Y(i,j) {sign} A(i,k)*B(k,j)", A="csr", B="dense")
    B = np.arange(8.0).reshape(4, 2)
    for array in (
        np.ones((3, 2)), np.ones((3, 2), order="F"), np.ones((6, 2))[::2], np.ones((3, 2), "f4"),
        np.ones((3, 2), "c16"), np.ones((3, 2), ">f8"), np.matrix(np.ones((3, 2))),
    ):  # fmt: skip
        old = array.copy()
        assert k.compute(array, S, B) is array
        np.testing.assert_array_equal(array, A @ B + (old if sign == "+=" else 0))
    frozen = np.zeros((3, 2))
    frozen.flags.writeable = False
    for wrong, error, text in [
        (np.zeros((3, 2), int), DTypeError, "makes float64, which an array of int64 cannot hold"),
        (np.zeros((2, 3)), ShapeError, r"fills an array of shape \(3, 2\), not one of \(2, 3\)"),
        (frozen, FormatError, "read-only"),
        ([[0.0, 0.0]] * 3, FormatError, "or an ndarray, not an object of type list"),
        (sp.csr_array((3, 2)), FormatError, "not an object of type csr_array"),
    ]:
        with pytest.raises(error, match=text):
            k.compute(wrong, S, B)
        assert not np.any(dense(wrong) if sp.issparse(wrong) else wrong)
    with pytest.raises(FormatError, match="fills a tensor in csr, not an ndarray"):
        weft.compile("B(i,j) = 2*A(i,j)", A="csr").compute(np.zeros((3, 4)), S)


def test_only_dense_results_are_added_to_in_place():
    with pytest.raises(FormatError, match=r"write result\(i,j\) = Y\(i,j\) \+ A\(i,j\), in which Y is an operand"):
        weft.compile("Y(i,j) += A(i,j)", A="csr", Y="csr")
    assert weft.compile("Y(i,j) += A(i,j)", A="csr")(S, OLD).shape == OLD.shape


def test_threads_and_schedules_add_to_the_given_values():
    rng = np.random.default_rng(0)
    a, x, y = rng.random((300, 40)), rng.random(40), rng.random(300)
    with weft.config.override(num_threads=2, parallel_threshold=0):
        for format in ("csr", "csc", "coo"):
            T = weft.asarray(a, format=format)
            np.testing.assert_allclose(weft.evaluate("y(i) += A(i,j)*x(j)", y=y, A=T, x=x), y + a @ x)
            k = weft.compile("y(i) += A(i,j)*x(j)", A=format)
            np.testing.assert_allclose(k(T, x, y), y + a @ x)
    k = weft.compile("y(i) += A(i,j)*x(j)", A="csc", schedule=lambda loops: loops.reorder("j", "i"))
    np.testing.assert_allclose(k(weft.asarray(a, format="csc"), x, y), y + a @ x)


def test_explain_tells_how_the_sum_is_computed():
    assert "y(i) += " in weft.explain("y(i) += A(i,j)*x(j)", y=np.ones(3), A=S, x=X)
    report = weft.explain("y(i) += A(i,j)*x(j)", y=weft.asarray(np.ones(3), format="s"), A=S, x=X)
    assert report.startswith("result(i) = y(i) + sum(j, A(i,j)*x(j))")


def test_a_named_format_leaves_the_dtype_to_the_operands():
    z = np.array([1 + 2j, 0, -3 - 2j])
    A = weft.asarray(z, format="s")
    for formats in ({}, {"y": "s"}, {"y": "dense"}, {"y": "hash_vector"}):
        k = weft.compile("y(j) = A(j)", A="s", dtypes={"A": "complex128"}, **formats)
        np.testing.assert_array_equal(dense(k(A)), z)
    assert weft.compile("y(j) = A(j)", A="s", y="s", dtypes={"A": "int32"})(A.real.astype("int32")).dtype == "int32"
    wide = weft.compile("y(j) = A(j)", A="s", y="s", dtypes={"y": "complex128"})(A.real)
    assert wide.dtype == np.complex128


def test_kernels_take_no_operand_whose_values_they_would_lose():
    k = weft.compile("y(j) = 2*A(j)", A="s")
    assert k(weft.asarray(np.arange(3), format="s")).dtype == np.float64
    with pytest.raises(DTypeError, match=r"A is complex128, which float64 cannot hold.*dtypes=\{'A': 'complex128'\}"):
        k(weft.asarray([1j, 0], format="s"))
    with pytest.raises(DTypeError, match="A is float64, which int64 cannot hold"):
        weft.compile("y(j) = 2*A(j)", A="s", dtypes={"A": "int64"})(weft.asarray([0.5, 0], format="s"))
