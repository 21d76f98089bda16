"""Compositions that are no format: errors that say which level, and why."""

import numpy as np
import pytest

import weft
from weft.errors import FormatError, IndexOverflowError, NotationError, StorageError
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
    parse_format,
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


@pytest.mark.parametrize(
    ("remapping", "levels", "message"),
    [
        (weft.ones(3), [], "A.layout is the Format of a tensor A"),
        (5, [Dense()], "made of a remapping, .* not of 5"),
        ("(i) -> (i)", 5, "objects such as Dense.* not 5"),
        ("(i) -> (i)", ["dense"], "objects such as Dense"),
        ("(i) -> (i)", [Dense], "objects such as Dense"),
        ("(i) -> (i)", Dense(), "in a list, not Dense"),
    ],
)
def test_what_a_format_is_made_of(remapping, levels, message):
    with pytest.raises(TypeError, match=message):
        Format(remapping, levels)


def test_coordinates_beyond_64_bit_integers():
    dense = np.arange(12.0).reshape(3, 4)
    with pytest.raises(NotationError, match="not a number that 64-bit integers hold"):
        Format("(i,j) -> (i*9223372036854775808,i,j)", [Compressed()] * 3)
    for own in ("i*4611686018427387904", "i*4611686018427387904/4"):
        format = Format(f"(i,j) -> ({own},i,j)", [Compressed()] * 3)
        with pytest.raises(IndexOverflowError, match=r"a tensor of shape \(3, 4\) may be beyond 64-bit"):
            weft.asarray(dense, format=format)
    for format in (parse_format("hicoo", 2, block=2**40), parse_format("csb", 2, block=2**62)):
        assert np.array_equal(weft.asarray(dense, format=format).todense(), dense)


def test_what_is_registered():
    for name, make in ((5, Format("(i) -> (i)", [Dense()])), ("nothing", 5)):
        with pytest.raises(TypeError, match="is a name, and a Format or a function"):
            weft.register_format(name, make)
