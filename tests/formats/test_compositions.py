"""Formats of one's own are refused or right: random compositions, those of the papers, and such as were wrong once."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.compositions import with_repeats, wrong

import weft
from grid.test_sanitized import ends_well
from weft.errors import FormatError, StorageError
from weft.formats import (
    Compressed,
    Dense,
    Format,
    Growable,
    Hashed,
    Jagged,
    Offset,
    Ragged,
    Range,
    Singleton,
    Sliced,
    Slots,
    Spilled,
    Squeezed,
    parse_format,
)

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 12


@pytest.mark.parametrize("repeats", [False, True])
def test_random_compositions_are_refused_or_right(repeats):
    run = [sys.executable, "-m", "tests.compositions", "0", str(SEEDS), *["repeats"] * repeats]
    environ = {**os.environ, "WEFT_NUM_THREADS": "1"}
    done = subprocess.run(run, capture_output=True, text=True, env=environ, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


SANITIZED = """
from tests.compositions import outcome
from tests.kernel_batches import together

def right(case):
    assert (found := outcome(*case)) is None, found

together([(100, False), (101, False), (102, False), (103, True), (104, True), (105, True)], right)
"""


def test_random_compositions_stay_in_their_arrays():
    ends_well(SANITIZED)


CHOSEN = {
    "dia of 2020": ("(i,j) -> (j-i,i,j)", [Squeezed(), Range(), Offset()]),
    "dia of 2018": ("(i,j) -> (j-i,i,j)", [Dense(), Compressed(), Offset()]),
    "lists of diagonals": ("(i,j) -> (j-i,i,j)", [Compressed(), Compressed(), Offset()]),
    "bcsr of 2020": ("(i,j) -> (i/2,j/3,i,j)", [Dense(), Compressed(), Dense(), Dense()]),
    "digits from an offset": ("(i,j) -> ((i+1)/2,j,(i+1)%2)", [Compressed(), Compressed(), Dense()]),
    "the same, dense": ("(i,j) -> ((i+1)/2,j,(i+1)%2)", [Dense(), Compressed(), Dense()]),
    "the same, hashed": ("(i,j) -> ((i+1)/2,j,(i+1)%2)", [Hashed(), Compressed(), Dense()]),
    "dense diagonals": ("(i,j) -> (i-j,i)", [Dense(), Range()]),
    "digits of a diagonal": ("(i,j) -> ((j-i)/2,(j-i)%2,i)", [Dense(), Dense(), Compressed()]),
    "diagonals of lists": ("(i,j) -> (i-j,j,i)", [Compressed(), Range(), Offset()]),
    "ell by rows": ("(i,j) -> (i,#i,j)", [Dense(), Sliced(), Singleton(padded=True)]),
    "a list of entries": ("(i,j) -> (#,i,j)", [Sliced(), Singleton(padded=True), Singleton(padded=True)]),
    "rows that each hold one": ("(i,j) -> (i,j)", [Dense(), Singleton(padded=True)]),
    "one below digits": (
        "(i,j) -> ((j+1)/2,(j+1)%2,i,j+2*i)",
        [Dense(), Dense(), Dense(), Singleton(ordered=False, padded=True)],
    ),
    "lists below diagonals": (
        "(i,j) -> (i-j+size(j),i,j/3)",
        [Squeezed(), Compressed(unique=False), Singleton(unique=False)],
    ),
    "rows in parts": ("(i,j) -> (i,j)", [Compressed(unique=False), Dense()]),
    "rows of lists in parts": ("(i,j) -> (i,j)", [Compressed(unique=False), Compressed()]),
    "bsr with blocks in parts": ("(i,j) -> (i/2,j/3,i,j)", [Dense(), Compressed(unique=False), Dense(), Dense()]),
    "blocks in parts": (
        "(i,j) -> (i/2,j/2,i,j)",
        [Compressed(unique=False), Singleton(unique=False), Dense(), Hashed()],
    ),
    "diagonals in parts": ("(i,j) -> (j-i,j,i)", [Squeezed(unique=False), Range(), Offset()]),
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("source", ["coo", "dense"])
def test_every_operation_on_chosen_formats(name, source):
    own, other = Format(*CHOSEN[name]), parse_format("bsr", 2, blocksize=(2, 3))
    rng = np.random.default_rng(3)
    for shape in ((6, 7), (5, 4), (1, 1), (0, 3), (3, 0)):
        dense = np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(float)
        if own.conditions:
            dense[:, 1:] = 0
        B = weft.asarray(dense, format=source)
        A = with_repeats(random.Random(1), B.asformat(own))
        assert wrong(A, dense, B, own, other, f"{shape} {name}") is None


def test_a_format_of_blocks_may_be_written_either_way():
    blocks = [Dense(), Compressed(), Dense(), Dense()]
    assert Format("(i,j) -> (i/2,j/2,i,j)", blocks) == parse_format("bsr", 2, blocksize=(2, 2))
    assert Format("(i,j) -> (i/4,i/2,j,i)", [Dense(), Dense(), Compressed(), Dense()]).letters == (
        "ddsd:(i,j) -> (i/4,i/2%2,j,i%2)"
    )


@pytest.mark.parametrize(
    ("remapping", "levels", "shape"),
    [
        ("(i,j) -> (i/4,#i,i%4,j)", [Dense(), Sliced(), Dense(), Singleton(padded=True)], (10, 7)),  # sliced ELL
        ("(i,j) -> (i/4,#i,i%4,j)", [Dense(), Ragged(), Dense(), Singleton(padded=True)], (3, 0)),
        ("(i,j) -> (i/4,#i,i%4,j)", [Dense(), Ragged(), Dense(), Singleton(padded=True)], (10, 7)),
        ("(i,j) -> (j/3,#j,j,i)", [Dense(), Ragged(), Jagged(window=3), Singleton()], (6, 7)),
        ("(i,j) -> (i/2,#i,i%2,j)", [Compressed(), Sliced(), Dense(), Singleton(padded=True)], (5, 4)),
        ("(i,j) -> (#j,j>>1,j&1,i)", [Sliced(), Dense(), Dense(), Singleton(padded=True)], (4, 7)),
        ("(i,j,k) -> (i/2,j/2,#i j,i%2,j%2,k)",
         [Dense(), Dense(), Sliced(), Dense(), Dense(), Singleton(padded=True)], (3, 2, 4)),
    ],
)  # fmt: skip
def test_counters_over_axes_that_follow_from_levels(remapping, levels, shape):
    own, rng = Format(remapping, levels), np.random.default_rng(3)
    dense = np.where(rng.random(shape) < 0.5, rng.integers(1, 9, shape), 0).astype(float)
    B = weft.asarray(dense, format="coo")
    other = parse_format("csc" if dense.ndim == 2 else "csf", dense.ndim)
    assert wrong(B.asformat(own), dense, B, own, other, f"{own} {shape}") is None


def test_sliced_ell_by_rows_below_blocks_of_rows():
    levels = [Dense(), Sliced(), Dense(), Singleton(padded=True)]
    assert Format("(i,j) -> (i/4,#i,i,j)", levels) == Format("(i,j) -> (i/4,#i,i%4,j)", levels)


@pytest.mark.parametrize(
    ("remapping", "levels", "message"),
    [
        ("(i,j) -> (i,j)", [Compressed(), Singleton()], r"level 2 \(singleton\) holds one .* \(0, 0\) and \(0, 1\)"),
        ("(i,j) -> (i,j)", [Dense(), Singleton(padded=True)], r"level 2 .* \(0, 0\) and \(0, 1\) have the same parent"),
        ("(i,j) -> (i,j)", [Dense(), Compressed(full=True)], r"level 2 .* of the 12 coordinates under its 3 parents 8"),
        ("(i,j) -> (j,i)", [Hashed(full=True), Hashed(full=True)], r"level 2 .* is full, and of the 12"),
        (
            "(i,j) -> (i,j)",
            [Compressed(unique=False), Singleton(full=True)],
            r"level 2 .* is full, and of the 12 coordinates under its 3 parents 8 are there",
        ),
    ],
)
def test_entries_that_a_format_cannot_hold(remapping, levels, message):
    own = Format(remapping, levels)
    dense = np.array([[1.0, 2, 0, 3], [0, 3, 4, 0], [5, 0, 6, 7]])
    for source in ("csr", "coo", "dense"):
        with pytest.raises(StorageError, match=message):
            weft.asarray(dense).asformat(source).asformat(own)
    with pytest.raises(StorageError, match=message):
        weft.evaluate(
            "C(i,j) = A(i,j) * B(i,j)",
            A=weft.asarray(dense, format="csr"),
            B=weft.asarray(dense, format="coo"),
            format=own,
        )


@pytest.mark.parametrize(
    "levels",
    [
        [Compressed(full=True), Compressed(full=True)],
        [Compressed(full=True, ordered=False), Compressed(full=True, ordered=False)],
        [Dense(), Compressed(full=True)],
        [Dense(), Hashed(full=True)],
        [Compressed(unique=False, full=True), Singleton(full=True)],
        [Hashed(full=True), Dense()],
        [Compressed(unique=False, full=True), Dense()],
        [Dense(), Compressed(unique=False, ordered=False, full=True)],
    ],
)
def test_full_levels_in_every_operation(levels):
    own, dense = Format("(i,j) -> (i,j)", levels), np.arange(1.0, 13).reshape(3, 4)
    B = weft.asarray(dense)
    A = with_repeats(random.Random(1), B.asformat(own))
    assert wrong(A, dense, B, own, parse_format("csc", 2), str(levels)) is None
    A[1, 2] = 0  # stays an entry
    assert A.todense()[1, 2] == 0
    assert A.layout.unconditional.conditions == ()


@pytest.mark.parametrize(
    ("remapping", "levels", "message"),
    [
        ("(i,j) -> (i,j)", [Dense(), Singleton()], "cannot mark positions of dense without an entry"),  # S3
        ("(i,j) -> (i,j)", [Hashed(), Singleton()], "cannot mark positions of hashed.* without an entry"),
        ("(i,j) -> (i,j)", [Compressed(), Compressed(unique=False)], "may hold a coordinate twice"),  # S4
        ("(i,j) -> (i,j)", [Compressed(unique=False)] * 2, "level 2 .* may hold a coordinate twice"),
        ("(i,j) -> (#i,#j,i,j)", [Sliced(), Sliced(), Dense(), Singleton()], "two counters"),  # S5
        (
            "(i,j) -> (i+j,#i,j)",
            [Dense(), Sliced(), Singleton()],
            "do not follow from coordinates of levels over these",
        ),
        ("(i,j) -> (i/2,#i,j,i%2)", [Dense(), Sliced(), Singleton(padded=True), Dense()], "it counts over come first"),
        ("(i,j) -> (#i,i,j)", [Compressed(), Dense(), Singleton()], "level 1 .* does not store how far"),
        ("(i,j) -> (#i,i,j)", [Squeezed(), Dense(), Singleton()], "level 1 .* does not store how far"),
        (
            "(i) -> (#i,i)",
            [Sliced(), Compressed()],
            "level 2 .* positions on the axes that it counts over must follow",
        ),
        ("(i,j) -> (#i,i,j)", [Sliced(), Dense(), Dense()], "level 1 .*no level below it marks"),
        ("(i,j) -> (#i,i,j)", [Sliced(), Dense(), Compressed()], "level 3 .* each position has one child"),
        ("(i,j) -> (#i/2,i,j)", [Sliced(), Dense(), Singleton()], "a counter is a coordinate by itself"),
        ("(i,j) -> (i,j)", [Sliced(), Compressed()], "level 1 .* those of a counter"),  # S6
        ("(i,j) -> (i*j,i,j)", [Dense(), Compressed(), Compressed()], "level 1 .*: "),  # S7
        (
            "(i,j) -> (2*i,i,j)",
            [Dense(), Offset(), Dense()],
            "level 1 .*positions for numbers that are no coordinates",
        ),  # S8
        ("(i,j) -> (i^j,i,j)", [Dense(), Dense(), Dense()], "level 1 .*positions for numbers that are no coordinates"),
        ("(i,j) -> (i+2*j,i,j)", [Dense(), Dense(), Offset()], "level 2 .*coordinates above leave only some"),
        ("(i,j) -> (i,j)", [Jagged(), Compressed()], "level 1 .* it is below a level that counts"),  # S10
        ("(i,j) -> (#i,i,j)", [Sliced(), Jagged(window=2), Singleton()], "reads the array slices"),
        (
            "(i,j) -> (i/2,#i,i,j)",
            [Dense(), Ragged(), Jagged(window=4), Singleton()],
            "windows of 4 coordinates and a r",
        ),
        ("(i,j) -> (#i,i,j)", [Ragged(), Jagged(window=2), Singleton()], "below a level of windows and a level that"),
        ("(i,j) -> (i/2,#i,i,j)", [Squeezed(), Ragged(), Jagged(window=2), Singleton()], "below a dense level of w"),
        (
            "(i,j) -> (i/2,#i,i%2,j)",
            [Compressed(), Ragged(), Dense(), Singleton(padded=True)],
            "level 2 .* positions of the levels above it must follow from coordinates",
        ),
        ("(i,j) -> (#i,i,j)", [Sliced(), Jagged(window=-1), Singleton()], "a window of -1 rows is negative"),
        ("(i,j) -> (i,j)", [Growable(), Compressed()], "level 1 .* nothing can be below"),
        ("(i,j) -> (i,j)", [Slots(), Dense()], "level 1 .* has a slot of its own"),
        ("(i,j) -> (#i,i,j)", [Sliced(), Spilled(), Singleton()], "level 2 .* below a capped one"),
    ],
)
def test_what_is_refused(remapping, levels, message):
    with pytest.raises(FormatError, match=message):
        Format(remapping, levels)
