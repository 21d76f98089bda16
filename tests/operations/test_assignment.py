"""``A[key] = value`` against NumPy: every format, every kind of key, any fill value."""

import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.formats_for_tests import FORMATS, SHAPES, drawn, sparse

import weft
from weft.config import config
from weft.formats.level import LevelEntries
from weft.storage import check


def compare(A, dense):
    check(A._storage)
    assert A.dtype == dense.dtype
    np.testing.assert_array_equal(A.todense(), dense)


@given(data=st.data())
def test_any_key_and_value(data):
    shape = data.draw(st.sampled_from(SHAPES))
    fill = data.draw(st.sampled_from([0.0, 0.0, -0.0, 2.0, np.nan]))
    dense = drawn(data, shape, fill)
    A = sparse(dense, fill, data.draw(st.sampled_from(FORMATS[len(shape)])))
    key = data.draw(strategies.keys(shape))
    try:
        target = dense[key].shape
    except IndexError:
        with pytest.raises(IndexError):
            A[key] = 1
        return
    kind = data.draw(st.sampled_from(["scalar", "fill", "array", "row", "tensor", "other tensor"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    value = rng.integers(1, 9, target).astype(float) * (rng.random(target) < 0.5)
    match kind:
        case "scalar":
            given = value = 3.5
        case "fill":
            given = value = fill
        case "row":
            given = value = value[..., :1] if value.ndim else value
        case "tensor":
            given = weft.asarray(value, format="coo")
        case "other tensor":
            value = np.where(value == 0, fill, value)
            given = sparse(value, fill, "coo") if value.ndim else value
        case _:
            given = value
    dense[key] = value
    A[key] = given
    compare(A, dense)


@pytest.mark.parametrize("format", FORMATS[2])
def test_every_format(format):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((6, 7)) < 0.4, rng.integers(1, 9, (6, 7)), 0)
    A = weft.asarray(dense.copy(), format=format)
    name = A.format
    for key, value in [((slice(1, 4), slice(None, None, 2)), 5), (2, np.arange(7)), ((slice(None), 3), 0),
                       (([0, 5], [6, 0]), [8, 9]), (dense > 6, 1), ((5, 6), 4)]:  # fmt: skip
        dense[key] = value
        A[key] = value
    compare(A, dense)
    assert A.format == name


@pytest.mark.parametrize("format", FORMATS[2])
def test_masks_and_diagonals_of_every_format(format):
    rng = np.random.default_rng(5)
    for shape, dtype in (((6, 5), "float64"), ((5, 5), "complex128"), ((1, 1), "int8"), ((0, 4), "float32")):
        dense = np.where(rng.random(shape) < 0.5, rng.integers(-3, 4, shape), 0).astype(dtype)
        A = weft.asarray(dense, format=format)
        name, mask = A.format, rng.random(shape) < 0.4
        for masks, value in (("csr", 0), ("coo", 3), ("dia", 0), ("csr", 2), (None, 7)):
            # The last mask holds where A has entries, so that values alone change.
            where = mask if masks is not None else dense.real > 1
            A[weft.asarray(where, format=masks) if masks is not None else A.real > 1] = value
            dense[where] = value
            compare(A, dense)
        for k in range(-1, 2):
            at = np.arange(min(shape[0] - max(0, -k), shape[1] - max(0, k)))
            for value in (2, at % 2, 0) if len(at) else ():
                A.setdiag(value, k)
                dense[at + max(0, -k), at + max(0, k)] = value
                compare(A, dense)
        assert A.format == name


def test_only_what_is_assigned_changes():
    A = weft.from_coords([[0, 0, 1, 2], [0, 2, 1, 2]], [1.0, 0.0, -0.0, 5.0], shape=(3, 3), format="csr")
    before = A.copy()
    A[A > 4] = 0
    assert A.nnz == 3  # explicit zeros elsewhere stay
    A = before.copy()
    arrays = A._storage.arrays
    A[A > 0] = 9
    A.setdiag([1.0, 2.0, 3.0])
    A[[0, 2], [2, 2]] = 4, 6
    assert all(np.shares_memory(x, y) for x, y in zip(A._storage.arrays, arrays, strict=True))
    np.testing.assert_array_equal(before.todense(), np.diag([1.0, -0.0, 5.0]))
    np.testing.assert_array_equal(A.todense(), [[1, 0, 4], [0, 2, 0], [0, 0, 6]])
    # Minus zero stays in other entries, and is assigned as a value.
    B = weft.from_coords([[0, 1], [0, 1]], [-0.0, np.nan], shape=(3, 3), format="csr")
    B.setdiag(1.0, 1)
    B[weft.eye(3, dtype=bool) != weft.eye(3, dtype=bool, format="csr").T] = 1
    assert np.signbit(B[0, 0])
    assert np.isnan(B[1, 1])
    with pytest.raises(TypeError):
        B[B > 0] = 1j
    C = B.with_fill(np.inf)
    C[C < 2] = np.inf
    assert C.nnz == 1


def test_elements_are_collected():
    A = weft.from_coords([[0], [1]], [1.0], shape=(3, 3), format="csr")
    for k in range(3):
        A[k, k] = k
        A[k, -1] = 10.0 + k
    assert A.shape == (3, 3)
    np.testing.assert_array_equal(A.todense(), [[0, 1, 10], [0, 1, 11], [0, 0, 12]])
    A[0, 1] = 4
    again = pickle.loads(pickle.dumps(A))
    assert again[0, 1] == 4
    assert A[0, 1] == 4
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 3"):
        A[0, 3] = 1
    with pytest.raises(TypeError):
        A[0, 0] = 1j


@pytest.mark.compiles_alone
def test_many_elements_in_any_order_take_seconds():
    n = 200_000
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(0, 10**6, n).tolist(), rng.integers(0, 10**6, n).tolist()
    A = weft.from_coords([[], []], [], shape=(10**6, 10**6)).asformat("dok")
    begin = time.perf_counter()
    for i, j in zip(rows, columns, strict=True):
        A[i, j] = 1.0
    assert A.nnz == len(set(zip(rows, columns, strict=True)))
    assert time.perf_counter() - begin < 60  # not quadratic, whatever the machine


def test_dense_tensors_are_written_in_place():
    dense = np.zeros((2, 3))
    A = weft.asarray(dense)
    A[0, 1] = 5
    A[1] = weft.asarray([1.0, 0.0, 2.0], format="coo")
    np.testing.assert_array_equal(dense, [[0, 5, 0], [1, 0, 2]])
    dense.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        weft.asarray(dense)[0, 0] = 1


def test_wrong_values():
    A = weft.random((4, 4), density=0.5, format="csr")
    with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(3,\) into shape \(2,4\)"):
        A[:2] = [1, 2, 3]
    huge = weft.from_coords([[0], [0]], [1.0], shape=(10**5, 10**5))
    with pytest.raises(weft.errors.DensifyError, match="max_densify_bytes"):
        huge[:] = 1
    with config.override(max_densify_bytes=100), pytest.raises(weft.errors.DensifyError, match="max_densify_bytes"):
        A[:] = 1
    huge[:] = 0
    assert huge.nnz == 0


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_elements_are_read_and_written_one_by_one(format):
    """Beside a NumPy array: what was written is read before it is stored, and afterwards."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((7, 9)) < 0.4, rng.integers(1, 9, (7, 9)), 0).astype(float)
    A, before = weft.asarray(dense.copy()).asformat(format), dense.copy()
    other = A.copy()
    for i in range(-7, 7):
        for j in range(-9, 9):
            assert A[i, j] == dense[i, j]
            assert type(A[i, j]) is np.float64
    for i, j, v in zip(rng.integers(-7, 7, 60), rng.integers(-9, 9, 60), rng.integers(0, 5, 60), strict=True):
        A[i, j] += v
        dense[i, j] += v
        A[j % 7, 2] = 0
        dense[j % 7, 2] = 0
        assert A[int(i), int(j)] == dense[i, j]
        assert A[i, np.int32(j)] == dense[i, j]
    np.testing.assert_array_equal(A.todense(), dense)
    check(A._storage)
    assert A.format == other.format
    np.testing.assert_array_equal(other.todense(), before)
    for key in [(7, 0), (0, -10), (np.int64(7), 0)]:
        with pytest.raises(IndexError, match="out of bounds"):
            A[key]
        with pytest.raises(IndexError, match="out of bounds"):
            A[key] = 1


@pytest.mark.parametrize("format", ["dok", "hash", "lil", "csf", "coo"])
def test_a_tensor_filled_element_by_element(format):
    order = 2 if format == "lil" else 3
    A = weft.from_coords(np.empty((order, 0), int), [], shape=(20, 30, 40)[:order], format=format)
    dense = np.zeros(A.shape)
    rng = np.random.default_rng(1)
    for place in rng.integers(0, 20, (500, order)):
        A[tuple(place)] = dense[tuple(place)] = dense[tuple(place)] + 1
        assert A[tuple(place.tolist())] == dense[tuple(place)]
    np.testing.assert_array_equal(A.todense(), dense)


ROOMY = ["dok", "hash", "lil"]


@pytest.mark.parametrize("format", ROOMY)
@given(st.data())
def test_many_assignments_one_after_another(format, data):
    """Entries go where the tensor stands, single elements and looks at it in between."""
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    fill = data.draw(st.sampled_from([0.0, 0.0, 2.0]))
    x = np.full((6, 9), fill)
    A = weft.from_coords([[], []], np.array([], float), (6, 9), fill_value=fill, format=format)
    for step in data.draw(
        st.lists(st.sampled_from(["some", "row", "one", "read", "look", "clear", "turn"]), max_size=12)
    ):
        i, j, v = rng.integers(0, 6, 5), rng.integers(0, 9, 5), rng.integers(1, 9, 5).astype(float)
        match step:
            case "some":
                A[i, j], x[i, j] = v, v
            case "row":
                A[i[0], j[0] :: 2], x[i[0], j[0] :: 2] = v[0], v[0]
            case "one":
                A[i[0], j[0]], x[i[0], j[0]] = v[0], v[0]
            case "read":
                assert A[i[1], j[1]] == x[i[1], j[1]]
            case "look":
                A.check_format()
                np.testing.assert_array_equal(A.todense(), x)
            case "clear":
                A[i[0]], x[i[0]] = fill, fill
            case "turn":
                turned, before = A.T, x.T.copy()
                A[i, j], x[i, j] = v, v
                np.testing.assert_array_equal(turned.todense(), before)
    A.check_format()
    np.testing.assert_array_equal(A.todense(), x)
    np.testing.assert_array_equal((A * 2).todense(), x * 2)
    np.testing.assert_array_equal(A.tocsr().todense(), x)


@pytest.mark.parametrize("format", ROOMY)
def test_assignments_are_made_in_place(format):
    A = weft.random((40, 50), density=0.2, format=format, rng=0)
    A[3, [1, 2]] = 5.0
    first = A._writing.room
    assert first is not None
    held = A._writing.storage.vals
    A[4, [1, 2]] = 6.0
    assert A._writing.room is first
    assert np.shares_memory(A._writing.storage.vals, held)
    assert A[4, 2] == 6.0
    assert A._writing.room is first  # reading an element ends nothing
    A.nnz  # noqa: B018  # a look at the whole does: what was looked at stays as it was
    seen = A.data
    kept = seen.copy()
    A[5, [1, 2]] = 7.0
    assert A._writing.room is not first
    np.testing.assert_array_equal(seen, kept)


@pytest.mark.parametrize("format", ["csr", "coo", "bsr", "hash"])
@pytest.mark.parametrize("key", [..., slice(None)])
def test_what_is_assigned_to_all_is_copied(format, key):
    A, B = (weft.random((6, 6), density=0.4, format=f, rng=n) for n, f in enumerate(("csr", format)))
    expected = B.todense().copy()
    A[key] = B
    np.testing.assert_array_equal(A.todense(), expected)
    A.data[...] = 9
    np.testing.assert_array_equal(B.todense(), expected)


@pytest.mark.parametrize("format", ROOMY)
def test_a_tensor_assigned_to_itself(format):
    x = np.diag(np.arange(1.0, 6))
    A = weft.asarray(x, format=format)
    A[0, [1, 2]], x[0, [1, 2]] = 8, 8
    A[::-1], x[::-1] = A, x.copy()
    np.testing.assert_array_equal(A.todense(), x)
    A[0], x[0] = A[4], x[4].copy()
    np.testing.assert_array_equal(A.todense(), x)


@pytest.mark.parametrize("format", ROOMY)
def test_an_assignment_that_fails_changes_nothing(format):
    A = weft.asarray(np.eye(4), format=format)
    A[0, [1, 2]] = 3
    A[1, 1] = 9
    before = A.copy().todense()
    A[0, [1, 2]] = 3
    for key, value in (((0, [1, 9]), 1), ((0, [1, 2]), [1, 2, 3]), ((9, 9), 1), (([0, 1], [1]), "x")):
        with pytest.raises((IndexError, ValueError, TypeError)):
            A[key] = value
    np.testing.assert_array_equal(A.todense(), before)


@pytest.mark.parametrize("format", ["csr", "coo", "dok", "lil", "dense"])
@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("int8", 300, OverflowError), ("uint8", -1, OverflowError), ("int8", np.inf, OverflowError),
        ("int16", np.nan, ValueError), ("int64", 1j, TypeError), ("float32", 1j, TypeError),
        ("int8", [0, 300], OverflowError),
    ],
)  # fmt: skip
def test_numbers_that_the_dtype_does_not_hold(dtype, value, error, format):
    """Python's numbers are refused as NumPy refuses them, wherever they are assigned."""
    x = np.array([[3, 0], [0, 4]], dtype)
    A = weft.asarray(x, format=format)
    mask = np.array([[True, False], [False, True]])
    whole = value if isinstance(value, list) else [value, value]
    writes = [
        lambda a: a.__setitem__(1, value), lambda a: a.__setitem__((slice(None), 0), value),
        lambda a: np.put(a, [0, 1], value), lambda a: np.putmask(a, mask, value), lambda a: np.place(a, mask, whole),
        lambda a: np.fill_diagonal(a, value), lambda a: np.put_along_axis(a, np.array([[0, 1], [1, 0]]), value, 1),
        lambda a: np.insert(a, 0, value, axis=0),
    ]  # fmt: skip
    for write in writes:
        with pytest.raises(error):
            write(x.copy())
        with pytest.raises(error):
            write(A)
        np.testing.assert_array_equal(A.todense(), x)
    with pytest.raises(error):
        weft.asarray(whole, dtype=dtype, format="s")
    if not isinstance(value, list):
        for make in (
            lambda: weft.from_coords([[0]], x[:1, 0], (3,), fill_value=value),
            lambda: weft.from_levels((1,), "s", [([0, 1], [0])], x[:1, 0], fill_value=value),
            lambda: weft.COO(np.array([[0]]), x[:1, 0], (3,), fill_value=value),
        ):
            with pytest.raises(error):
                make()


def test_segments_that_lengthen_overflow():
    level = weft.formats["lil"](2).levels[-1]
    arrays = {"begin": np.array([0], np.int8), "count": np.array([3], np.int8), "crd": np.arange(3, dtype=np.int8)}
    with pytest.raises(OverflowError, match="103 entries do not fit positions of int8"):
        level.lengthened(arrays, np.ones(3), LevelEntries(np.zeros(100, int), np.arange(100), np.ones(100), 0.0))


@pytest.mark.parametrize("format", ["lil", "dok", "hash", "csr", "coo", "csf", "dia", "dense"])
@pytest.mark.parametrize("key", [np.s_[:5:-1], np.s_[2:2], np.s_[:, []], (np.zeros(0, int), 3), np.s_[1, 9:9]])
def test_nothing_is_assigned(key, format):
    A, x = weft.zeros((5, 10), format=format), np.zeros((5, 10))
    A[key] = 7
    A[1, 2] = 3
    x[1, 2] = 3
    A[key] = x[key]
    np.testing.assert_array_equal(A.todense(), x)
    with pytest.raises(ValueError, match="broadcast"):
        A[key] = np.ones((3, 4, 5))
