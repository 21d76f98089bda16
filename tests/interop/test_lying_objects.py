"""Objects of other packages that do not hold what their class says: a typed error names the attribute."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, ShapeError, StorageError

D = np.arange(12.0).reshape(4, 3) % 4
T = np.arange(24.0).reshape(2, 3, 4) % 3
NO_ARRAYS = [None, "abc", np.float64(2), object(), np.ones((1, 2, 3, 4)), [["a"], [1, 2]]]


def with_attribute(obj, name, value):
    """The object with another attribute, past the checks of its class."""
    object.__setattr__(obj, name, value)
    return obj


def refused(obj, name, value, *words):
    with pytest.raises((StorageError, ShapeError, DTypeError)) as found:
        weft.asarray(with_attribute(obj, name, value))
    for word in words:
        assert word in str(found.value), str(found.value)


def scipy_array(kind):
    return getattr(sp, f"{kind}_array")(D)


@pytest.mark.parametrize("value", NO_ARRAYS[:5], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("csr", "data"), ("csr", "indices"), ("csr", "indptr"), ("csc", "data"), ("csc", "indptr"), ("coo", "data"),
     ("coo", "coords"), ("dia", "data"), ("dia", "offsets"), ("bsr", "data"), ("bsr", "indices"), ("bsr", "indptr")],
)  # fmt: skip
def test_what_is_no_array(kind, name, value):
    refused(scipy_array(kind), name, value, name, f"{kind}_array")


@pytest.mark.parametrize("dtype", ["O", "M8[s]", "U3", "float16", "longdouble", "i4,i4"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr"])
def test_values_of_dtypes_that_weft_does_not_have(kind, dtype):
    A = scipy_array(kind)
    with pytest.raises(DTypeError, match=f"data: weft has no values of dtype.*{kind}_array"):
        weft.asarray(with_attribute(A, "data", np.zeros(A.data.shape, dtype)))


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("csr", "data", lambda a: a[:-1]),
        ("csr", "indices", lambda a: a[:-1]),
        ("csr", "indices", lambda a: a + 0.5),
        ("csr", "indices", lambda a: -a - 1),
        ("csr", "indptr", lambda a: a[:-1]),
        ("csr", "indptr", lambda a: a + 1),
        ("csr", "indptr", lambda a: a[::-1]),
        ("coo", "data", lambda a: a[:-1]),
        ("coo", "coords", lambda c: c[:1]),
        ("coo", "coords", lambda c: (*c, c[0])),
        ("coo", "coords", lambda c: (c[0], c[1][:-1])),
        ("coo", "coords", lambda c: (c[0], None)),
        ("coo", "coords", lambda c: (c[0].reshape(-1, 1), c[1])),
        ("coo", "coords", lambda c: (c[0] * 100, c[1])),
        ("dia", "data", lambda a: a[:-1]),
        ("dia", "offsets", lambda a: a * 0),
        ("bsr", "data", lambda a: np.empty((0, 0, 0))),
        ("bsr", "data", lambda a: np.empty((len(a), 0, 3))),
        ("bsr", "data", lambda a: np.ones((len(a), 3, 2))),
        ("bsr", "data", lambda a: a[:-1]),
        ("bsr", "indices", lambda a: a * 100),
    ],
)
def test_arrays_that_do_not_fit(kind, name, change):
    A = scipy_array(kind)
    refused(A, name, change(getattr(A, name)), name if kind != "bsr" or name != "data" else "", f"{kind}_array")


@pytest.mark.parametrize("shape", [None, "ab", (), (4,), (4, 3, 2), (-4, 3), (4.5, 3), (2**70, 3), (3, 2), [[4], 3]],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("kind", ["csc", "coo", "dia", "bsr"])
def test_shapes_that_are_none(kind, shape):
    if kind == "dia" and shape == (3, 2):  # whose diagonals reach beyond any matrix
        assert weft.asarray(with_attribute(scipy_array(kind), "_shape", shape)).shape == shape
    else:
        refused(scipy_array(kind), "_shape", shape, f"{kind}_array")


@pytest.mark.parametrize("table", [{(1, 2, 3): 1.0}, {"a": 1.0}, {(100, 1): 1.0}, None], ids=str)
def test_tables(table):
    refused(scipy_array("dok"), "_dict", table, "dok_array")


@pytest.mark.parametrize("name", ["data", "rows"])
def test_lists(name):
    refused(scipy_array("lil"), name, None, "lil_array")


@pytest.mark.parametrize("value", NO_ARRAYS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("coo", "coords"), ("coo", "data"), ("coo", "fill_value"), ("gcxs", "data"), ("gcxs", "indices"),
     ("gcxs", "indptr"), ("gcxs", "fill_value"), ("gcxs", "shape"), ("coo", "shape"), ("dok", "data"),
     ("dok", "shape")],
)  # fmt: skip
def test_tensors_of_pydata(kind, name, value):
    sparse = pytest.importorskip("sparse")
    if name == "fill_value" and isinstance(value, np.float64):
        return
    refused(sparse.COO.from_numpy(T).asformat(kind), name, value, {"coo": "COO", "gcxs": "GCXS", "dok": "DOK"}[kind])


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("coo", "coords", lambda a: a[:2]),
        ("coo", "coords", lambda a: a[:, 1:]),
        ("coo", "coords", lambda a: a * 100),
        ("coo", "data", lambda a: a[1:]),
        ("gcxs", "data", lambda a: a[1:]),
        ("gcxs", "data", lambda a: a.astype("M8[s]")),
        ("gcxs", "indices", lambda a: a[1:]),
        ("gcxs", "indices", lambda a: -a - 1),
        ("gcxs", "indptr", lambda a: a[1:]),
        ("gcxs", "indptr", lambda a: a * 100),
        ("dok", "data", lambda a: {(100, 0, 0): 1.0}),
    ],
)
def test_arrays_of_pydata_that_do_not_fit(kind, name, change):
    sparse = pytest.importorskip("sparse")
    S = sparse.COO.from_numpy(T).asformat(kind)
    refused(S, name, change(getattr(S, name)))
