"""Sums, products and the like of diagonals: kernels over the coordinates of levels, for operators and notation."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.config import config
from weft.formats import Compressed, Dense, Format, Offset, Range, Squeezed
from weft.storage import Storage, check, tensor_type

SHAPES = [(1, 1), (5, 5), (3, 7), (7, 3), (1, 9), (9, 1), (0, 3), (3, 0)]
OPERATORS = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.equal, np.less, np.logical_or, np.copysign]
TEXTS = {
    "A(i,j) + B(i,j)": np.add,
    "A(i,j) * B(i,j)": np.multiply,
    "maximum(A(i,j), B(i,j))": np.maximum,
    "A(i,j) - B(i,j)*2": lambda a, b: a - b * 2,
    "A(i,j)*B(i,j) + A(i,j)": lambda a, b: a * b + a,
}
FEW = {
    "other": ([-3, 1, 2], [-1, 0, 2]),
    "the same": ([-1, 0, 4], [-1, 0, 4]),
    "none": ([], []),
    "none and one": ([], [1]),
    "outside": ([-20, -1, 9], [1, 12]),
    "out of order": ([2, -1, 0], [1, 0]),
}


def diagonals(shape, offsets, seed=0, dtype=float, width=None, fill=0):
    """Return a dia tensor of small integers, some of them 0, with ``width`` columns in the array of values."""
    rng = np.random.default_rng(seed)
    data = rng.integers(-3, 4, (len(offsets), shape[1] if width is None else width)).astype(dtype)
    found = weft.asarray(scipy.sparse.dia_array((data, offsets), shape=shape))._storage
    if fill == 0:
        return weft.SparseTensor(found)
    type = tensor_type(found.type.dtype, found.format, found.type.index_dtypes, np.dtype(dtype).type(fill))
    return weft.SparseTensor(Storage(found.shape, type, found.arrays, found.vals))


def same(found, wanted):
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        found = found.todense()
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_operators_beside_numpy(shape, op):
    for offsets, others in FEW.values():
        A, B = diagonals(shape, offsets), diagonals(shape, others, 1)
        same(op(A, B), op(A.todense(), B.todense()))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("fill", [0, 1.5, np.inf, np.nan])
def test_notation_beside_numpy(text, fill):
    for shape in SHAPES:
        for offsets, others in FEW.values():
            A, B = diagonals(shape, offsets, fill=fill), diagonals(shape, others, 1)
            if fill and ("*" in text or "-" in text):
                B = diagonals(shape, others, 1, fill=1)
            with np.errstate(invalid="ignore"):
                wanted = TEXTS[text](A.todense(), B.todense())
            same(weft.evaluate(f"C(i,j) = {text}", A=A, B=B), wanted)


@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 5)
def test_arrays_that_are_too_short_hold_nothing_behind(data):
    shape = data.draw(st.sampled_from(SHAPES))
    some = st.lists(st.integers(-shape[0] - 1, shape[1] + 1), max_size=4, unique=True)
    widths = st.integers(0, shape[1])
    A, B, C = (
        diagonals(
            shape, sorted(data.draw(some)), seed, width=data.draw(widths), fill=data.draw(st.sampled_from([0, 2]))
        )
        for seed in range(3)
    )
    D, E, F = (X.todense() for X in (A, B, C))
    same(weft.evaluate("R(i,j) = A(i,j) + B(i,j) + C(i,j)", A=A, B=B, C=C, format="dia"), D + E + F)
    same(weft.evaluate("R(i,j) = A(i,j)*B(i,j) + C(i,j)", A=A, B=B, C=C, format="dia"), D * E + F)
    same(weft.evaluate("R(i,j) = A(i,j)*B(i,j)", A=A, B=B, format="dia"), D * E)


@pytest.mark.parametrize(
    ("left", "right"),
    [("bool", "bool"), ("bool", "int8"), ("int8", "int8"), ("int32", "float32"), ("float64", "complex128")],
)
def test_dtypes(left, right):
    A, B = diagonals((6, 5), [0, 1], dtype=left), diagonals((6, 5), [-2, 0], 1, dtype=right)
    same(A + B, A.todense() + B.todense())
    same(weft.evaluate("C(i,j) = A(i,j)*B(i,j)", A=A, B=B), A.todense() * B.todense())


def test_zeros_nan_and_infinity_are_kept():
    A, B = diagonals((4, 5), [0, 1]), diagonals((4, 5), [-1, 1], 1)
    A._storage.vals[[2, 8]] = np.nan, np.inf
    B._storage.vals[[7, 8]] = -np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        same(A + B, A.todense() + B.todense())
        same(A - A, A.todense() - A.todense())
    assert (A - A).to_scipy_sparse().offsets.tolist() == [0, 1]


def test_the_result_has_the_diagonals_of_the_operands():
    A, B = diagonals((50, 50), [0, 3]), diagonals((50, 50), [-2, 3, 60], 1)
    for text, offsets in [("A(i,j) + B(i,j)", [-2, 0, 3]), ("A(i,j) * B(i,j)", [3])]:
        found = weft.evaluate(f"C(i,j) = {text}", A=A, B=B)
        assert str(found.format) == "dia"
        assert found.to_scipy_sparse().offsets.tolist() == offsets
    assert str((A + B).format) == str((A * B).format) == "dia"


def test_positions_outside_the_tensor_hold_the_fill_value():
    A, B = diagonals((3, 6), [-1, 2], width=4), diagonals((3, 6), [2], 1)
    found = weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=B)
    inside = np.array([[0 <= j - d < 3 for j in range(6)] for d in (-1, 2)])
    assert (found._storage.vals.reshape(2, 6)[~inside] == 0).all()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_diagonals_out_of_order_are_put_in_order_first(order):
    A, B = diagonals((6, 6), order), diagonals((6, 6), [3, -1], 1)
    for found in (A + B, weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=B)):
        assert found.format == weft.asarray(np.eye(2), format="dia").format
        same(found, A.todense() + B.todense())


def test_nothing_is_converted():
    A, B = diagonals((6, 6), [0, 1]), diagonals((6, 6), [-1, 0], 1)
    told = weft.explain("C(i,j) = A(i,j) + B(i,j)", A=A, B=B)
    assert "converts" not in told
    assert "stored in A or B" in told


def test_phases():
    A, B = diagonals((6, 7), [0, 1]), diagonals((6, 7), [-1, 0], 1)
    kernel = weft.compile("C(i,j) = A(i,j) + B(i,j)", A="dia", B="dia", C="dia")
    C = kernel.assemble(A, B)
    same(kernel.compute(C, A, B), A.todense() + B.todense())
    same(kernel.compute(C, A * 2, B), 2 * A.todense() + B.todense())


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads):
    A, B = diagonals((300, 400), range(-40, 40, 2)), diagonals((300, 400), range(-20, 60, 5), 1)
    with config.override(num_threads=threads, parallel_threshold=1):
        same(A + B, A.todense() + B.todense())
        same(weft.evaluate("C(i,j) = A(i,j)*x(j)", A=A, x=np.arange(400.0), format="dia"), A.todense() * np.arange(400))


OWN = [
    ("(i,j) -> (j-i,i,j)", [Squeezed(), Range(), Offset()], True),
    ("(i,j) -> (i+j,j,i)", [Squeezed(), Range(), Offset()], True),
    ("(i,j) -> (j-i,j,i)", [Compressed(), Range(), Offset()], True),
    ("(i,j) -> (i,j)", [Squeezed(), Compressed()], True),
    ("(i,j) -> (i/2,j/2,i%2,j%2)", [Squeezed(), Compressed(), Dense(), Dense()], True),
    ("(i,j,k) -> (j-i,j,i,k)", [Squeezed(), Range(), Offset(), Dense()], True),
    ("(i,j,k) -> (j-i,j,i,k)", [Squeezed(), Range(), Offset(), Compressed()], True),
    ("(i,j,k) -> (j-i,k,j,i)", [Squeezed(), Dense(), Range(), Offset()], True),
    ("(i,j,k) -> (j-i,k-j,k,j,i)", [Squeezed(), Compressed(), Range(), Offset(), Offset()], True),
    ("(i,j,k) -> (k,j-i,j,i)", [Dense(), Squeezed(), Range(), Offset()], False),  # no list of its own below each k
    ("(i,j) -> (j,i)", [Range(), Dense()], False),
]


@pytest.mark.parametrize(("remapping", "levels", "appended"), OWN)
def test_formats_of_ones_own(remapping, levels, appended):
    rng = np.random.default_rng(0)
    own = Format(remapping, levels)
    v = "ijk"[: own.order]
    for shape in [(4, 6, 3), (5, 2, 2), (0, 2, 1), (3, 0, 1)]:
        dense = [np.where(rng.random(shape[: own.order]) < 0.3, 2.0, 1.5) for _ in range(2)]
        A, B = (weft.asarray(d, format=own, fill_value=1.5) for d in dense)
        a, b = (f"{name}({','.join(v)})" for name in "AB")
        text = f"C({','.join(v)}) = {a} + {b}"
        found = weft.evaluate(text, A=A, B=B, format=own)
        assert found.format == own
        told = weft.explain(text, A=A, B=B, format=own)
        written = weft.explain(text, A=A, B=B, format=own, stages="c")
        assert not appended or ("converts the result" not in told and "weft_insert(" not in written)
        same(found, dense[0] + dense[1])
        same(weft.evaluate(f"C({','.join(v)}) = {a}*{b}*2", A=A, B=B, format=own), dense[0] * dense[1] * 2)
