"""Loops in tiles and blocks in registers: sizes around a tile's and a block's, any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.config import config
from weft.formats import Capped, Format, Jagged, Singleton, Sliced, Spilled
from weft.scheduling.tiling import FEW, ROOM, TILE

SHAPES = [(2 * TILE + 1, TILE), (TILE, 2 * TILE), (1, TILE + 3), (TILE + 3, 1), (0, 5), (5, 0), (7, 5)]


def diagonals(shape, rng):
    """A matrix of a few diagonals, the outermost ones included."""
    m, n = shape
    d = np.zeros(shape)
    if d.size:
        for k in {1 - m, -1, 0, 2, n - 1}:
            i = np.arange(max(0, -k), min(m, n - k))
            d[i, i + k] = rng.random(len(i))
    return d


def dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["dia", "ell", "hyb", "dense_f", "bsr"])
def test_products_of_matrices_larger_than_a_tile(format, threads):
    rng = np.random.default_rng(0)
    with config.override(num_threads=threads, parallel_threshold=1):
        for shape in SHAPES:
            d = diagonals(shape, rng)
            A = weft.asarray(d).asformat(format)
            x, z, X = rng.random(shape[1]), rng.random(shape[0]), rng.random((shape[1], 3))
            np.testing.assert_allclose(A @ x, d @ x)
            np.testing.assert_allclose(dense(weft.evaluate("y(j) = A(i,j)*z(i)", A=A, z=z)), z @ d)
            np.testing.assert_allclose(dense(weft.evaluate("y(i) = z(i) - A(i,j)*x(j)", A=A, x=x, z=z)), z - d @ x)
            np.testing.assert_allclose(dense(weft.evaluate("Y(i,k) = A(i,j)*X(j,k)", A=A, X=X)), d @ X)
            turned = weft.evaluate("Y(k,i) = A(i,j)*X(j,k)", A=A, X=X, format="dense")
            np.testing.assert_allclose(dense(turned), (d @ X).T)


def test_diagonals_are_walked_in_tiles_of_rows_shared_by_threads():
    k = weft.compile("y(i) = A(i,j)*x(j)", A="dia", x="dense", y="dense")
    assert "tiles over i" in k.explain(stages=True)
    assert "parallel" in k.explain(stages=True)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_diagonals_are_walked_in_larger_tiles(threads):
    rng = np.random.default_rng(2)
    n, count = ROOM // 8 + 3, FEW + 1
    A = sp.dia_array((rng.random((count, n)), np.arange(count) * 7 - 20), shape=(n, n))
    x, X = rng.random(n), rng.random((n, 2))
    with config.override(num_threads=threads, parallel_threshold=1):
        T = weft.asarray(A)
        np.testing.assert_allclose(T @ x, A @ x)
        np.testing.assert_allclose(T.T @ x, A.T @ x)
        np.testing.assert_allclose(T @ X, A @ X)
        empty = weft.asarray(sp.dia_array((np.zeros((count, 0)), np.arange(count)), shape=(0, 0)))
        assert (empty @ np.zeros(0)).shape == (0,)
        assert (T @ np.zeros((n, 0))).shape == (n, 0)


NUMBERED = {  # formats with positions of every row, or column, under each number
    "jad": "jad",
    "hyb": "hyb",
    "columns": Format("(i,j) -> (#j,j,i)", [Capped(width=2), Spilled(), Singleton(padded=True)]),
    "tensor": Format("(i,j,k) -> (#i,i,j,k)", [Sliced(), Jagged(), Singleton(), Singleton()]),
}
PRODUCTS = ("y(i) = A(i,j)*x(j)", "y(i) = z(i)*A(i,j)*A(i,j)", "Y(i,k) = A(i,j)*X(j,k)")
ROWS = {
    "uneven": lambda rng: np.minimum(400 * rng.random(400) ** 3, rng.integers(0, 400, 400)).astype(int),
    "two fifths in one": lambda rng: np.where(np.arange(3000) < 1200, 17, rng.integers(0, 400, 3000)),
    "some empty": lambda rng: 40 * rng.integers(0, 10, 600),
    "one": lambda rng: np.full(300, 399),
    "none": lambda rng: np.empty(0, int),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", NUMBERED)
def test_rows_under_each_number_are_shared_without_new_bits(name, rows):
    rng = np.random.default_rng(5)
    i = ROWS[rows](rng)
    i, j = np.divmod(np.unique(1500 * i + rng.integers(0, 1500, len(i))), 1500)
    values, shape, texts = rng.normal(size=len(i)), (400, 1500), PRODUCTS
    if name == "tensor":
        A = weft.from_coords([i, j // 50, j % 50], values, (400, 30, 50)).asformat(NUMBERED[name])
        operands = {"A": A, "B": rng.normal(size=(30, 4)), "C": rng.normal(size=(50, 4))}
        texts = ("Y(i,r) = A(i,j,k)*B(j,r)*C(k,r)",)
    else:
        if name == "columns":
            (i, j), shape = (j, i), shape[::-1]
            texts = tuple(text.translate(str.maketrans("ij", "ji")).replace("A(j,i)", "A(i,j)") for text in texts)
        A = weft.from_coords([i, j], values, shape).asformat(NUMBERED[name])
        operands = {"A": A, "x": rng.normal(size=1500), "z": rng.normal(size=400), "X": rng.normal(size=(1500, 3))}
    for text in texts:
        used = {n: v for n, v in operands.items() if f"{n}(" in text}
        results = []
        for threads in (1, 2, 3, 7):
            with config.override(num_threads=threads, parallel_threshold=1):
                results.append(dense(weft.evaluate(text, **used)))
        expected, *others = results
        for found in others:
            np.testing.assert_array_equal(found, expected)
        with config.override(disable={"tiling"}):
            np.testing.assert_array_equal(dense(weft.evaluate(text, **used)), expected)
        whole = dense(weft.evaluate(text, **{n: dense(v) for n, v in used.items()}))
        np.testing.assert_allclose(expected, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("format", ["jad", "hyb"])
def test_rows_under_each_number_are_walked_in_tiles(format):
    k = weft.compile("y(i) = A(i,j)*x(j)", A=format)
    assert "parallel: the loop over blocks of i" in k.explain()
    # A column has its places anywhere.
    assert "tiles" not in weft.compile("y(j) = A(i,j)*x(i)", A=format).explain(stages=True)


def test_what_is_written_row_by_row_is_not_tiled():
    for A in ("csr", "skyline", "dense", "csc"):
        assert "tiles" not in weft.compile("y(i) = A(i,j)*x(j)", A=A, x="dense", y="dense").explain(stages=True)
    # Short runs below many rows: a tile would repeat the loop over rows for little.
    assert "tiles" not in weft.compile("y(j) = A(i,j)*x(i)", A="skyline", x="dense", y="dense").explain(stages=True)


def test_loops_scheduled_by_hand_are_whole():
    k = weft.compile("y(j) = A(i,j)*x(i)", A="dense", x="dense", y="dense", schedule=lambda s: s.reorder("j", "i"))
    assert "tiles" not in k.explain(stages=True)
    assert "tiles" in weft.compile("y(j) = A(i,j)*x(i)", A="dense", x="dense", y="dense").explain(stages=True)


@pytest.mark.parametrize("blocksize", [(1, 1), (2, 3), (3, 3), (8, 8), (9, 9), (1, 70)])
def test_rows_of_blocks_are_accumulated_in_registers(blocksize):
    rng = np.random.default_rng(1)
    format = weft.formats["bsr"](2, blocksize=blocksize)
    k = weft.compile("y(i) = A(i,j)*x(j)", A=format, x="dense", y="dense")
    assert f"double w_vals[{blocksize[0]}]" in k.source
    for shape in [(18, 18), (19, 17), (1, 1), (0, 4), (4, 0)]:
        d = np.where(rng.random(shape) < 0.2, rng.random(shape), 0)
        x = rng.random(shape[1])
        np.testing.assert_allclose(weft.asarray(d).asformat("bsr", blocksize=blocksize) @ x, d @ x)


def test_large_blocks_are_accumulated_in_place():
    format = weft.formats["bsr"](2, blocksize=(70, 2))
    k = weft.compile("y(i) = A(i,j)*x(j)", A=format, x="dense", y="dense")
    assert "w_vals" not in k.source


def test_blocks_inside_are_walked_without_guards():
    """One question for each block: is it whole? Then nothing is asked in its loops."""
    k = weft.compile("y(i) = A(i,j)*x(j)", A=weft.formats["bsr"](2, blocksize=(3, 3)), x="dense", y="dense")
    inside, edge = k.source.split("if (i_whole && j_whole) {")[1].split("} else {")
    assert "< A1_dim" not in inside
    assert "< A2_dim" not in inside
    assert "< A1_dim" in edge
    assert "< A2_dim" in edge
