from __future__ import annotations

import numpy as np
import pytest

import weft

sparse = pytest.importorskip("sparse")


@pytest.mark.parametrize("kind", ["coo", "gcxs", "dok"])
def test_in_and_out(kind):
    rng = np.random.default_rng(0)
    x = rng.random((3, 4, 5)) * (rng.random((3, 4, 5)) < 0.3)
    S = sparse.COO.from_numpy(x).asformat(kind)
    A = weft.asarray(S)
    assert A.shape == x.shape
    assert str(A.format) == "coo"
    np.testing.assert_array_equal(A.to_pydata_sparse().todense(), x)


def test_fill_values_go_along():
    A = weft.asarray(sparse.COO.from_numpy(np.array([1.0, 2.0, 1.0]), fill_value=1.0))
    assert A.fill_value == 1.0
    assert A.nnz == 1
    assert A.to_pydata_sparse().fill_value == 1.0
