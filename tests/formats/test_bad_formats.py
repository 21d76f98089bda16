"""Compositions that are no format: errors that say which level, and why."""

import numpy as np
import pytest

import weft
from weft.errors import FormatError, NotationError, StorageError
from weft.formats import (
    Banded,
    Compressed,
    Dense,
    Format,
    Hashed,
    InterleavedSingleton,
    Offset,
    Range,
    Singleton,
    Sliced,
    Squeezed,
)


@pytest.mark.parametrize(
    ("remapping", "levels", "message"),
    [
        ("(i,j) -> (i,j)", [Singleton(), Compressed()], "the first level cannot be singleton"),
        ("(i,j) -> (i,j)", [Dense()], "makes 2 coordinates for 1 levels"),
        ("(i,j) -> (i,j)", [Dense(), Offset()], "level 2 .* cannot be offset: its coordinate does not follow"),
        ("(i,j) -> (i,j-i)", [Dense(), Range()], "level 2 .* cannot be range: it stores nothing of its coordinate"),
        ("(i,j) -> (#i,i,j)", [Dense(), Dense(), Singleton()], "level 1 .* cannot be dense: .* counts"),
        ("(i) -> (i)", [Banded(diagonal=True)], "level 1 .* cannot be banded: it has no level above"),
        (
            "(i,j) -> (i,j)",
            [Dense(), InterleavedSingleton()],
            "reads the array crd of a level above",
        ),
        ("(i,j) -> (i/2,j)", [Dense(), Compressed()], "axis 0 does not follow from the coordinates"),
        (
            "(i,j) -> (i*j-i,i,j)",
            [Hashed(), Dense(), Compressed()],
            "level 1 .* cannot be hashed.*: the sizes of the axes do not bound",
        ),
        ("(i,j) -> (i,j,i+j)", [Dense(), Dense(), Compressed()], "level 3 .*: its coordinate follows from those above"),
        ("(i,j) -> (i/3,i,j)", [Dense(), Squeezed(), Compressed()], "level 2 .*: coordinates above leave only some"),
        (
            "(i) -> (i%3,i)",
            [Compressed(), Range()],
            "level 2 .*: coordinates above leave only some of its coordinates possible",
        ),
    ],
)
def test_compositions(remapping, levels, message):
    with pytest.raises(FormatError, match=message):
        Format(remapping, levels)


def test_sizes_of_blocks():
    for size in (0, -1, (2,), "x"):
        with pytest.raises(FormatError, match="sizes of 1 or more"):
            weft.formats["bsr"](2, blocksize=size)
    with pytest.raises(NotationError, match="/ by 0"):
        Format("(i,j) -> (i/0,j)", [Dense(), Compressed()])


@pytest.mark.parametrize("name", ["csr", "dia", "ell", "bsr", "lil", "skyline"])
def test_a_matrix_format_for_another_order(name):
    with pytest.raises(FormatError, match="stores matrices; this tensor has 3 axes"):
        weft.asarray(np.ones((2, 2, 2)), format=name)


def test_arrays_that_break_a_level():
    dia = Format("(i,j) -> (j-i,j,i)", [Squeezed(), Range(), Offset()])
    with pytest.raises(StorageError, match=r"level 1 \(squeezed\): crd is not sorted"):
        weft.from_levels((3, 3), dia, [{"size": [2], "crd": [1, 0]}, {"width": [3]}, None], np.ones(6))
    with pytest.raises(StorageError, match="size is \\[3\\] for 2"):
        weft.from_levels((3, 3), dia, [{"size": [3], "crd": [0, 1]}, {"width": [3]}, None], np.ones(6))
    ell = Format("(i,j) -> (#i,i,j)", [Sliced(), Dense(), Singleton(padded=True)])
    with pytest.raises(StorageError, match="crd holds coordinates outside"):
        weft.from_levels((2, 2), ell, [{"size": [1]}, None, {"crd": [-2, 0]}], np.ones(2))
    with pytest.raises(StorageError, match="crd holds coordinates outside"):
        weft.from_levels((2, 2), ell, [{"size": [1]}, None, {"crd": [0, 2]}], np.ones(2))


def test_too_large_for_memory():
    n = 2_000_000
    A = weft.from_coords([np.arange(0, n, 7), np.arange(n)[::-7]], 1.0, shape=(n, n), format="csr")
    with pytest.raises(weft.errors.ResultTooLargeError, match=r"format dia would take [\d,]+ bytes"):
        A.asformat("dia")
