"""Workspaces of whole results: with a list where few coordinates come up, with marks alone where most do."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from tests.kernel_batches import together

import weft
from weft.compiler import plan_loops
from weft.config import config
from weft.execution import plan_for, thresholds
from weft.execution.kernel import Kernel
from weft.execution.loops import Loops
from weft.execution.plan_cache import plans
from weft.formats import Compressed, Format, TensorType, parse_format
from weft.index_notation import parse
from weft.module import Module
from weft.storage import check
from weft.variant import Variant

TEXT = "y(j) = A(i,j)*x(i)"


def matrix(columns):
    """Sums that cancel, NaN and infinity, a column of explicit zeros and columns of nothing."""
    rows = np.array([0, 1, 2, 2, 3, 3, 4])
    cols = np.array([1, 1, 3, 4, 5, 0, columns - 1])
    values = np.array([2.0, -2.0, np.nan, np.inf, 0.0, 1.5, 4.0])
    A = sp.csr_array((values, (rows, cols)), shape=(5, columns))
    return weft.asarray(A), A


def watched(monkeypatch):
    """The flags workspaces of the kernels that run from now on."""
    seen, run = [], Kernel.run

    def noting(self, storages, out=None):
        seen.extend(w for w in self.module.schedule.program.workspaces if w.kind == "flags")
        return run(self, storages, out)

    plans.clear()  # plans keep what ran before
    monkeypatch.setattr(Kernel, "run", noting)
    return seen


@pytest.mark.compiles_alone
@pytest.mark.parametrize(("columns", "crowded"), [(8, True), (48, True), (49, False), (5000, False)])
def test_few_or_most(columns, crowded, monkeypatch):
    A, peer = matrix(columns)
    x = np.ones(5)
    seen = watched(monkeypatch)
    y = weft.evaluate(TEXT, A=A, x=x, format="coo")
    assert bool(seen) == crowded
    check(y._storage)
    coords, values = y.to_coo()
    assert coords[0].tolist() == [0, 1, 3, 4, 5, columns - 1]  # what is stored is what was summed, zeros too
    np.testing.assert_array_equal(values, [1.5, 0.0, np.nan, np.inf, 0.0, 4.0])
    np.testing.assert_array_equal(y.todense(), peer.T @ x)


@pytest.mark.compiles_alone
@pytest.mark.parametrize("columns", [49, 5000, 100_000])
def test_small_results_are_looked_through(columns, monkeypatch):
    """However few of their coordinates come up: that takes less than to set up a sort."""
    A, peer = matrix(columns)
    monkeypatch.setattr(thresholds, "THRESHOLDS", thresholds.Thresholds())
    seen = watched(monkeypatch)
    y = weft.evaluate(TEXT, A=A, x=np.ones(5), format="coo")
    assert bool(seen) == (columns < 1 << 16)
    np.testing.assert_array_equal(y.todense(), peer.T @ np.ones(5))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtypes(dtype):
    dense = np.array([[0, 3, 0, 1], [2, 3, 0, 0], [0, 0, 0, 1]]).astype(dtype)
    A = weft.asarray(dense, format="csr")
    found = weft.evaluate("y(j) = A(i,j)", A=A, format="coo")
    expected = weft.evaluate("y(j) = A(i,j)", A=A, format="dense")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.todense(), expected.todense())
    assert found.nnz == 3


TENSOR_FORMATS = ["coo", "csf", "dds", "sdd", "sss:2,0,1"]


def tensor(kind):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((5, 6, 7)) < 0.4, rng.integers(-3, 4, (5, 6, 7)), 0).astype(float)
    match kind:
        case "empty":
            dense[:] = 0
        case "empty rows":
            dense[:, ::2] = 0
            dense[:, :, 3:] = 0
        case "special":
            dense[0, 1] = np.nan
            dense[2, 2, 2], dense[3, 2, 2] = np.inf, -0.0
    return dense


@pytest.mark.parametrize("kind", ["some", "empty", "empty rows", "special"])
@pytest.mark.parametrize("format", TENSOR_FORMATS)
def test_matrices_gathered_whole(format, kind):
    dense = tensor(kind)
    A = weft.asarray(dense).asformat(format)
    factor = np.arange(10.0).reshape(5, 2) % 3

    def contract(case):
        text, result = case
        operands = (A, factor) if "," in text else (A,)
        found = weft.einsum(text, *operands, format=result)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), np.einsum(text, dense, *operands[1:]))

    def reduce(case):
        name, axis = case
        with np.errstate(all="ignore"):
            found, expected = (getattr(xp, name)(x, axis=axis) for xp, x in ((weft, A), (np, dense)))
        np.testing.assert_array_equal(found.todense() if isinstance(found, weft.SparseTensor) else found, expected)

    sums = product(("ijk->jk", "ijk->kj", "ijk->ki", "ijk->ij"), ("coo", "dcsr", "csr", "csc"))
    products = product(["ijk,il->jkl"], ("coo", "csf", "sds", "dss", "ssd", "sdd", "dsd"))
    together([*sums, *product(["ijk->k"], ("coo", "s")), *products], contract)
    together(product(("sum", "prod", "max", "min", "any", "all", "nansum"), (0, 1, 2, (0, 2))), reduce)


@pytest.mark.compiles_alone
@pytest.mark.parametrize("kind", ["few", "most"])
def test_matrices_of_few_or_most(kind, monkeypatch):
    A = weft.asarray(tensor("some") if kind == "most" else np.eye(6, 42).reshape(6, 6, 7)).asformat("coo")
    seen = watched(monkeypatch)
    found = weft.evaluate("y(j,k) = A(i,j,k)", A=A, format="dcsr")
    assert [w.indices for w in seen] == ([("i", "j")] if kind == "most" else [])
    np.testing.assert_array_equal(found.todense(), A.todense().sum(0))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("gathering", ["list", "hash"])
@pytest.mark.parametrize("format", ["csr", "dcsr"])
@pytest.mark.parametrize(
    ("text", "absent"), [("y(i,k) = sum(j, A(i,j,k))", 0.0), ("y(i,k) = max(j, A(i,j,k))", -np.inf)]
)
def test_results_that_are_filled_with_something_else(text, absent, format, gathering, threads):
    """Every coordinate is stored then: the operands' entries are no bound, and lists are walked in order to count."""
    dense = np.where(tensor("some") == 0, absent, tensor("some"))
    A = weft.asarray(dense, format="csf", fill_value=absent)
    result = TensorType.of("float64", parse_format(format, 2), fill=3.0)
    loops = plan_loops(parse(text), {"y": result, "A": A._storage.type}, Variant(accumulator=gathering))
    kernel = Kernel(Loops(None, Module(loops)))
    assert [w.kind for w in kernel.module.schedule.program.workspaces] == [gathering]
    with config.override(num_threads=threads, parallel_threshold=0):
        found = kernel.run((A._storage,))
    check(found)
    np.testing.assert_array_equal(weft.SparseTensor(found).todense(), dense.sum(1) if absent == 0 else dense.max(1))


