"""Rows whose entries come in any order are put in order one by one, whatever format they come from."""

import numpy as np
import pytest

import weft
from weft.config import config
from weft.execution.kernel import Kernel, insertion_kernel
from weft.formats import parse_format
from weft.storage import check

SOURCES = ["csr", "csc", "coo", "dia", "ell", "hyb", "jad", "bsr", "csb", "hash", "dok", "lil", "hicoo"]
TARGETS = ["csr", "csc", "coo", "dcsr"]


def matrix(shape):
    """Some rows are empty, some short, some longer than what is ranked."""
    rng = np.random.default_rng(0)
    chance = rng.choice([0, 0.02, 0.3, 0.9], (shape[0], 1))
    stored = rng.random(shape) < chance
    return np.where(stored, rng.integers(1, 9, shape), 0).astype(float), stored


def shuffled(dense, stored, fill, format):
    rng = np.random.default_rng(5)
    rows, columns = np.nonzero(stored)
    order = rng.permutation(len(rows))
    coords = np.stack([rows[order], columns[order]])
    values = dense[coords[0], coords[1]]
    listed = weft.from_coords(coords, values, dense.shape, fill_value=fill, duplicates="keep")
    return listed.asformat(format, sort=False) if format in ("csr", "csc", "coo") else listed.asformat(format)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fill", [0.0, -0.0, 1.0, np.nan])
@pytest.mark.parametrize("source", SOURCES)
def test_from_any_order(source, fill, threads):
    dense, stored = matrix((37, 150))
    expected = np.where(stored, dense, fill)
    with config.override(num_threads=threads, parallel_threshold=0):
        A = shuffled(dense, stored, fill, source)
        for target in TARGETS:
            B = A.asformat(target)
            check(B._storage)
            np.testing.assert_array_equal(B.todense(), expected)
            if source not in ("dia", "bsr", "ell", "hyb", "csb"):  # which store more than entries
                assert B.nnz == stored.sum()
        C = A.pruned()
        check(C._storage)
        np.testing.assert_array_equal(C.todense(), expected)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_duplicates_are_summed(format):
    coords = np.array([[1, 0, 1, 1, 0], [3, 2, 0, 3, 2]])
    A = weft.from_coords(coords, [1.0, 2.0, 3.0, 4.0, -2.0], (2, 5), duplicates="keep")
    B = A.asformat(format)
    check(B._storage)
    np.testing.assert_array_equal(B.todense(), [[0, 0, 0, 0, 0], [3, 0, 0, 5, 0]])


def test_what_is_sorted_by_some_coordinates_is_not_sorted_again():
    """By columns, or by diagonals: each row is in order as its entries come."""
    for source in (parse_format("csc", 2).unsorted(), parse_format("dia", 2)):
        source_type = weft.zeros((3, 4), format=source)._storage.type
        target_type = weft.zeros((3, 4), format="csr")._storage.type
        assert isinstance(insertion_kernel(source_type, target_type, False), Kernel)


@pytest.mark.parametrize("left", ["csr", "coo"])
def test_products_of_unsorted_operands_convert_none(left):
    dense, stored = matrix((40, 40))
    A, B = shuffled(dense, stored, 0, left), shuffled(dense, stored, 0, "csr")
    text = weft.explain("C(i,k) = A(i,j)*B(j,k)", A=weft.asarray(dense, format="csr"), B=B, stages=True)
    assert "is converted" not in text
    np.testing.assert_array_equal((A @ B).todense(), dense @ dense)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "text", ["C(i,j) = A(i,j)*B(i,j)", "C(i,j) = A(i,j) - 2*B(i,j)", "C(i,j) = A(i,k)*B(k,j) + A(i,j)"]
)
def test_rows_of_hash_tables_are_sorted_one_by_one(text, threads):
    dense, stored = matrix((150, 150))
    report = weft.compile(text, A="hash", B="hash", C="csr").explain()
    assert ("each call" not in report, "values over j are accumulated" in report) == (True, True)
    A, B = (shuffled(each, stored, 0, "hash") for each in (dense, -dense))
    with config.override(num_threads=threads, parallel_threshold=0):
        C = weft.evaluate(text, A=A, B=B, format="csr")
    check(C._storage)
    np.testing.assert_array_equal(C.todense(), weft.evaluate(text, A=dense, B=-dense))


@pytest.mark.parametrize("threads", [1, 2])
def test_diagonals_go_into_rows_tile_by_tile(threads):
    n = 5000
    offsets = [-4000, -1, 0, 3, 2500]
    A = weft.diags_array([np.arange(n) + 1.0] * 5, offsets=offsets, shape=(n, n + 7), format="dia")
    for format in ("csr", "csc", "coo"):
        with config.override(num_threads=threads, parallel_threshold=0):
            B = A.asformat(format)
        check(B._storage)
        assert (B.to_scipy_sparse() != A.to_scipy_sparse()).nnz == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_unordered_results_are_not_sorted(threads):
    dense, stored = matrix((90, 90))
    A = shuffled(dense, stored, 0, "csr").canonical()
    B = weft.asarray(np.where(dense % 3 == 1, -dense, 0), format="csr")
    loose = {"B": "csr", "C": weft.formats["csr"](2).unsorted()}
    report = weft.compile("C(i,k) = A(i,j)*B(j,k)", A="csr", **loose).explain()
    assert "appended in the order in which they come" in report
    sums, beside = "C(i,k) = A(i,j)*B(j,k)", "C(i,k) = A(i,j)*B(j,k) + A(i,k)"
    for text in (sums, beside, "C(k,i) = A(i,j)*B(j,k)", "C(i,k) = sqrt(abs(sum(j, A(i,j)*B(j,k))))"):
        for name in ("csr", "csc", "coo", "dcsr"):
            with config.override(num_threads=threads, parallel_threshold=0):
                C = weft.evaluate(text, A=A, B=B, format=parse_format(name, 2).unsorted())
            expected = weft.evaluate(text, A=A, B=B, format=name)
            check(C._storage)
            assert not C.is_ordered
            np.testing.assert_array_equal(C.todense(), expected.todense())
            for mine, its in zip(C.canonical()._storage.arrays, expected._storage.arrays, strict=True):
                np.testing.assert_array_equal(mine, its)
            np.testing.assert_array_equal((C + B).todense(), (expected + B).todense())  # a merge, which needs order
            np.testing.assert_array_equal(C[3:5].todense(), expected[3:5].todense())


def test_values_of_unordered_rows_are_computed_where_they_were_assembled():
    dense, stored = matrix((60, 60))
    A, B = shuffled(dense, stored, 0, "csr").canonical(), weft.asarray(dense, format="csr")
    kernel = weft.compile("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csr", C=parse_format("csr", 2).unsorted())
    C = kernel.assemble(A, B)
    assert np.any(np.diff(C.indices) < 0)
    np.testing.assert_array_equal(kernel.compute(C, A, 2 * B).todense(), 2 * (dense @ dense))
    with config.override(disable=["whole-rows"]), pytest.raises(weft.errors.StorageError, match="other settings"):
        kernel.compute(C, A, B)
