"""Operands that loops would walk again and again are stored so that their coordinates are found."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.execution import plan, thresholds
from weft.records import replace
from weft.storage import check

RNG = np.random.default_rng(11)
PRODUCT = "C(i,j) = A(i,k)*B(k,j)"
LARGE = 2**30


def matrix(rows, columns, density=0.2):
    """Small integers, some of them stored zeros, so that every order of summation gives the same."""
    found = sp.random_array((rows, columns), density=density, rng=RNG, format="coo")
    found.data = RNG.integers(-3, 4, found.nnz).astype(float)
    return found


def spread(A, n):
    """The same entries far apart in a matrix too large for an array over a dimension."""
    far = n // max(A.shape)
    return weft.from_coords([c * far for c in A.coords], A.data, shape=(n, n), format="coo")


def schedule_of(text, **operands):
    return weft.explain(text, **operands, stages=True).split("== schedule")[1].split("== concrete")[0]


@pytest.mark.parametrize("second", ["coo", "dcsr", "dcsc", "hash", "dok"])
@pytest.mark.parametrize("first", ["csr", "coo"])
def test_products(first, second):
    a, b = matrix(30, 40), matrix(40, 20)
    A, B = weft.asarray(a, format=first), weft.asarray(b, format=second)
    C = A @ B
    check(C._storage)
    np.testing.assert_array_equal(C.todense(), (a @ b).todense())
    assert "∧" not in weft.explain(PRODUCT, A=A, B=B, stages=True).split("== lattices")[1].split("== ir")[0]


@pytest.mark.parametrize("format", ["coo", "dcsr"])
def test_a_matrix_is_indexed(format):
    A, B = weft.asarray(matrix(8, 8), format="csr"), weft.asarray(matrix(8, 8), format=format)
    assert f"B is converted from {format} to csr: loops i,k,j would walk all of B" in schedule_of(PRODUCT, A=A, B=B)
    same = schedule_of("C(i,j) = A(i,j)*B(i,j)", A=B, B=B)
    assert "converted" not in same  # walked once, side by side


@pytest.mark.parametrize("formats", [*product(["coo", "dcsr", "dok"], repeat=2)], ids="-".join)
def test_hash_tables_where_arrays_are_too_long(formats):
    a, b = matrix(30, 30), matrix(30, 30)
    A, B = (spread(m, LARGE).asformat(f) for m, f in zip((a, b), formats, strict=True))
    C = A @ B
    check(C._storage)
    expected = (a @ b).tocoo()
    found = C.asformat("coo")
    step = LARGE // 30
    small = sp.coo_array((found.data, tuple(c // step for c in found.coords)), shape=(30, 30))
    np.testing.assert_array_equal(small.todense(), expected.todense())


@pytest.mark.parametrize("format", ["hash", "dok", "coo"])
def test_what_is_stored_in_another_order_is_found_too(format):
    a = matrix(30, 25)
    A = weft.asarray(a, format=format)
    np.testing.assert_array_equal((A.T @ A).todense(), (a.T @ a).todense())
    lattices = weft.explain(PRODUCT, A=A.T.layout, B=A.layout, stages=True).split("== lattices")[1].split("== ir")[0]
    assert "∧" not in lattices


def test_tables_that_are_asked_drive_no_loop():
    dok, v = weft.asarray(matrix(9, 9), format="dok"), weft.asarray(np.ones(9), format="coo")
    assert "looked up" not in schedule_of("a = A(i,j)*x(j)*y(i)", A=dok, x=v, y=v)
    assert "looked up" in schedule_of("C(i,j) = A(i,j)*B(i,j)", A=dok, B=weft.asarray(matrix(9, 9), format="csr"))


def test_more_factors():
    a, c, d = RNG.integers(-2, 3, (6, 7, 8)) * (RNG.random((6, 7, 8)) < 0.3), matrix(7, 5), matrix(8, 5)
    A = weft.asarray(a.astype(float), format="coo")
    C, D = weft.asarray(c, format="coo"), weft.asarray(d, format="dcsr")
    y = weft.einsum("ikl,kj,lj->ij", A, C, D, optimize=False)
    np.testing.assert_array_equal(y.todense(), np.einsum("ikl,kj,lj->ij", a, c.todense(), d.todense()))
    found = schedule_of("y(i,j) = A(i,k,l)*C(k,j)*D(l,j)", A=A, C=C, D=D)
    assert "would walk all of C" in found
    assert "D is converted from dcsr to csc" in found


@pytest.mark.parametrize("format", ["csr", "coo", "dcsr", "hash", "dok", "ell", "csc"])
@pytest.mark.parametrize(
    "run",
    [
        lambda A, v: A @ v,
        lambda A, v: A * v,
        lambda A, v: weft.einsum("ij,j,j->i", A, v, v),
        lambda A, v: weft.evaluate("y(i) = A(i,j)*x(j) + 2*B(i,j)*x(j)", A=A, B=A, x=v, format="coo"),
    ],
    ids=["product", "stretched", "twice", "sum"],
)
def test_vectors_of_many_entries(run, format, monkeypatch):
    n = 400
    dense = np.where(RNG.random((7, n)) < 0.02, RNG.integers(-3, 4, (7, n)), 0).astype(float)
    vector = np.where(RNG.random(n) < 0.5, RNG.integers(-3, 4, n), 0).astype(float)
    A, v = weft.asarray(dense, format=format), weft.asarray(vector, format="coo")
    assert v.nnz > thresholds.THRESHOLDS.scanned_entries
    found = run(A, v)
    never = replace(thresholds.THRESHOLDS, scanned_entries=2**62)
    monkeypatch.setattr(thresholds, "THRESHOLDS", never)
    walked = run(A, v)
    assert found.format == walked.format
    check(found._storage)
    np.testing.assert_array_equal(found.todense(), walked.todense())
    np.testing.assert_array_equal((A @ v).todense(), dense @ vector)


@pytest.mark.parametrize("format", ["csr", "coo", "dcsr"])
def test_what_is_absent_stays_absent(format):
    """Infinity times what is not stored is nothing, times a stored zero NaN."""
    n = 300
    A = weft.from_coords([[0, 0, 1, 1], [1, 2, 3, 5]], [np.inf, 1.0, np.nan, 1.0], shape=(2, n), format=format)
    stored = np.arange(0, n, 2)
    v = weft.from_coords([stored], np.where(stored == 2, 0.0, 1.0), shape=(n,))
    np.testing.assert_array_equal((A @ v).todense(), [0, 0])
    at_zero = weft.from_coords([[0], [2]], [np.inf], shape=(2, n), format=format)
    assert np.isnan((at_zero @ v).todense()[0])


def test_few_entries_or_short_rows_are_walked(monkeypatch):
    seen = []
    taking = plan.Plan.taking
    monkeypatch.setattr(plan.Plan, "taking", lambda self, other: seen.append(other.name) or taking(self, other))
    dense = np.ones((3, 200))
    full = weft.asarray(dense, format="csr")
    thin = weft.asarray(np.eye(3, 200), format="csr")
    few, many = (weft.from_coords([np.arange(k)], np.ones(k), shape=(200,)) for k in (20, 100))
    for A, v, searched in ((full, few, False), (full, many, False), (thin, few, False), (thin, many, True)):
        seen.clear()
        y = A @ v
        assert ("hash lookup" in seen) == searched
        np.testing.assert_array_equal(y.todense(), A.todense() @ v.todense())


def test_vectors_in_any_order_are_found(monkeypatch):
    """They are sorted first where they are walked, which hides nothing."""
    seen = []
    taking = plan.Plan.taking
    monkeypatch.setattr(plan.Plan, "taking", lambda self, other: seen.append(other.name) or taking(self, other))
    thin = sp.eye_array(3, 400, format="csr")
    coords = RNG.integers(0, 400, 200)
    for peer in (coords, RNG.permutation(400)[:200]):
        vector = sp.coo_array((np.ones(200), (peer,)), shape=(400,))
        v = weft.asarray(vector)
        assert not v.is_ordered
        seen.clear()
        np.testing.assert_array_equal((weft.asarray(thin) @ v).todense(), thin @ vector.todense())
        assert seen


def test_duplicates_in_any_order():
    coords = RNG.integers(0, 50, (2, 300))
    peer = sp.coo_array((np.ones(300), tuple(coords)), shape=(50, 50))
    A = weft.asarray(peer)
    assert not A._storage.format.is_unique
    np.testing.assert_array_equal((A @ A).todense(), (peer @ peer).todense())
    twice = sp.coo_array((np.ones(300), (coords[0],)), shape=(50,))
    v = weft.asarray(twice)
    np.testing.assert_array_equal((A @ v).todense(), peer @ twice.todense())
