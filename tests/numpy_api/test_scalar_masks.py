"""Booleans without axes in keys: an axis of one place or of none, as NumPy has it."""

import itertools

import numpy as np
import pytest

import weft

PARTS = (True, False, np.array(True), slice(None), 0, [0, 1], None, ...)
KEYS = [
    *(key for count in (1, 2) for key in itertools.product(PARTS, repeat=count)),
    ([0, 1], slice(None), True),
    (0, True, 1),
]


def _outcome(get):
    try:
        return get()
    except IndexError:
        return IndexError


@pytest.mark.parametrize(("shape", "format"), [((), "dense"), ((2, 3), "csr"), ((3, 4), "dok")])
def test_keys_with_booleans(shape, format):
    x = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)
    A = weft.asarray(x, format=format)
    keys = [key for key in KEYS if any(np.asarray(k).dtype == bool for k in key) and key.count(...) < 2]
    for key in [*keys, True, np.False_, weft.asarray(True), weft.asarray(False)]:
        plain = bool(key) if isinstance(key, weft.SparseTensor) else key
        expected, found = _outcome(lambda key=plain: x[key]), _outcome(lambda key=key: A[key])
        if expected is IndexError:
            assert found is IndexError, key
            continue
        assert found.shape == expected.shape, key
        np.testing.assert_array_equal(found.todense(), expected)
        for value in (7.0, np.full(expected.shape, 8.0)):
            y, B = x.copy(), A.copy()
            y[plain] = value
            B[key] = value
            np.testing.assert_array_equal(B.todense(), y)


def test_a_value_that_does_not_fit_nothing():
    for format in ("dense", "csr"):
        A = weft.asarray(np.eye(2), format=format)
        with pytest.raises(ValueError, match="could not b"):
            A[False] = np.ones(3)
