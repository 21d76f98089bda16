"""Every format of the catalogue: computed on, as a result, and converted to every other."""

import re

import numpy as np
import pytest
from tests.kernel_batches import together

import weft
from weft.config import config
from weft.execution.entry_lists import list_entries
from weft.storage import check

MATRICES = [
    *(name for name in weft.formats if name not in ("hash_vector", "sell")),
    weft.formats["bsr"](2, blocksize=(3, 2)),
    weft.formats["sell"](2, window=2),
    weft.formats["csb"](2, block=4),
    weft.formats["hicoo"](2, block=(4, 2)),
    weft.formats["gcxs"](2, compressed_axes=1),
]
TENSORS = [
    "dense", "dense_f", "coo", "coo_aos", "csf", "dok", "hash", "hicoo", "mode_generic", "gcxs",
    *(weft.formats["gcxs"](3, compressed_axes=axes) for axes in [1, (0, 1), (2, 0)]),
]  # fmt: skip
rng = np.random.default_rng(7)


def sparse(*shape, density=0.4):
    return np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)


A, B = sparse(7, 9), sparse(7, 9)
A[3] = 0
SHARED = sparse(61, 83, density=0.1)
x, z = rng.random(9), rng.random(7)
C, V, W = rng.random((9, 4)), rng.random((7, 3)), rng.random((9, 3))
MATRIX_OPERATIONS = {
    "y(i) = A(i,j)*x(j)": A @ x,
    "y(j) = A(i,j)*z(i)": z @ A,
    "y(i) = A(i,j)*x(j) + z(i)": A @ x + z,
    "Y(i,k) = A(i,j)*C(j,k)": A @ C,
    "y(i) = A(i,j)": A.sum(1),
    "y(i) = max(j, A(i,j))": A.max(1),
    "a = A(i,j)": A.sum(),
    "T(j,i) = A(i,j)": A.T,
    "T(i,j) = 2*A(i,j)": 2 * A,
    "T(i,j) = A(i,j)*V(i,k)*W(j,k)": A * (V @ W.T),
}
RESULTS = ("T(j,i) = A(i,j)", "T(i,j) = 2*A(i,j)", "Y(i,k) = A(i,j)*C(j,k)")
PAIRS = {
    "T(i,j) = A(i,j) + B(i,j)": A + B,
    "T(i,j) = A(i,j)*B(i,j)": A * B,
    "T(i,k) = A(i,j)*B(k,j)": A @ B.T,
}


def run(text, format=None, **operands):
    """Evaluate with those of the operands that the text names."""
    return weft.evaluate(
        text, format=format, **{n: operands[n] for n in set(re.findall(r"\b\w+(?=\()", text)) & operands.keys()}
    )


def dense(result):
    if isinstance(result, weft.SparseTensor):
        check(result._storage)
        return result.todense()
    return np.asarray(result)


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_matrix_operations(format):
    tensor = weft.asarray(A, format=format)
    cases = [
        (text, result) for text in MATRIX_OPERATIONS for result in (None, *(("csr", format) if text in RESULTS else ()))
    ]

    def compute(case):
        found = run(*case, A=tensor, x=x, z=z, C=C, V=V, W=W)
        np.testing.assert_allclose(dense(found), MATRIX_OPERATIONS[case[0]])

    together(cases, compute)


INF = np.inf
u, w, M = (np.where(np.arange(np.prod(shape)) % 5 == 3, INF, 1.0).reshape(shape) for shape in (9, 7, (7, 9)))
# each with what it gives, of the function that multiplies stored elements with an array
PRODUCTS = {
    "y(i) = A(i,j)*u(j)": (lambda A: weft.evaluate("y(i) = A(i,j)*u(j)", A=A, u=u), lambda of: of(u).sum(1)),
    "C(i,j) = A(i,j)*u(j)": (lambda A: run("C(i,j) = A(i,j)*u(j)", "csr", A=A, u=u), lambda of: of(u)),
    "A @ u": (lambda A: A @ u, lambda of: of(u).sum(1)),
    "w @ A": (lambda A: w @ A, lambda of: of(w[:, None]).sum(0)),
    "A.T @ w": (lambda A: A.T @ w, lambda of: of(w[:, None]).sum(0)),
    "einsum": (lambda A: weft.einsum("ij,i->j", A, w), lambda of: of(w[:, None]).sum(0)),
    "A * inf": (lambda A: A * INF, lambda of: of(INF)),
    "A * u": (lambda A: A * u, lambda of: of(u)),
    "A * M": (lambda A: A * M, lambda of: of(M)),
    "M * A": (lambda A: weft.asarray(M, format="csr") * A, lambda of: of(M)),
    "sum of rows": (lambda A: (A * M).sum(axis=1), lambda of: of(M).sum(1)),
}


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_what_is_not_stored_meets_no_infinity(format):
    """Zeros times infinity are NaN where they are stored, as padding of diagonals, bands and blocks is, else 0."""
    tensor = weft.asarray(A, format=format)
    stored = A != 0
    if tensor.layout.is_padded:
        stored[list_entries(tensor._storage).arrays[1:]] = True
        assert stored.sum() > np.count_nonzero(A)

    def compute(case):
        product, threads = case
        found, wanted = PRODUCTS[product]
        with config.override(num_threads=threads, parallel_threshold=1), np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(
                dense(found(tensor)), wanted(lambda x: np.multiply(A, x, out=np.zeros_like(A), where=stored))
            )

    together([(product, threads) for threads in (1, 2) for product in PRODUCTS], compute)


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_one_tensor_read_twice(format):
    """Each reading has loops of its own, over counters, too."""
    tensor = weft.asarray(A, format=format)
    twice = {
        "C(j,k) = A(i,j)*A(i,k)": "ij,ik->jk", "C(i,k) = A(i,j)*A(k,j)": "ij,kj->ik", "s = A(i,j)*A(i,k)": "ij,ik->",
        "y(j) = A(i,j)*A(i,j)": "ij,ij->j",
    }  # fmt: skip
    for text, subscripts in twice.items():
        found = weft.evaluate(text, A=tensor)
        np.testing.assert_allclose(dense(found), np.einsum(subscripts, A, A), err_msg=text)


