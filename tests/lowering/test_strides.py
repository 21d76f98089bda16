"""Arrays that loops would pass across: stored again where each element is read often."""

import itertools

import numpy as np
import pytest

import weft
from weft.execution import plan_for
from weft.formats import Dense, Format
from weft.index_notation import parse
from weft.remapping import Remapping
from weft.variant import Variant

LINE = 16  # elements of one or two cache lines
SHAPES = [(1, 1), (0, 3), (LINE - 1, 2), (LINE, LINE), (LINE + 1, 3), (3, 2 * LINE + 5), (100, 7), (7, 100)]


def as_dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


def arrays(shape, dtype=float):
    whole = (np.random.default_rng(0).random(shape) * 100).astype(dtype)
    return {"C": whole, "F": np.asfortranarray(whole), "strided": np.repeat(whole, 2, axis=-1)[..., ::2]}


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int8", "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_array_in_the_other_order(shape, dtype):
    for array in arrays(shape, dtype).values():
        A = weft.asarray(array)
        for format in ("dense", "dense_f"):
            np.testing.assert_array_equal(A.asformat(format).todense(), array)


@pytest.mark.parametrize("modes", list(itertools.permutations(range(3))))
def test_three_axes_in_every_order(modes):
    array = np.random.default_rng(1).random((LINE + 1, 3, 2 * LINE))
    wanted = Format(Remapping(modes), [Dense()] * 3)
    A = weft.asarray(array)
    found = A.asformat(wanted)
    np.testing.assert_array_equal(found.todense(), array)
    np.testing.assert_array_equal(found.asformat("dense").todense(), array)
    np.testing.assert_array_equal(weft.evaluate("C(i,j,k) = A(i,j,k) + B(i,j,k)", A=A, B=found).todense(), 2 * array)


def test_threads_share_the_rows_of_an_array_in_the_other_order():
    array = np.random.default_rng(2).random((1000, 301))
    one = weft.asarray(array).asformat("dense_f").todense()
    with weft.config.override(num_threads=2, parallel_threshold=1):
        two = weft.asarray(array).asformat("dense_f").todense()
    np.testing.assert_array_equal(one, array)
    np.testing.assert_array_equal(two, array)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "dia", "bsr", "ell", "hash", "skyline"])
@pytest.mark.parametrize("width", [1, 2, 33])
def test_products_with_arrays_in_every_order(format, width):
    A = weft.random((9, 9), density=0.3, rng=0, format="csr").asformat(format)
    d = A.todense()
    for X in arrays((9, width)).values():
        np.testing.assert_allclose(A @ X, d @ X)
        np.testing.assert_allclose(X.T @ A, X.T @ d)
        np.testing.assert_allclose(A.T @ X, d.T @ X)
        np.testing.assert_allclose(as_dense(weft.einsum("ij,jk->ki", A, X)), (d @ X).T)
        sampled = weft.evaluate("C(i,j) = A(i,j)*X(i,k)*Y(k,j)", A=A, X=X, Y=X.T)
        np.testing.assert_allclose(as_dense(sampled), d * (X @ X.T))


@pytest.mark.parametrize("format", ["csf", "coo"])
def test_tensor_products_with_arrays_in_every_order(format):
    B = weft.random((5, 6, 7), density=0.2, rng=0, format=format)
    d = B.todense()
    for C, D in itertools.product(arrays((6, 4)).values(), arrays((7, 4)).values()):
        mttkrp = weft.evaluate("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", B=B, C=C, D=D)
        np.testing.assert_allclose(as_dense(mttkrp), np.einsum("ikl,kj,lj->ij", d, C, D))
    for D in arrays((7, 4)).values():
        np.testing.assert_allclose(
            as_dense(weft.evaluate("A(i,j,l) = B(i,j,k)*D(k,l)", B=B, D=D)), np.einsum("ijk,kl->ijl", d, D)
        )


@pytest.mark.parametrize(
    ("text", "formats", "stored"),
    [
        ("C(i,j) = A(i,k)*X(k,j)", {"A": "csr", "X": "dense_f"}, "X_kj"),
        ("C(i,j) = A(i,k)*X(k,j)", {"A": "coo", "X": "dense_f"}, "X_kj"),
        ("C(i,j) = A(i,k)*X(k,j)", {"A": "csr"}, None),
        ("C(i,j) = A(i,j)*X(i,k)*Y(k,j)", {"A": "csr", "C": "csr"}, "Y_jk"),
        ("C(i,j) = A(i,j)*X(i,j)", {"A": "csr", "X": "dense_f", "C": "csr"}, None),  # each element is read once
        ("C(i,j) = X(i,j) + Y(i,j)", {"X": "dense_f"}, None),
    ],
)
def test_what_is_stored_in_another_order(text, formats, stored):
    explained = weft.compile(text, **{"C": "dense", **formats}).explain(stages=True)
    assert ("would pass across" in explained) == (stored is not None)
    assert stored is None or f"{stored}: float64" in explained


def test_the_order_of_dense_results():
    """That of the arrays they are made of; where rows of the result are scattered over, columns are."""
    A = weft.random((20, 30), density=0.2, rng=0, format="csr")
    X = arrays((20, 30))
    assert (X["F"] + A).flags.f_contiguous
    assert (X["C"] + A).flags.c_contiguous
    assert (X["F"].T @ A).flags.f_contiguous
    assert (A @ X["F"].T).flags.c_contiguous
    assert weft.einsum("ij,jk->ik", A, weft.asarray(X["F"].T)).todense().flags.c_contiguous


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("width", [3, 40])
def test_products_that_threads_share(format, width):
    """In other loops than one thread has, where an operand is converted for that."""
    A = weft.random((50, 60), density=0.2, rng=0, format="csr").asformat(format)
    X, Z = np.random.default_rng(3).random((width, 50)), np.random.default_rng(4).random((60, width))
    one = X @ A, A @ Z, A.T @ X.T
    with weft.config.override(num_threads=2, parallel_threshold=1):
        two = X @ A, A @ Z, A.T @ X.T
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_threads_have_other_loops_where_theirs_cannot_be_shared():
    types = [weft.random((4, 4), format="csr")._storage.type, weft.asarray(np.ones((4, 4)))._storage.type]
    text = parse("Y(i,j) = X(k,i)*Z(k,j)")
    alone = plan_for(text, tuple(types))
    shared = plan_for(text, tuple(types), variant=Variant(parallel_loops=True))
    assert alone.kernel.module.schedule.serial
    assert not alone.kernel.chunked
    assert shared.kernel.chunked
    assert [c.tensor for c in shared.kernel.module.schedule.conversions] == ["X"]
