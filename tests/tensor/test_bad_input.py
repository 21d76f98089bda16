"""What cannot be done is refused by a typed error that repeats the expression, the shapes and the formats."""

import operator

import numpy as np
import pytest

import weft
from weft.errors import (
    DensifyError,
    DTypeError,
    FormatError,
    NotationError,
    ResultTooLargeError,
    ShapeError,
    StorageError,
)

A = weft.random((3, 4), nnz=5, format="csr", rng=0)
B = weft.random((5, 6), nnz=5, format="coo", rng=0)
X = np.ones(3)
WIDE = weft.random((10**6, 10**6), nnz=20_000, rng=0)
ONES = np.ones(10**6)
FAR = weft.from_coords([[1]], [-70_000], shape=(3,))


@pytest.mark.parametrize(
    ("run", "error", "words"),
    [
        (lambda: A @ B, ShapeError, ["matmul", "(3, 4) csr", "(5, 6) coo"]),
        (lambda: A @ X, ShapeError, ["matmul", "(3, 4) csr", "(3,) dense"]),
        (lambda: A + B, ShapeError, ["add", "(3, 4) csr", "(5, 6) coo"]),
        (lambda: weft.maximum(A, B), ShapeError, ["maximum", "(3, 4) csr", "(5, 6) coo"]),
        (lambda: weft.einsum("ij,jk->ik", A, B), ShapeError, ["'ij,jk->ik'", "j is 4", "(5, 6)", "csr, coo"]),
        (lambda: weft.einsum("ijk,jk->ik", A, B), ShapeError, ["'ijk,jk->ik'", "operand 0 has 2 axes", "csr, coo"]),
        (lambda: weft.einsum("ii->i", A), ShapeError, ["'ii->i'", "diagonal", "(3, 4)", "csr"]),
        (lambda: weft.einsum("ij->ik", A), NotationError, ["ij->ik", "'k' is in the output"]),
        (lambda: weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=X), ShapeError, ["A(i,j)*x(j)", "(3, 4) csr", "dense"]),
        (lambda: weft.evaluate("y(i) = A(i,j,k)*x(j)", A=A, x=X), ShapeError, ["A(i,j,k)", "2 axes", "csr"]),
        (lambda: weft.evaluate("y(i) = A(i,i)", A=A), ShapeError, ["A(i,i)", "(3, 4) csr"]),
        (lambda: weft.evaluate("y(i) = C(i,j)*x(j)", A=A, x=X), NotationError, ["'A'", "C(i,j)*x(j)"]),
        (lambda: weft.evaluate("y(i) = A(i,j)*x(j)", A=A), NotationError, ["x", "A(i,j)*x(j)"]),
        (lambda: weft.evaluate("y(i) = A(i,j))", A=A), NotationError, ["closes nothing", "^"]),
        (
            lambda: WIDE.todense(),
            ResultTooLargeError,
            ["8,000,000,000,000 bytes", "(1000000, 1000000)", "coo to dense"],
        ),
        (lambda: weft.einsum("i,j->ij", ONES, ONES), ResultTooLargeError, ["bytes", "A(i)*B(j)", "(1000000,) dense"]),
        (lambda: WIDE.asformat("dia"), ResultTooLargeError, ["bytes", "dia", "(1000000, 1000000)"]),
        (lambda: weft.asarray(np.array([[1, None]], object)), DTypeError, ["object", "float64"]),
        (lambda: weft.asarray(np.array(["a"])), DTypeError, ["U1", "float64"]),
        (lambda: weft.asarray(np.array(["2020-01-01"], "datetime64[D]")), DTypeError, ["datetime64", "float64"]),
        (lambda: weft.from_coords([[0, 5]], [1.0, 2.0], shape=(3,)), StorageError, ["coordinate 5 of entry 1", "(3,)"]),
        (lambda: weft.from_coords([[0, -1]], [1.0, 2.0], shape=(3,)), StorageError, ["coordinate -1", "0 to 2"]),
        (lambda: weft.from_coords([[0, 1], [1, 1], [2, 0]], [1.0, 2.0, 3.0]), ShapeError, ["coords.T"]),
        (lambda: weft.SparseTensor(np.eye(3)), TypeError, ["ndarray", "weft.asarray(x"]),
        (lambda: type(A)(None), TypeError, ["NoneType", "weft.asarray(x"]),
        (lambda: weft.csr_array(5, 5), ShapeError, ["csr_array((5, 5))"]),
        (lambda: weft.explain(A + A), NotationError, ["not a result", "weft.explain("]),
        (lambda: weft.evaluate("y(i) = A(i,j)*x(j)"), NotationError, ["A and x", "A=..., x=..."]),
        (lambda: weft.einsum("row col, col -> row", A, X), ShapeError, ["a subscript is one letter"]),
        (lambda: A.max(axis="rows"), TypeError, ["axis is an integer", "'rows'"]),
        (lambda: weft.median(A, axis=(0, "rows")), TypeError, ["axis is an integer", "'rows'"]),
        (lambda: weft.sort(A, axis=1.5), TypeError, ["axis is an integer", "1.5"]),
        (lambda: weft.from_coords([[0, 1, 2]], [1.0, 2.0], shape=(3,)), ShapeError, ["(1, 3)", "(2,)"]),
        (lambda: weft.asarray(np.eye(3), format="nope"), FormatError, ["'nope'", "csr"]),
        (lambda: np.asarray(A), DensifyError, ["(3, 4)", "todense()"]),
        (lambda: bool(A), ValueError, ["(3, 4)", "ambiguous", "weft.array_equal"]),
        (lambda: A.reshape(5, 5), ValueError, ["12", "(5,5)"]),
        (lambda: A[5], IndexError, ["5", "axis 0", "size 3"]),
        (
            lambda: weft.compile("y(i) = A(i,j)*x(j) + z(i)", A="csr", dtypes={"A": "int8", "x": "int8", "z": "int64"}),
            DTypeError,
            ["sum(j, A(i,j)*x(j))", "int8", "y(i) = A(i,j)*x(j) + z(i)", "evaluate"],
        ),
        (
            lambda: weft.compile("y(i) = x(i)", dtypes={"x": "int8"})(x=[3, 300]),
            DTypeError,
            ["x holds 300", "int8 cannot hold", "dtypes={'x': 'int64'}"],
        ),
        (lambda: weft.compile("y(i) = x(i)", x="coo", dtypes={"x": "int16"})(x=FAR), DTypeError, ["x holds -70000"]),
        (
            lambda: weft.compile("y(i) = 0.5*x(i)", dtypes={"y": "int64"}),
            DTypeError,
            ["makes float64, whose fractions int64 cannot hold", "y(i) = 0.5*x(i)", ".astype('int64')"],
        ),
        (lambda: weft.evaluate("y(i) = x(i)/2", x=[3, 4], dtype="int32"), DTypeError, ["fractions int32"]),
        (lambda: weft.evaluate("y(i) = 1j*x(i)", x=[3j, 4.0], dtype=float), DTypeError, ["imaginary parts float64"]),
        (lambda: A[np.array([1.0])], IndexError, ["integer (or boolean)", "float64"]),
        (lambda: A[0, np.array(["a"])], IndexError, ["integer (or boolean)"]),
        (lambda: A.copy().__setitem__(np.array([1.0]), 0.0), IndexError, ["integer (or boolean)"]),
        (lambda: A * "a", TypeError, ["for *: 'SparseTensor' and 'str'"]),
        (lambda: b"ab" * A, TypeError, ["'bytes' and 'SparseTensor'"]),
        (lambda: weft.linalg.matrix_power(A[:, :3], 1.5), TypeError, ["exponent", "1.5"]),
        (lambda: A.reduce(A), TypeError, ["ufunc", "SparseTensor"]),
        (lambda: A.sum(axis=7), np.exceptions.AxisError, ["axis 7", "dimension 2"]),
    ],
)
def test_errors_say_what_was_asked(run, error, words):
    with pytest.raises(error) as caught:
        run()
    for word in words:
        assert word in str(caught.value), str(caught.value)


