"""Entries with one coordinate are summed in the tensor's own dtype, whatever is computed of the sum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.dtypes import adds_alike
from weft.formats import Compressed, Dense, Format, Offset, Range, Slots, Squeezed

ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 2, 3]), np.array([1, 1, 0, 2, 0, 0, 1])
VALUES = {
    "bool": [True, True, False, True, False, True, False],
    "int8": [100, 100, 3, -100, -100, -100, 127],
    "uint8": [200, 100, 3, 255, 255, 1, 2],
    "int32": [2**31 - 1, 5, 3, -(2**31), -7, 2, 1],
    "uint64": [2**64 - 1, 2, 3, 2**63, 2**63, 2**63, 1],
    "float32": [1.5, 2.0, -3.0, 0.25, 1.0, -1.0, 4.0],
    "complex64": [1.5 + 1j, 2.0, -3.0j, 0.25, 1.0, -1.0, 4.0],
}
X, V = np.arange(12.0).reshape(4, 3) / 4 + 0.5, np.array([0.5, 2.0, -1.0])


def tensor(dtype, kind):
    """Duplicates in order, in no order, and in the rows of csr."""
    values = np.array(VALUES[dtype], dtype)
    order = {"ordered": slice(None), "unordered": [4, 0, 6, 2, 5, 1, 3]}.get(kind)
    if order is None:
        found = weft.asarray(sp.csr_array((values, COLUMNS, [0, 2, 3, 6, 7]), shape=(4, 3)))
    else:
        found = weft.from_coords([ROWS[order], COLUMNS[order]], values[order], (4, 3), duplicates="keep")
    assert not found.layout.is_unique
    return found


def reference(dtype):
    dense = np.zeros((4, 3), dtype)
    np.add.at(dense, (ROWS, COLUMNS), np.array(VALUES[dtype], dtype))
    return dense


OPERATIONS = {
    "todense": lambda A: A,
    "astype wide": lambda A: A.astype(np.complex128),
    "astype int64": lambda A: A.astype(np.int64),
    "astype bool": lambda A: A.astype(bool),
    "plus dense": lambda A: A + X,
    "times dense": lambda A: A * X,
    "times vector": lambda A: A @ V,
    "from the left": lambda A: np.ones(4) @ A,
    "times integers": lambda A: A @ np.array([3, 2, 1]),
    "times itself": lambda A: A @ A.T,
    "times a number": lambda A: A * 0.5,
    "divided": lambda A: A / 2,
    "times infinity": lambda A: (A * np.inf)[ROWS, COLUMNS],  # where something is stored
    "sum": lambda A: A.sum(),
    "sum of rows": lambda A: A.sum(axis=1),
    "sum in float64": lambda A: A.sum(axis=0, dtype=np.complex128),
    "mean": lambda A: A.mean(axis=0),
    "unequal": lambda A: A != 0,
    "joined with float64": lambda A: (np if isinstance(A, np.ndarray) else weft).concatenate([A, X]),
    "einsum": lambda A: (np if isinstance(A, np.ndarray) else weft).einsum("ij,j,i->", A, V, np.ones(4)),
}


def dense(x):
    return x.todense() if isinstance(x, weft.SparseTensor) else np.asarray(x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("kind", ["ordered", "unordered", "csr"])
@pytest.mark.parametrize("dtype", VALUES)
def test_duplicates_are_summed_in_their_own_dtype(dtype, kind):
    A, whole = tensor(dtype, kind), reference(dtype)
    for name, operation in OPERATIONS.items():
        found, wanted = dense(operation(A)), np.asarray(operation(whole))
        assert found.dtype == wanted.dtype, name
        np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=name)


TEXTS = [
    "y(i) = 0.5*sum(j, A(i,j)*b(j))",
    "y(i) = A(i,j)*v(j)",
    "y(i,j) = A(i,j) + X(i,j)",
    "y(i,j) = A(i,j)*X(i,j) + A(i,j)",
    "y(i) = max(j, A(i,j)*v(j))",
    "y = A(i,j)",
    "y(i) = w*sum(j, A(i,j)) + z(i)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_expressions_of_duplicates(text):
    for dtype in ("bool", "int8", "uint64", "float32"):
        given = {"b": np.array([1, 2, 3], dtype), "v": V, "X": X, "w": 0.5, "z": np.ones(4)}
        given = {name: x for name, x in given.items() if name + "(" in text or name + "*" in text}
        wanted = weft.evaluate(text, A=reference(dtype), **given)
        for kind in ("ordered", "unordered", "csr"):
            found = weft.evaluate(text, A=tensor(dtype, kind), **given)
            assert dense(found).dtype == dense(wanted).dtype
            np.testing.assert_allclose(dense(found), dense(wanted), rtol=1e-5, err_msg=f"{dtype} {kind}")


def test_rows_of_a_list_are_summed_before_they_are_converted():
    A = weft.from_coords([[0, 0], [0, 1]], np.array([100, 100], "int8"), (1, 2))  # no duplicates, a sum that wraps
    b = np.array([1, 1], "int8")
    assert weft.evaluate("y(i) = 0.5*sum(j, A(i,j)*b(j))", A=A, b=b).tolist() == [-28.0]


def test_a_kernel_converts_sums():
    k = weft.compile("y(i) = A(i,j)*v(j)", A="coo", v="dense")
    np.testing.assert_allclose(k(tensor("int8", "unordered"), V), reference("int8") @ V)
    np.testing.assert_allclose(k(tensor("bool", "ordered"), V), reference("bool") @ V)


def test_duplicates_that_are_safe_stay_where_they_are():
    A = tensor("float32", "unordered")
    assert A.astype(np.float64).nnz == A.nnz == 7  # the arrays of coordinates are shared
    assert (A * 2).nnz == 7
    assert "converted" not in weft.explain("ij,j->i", A, np.ones(3, np.float32), stages=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "float32", "complex64"])
def test_adds_alike_is_what_numpy_does(dtype):
    rng = np.random.default_rng(0)
    for other in ("bool", "int8", "uint16", "int64", "float32", "float64", "complex128"):
        if not adds_alike(np.dtype(dtype), np.dtype(other)):
            continue
        bits = rng.integers(0, 256, 64 * np.dtype(dtype).itemsize, np.uint8)
        whole = bits.view(dtype) if np.dtype(dtype).kind in "iu" else rng.integers(0, 2, 64).astype(dtype)
        a, b = whole.reshape(2, -1)
        np.testing.assert_array_equal((a + b).astype(other), a.astype(other) + b.astype(other))


def blocks(order=(0, 1, 2, 3, 4)):
    """A bsr_array of SciPy with blocks that come twice, perhaps in no order."""
    order = list(order)
    data, columns = np.arange(1.0, 21).reshape(5, 2, 2) - 6, np.array([1, 1, 0, 1, 1])
    return sp.bsr_array((data[order], columns[order], [0, 2, 5]), shape=(4, 4))


OF_BLOCKS = {
    **{name: OPERATIONS[name] for name in ("todense", "from the left", "times itself", "sum", "mean", "unequal")},
    "greatest": lambda A: A.max(axis=0),
    "square": lambda A: A * A,
    "transpose": lambda A: A.T,
    "times a vector": lambda A: A @ np.arange(4.0),
    "times a matrix": lambda A: A @ np.arange(8.0).reshape(4, 2),
    "element": lambda A: A[1, 2],
    "row": lambda A: A[1],
    "part": lambda A: A[1:, ::2],
}


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (1, 0, 4, 2, 3)], ids=["ordered", "unordered"])
def test_blocks_that_come_twice_are_summed(order):
    S = blocks(order)
    A, whole = weft.asarray(S), S.toarray()
    assert A.format == "bsr"
    assert not A.layout.is_unique
    for name, run in OF_BLOCKS.items():
        np.testing.assert_allclose(dense(run(A)), np.asarray(run(whole)), err_msg=name)
    B = weft.asarray(np.tri(4), format=A.canonical().layout)
    np.testing.assert_allclose((A @ B).todense(), whole @ np.tri(4))
    np.testing.assert_allclose((A + B).todense(), whole + np.tri(4))
    A[0, 3], A[2] = 7, 0
    whole[0, 3], whole[2] = 7, 0
    np.testing.assert_allclose(A.todense(), whole)
    for format in ("csr", "coo", "csc", "bsr", "dia", "hash", "dense"):
        np.testing.assert_allclose(weft.asarray(S).asformat(format).todense(), S.toarray(), err_msg=format)


def test_blocks_that_come_twice_in_files(tmp_path):
    sp.save_npz(tmp_path / "of_scipy.npz", blocks())
    weft.save_npz(tmp_path / "own.npz", weft.asarray(blocks()))
    for name in ("of_scipy.npz", "own.npz"):
        A = weft.load_npz(tmp_path / name)
        assert not A.layout.is_unique
        np.testing.assert_array_equal(A.todense(), blocks().toarray())
        np.testing.assert_array_equal(A.to_scipy_sparse().toarray(), blocks().toarray())
        np.testing.assert_array_equal(A.canonical().to_scipy_sparse("bsr").toarray(), blocks().toarray())


def test_levels_of_ones_own_that_come_twice():
    rows = Format("(i,j) -> (i,j)", [Compressed(unique=False), Dense()])
    A = weft.from_levels((2, 2), rows, [([0, 2], [1, 1]), None], [1.0, 2.0, 3.0, 4.0])
    assert A.todense().tolist() == [[0, 0], [4, 6]]
    assert A.sum() == 10
    lists = Format("(i,j) -> (i,j)", [Compressed(unique=False), Compressed()])
    B = weft.from_levels((3, 3), lists, [([0, 2], [1, 1]), ([0, 2, 3], [0, 1, 0])], [1.0, 2.0, 4.0])
    assert B.todense().tolist() == [[0, 0, 0], [5, 2, 0], [0, 0, 0]]
    assert B.max() == 5


def test_formats_that_add_what_comes_twice():
    diagonals = Format("(i,j) -> (j-i,i,j)", [Squeezed(unique=False), Range(), Offset()])
    A = weft.from_levels((2, 2), diagonals, [([3], [-1, 1, 1]), ([2],), None], [0.0, 1, 2, 0, 3, 0])
    assert A.todense().tolist() == [[0, 5], [1, 0]]
    assert A.T.asformat(diagonals).todense().tolist() == [[0, 1], [5, 0]]


def test_products_inside_a_sum_of_unordered_duplicates():
    A = weft.asarray(sp.csr_array((np.array([1.0, 2, 3, 4]), [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3)))
    assert not A.is_ordered
    P, Q = np.ones((2, 2)), np.asfortranarray(np.ones((2, 3)))
    found = weft.evaluate("C(i,j) = A(i,j)*P(i,k)*Q(k,j)", A=A, P=P, Q=Q, format="dense")
    np.testing.assert_array_equal(dense(found), [[4, 0, 8], [0, 8, 0]])


def test_sums_without_zeros_are_counted_by_what_duplicates_add_up_to():
    coords = np.array([[0, 0, 1, 2, 2], [1, 1, 2, 0, 0]])
    A = weft.from_coords(coords, [2.0, -2.0, 3.0, 0.0, 4.0], (3, 3), duplicates="keep")
    S = A + A
    assert S.nnz == 2
    assert S.todense().tolist() == [[0, 0, 0], [0, 0, 6], [8, 0, 0]]


def test_slots_hold_each_coordinate_once():
    format = Format("(i) -> (i/2,i%2)", [Squeezed(), Slots()])
    for dense in (np.array([6.0]), np.array([6.0, 0, 3, 1, 0])):
        A = weft.asarray(dense).asformat(format)
        np.testing.assert_array_equal((A + A).todense(), 2 * dense)
        found = weft.evaluate("C(i) = A(i) + A(i)*A(i)", A=A, format=format)
        assert found.nnz == np.count_nonzero(dense)
        np.testing.assert_array_equal(found.todense(), dense + dense**2)
