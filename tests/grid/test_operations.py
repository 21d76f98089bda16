"""Every operation on mixes of formats (see ``operations`` and ``grid``)."""

import itertools

import pytest

from .grid import EXTENTS, chunked, pairs, piece, run
from .operations import GRIDS

SIZES = {
    "empty": dict.fromkeys(EXTENTS, 0),
    "one": dict.fromkeys(EXTENTS, 1),
    "flat": {**EXTENTS, "i": 1, "k": 0},
    "tall": {**EXTENTS, "i": 9, "j": 1},
}


@pytest.mark.parametrize(("name", "chunk"), chunked(GRIDS))
def test_grid(name, chunk):
    grid = GRIDS[name]
    square = {**EXTENTS, "j": EXTENTS["i"], "k": EXTENTS["i"]}
    same = name in ("diagonal", "diagonal product", "trace", "used twice", "MINUS transposed")
    run(grid.text, piece(grid, chunk), extents=square if same else EXTENTS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GRIDS)
def test_sizes(name, size):
    cases = GRIDS[name].chosen
    extents = SIZES[size]
    if len(set(extents.values())) > 1 and name in (
        "diagonal",
        "diagonal product",
        "trace",
        "used twice",
        "MINUS transposed",
    ):
        extents = dict.fromkeys(EXTENTS, 3)
    run(GRIDS[name].text, cases[:: max(1, len(cases) // 12)], extents=extents)


@pytest.mark.parametrize("density", [0.0, 1.0])
@pytest.mark.parametrize("name", GRIDS)
def test_densities(name, density):
    cases = GRIDS[name].chosen
    run(GRIDS[name].text, cases[1 :: max(1, len(cases) // 12)], extents=dict.fromkeys(EXTENTS, 4), density=density)


@pytest.mark.parametrize("name", GRIDS)
def test_two_threads(name):
    cases = GRIDS[name].chosen
    extents = dict.fromkeys(EXTENTS, 40 if GRIDS[name].text.count(",") < 6 else 7)
    run(GRIDS[name].text, cases[2 :: max(1, len(cases) // 12)], extents=extents, threads=2, density=0.1)


@pytest.mark.users_thresholds
@pytest.mark.parametrize("name", GRIDS)
def test_optimized(name):
    cases = GRIDS[name].chosen
    run(GRIDS[name].text, cases[3 :: max(1, len(cases) // 8)], extents=dict.fromkeys(EXTENTS, 5), optimization=3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["SpMV", "PLUS", "elementwise product", "SpGEMM", "row sums", "TTV", "RESIDUAL"])
def test_dtypes(name, dtype):
    if dtype == "bool" and name == "RESIDUAL":
        return  # NumPy has no difference of booleans
    cases = GRIDS[name].chosen
    names = list("ABbcxdyz")
    run(GRIDS[name].text, cases[:: max(1, len(cases) // 9)], extents=dict.fromkeys(EXTENTS, 4),
        dtypes=dict.fromkeys(names, dtype))  # fmt: skip


def test_the_grid_is_large():
    assert sum(len(list(grid.cases())) for grid in GRIDS.values()) > 9000


@pytest.mark.parametrize("name", GRIDS)
def test_the_sample_has_every_pair(name):
    grid = GRIDS[name]
    wanted, found = (set(itertools.chain(*map(pairs, cases))) for cases in (grid.cases(), grid.chosen))
    assert found == wanted
