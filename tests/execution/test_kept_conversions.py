"""Tensors keep the coordinates of a conversion that expressions ask for again, never its values."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse

import weft
from formats_for_tests import FORMATS, sparse
from kernel_batches import together
from weft import SparseTensor, config
from weft.execution import kept_conversions
from weft.execution.conversion import Convert, converted_type
from weft.formats import parse_format
from weft.operations.operands import storage_of

X = np.arange(1.0, 21.0).reshape(4, 5)
MASK = np.array([[1, 0, 1, 0, 1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 1]])
WHOLE = X * MASK
BESIDE = weft.asarray(np.ones((3, 4)), format="csr")


def product(A, times=1):
    """``BESIDE @ A``, whose loops read ``A`` by rows."""
    for _ in range(times):
        out = weft.evaluate("C(i,k) = B(i,j)*A(j,k)", A=A, B=BESIDE, format="csr")
    return out


def expected(whole):
    return BESIDE.todense() @ whole


def by_columns():
    return weft.asarray(WHOLE, format="csc")


def test_the_second_conversion_is_kept_and_later_ones_see_new_values():
    A = by_columns()
    assert A.kept == {}
    product(A)
    assert A.kept == {}
    product(A)
    assert A.kept.keys() == {"csr"}
    storage = storage_of(A)
    (kept,) = storage.kept.values()
    A.data[...] = -A.data
    assert np.array_equal(product(A).todense(), expected(-WHOLE))
    assert storage.kept == {parse_format("csr", 2): kept}
    A.drop_kept()
    assert A.kept == {}
    assert np.array_equal(product(A, 3).todense(), expected(-WHOLE))


@pytest.mark.parametrize("change", ["values", "order", "coordinates"])
def test_what_the_owner_of_the_memory_writes_is_seen(change):
    S = scipy.sparse.csc_array(WHOLE)
    A = weft.asarray(S)
    product(A, 3)
    assert A.kept
    if change == "values":
        S.data[1] = np.nan
    elif change == "order":  # of two entries in a column
        S.indices[:2], S.data[:2] = S.indices[1::-1].copy(), S.data[1::-1].copy()
        S.has_sorted_indices = False
        S.sort_indices()
        S.data *= 2
    else:
        S.indices[S.indptr[1]] = 1
    for _ in range(3):
        assert np.array_equal(product(A).todense(), expected(S.todense()), equal_nan=True)
    assert A.kept


def test_assignments_copies_and_pickles_begin_without():
    A = by_columns()
    product(A, 2)
    others = [A.copy(), copy.copy(A), copy.deepcopy(A), pickle.loads(pickle.dumps(A)), A * 1.0]
    assert A.kept
    assert not any(other.kept for other in others)
    A[0, 1] = 7.0
    changed = WHOLE.copy()
    changed[0, 1] = 7
    assert A.kept == {}
    assert np.array_equal(product(A, 3).todense(), expected(changed))
    assert A.kept
    A += A
    assert A.kept == {}
    assert np.array_equal(product(A, 3).todense(), expected(2 * changed))
    A.data = np.ones(A.nnz)
    assert A.kept == {}
    assert np.array_equal(product(A, 3).todense(), expected(changed != 0))


def test_tables_that_grow_in_place_are_converted_anew():
    A = weft.asarray(WHOLE, format="dok")
    whole = WHOLE.copy()
    for k in range(5):
        assert np.array_equal(product(A, 2).todense(), expected(whole))
        A[k - 1, k] = whole[k - 1, k] = k + 0.5


@pytest.mark.compiles_alone  # a low limit would drop what other tests keep
def test_the_limit_holds_for_all_tensors_together_and_the_oldest_goes_first():
    first, second = by_columns(), by_columns()
    product(first, 2)
    (each,) = first.kept.values()
    first.drop_kept()
    with config.override(max_kept_bytes=0):
        product(first, 3)
    with config.override(disable={"kept-conversions"}):
        product(first, 3)
    assert not first.kept
    with config.override(max_kept_bytes=each - 1):
        product(first, 4)
        assert not first.kept
    with config.override(max_kept_bytes=each):
        product(first, 2)
        assert first.kept
        product(second, 2)
        assert second.kept
        assert not first.kept
        product(first, 2)
        assert first.kept
        assert not second.kept
    with config.override(max_kept_bytes=each - 1):  # what a higher limit allowed is dropped when it is used
        product(first)
        assert not first.kept


@pytest.mark.compiles_alone  # what is made before others take turns is left out of collections
def test_nothing_is_alive_after_a_tensor():
    A = by_columns()
    product(A, 2)
    ((_, conversion),) = kept_conversions.kept_by(storage_of(A))
    alive = weakref.ref(storage_of(A)), weakref.ref(conversion.of(storage_of(A)).arrays[0])
    del A, conversion
    gc.collect()
    assert [each() for each in alive] == [None, None]


def test_values_that_the_conversion_sums_are_never_kept():
    A = weft.from_coords([[3, 0, 3], [1, 2, 1]], [1.0, 2.0, 4.0], (4, 5), format="coo", duplicates="keep")
    whole = np.zeros((4, 5))
    whole[3, 1], whole[0, 2] = 5, 2
    assert np.array_equal(product(A, 4).todense(), expected(whole))
    assert A.kept == {}


def test_results_own_their_arrays():
    A, B = by_columns(), weft.asarray(WHOLE, format="csr")
    for _ in range(3):
        C = weft.evaluate("C(i,j) = A(i,j)*B(i,j)", A=A, B=B, format="csr")
        S = C.to_scipy_sparse()
        S.indices[:] = 0
        S.data[:] = 9
    assert A.kept
    C = weft.evaluate("C(i,j) = A(i,j)*B(i,j)", A=A, B=B, format="csr")
    assert np.array_equal(C.todense(), WHOLE**2)


def test_threads_share_a_tensor():
    A = by_columns()
    with ThreadPoolExecutor(4) as pool:
        for out in pool.map(lambda k: product(A) if k % 5 else A.drop_kept(), range(40)):
            assert out is None or np.array_equal(out.todense(), expected(WHOLE))


def test_explain_says_what_is_kept():
    A = by_columns()
    text = "C(i,k) = B(i,j)*A(j,k)"
    assert "keeps" not in weft.explain(text, A=A, B=BESIDE)
    product(A, 2)
    (line,) = [line for line in weft.explain(text, A=A, B=BESIDE).splitlines() if "keeps" in line]
    assert line.startswith("A keeps its coordinates in csr since the second call (")
    assert "max_kept_bytes" in line


def test_parts_of_an_expression_and_gradients_keep_what_their_operands_need():
    A, x = by_columns(), np.ones(3)
    for _ in range(3):
        value, grads = weft.value_and_grad("s = x(i)*B(i,j)*A(j,k)", "A")(A=A, B=BESIDE, x=x)
    grad = grads["A"]
    assert value == (x @ BESIDE.todense() @ WHOLE).sum()
    assert np.array_equal(grad.todense(), np.outer(x @ BESIDE.todense(), np.ones(5)) * MASK)


def test_kept_conversions_equal_plain_ones():
    """The third conversion has the type, arrays and values of the first."""
    names = [name for name in FORMATS[2] if not name.startswith("dense")]
    cases = [(name, "csr", "float64", 0) for name in names] + [("csr", name, "float64", 0) for name in FORMATS[2]]
    cases += [("csc", "dense", dtype, 1) for dtype in ("float32", "complex64", "int8", "uint64", "bool")]
    together(cases, converted_three_times)


def converted_three_times(case):
    source, target, dtype, fill = case
    whole = np.where(MASK[:4, :4], X[:4, :4].astype(dtype), np.asarray(fill, dtype))
    storage, format = storage_of(sparse(whole, fill, source)), parse_format(target, 2)
    step = Convert((0,), converted_type(storage.type, format), "")
    first, _, third = (step.run((storage,)) for _ in range(3))
    assert third.type == first.type
    assert third.shape == first.shape
    assert all(map(np.array_equal, third.arrays, first.arrays))
    assert np.array_equal(third.vals, first.vals)
    assert third.vals.dtype == first.vals.dtype
    assert np.array_equal(SparseTensor(third).todense(), whole)
