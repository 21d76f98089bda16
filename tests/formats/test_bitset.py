"""A vector with a bit for each coordinate, by which an entry is located."""

import numpy as np
import pytest

import weft
from weft.formats import Bitset, Compressed, Dense, Format

BITS = Format("(i) -> (i)", [Bitset()])
rng = np.random.default_rng(0)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("density", [0, 0.2, 1])
def test_entries_are_located_around_the_edges_of_words(n, density):
    values = np.where(rng.random(n) < density, rng.random(n) + 1, 0)
    x = weft.asarray(values, format="coo").asformat(BITS)
    assert [x[i] for i in range(n)] == values.tolist()
    np.testing.assert_array_equal(x.todense(), values)
    if n:
        A = weft.random((5, n), density=0.5, format="csr", rng=1)
        y = weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x, format="dense")
        np.testing.assert_allclose(y, A.todense() @ values)


def test_what_has_no_entry_stays_absent_and_duplicates_are_summed():
    A = weft.from_coords([[0, 0, 1, 2], [1, 70, 70, 3]], [np.nan, np.inf, 2, -np.inf], (3, 100), format="csr")
    x = weft.from_coords([[70, 5, 70]], [1.5, 4, 2], (100,))
    assert x.asformat(BITS)[70] == 3.5
    np.testing.assert_array_equal((A @ x.asformat(BITS)).todense(), [np.inf, 7, 0])


def test_below_other_levels_and_beyond_32_bits():
    dense = np.where(rng.random((6, 70)) < 0.2, 1.5, 0)
    for levels in ([Dense(), Bitset()], [Bitset(), Compressed()], [Bitset(), Bitset()]):
        A = weft.asarray(dense).asformat(Format("(i,j) -> (i,j)", levels))
        np.testing.assert_array_equal(A.todense(), dense)
        np.testing.assert_array_equal((A * A.asformat("csr")).todense(), dense * dense)
    far = weft.asarray(dense).asformat(Format("(i,j) -> (j-i,i)", [Bitset(), Dense()]))
    np.testing.assert_array_equal(far.todense(), dense)
    far = weft.from_coords([[1, 2**40]], [1.0, 2.0], (2**41,))
    rows = weft.from_coords([[0, 0, 1], [1, 2**40, 5]], [3.0, 4.0, 5.0], (2, 2**41), format="csr")
    np.testing.assert_array_equal((rows @ far).todense(), [11, 0])  # by a hash table, since bits would take 2**38 bytes


def test_arrays_are_checked():
    level = {"size": [2], "crd": [1, 33], "bits": [2, 0, 2, 1]}
    assert weft.from_levels((40,), BITS, [level], [1.0, 2.0])[33] == 2
    for broken, what in (
        ({"bits": [2, 0, 4, 1]}, "different coordinates"),
        ({"bits": [2, 0, 2, 2]}, "different coordinates"),
        ({"bits": [2, 0]}, "bits has 2 entries; 40 coordinates need 4"),
        ({"crd": [33, 1]}, "not sorted"),
    ):
        with pytest.raises(weft.errors.StorageError, match=what):
            weft.from_levels((40,), BITS, [{**level, **broken}], [1.0, 2.0])
    with pytest.raises(weft.errors.FormatError, match="not how often"):
        Format("(i) -> (i)", [Bitset(unique=False)])