ROWS = np.array([0, 1, 2, 3])


@pytest.mark.parametrize(
    ("pos", "crd", "message"),
    [
        (np.array([0, 2, 1, 3]), [0, 1, 2], "pos decreases"),
        (np.array([1, 1, 2, 3]), [0, 1, 2], "pos starts at 1"),
        (ROWS, [0, 1, 7], r"outside \[0, 4\)"),
        (ROWS, [0, 1, -1], r"outside \[0, 4\)"),
        (ROWS, [0, 1], "pos ends at 3, but crd has 2"),
        (ROWS[:3], [0, 1], "pos has 3"),
        (ROWS.astype(float), [0, 1, 2], "dtype float64"),
        (ROWS.astype(np.int16), [0, 1, 2], "dtype int16"),
        (np.array([0, 2, 2, 3]), [1, 1, 2], "duplicates within a segment"),
        (np.array([0, 2, 2, 3]), [3, 1, 2], "not sorted within its segments"),
    ],
)
def test_level_arrays(pos, crd, message):
    with pytest.raises(StorageError, match=message) as caught:
        weft.from_levels((3, 4), "csr", [None, (pos, np.array(crd))], np.ones(len(crd)))
    assert "level 2 (compressed)" in str(caught.value)
    assert "csr" in str(caught.value)


