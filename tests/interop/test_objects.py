"""Objects that ``asarray`` is given beside arrays: what is read of them, and what errors say to call."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError

S = sp.csr_array([[0.0, 1, 0], [2, 0, 3]])
SERIES = pd.Series([1.0, 2, 4], index=pd.MultiIndex.from_tuples([("b", 1), ("a", 2), ("b", 1)]))


class Backed:
    """A matrix in a file, as anndata has them."""

    shape, dtype, format = (2, 3), np.dtype("float64"), "csr"

    def to_memory(self):
        return S


class Table:
    """A table as pyarrow has them, which NumPy takes for an array of objects."""

    column_names = ("a", "b")

    def to_pandas(self):
        return pd.DataFrame({"a": [1.0, 0], "b": [0.0, 2]})


@pytest.mark.parametrize("dtype", [None, "float64"])
@pytest.mark.parametrize(
    ("make", "message", "meant", "wanted"),
    [
        (lambda: (x for x in range(3)), "generator has no order or length", lambda x: weft.asarray([*x]), [0, 1, 2]),
        (lambda: {7}, r"set has .* make a list, weft.asarray\(\[\*x\]\)", lambda x: weft.asarray([*x]), [7]),
        (lambda: {1: 2.0}.values(), "dict_values has no order or length", lambda x: weft.asarray([*x]), [2]),
        (
            lambda: {(0, 1): 2.0, (1, 0): 3.0},
            r"dict is no array; .*weft.from_coords\(zip\(\*x\), list\(x.values\(\)\)\)",
            lambda x: weft.from_coords(zip(*x, strict=True), list(x.values())),
            [[0, 2], [3, 0]],
        ),
        (Backed, r"Backed is not in memory; read it, weft.asarray\(x.to_memory\(\)\)",
         lambda x: weft.asarray(x.to_memory()), S.toarray()),
        (Table, r"Table is a table; .*weft\.from_table\(x\) takes it",
         lambda x: weft.asarray(x.to_pandas()), [[1, 0], [0, 2]]),
        (lambda: nx.path_graph(3), r"Graph is a graph; weft.from_networkx\(x\)", weft.from_networkx,
         [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        (lambda: SERIES, r"Series with an index of 2 levels .*weft.from_series\(x\)", weft.from_series,
         [[0, 2], [5, 0]]),
        (lambda: [S, S], "a list of sparse arrays is no array; join them with weft.stack", weft.stack,
         [S.toarray(), S.toarray()]),
        (lambda: ([weft.asarray(S), S],), "a tuple of sparse arrays is no array; .* or weft.block",
         lambda x: weft.block([*x]), np.hstack([S.toarray(), S.toarray()])),
        (object, "object is no array; weft.asarray takes tensors", None, None),
        (lambda: None, "NoneType is no array", None, None),
    ],
)  # fmt: skip
def test_errors_say_what_to_call(make, message, meant, wanted, dtype):
    """And what they say is right."""
    with pytest.raises(DTypeError, match=message):
        weft.asarray(make(), dtype=dtype)
    if meant is not None:
        np.testing.assert_array_equal(meant(make()).todense(), wanted)


@pytest.mark.parametrize("fill", [0.0, 1.0, np.nan])
def test_sparse_columns_of_pandas(fill):
    D = np.where(rng.random((5, 4)) < 0.5, rng.random((5, 4)), fill)
    frame = pd.DataFrame(D, columns=[*"abcd"]).astype(pd.SparseDtype(float, fill))
    A = weft.asarray(frame)
    assert A.format == "csc"
    np.testing.assert_array_equal([A.fill_value, A.nnz], [fill, sum(c.array.npoints for _, c in frame.items())])
    np.testing.assert_array_equal(A.todense(), D)
    for column in (frame["b"], frame["b"].array):
        b = weft.asarray(column)
        assert (b.format, b.nnz, b.shape) == ("coo", frame["b"].array.npoints, (5,))
        np.testing.assert_array_equal(b.todense(), D[:, 1])
    found = weft.asarray(frame, dtype="float32", format="csr")
    assert (found.format, found.dtype) == ("csr", "float32")
    np.testing.assert_array_equal(found.todense(), D.astype("float32"))


@pytest.mark.filterwarnings("ignore:Concatenating sparse arrays:pandas.errors.PerformanceWarning")
def test_other_tables_of_pandas():
    sparse = pd.DataFrame.sparse.from_spmatrix(S)
    mixed = sparse.assign(x=[1.0, 2.0])
    fills = sparse.assign(x=pd.arrays.SparseArray([1.0, 2.0], fill_value=2.0))
    for frame in (mixed, fills, pd.DataFrame(S.toarray()), sparse.iloc[:, :0], sparse.iloc[:0]):
        np.testing.assert_array_equal(weft.asarray(frame).todense(), frame.to_numpy())
    with pytest.raises(DTypeError, match="no values of dtype object"):
        weft.asarray(pd.DataFrame({"a": [1], "b": ["x"]}))


rng = np.random.default_rng(3)


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_names_of_formats_are_strings_to_numpy(format):
    A = weft.eye(4, format=format)
    assert type(A.format) is str
    np.testing.assert_equal(weft.asarray(A, format=A.format).format, A.format)
    np.testing.assert_equal(A.format, format)