def test_explain_says_what_a_kernel_takes_for_these_operands():
    a, b = (weft.asarray(np.eye(40, k=k), format="csr") for k in (0, 1))
    with config.override(num_threads=2, parallel_threshold=1):
        told = weft.explain("C(i,j) = A(i,j) + B(i,j)", A=a, B=b)
    assert "chosen for these operands: parallel append, since several threads have enough to do" in told
    assert "parallel append" not in weft.explain("C(i,j) = A(i,j) + B(i,j)", A=a, B=b)
    assert "chosen for these operands: equal structures" in weft.explain("C(i,j) = A(i,j) + B(i,j)", A=a, B=a)
    wide = weft.from_coords([[0, 1], [2**40, 5]], [1.0, 2.0], shape=(3, 2**41), format="dcsr")
    small = weft.asarray(np.eye(3), format="csr")
    told = weft.explain("C(i,k) = sum(j, A(i,j)*B(j,k))", A=small, B=wide)
    assert "chosen for these operands: hash workspace, since a workspace over more than 67108864 coordinates" in told


def test_dimensions_tell_that_indices_are_wide(monkeypatch):
    """One level has coordinates up to n*n, and no function of the kernel with narrow indices runs."""
    n, flat = 70_000, Format("(i,j) -> (i*size(j)+j)", [Compressed()])
    rows, cols = np.array([3, n - 1], np.int32), np.array([5, n - 2], np.int32)
    A = weft.asarray(sp.coo_array(([1.0, 2.0], (rows, cols)), shape=(n, n)))
    told = weft.explain("C(i,j) = 2*A(i,j)", A=A, format=flat)
    assert "chosen for these operands: wide index, since coordinates of the result exceed 32 bits" in told
    kernel = plan_for(parse("C(i,j) = 2*A(i,j)"), (A._storage.type,), format=flat).kernel
    monkeypatch.setattr(kernel.assembly, "make", None)
    found = kernel.run((A._storage,))
    check(found)
    assert found.type.index_dtypes == ("int64", "int64")
    assert found.arrays[1].tolist() == [3 * n + 5, n * n - 2]
