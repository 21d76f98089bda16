"""Statements over chunks on the threaded scheduler: equal to those of single tensors, in format and dtype too."""

from __future__ import annotations

import pickle

import dask
import dask.array as da
import numpy as np
import pytest

import weft
from weft.errors import DensifyError, NotationError, ShapeError

from .statements import DTYPES, STATEMENTS, dense, operand

SPARSE = "ABFGPST"


def compare(text, whole, chunked, **options):
    try:
        wanted = weft.evaluate(text, **whole, **options)
    except (DensifyError, TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            weft.dask.evaluate(text, **chunked, **options).compute(scheduler="synchronous")
        return
    lazy = weft.dask.evaluate(text, **chunked, **options)
    found = lazy.compute(scheduler="synchronous")
    np.testing.assert_allclose(dense(found), dense(wanted), rtol=1e-4 if lazy.dtype.itemsize < 8 else 1e-9)
    assert lazy.shape == np.shape(wanted)
    assert lazy.dtype == found.dtype == wanted.dtype
    meta = lazy._meta
    assert isinstance(meta, weft.SparseTensor) == isinstance(found, weft.SparseTensor)
    if isinstance(found, weft.SparseTensor):
        assert meta.layout == found.layout


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_over_chunks_equal_those_of_tensors(text):
    rng = np.random.default_rng(len(text))
    for dtype in (np.float64, DTYPES[rng.integers(len(DTYPES))]):
        pairs = {
            name: operand(rng, axes, dtype, sparse=name in SPARSE or rng.random() < 0.3)
            for name, axes in STATEMENTS[text].items()
        }
        with np.errstate(all="ignore"):
            compare(text, {n: a for n, (a, _) in pairs.items()}, {n: b for n, (_, b) in pairs.items()})


@pytest.mark.parametrize("seed", range(20))
def test_random_statements_equal_those_of_tensors(seed):
    rng = np.random.default_rng(1000 + seed)
    text = str(rng.choice([*STATEMENTS]))
    dtype = DTYPES[rng.integers(len(DTYPES))]
    pairs = {
        name: operand(rng, axes, dtype, sparse=name in SPARSE or rng.random() < 0.3)
        for name, axes in STATEMENTS[text].items()
    }
    with np.errstate(all="ignore"):
        compare(text, {n: a for n, (a, _) in pairs.items()}, {n: b for n, (_, b) in pairs.items()})


def test_einsum_takes_the_order_of_single_tensors_and_reductions():
    A = weft.random((40, 30), density=0.1, rng=0, format="csr")
    B = weft.random((30, 20), density=0.1, rng=1, format="csr")
    X, Y, w = weft.dask.from_tensor(A, entries=30), weft.dask.from_tensor(B, entries=20), np.ones((20, 3))
    for subscripts, operands, chunked in (
        ("ij,jk", (A, B), (X, Y)),
        ("ij,jk,kl->il", (A, B, w), (X, Y, w)),
        ("ij,ij,ij->j", (A, A, A), (X, X, A)),
        ("ij->", (A,), (X,)),
    ):
        found = weft.dask.einsum(subscripts, *chunked).compute()
        np.testing.assert_allclose(dense(found), dense(weft.einsum(subscripts, *operands)))
    least = weft.dask.einsum("ij,jk->ik", X, Y, reduce="max", format="csc").compute()
    np.testing.assert_allclose(dense(least), dense(weft.einsum("ij,jk->ik", A, B, reduce="max")))
    assert least.format == "csc"


def test_the_result_keeps_its_format_when_divisors_of_a_chunk_are_zero():
    A = weft.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [3.0, 0.0]], format="csr")
    X = weft.dask.from_tensor(A, chunks=((2, 2), (2,)))
    quotient = weft.dask.evaluate("P(i,j) = A(i,j)/sum(k, A(i,k))", A=X)
    assert {chunk.compute().format for chunk in quotient.to_delayed().ravel()} == {quotient._meta.format} == {"csr"}
    np.testing.assert_allclose(dense(quotient.compute()), dense(weft.evaluate("P(i,j) = A(i,j)/sum(k, A(i,k))", A=A)))


def test_unknown_sizes_along_free_and_reduced_variables():
    A = weft.random((40, 30), density=0.1, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=30)
    many = np.asarray(A.sum(axis=1).todense()) > 1
    U = X[X.sum(axis=1) > 1]
    some = A[many]
    found = weft.dask.evaluate("y(i) = U(i,j)*x(j)", U=U, x=np.arange(30.0)).compute()
    np.testing.assert_allclose(dense(found), some @ np.arange(30.0))
    np.testing.assert_allclose(dense(weft.dask.evaluate("y(j) = U(i,j)", U=U).compute()), dense(some.sum(axis=0)))
    np.testing.assert_allclose(dense(weft.dask.var(U, axis=0).compute()), dense(some.var(axis=0)))
    with pytest.raises(ShapeError, match="call compute_chunk_sizes"):
        weft.dask.evaluate("s(j) = U(i,j)*V(i,j)", U=U, V=weft.dask.from_tensor(some, chunks=(3, 30)))
    with pytest.raises(ShapeError, match=r"call X\.compute_chunk_sizes"):
        weft.dask.mean(U, axis=0)


