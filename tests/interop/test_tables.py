"""Series of pandas and graphs of networkx."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import weft
from weft.errors import DTypeError, ShapeError, StorageError

rng = np.random.default_rng(0)
T = np.where(rng.random((4, 3, 5)) < 0.3, rng.random((4, 3, 5)), 0)


@pytest.mark.parametrize("format", ["csf", "coo", "dense", "csf:2,0,1"])
def test_series_of_entries(format):
    A = weft.asarray(T).asformat(format)
    levels = [list("abcd"), [1.5, 2.5, 3.5], pd.date_range("2020", periods=5)]
    series = A.to_series(levels, names=["x", "y", "z"], name="rain")
    assert (series.name, series.index.names, series.dtype) == ("rain", ["x", "y", "z"], "float64")
    for (i, j, k), (labels, value) in zip(np.argwhere(T), series.items(), strict=True):
        assert labels == (levels[0][i], levels[1][j], levels[2][k])
        assert value == T[i, j, k]
    np.testing.assert_array_equal(weft.from_series(series).todense(), T)  # levels keep labels without an entry
    shuffled = pd.concat([series, series]).sample(frac=1, random_state=0)
    np.testing.assert_array_equal(weft.from_series(shuffled, format="csf").todense(), T + T)
    few = weft.from_series(series["a":"b"], fill_value=np.nan)
    assert np.isnan(few.fill_value)
    np.testing.assert_array_equal(np.nan_to_num(few.todense())[:2], T[:2])


def test_series_of_vectors_and_labels():
    v = weft.from_coords([[1, 3]], [2.0, 5.0], (5,))
    assert v.to_series(names=["n"]).to_dict() == {1: 2.0, 3: 5.0}
    assert v.to_series([list("abcde")]).to_dict() == {"b": 2.0, "d": 5.0}
    assert (
        weft.asarray(T[0], format="csr").to_series([list("aab"), range(5)]).groupby(level=0).sum()["a"]
        == T[0, :2].sum()
    )
    np.testing.assert_array_equal(weft.from_series(pd.Series([1.0, 0, 2])).todense(), [1, 0, 2])
    sparse = pd.Series(pd.arrays.SparseArray([0, 0, 3]), index=pd.MultiIndex.from_tuples([(0, 0), (1, 1), (1, 0)]))
    assert weft.from_series(sparse).todense().tolist() == [[0, 0], [3, 0]]
    empty = pd.Series([], dtype=float, index=pd.MultiIndex.from_arrays([[], []]))
    assert weft.from_series(empty).shape == (0, 0)


def test_series_that_are_none():
    missing = pd.Series([1.0, 2.0], index=pd.MultiIndex.from_tuples([("a", 1), (None, 2)], names=["x", "y"]))
    with pytest.raises(StorageError, match="1 labels of level 'x' are missing; leave these rows out"):
        weft.from_series(missing)
    with pytest.raises(DTypeError, match="takes a Series of pandas, not a ndarray"):
        weft.from_series(np.zeros(3))
    with pytest.raises(DTypeError, match="holds no numbers; convert it"):
        weft.from_series(pd.Series(["a", "b"], index=missing.index.set_codes([0, 0], level=0), dtype=object))
    A = weft.asarray(T[0])
    for levels, names in (([[1, 2], range(5)], None), ([range(3)], None), (None, ["x"])):
        with pytest.raises(ShapeError, match=r"for a tensor of shape \(3, 5\)"):
            A.to_series(levels, names=names)
    with pytest.raises(ShapeError, match=r"A\.item\(\)"):
        weft.asarray(3.0).to_series()


def test_sparse_frames():
    """A frame of sparse columns is csc; other frames are dense."""
    A = weft.asarray(T[0], format="csr")
    frame = pd.DataFrame.sparse.from_spmatrix(A)
    found = weft.asarray(frame)
    assert found.format == "csc"
    np.testing.assert_array_equal(found.todense(), T[0])
    series = frame.sparse.to_dense().stack()
    np.testing.assert_array_equal(weft.from_series(series[series != 0]).todense(), T[0])


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_graphs(kind):
    G = kind([("a", "b", {"weight": 2.5}), ("b", "c", {}), ("c", "a", {"weight": 4, "cost": 7}), ("a", "b", {})])
    nodes = ["c", "a", "b"]
    for weight in ("weight", "cost", None):
        A = weft.from_networkx(G, nodes, weight=weight)
        assert A.format == "csr"
        np.testing.assert_array_equal(A.todense(), nx.to_numpy_array(G, nodes, weight=weight))
    assert weft.from_networkx(G, dtype="float32", format="coo").dtype == "float32"
    if not G.is_multigraph():
        H = kind(weft.from_networkx(G, nodes))
        assert nx.utils.edges_equal(
            H.edges, nx.relabel_nodes(G, {n: k for k, n in enumerate(nodes)}).edges, directed=G.is_directed()
        )
    assert weft.from_networkx(kind()).shape == (0, 0)
    with pytest.raises(DTypeError, match="takes a graph of networkx, not a list"):
        weft.from_networkx([[0, 1]])