@pytest.mark.parametrize("format", MATRICES, ids=str)
@pytest.mark.parametrize("other", ["csr", "coo", "dia", "bsr", "dok"])
def test_pairs(format, other):
    first, second = weft.asarray(A, format=format), weft.asarray(B, format=other)
    for text, wanted in PAIRS.items():
        np.testing.assert_allclose(dense(weft.evaluate(text, A=first, B=second)), wanted, err_msg=text)
    np.testing.assert_allclose(dense(first + weft.asarray(B, format=format)), A + B)


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_conversions(format):
    tensor = weft.asarray(A, format=format)
    check(tensor._storage)
    np.testing.assert_array_equal(tensor.todense(), A)

    def convert(other):
        found = tensor.asformat(other)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), A)

    together(MATRICES, convert)


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_conversions_that_threads_share(format):
    """What is stored is what one thread stores, to the element."""
    tensor = weft.asarray(SHARED, format=format)

    def convert(other):
        alone = tensor.asformat(other)._storage
        with weft.config.override(num_threads=2, parallel_threshold=1):
            shared = tensor.asformat(other)._storage
        check(shared)
        assert shared.type == alone.type
        for one, two in zip((*alone.arrays, alone.vals), (*shared.arrays, shared.vals), strict=True):
            np.testing.assert_array_equal(two, one)

    together(MATRICES, convert)


SHAPES = {
    "empty": np.zeros((4, 6)),
    "one": np.ones((1, 1)),
    "no rows": np.zeros((0, 5)),
    "no columns": np.zeros((5, 0)),
    "row": np.array([[0.0, 3.0, 0.0, 4.0]]),
    "column": np.array([[0.0], [3.0], [0.0], [4.0], [5.0]]),
    "full": np.arange(1.0, 36.0).reshape(5, 7),
    "diagonal": np.diag(np.arange(1.0, 9.0)),
    "corner": np.pad(np.ones((1, 1)), ((6, 0), (4, 0))),
}


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_shapes(format):
    for name, array in SHAPES.items():
        found = weft.asarray(array, format=format)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), array, err_msg=name)
        np.testing.assert_array_equal(found.asformat("csr").todense(), array, err_msg=name)
        vector = np.arange(1.0, 1.0 + array.shape[1])
        np.testing.assert_allclose(weft.evaluate("y(i) = A(i,j)*x(j)", A=found, x=vector), array @ vector, err_msg=name)


@pytest.mark.parametrize("format", MATRICES, ids=str)
def test_messy_sources(format):
    """Shuffled coordinates, duplicates and explicit zeros come out summed, in order."""
    rows, columns = rng.integers(0, 6, 40), rng.integers(0, 5, 40)
    values = rng.integers(-2, 3, 40).astype(float)
    wanted = np.zeros((6, 5))
    np.add.at(wanted, (rows, columns), values)
    messy = weft.from_coords([rows, columns], values, (6, 5), duplicates="keep")
    found = messy.asformat(format)
    check(found._storage)
    np.testing.assert_array_equal(found.todense(), wanted)


D = sparse(3, 4, 5)
c, E, F = rng.random(5), rng.random((4, 6)), rng.random((5, 6))
TENSOR_OPERATIONS = {
    "T(i,j) = A(i,j,k)*c(k)": D @ c,
    "T(i,j,r) = A(i,j,k)*F(k,r)": D @ F,
    "T(i,r) = A(i,j,k)*E(j,r)*F(k,r)": np.einsum("ijk,jr,kr->ir", D, E, F),
    "T(i,j,k) = A(i,j,k) + A(i,j,k)": 2 * D,
    "a = A(i,j,k)*A(i,j,k)": (D * D).sum(),
    "T(k,j,i) = A(i,j,k)": D.T,
    "T(j,k) = A(i,j,k)": D.sum(0),
    "T(j) = max(i, max(k, A(i,j,k)))": D.max((0, 2)),
}


@pytest.mark.parametrize("format", TENSORS, ids=str)
def test_tensor_operations(format):
    tensor = weft.asarray(D, format=format)
    check(tensor._storage)

    def convert(other):
        found = tensor.asformat(other)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), D)

    def compute(case):
        text, result = case
        found = run(text, result, A=tensor, c=c, E=E, F=F)
        np.testing.assert_allclose(dense(found), TENSOR_OPERATIONS[text])

    together(TENSORS, convert)
    results = {
        text: (None, "dense", "csf") if np.ndim(wanted) else (None,) for text, wanted in TENSOR_OPERATIONS.items()
    }
    together([(text, result) for text in results for result in results[text]], compute)


@pytest.mark.parametrize("format", ["dense", "coo", "csf", "hash_vector", "dok"])
def test_vectors(format):
    v = np.array([0, 2.0, 0, 0, 3.0, 0, 0, 1.0, 0])
    vector = weft.asarray(v, format=format)
    for matrix in ("csr", "csc", "coo", "dense", "dia", "bsr"):
        found = weft.evaluate("y(i) = A(i,j)*x(j)", A=weft.asarray(A, format=matrix), x=vector)
        np.testing.assert_allclose(dense(found), A @ v, err_msg=matrix)
    np.testing.assert_allclose(dense(vector + vector), 2 * v)
    np.testing.assert_allclose(dense(vector * vector), v * v)