def test_chunks_of_several_formats_side_by_side():
    A = weft.random((40, 30), density=0.1, rng=0, format="csr")
    parts = [da.from_array(A.asformat(f), chunks=-1, asarray=False) for f in ("csr", "csc", "coo", "dcsr")]
    found = weft.dask.evaluate("s(j) = M(i,j)*M(i,j)", M=da.concatenate(parts)).compute()
    np.testing.assert_allclose(dense(found), 4 * dense((A * A).sum(axis=0)))


def test_errors_say_what_is_wrong():
    X = weft.dask.from_tensor(weft.eye(4, format="csr"))
    with pytest.raises(ShapeError, match=r"j is 4 in A\(i,j\) and 5 in x\(j\)"):
        weft.dask.evaluate("y(i) = A(i,j)*x(j)", A=X, x=np.ones(5))
    with pytest.raises(NotationError, match="x not given"):
        weft.dask.evaluate("y(i) = A(i,j)*x(j)", A=X)
    with pytest.raises(NotationError, match="B"):
        weft.dask.evaluate("y(i) = A(i,j)", A=X, B=X)
    with pytest.raises(ValueError, match="split_every is at least 2"):
        weft.dask.evaluate("y(i) = A(i,j)", A=X, split_every=1)
    with pytest.raises(weft.errors.DTypeError, match=r"weft\.dask\.evaluate"):
        weft.evaluate("y(i) = A(i,j)", A=X)


def test_tasks_have_the_name_of_the_statement_and_hold_no_tensor():
    A = weft.random((40, 30), density=0.1, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=30)
    y = weft.dask.evaluate("y(j) = log1p(X(i,j) - 0.5*X(i,j))", X=X)
    names = {dask.utils.key_split(key) for key in y.__dask_graph__()}
    assert names == {
        "weft: chunks", "weft: y(j) = sum(i, log1p(X(i,j) − 0.5*X(i,j)))",
        "weft: merge y(j) = sum(i, log1p(X(i,j) − 0.5*X(i,j)))-aggregate",
    }  # fmt: skip
    tasks = [task for key, task in y.__dask_graph__().items() if dask.utils.key_split(key) != "weft: chunks"]
    assert sum(len(pickle.dumps(task)) for task in tasks) < 4000 * len(tasks)


def test_a_sum_inside_a_sum_is_an_array_of_its_own():
    """A kernel would compute it for each of the coordinates that are summed over."""
    A = weft.random((40, 30), density=0.1, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=30)
    V = np.random.default_rng(0).random((30, 3))
    found = weft.dask.evaluate("C(j,r) = X(i,j)*sum(k, X(i,k)*V(k,r))", X=X, V=V)
    assert "T0(i,r) = sum(k, X_0(i,k)*V(k,r))" in weft.dask.explain(found)
    np.testing.assert_allclose(dense(found.compute()), dense(A.T @ (A @ V)))
    inside = weft.dask.evaluate("P(i,j) = X(i,j)/sum(k, X(i,k))", X=X)
    assert "T0" not in weft.dask.explain(inside)


@pytest.mark.parametrize("chunks", [3, 6])
@pytest.mark.parametrize(
    "text",
    [
        "y(i) = sum(j, A(i,j)*sum(k, B(j,k)))",
        "y(i) = sum(j, sum(k, A(i,j)*B(j,k)))",
        "y(i,j) = A(i,j)*sum(k, B(j,k))",
        "y(i) = sum(j, A(i,j)*max(k, B(j,k)))",
    ],
)
def test_reductions_inside_expressions_leave_the_format_as_it_is(text, chunks):
    """They are arrays of their own, and what is computed of them has the format of the whole statement."""
    dense = np.where(np.random.default_rng(0).random((6, 6)) < 0.3, 2.0, 0.0)
    A, B = weft.asarray(dense, format="coo"), weft.asarray(dense.T.copy(), format="dcsr")
    X, Y = (weft.dask.from_tensor(x, chunks=chunks) for x in (A, B))
    compare(text, {"A": A, "B": B}, {"A": X, "B": Y})
    lazy = weft.dask.evaluate(text, A=X, B=Y)
    assert lazy._meta.layout == weft.evaluate(text, A=A, B=B).layout