def test_nothing_is_lost_when_an_operation_is_refused():
    before = A.todense()
    for run in (
        lambda: A @ B,
        lambda: operator.iadd(A, B),
        lambda: A.__setitem__((9, 9), 1.0),
        lambda: A.asformat("nope"),
    ):
        with pytest.raises((ValueError, IndexError)):
            run()
        np.testing.assert_array_equal(A.todense(), before)


def test_outputs_that_cannot_be_written():
    out = np.zeros((3, 4))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.add(A, np.ones((3, 4)), out=out)
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(2, 2\)|\(2, 2\).*\(3, 4\)"):
        np.add(A, A, out=np.zeros((2, 2)))
    k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")
    with pytest.raises(NotationError, match=r"takes the operands A, x"):
        k(A)
    with pytest.raises(ShapeError, match=r"x has 2 axes instead of 1 in y\(i\)"):
        k(A, B)
    y = k.assemble(A, np.ones(4))
    y._storage.vals.flags.writeable = False
    with pytest.raises(FormatError, match="read-only"):
        k.compute(y, A, np.ones(4))


LEVELS = [None, (np.array([0, 1, 2, 2], np.int32), np.array([0, 1], np.int32))]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: weft.from_levels((3, 3), "csr", None, np.ones(2)), StorageError, "format csr, not None"),
        (lambda: weft.from_levels((3, 3), "csr", [1, 2], np.ones(2)), StorageError, "level 1 .*not a int"),
        (lambda: weft.from_levels(((3,), 3), "csr", LEVELS, np.ones(2)), ShapeError, "tuple of integers"),
        (lambda: weft.from_levels((3, 3), "csr", LEVELS, np.ones(2), fill_value="x"), DTypeError, "'x' of type str"),
        (lambda: weft.from_levels((3, 3), "csr", LEVELS, np.ones(2), fill_value=object()), DTypeError, "is a number"),
        (lambda: weft.from_coords([[0, 1]], np.ones(2), fill_value=None), DTypeError, "not None"),
        (lambda: weft.from_coords([[0, 1]], np.ones(2), fill_value=[1, 2]), DTypeError, "is a number"),
        (lambda: weft.from_coords(None, np.ones(2)), ShapeError, "one for each axis"),
    ],
)
def test_what_is_no_part_of_a_tensor(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: weft.evaluate("y(i) = A(i,j)*" + "9" * 400, A=A), NotationError, "number of 400 digits is beyond"),
        (lambda A: weft.evaluate(A), TypeError, "index notation is text, not SparseTensor"),
        (lambda A: weft.compile(A), TypeError, "index notation is text, not SparseTensor"),
        (lambda A: weft.query(A, A), TypeError, "a query is a text such as"),
        (lambda A: weft.nanreduce(A, 5), TypeError, "takes a ufunc such as numpy.add, not 5"),
        (lambda A: weft.nanreduce(A, np.subtract), ValueError, "subtract has no identity"),
        (lambda A: weft.choose(weft.asarray([0]), {}), TypeError, "a sequence of tensors"),
        (lambda A: weft.choose(weft.asarray([0]), []), ValueError, "no choices"),
        (lambda A: weft.select(5, 5), TypeError, "sequences of tensors, not 5 and 5"),
        (lambda A: weft.read_tns(A), TypeError, "a path or a stream"),
        (lambda A: weft.read_mtx(A), TypeError, "a path or a stream"),
    ],
)  # fmt: skip
def test_arguments_of_another_kind(call, error, message):
    with pytest.raises(error, match=message):
        call(weft.asarray(np.eye(2), format="csr"))
