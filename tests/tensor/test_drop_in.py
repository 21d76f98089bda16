"""Code that was written for scipy.sparse, the package sparse or NumPy, with the import changed."""

import importlib
import inspect
import operator

import numpy as np
import pytest
import scipy.sparse

import weft


def dense(x):
    return x.todense() if hasattr(x, "todense") else np.asarray(x)


def same(got, wanted):
    """What weft gives beside what the peer gives: tuples and lists by their items, arrays by their elements."""
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            same(g, w)
        return
    if isinstance(wanted, (str, bool, int, float, np.generic)):
        assert got == wanted or (got != got and wanted != wanted), (got, wanted)
        return
    g, w = np.asarray(dense(got)), np.asarray(dense(wanted))
    assert g.shape == w.shape
    assert g.dtype.kind == w.dtype.kind
    np.testing.assert_allclose(g, w, rtol=1e-13, atol=0)


ROWS, COLUMNS, VALUES = [0, 2, 2, 1, 0], [1, 0, 3, 2, 1], [1.0, -2.0, 3.0, 4.0, 0.5]


def matrix(sp):
    return sp.csr_array((VALUES, (ROWS, COLUMNS)), shape=(3, 4))


# -- scipy.sparse: each function is called with the module as `sp` -------------------------------------------------


def makes_csr(sp):
    A = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 2, 3])), shape=(3, 3))
    return A, A.indptr, A.indices, A.data, A.nnz, A.shape, A.format == "csr", A.format in ("csc", "coo")


def makes_of_all_kinds(sp):
    x = np.array([[0, 1.5, 0, 0], [2, 0, 0, 3], [0, 0, 0, 0], [0, 0, 4, 0]])
    kinds = [getattr(sp, f"{name}_array") for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")]
    return [kind(x) for kind in kinds], [kind(sp.coo_array(x)) for kind in kinds], [kind((2, 3)) for kind in kinds]


def keeps_duplicates_of_coo(sp):
    A = sp.coo_array((VALUES, (ROWS, COLUMNS)), shape=(3, 4))
    n = A.nnz
    A.sum_duplicates()
    return n, A.nnz, A.coords, A.row, A.col, A.data, A.has_canonical_format


def makes_blocks(sp):
    A = sp.bsr_array((np.arange(12.0).reshape(3, 2, 2), [0, 2, 1], [0, 2, 3]), shape=(4, 6))
    return A, A.blocksize, A.data, A.indices, A.indptr, sp.bsr_array(np.eye(6), blocksize=(3, 3)).blocksize


def chooses_blocks(sp):
    twos, threes = np.kron(np.eye(3), np.ones((2, 2))), np.kron(np.eye(2), np.ones((3, 3)))
    kinds = [sp.bsr_array(x) for x in (np.eye(3), twos, threes, np.zeros((4, 4)), np.zeros((0, 3)))]
    return [A.blocksize for A in kinds], kinds, sp.csr_array(threes).tobsr().blocksize, kinds[1].indices


def makes_diagonals(sp):
    A = sp.dia_array((np.arange(1.0, 7.0).reshape(2, 3), [0, 1]), shape=(3, 3))
    return A, A.offsets, A.data


def fills_dok(sp):
    A = sp.dok_array((4, 4), dtype=np.float32)
    for i in range(4):
        A[i, (i * 2) % 4] = i + 0.5
    A[0, 0] += 2
    return A, A[0, 0], A.nnz, A.tocsr(), A.T


def fills_lil(sp):
    A = sp.lil_array((3, 5))
    A[0, [1, 3]] = [4, 5]
    A[1] = np.arange(5)
    A[:, 4] = 7
    A[2, :2] = sp.lil_array(np.array([[8.0, 9.0]]))
    return A, A.tocsc(), A[1].toarray()


def computes(sp):
    A, x = matrix(sp), np.arange(4.0)
    B = A.tocsc()
    return (
        A @ x, A.dot(x), A @ A.T, A.T.dot(A), A + B, A - B, -A, abs(A), 2 * A, A / 2, A.multiply(B), A.multiply(x),
        A * B, A.power(2), A.maximum(B.multiply(0.5)), A.minimum(0), x[:3] @ A, A @ np.eye(4), A**2,
    )  # fmt: skip


def applies_functions(sp):
    A = matrix(sp).multiply(0.125)
    return [
        getattr(A, name)()
        for name in ("arcsin", "arctan", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint", "sign", "sin",
                     "sinh", "tan", "tanh", "trunc", "arcsinh", "arctanh", "conj", "copy")
    ]  # fmt: skip


def reduces(sp):
    A = matrix(sp)
    return (
        A.sum(), A.sum(axis=0), A.sum(axis=1), A.mean(), A.mean(axis=0), A.max(), A.min(axis=0), A.max(axis=1),
        A.argmax(), A.argmin(), A.argmax(axis=0), A.argmax(axis=1), A.count_nonzero(), A.trace(), A.diagonal(),
        A.diagonal(k=1), A.nonzero(), A.nanmax(), A.nanmin(axis=0), A.max(axis=0).toarray(),
    )  # fmt: skip


def reshapes(sp):
    A = matrix(sp)
    return (
        A.reshape(4, 3), A.reshape((2, 6)), A.transpose(), A.transpose(axes=(1, 0)), A.T.tocsr(), A.toarray(),
        A.todense(), A.toarray(order="F"), A.astype(np.float32), A.astype(np.int64, casting="unsafe"),
    )  # fmt: skip


def indexes(sp):
    A = matrix(sp)
    rows, columns = A.nonzero()
    return (
        A[0], A[-1, 2], A[:, 1], A[1:], A[:, ::2], A[[2, 0]], A[:, [3, 0, 0]], A[rows, columns], A[A > 1],
        A[np.array([True, False, True])], A[1, :], A[[0, 1], [1, 2]], A[2, 0],
    )  # fmt: skip


def assigns(sp):
    A = matrix(sp)
    A[0, 3] = 9
    A[1:, 2] = [5, 6]
    A.setdiag(7)
    A.setdiag([1, 2], k=1)
    B = A.copy()
    B[A > 5] = 0
    B.eliminate_zeros()
    A.data[:] = 1
    C = A.copy()
    C.data **= 2
    C.data *= 3
    C.resize(2, 6)
    return A, B, B.nnz, C, C.shape


def changes_in_place(sp):
    A = matrix(sp)
    A *= 2
    A /= 4
    A += matrix(sp)
    A -= A * 0.25
    return A, A.dtype.name


def builds(sp):
    A = matrix(sp)
    return (
        sp.eye_array(3), sp.eye_array(3, 4, k=1, format="csr"), sp.identity(3), sp.eye(2, 3, 1),
        sp.diags_array([1.0, 2.0, 3.0]), sp.diags_array([[1.0, 2.0], [3.0]], offsets=[0, -1]),
        sp.diags_array([1, -2, 1], offsets=[-1, 0, 1], shape=(4, 4), dtype=float, format="csr"),
        sp.diags_array([[1.0], [2.0]], offsets=[1, -1], shape=(2, 5)),
        sp.diags([[1.0, 2.0, 3.0], [4.0, 5.0]], [0, 2], shape=(3, 4), format="csc"),
        sp.spdiags(np.arange(8.0).reshape(2, 4), [0, -1], 4, 4), sp.spdiags([[1.0, 2, 3]], [1], 3, 3, format="csr"),
        sp.vstack([A, A]), sp.hstack([A, A], format="csr"), sp.vstack([A, A], format="coo", dtype=np.float32),
        sp.block_diag([A, [[1, 2]], [3]]), sp.block_array([[A, None], [None, sp.eye_array(2)]]),
        sp.bmat([[A], [A]], format="csr"), sp.kron(A, [[1, 2]]), sp.kron(A, A, format="csr"),
        sp.kronsum(A[:, :3], sp.eye_array(2)), sp.tril(A), sp.triu(A, k=1, format="csc"), sp.find(A),
        sp.vstack([A.tocoo(), A.tocsc()]).shape,
    )  # fmt: skip


def says_what_is_stored(sp):
    A = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 2, 3])), shape=(3, 3))
    before = bool(A.has_sorted_indices)
    B = A.sorted_indices()
    A.sort_indices()
    A.check_format()
    A.prune()
    return before, bool(A.has_sorted_indices), A.indices, B.indices, B.data, A.tobsr(blocksize=(3, 3)).blocksize


def asks_the_kind(sp):
    A = matrix(sp)
    return (
        sp.issparse(A), sp.issparse(np.eye(2)), isinstance(A, sp.csr_array), isinstance(A, sp.coo_array),
        isinstance(A.todia(), sp.dia_array), isinstance(A.tobsr(), sp.bsr_array), isinstance(3, sp.csr_array),
    )  # fmt: skip


def makes_at_random(sp):
    A = sp.random_array((20, 30), density=0.1, format="csr", rng=3, data_sampler=lambda size: np.ones(size))
    B = sp.rand(20, 30, density=0.25, format="coo")
    C = sp.random(20, 30, 0.1, "csc", random_state=1)
    D = sp.random_array((4, 5), density=0.5, random_state=np.random.RandomState(2))
    return A.nnz, A.sum(), A.format == "csr", B.nnz, B.shape, C.nnz, C.shape, C.format == "csc", D.nnz


def changes_the_structure(sp):
    A = matrix(sp)
    A.sort_indices()
    order = np.array([3, 2, 1, 0])
    A.indices = order[A.indices]
    A.has_sorted_indices = False
    A.sort_indices()
    A.indptr, A.data = A.indptr.astype(np.int64), A.data * 2
    B = sp.coo_array((VALUES, (ROWS, COLUMNS)), shape=(3, 4))
    B.coords = (np.array([0, 1, 2, 0, 1]), B.coords[1])
    B.row = 2 - B.row
    B.col = np.zeros(5, int)
    C = sp.dia_array((np.arange(1.0, 7.0).reshape(2, 3), [0, 1]), shape=(3, 3))
    C.offsets = np.array([-1, 2])
    C.has_canonical_format = False
    return A, A.indices, B, B.row, C


def stores_vectors(sp):
    v = sp.csr_array(np.array([0, 1.5, 0, -2.0]))
    w = sp.csr_array(([3.0, 4.0], ([0, 2],)), shape=(4,))
    return v, w, v + w, v.multiply(w), v @ w, v @ np.eye(4), v.sum(), v.max(), v[1], v[1:3], v.reshape(2, 2), v.shape


def asks_whether_they_are_equal(sp):
    A, B = matrix(sp), matrix(sp)
    B[0, 1] = 7
    C = A - B
    found = [x.nnz for x in (A != A, A != B, A - A, C, abs(C), A > 1, A < 0, A.maximum(-A), A.multiply(C))]
    return found, (A != A).nnz == 0, (A > 1).indices, (A > 1).indptr, (A.tocoo() != B.tocsc()).nnz


def asks_a_dictionary(sp):
    A = sp.dok_array((3, 4))
    A[0, 1], A[2, 3] = 1.5, -2.0
    v = sp.dok_array(np.array([0, 7, 0, 9]))
    absent = A.get((1, 1)), A.get((1, 1), 99), hasattr(A.tocsr(), "items")
    return sorted(A.keys()), sorted(A.values()), sorted(A.items()), A.get((0, 1)), *absent, sorted(v.items()), v.get(3)


def takes_stored_elements_alone(sp):
    A = sp.csr_array(np.array([[0, -1.5, 0, -3], [2, 0, 5, 0], [0, 0, 0, 0]]))
    B = sp.csc_array(np.array([[0, 3], [7, 0]], np.uint8))
    return (
        [f(A, explicit=True) for f in (type(A).max, type(A).min)], B.max(explicit=True), B.min(explicit=True),
        A.max(axis=0, explicit=True), A.min(axis=0, explicit=True), A.max(axis=1, explicit=True),
        A.min(axis=1, explicit=True), B.min(axis=0, explicit=True), A.argmax(axis=1, explicit=True),
        A.argmin(axis=0, explicit=True), A.argmin(axis=1, explicit=True),
    )  # fmt: skip


def means_of_other_dtypes(sp):
    A = sp.csr_array(np.array([[0, 1, 2], [3, 4, 5], [6, 7, 9], [3, 0, 2]]))
    out = np.zeros(3, int)
    A.mean(axis=0, out=out)
    return A.mean(dtype=np.float32), A.mean(axis=0, dtype=np.complex128), out, A.mean(axis=1)


def lays_diagonals(sp):
    a, b = np.arange(1.0, 6.0), np.arange(6.0, 11.0)
    return (
        sp.diags([a], offsets=[0], shape=(1, 1)), sp.diags([a[:3], b], offsets=[0, 2], shape=(3, 3)),
        sp.diags(a), sp.diags_array(a[:4], offsets=2, shape=(4, 4)), sp.block_array([[None, None]]).shape,
        sp.block_array([[None, sp.eye_array(2)], [None, sp.eye_array(2)]]).shape, A_with_diagonals(sp),
    )  # fmt: skip


def A_with_diagonals(sp):  # noqa: N802
    A = sp.csr_array((2, 5))
    A.setdiag([1.0, 2.0, 3.0], k=3)
    B = sp.csr_array((0, 5))
    B.setdiag(1, k=1)
    return A, B.shape, sp.permute_dims(A, copy=True), A.reshape(2, 5) is A


SCIPY = (
    makes_csr, makes_of_all_kinds, keeps_duplicates_of_coo, makes_blocks, chooses_blocks, makes_diagonals, fills_dok,
    fills_lil, computes, applies_functions, reduces, reshapes, indexes, assigns, changes_in_place, builds,
    says_what_is_stored, asks_the_kind, makes_at_random, changes_the_structure, stores_vectors,
    asks_whether_they_are_equal, asks_a_dictionary, takes_stored_elements_alone, means_of_other_dtypes, lays_diagonals,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("code", SCIPY, ids=lambda f: f.__name__)
def test_scipy(code):
    same(code(weft), code(scipy.sparse))


# -- the package sparse: each function is called with the module as `sparse` ---------------------------------------


def tensor(sparse):
    return sparse.COO(np.array([[0, 1, 1, 2], [2, 0, 3, 1], [1, 1, 0, 0]]), np.array([1.0, -2.0, 3.0, 4.0]), (3, 4, 2))


def makes_coo(sparse):
    s = tensor(sparse)
    t = sparse.COO([[0, 1], [2, 0]], 5, shape=(2, 3), fill_value=1)
    u = sparse.COO({(0, 1): 2.0, (3, 2): 4.0}, shape=(4, 3))
    v = sparse.COO.from_numpy(np.eye(3))
    w = sparse.COO.from_scipy_sparse(scipy.sparse.csr_array(np.eye(3)))
    x = sparse.COO.from_iter([((0, 1), 2.0), ((1, 1), 3.0)], shape=(2, 2))
    return s, np.asarray(s.coords), s.data, s.nnz, s.density, t.todense(), t.fill_value, u, v, w, x


def makes_gcxs(sparse):
    s = sparse.GCXS.from_numpy(np.arange(24.0).reshape(2, 3, 4) % 5, compressed_axes=[0, 1])
    t = sparse.GCXS((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 1, 2])), shape=(2, 3), compressed_axes=(0,))
    u = sparse.GCXS(tensor(sparse), compressed_axes=(2,))
    return s, s.indptr, s.indices, s.compressed_axes, t, u, u.change_compressed_axes([0, 1]).compressed_axes


def fills_a_dok(sparse):
    s = sparse.DOK((3, 4))
    s[1, 2] = 5
    s[0, 1:3] = 7
    t = sparse.DOK((2, 2), {(0, 1): 3.0})
    return s.to_coo().todense() if hasattr(s, "to_coo") and not isinstance(s, weft.SparseTensor) else s, t, s.nnz


def does_arithmetic(sparse):
    s = tensor(sparse)
    return (
        s + s, s * 2, np.sin(s), np.exp(s), s + 1, s @ np.eye(2), s.dot(np.eye(2)), sparse.tensordot(s, s, axes=3),
        s.sum(axis=(0, 2)), s.max(axis=1), s.reduce(np.add, axis=0), s.reshape((4, 6)), s.transpose((2, 0, 1)),
        s.broadcast_to((2, 3, 4, 2)), s.isnan(), s.isinf(), s.round(1), s.round_(), s.clip(0, 2), s.amax(), s.amin(),
        sparse.elemwise(np.add, s, s), sparse.where(s > 0, s, 0), sparse.bitwise_not(s > 0), s.maybe_densify(),
    )  # fmt: skip


def uses_functions(sparse):
    s = tensor(sparse)
    m = s[..., 0]
    return (
        sparse.concatenate([s, s], axis=1), sparse.stack([m, m]), sparse.kron(m, m), sparse.triu(m), sparse.tril(m, 1),
        sparse.moveaxis(s, 0, -1), sparse.roll(m, 1, axis=0), sparse.nansum(s), sparse.nanmax(s, axis=0),
        sparse.einsum("ijk,ijk->i", s, s), sparse.outer(m[0], m[1]), sparse.diagonal(m[:, :3]), sparse.argmax(m),
        sparse.diagonalize(m), sparse.argwhere(m),
        sparse.isposinf(s), sparse.isneginf(s), sparse.eye(3, k=1), sparse.zeros((2, 3)), sparse.ones((2, 3), np.int8),
        sparse.full((2, 2), 7), sparse.asnumpy(m), sparse.as_coo(m), sparse.unique_values(m), s.nonzero(),
    )  # fmt: skip


def draws(sparse):
    s = sparse.random((10, 20, 3), density=0.05, random_state=1, data_rvs=np.ones)
    t = sparse.random((10, 20), 0.1, format="gcxs", compressed_axes=(1,), idx_dtype=np.uint16)
    return s.nnz, s.sum(), s.shape, t.nnz, t.compressed_axes


def reads_coordinates(sparse):
    s = tensor(sparse)
    t = s.sum(axis=1)
    again = sparse.COO(s.coords, s.data, shape=s.shape)
    return s.coords, s.coords.shape, s.coords[:, s.data > 0], t.coords, t.data, again, s.T.coords.sum(axis=1)


def stores_what_differs(sparse):
    s = tensor(sparse)
    t = sparse.COO(s.coords, s.data * np.array([1, 1, 2, 1]), shape=s.shape)
    f = sparse.full((3, 4, 2), 2.0) + s
    return [x.nnz for x in (s != t, s == t, s - t, s - s, s > 0, np.isnan(s), f - f, f != f, f > 2)]


def makes_from_little(sparse):
    return (
        sparse.COO((np.ones(3), (np.arange(3), np.arange(3))), shape=(4, 4)), sparse.COO([], [], ()),
        sparse.COO.from_iter([((), 2), ((), 3)], shape=()), sparse.COO.from_iter(([2.0], ([1],)), shape=(3,)),
        sparse.COO.from_iter(([], ([], [])), shape=(2, 3), dtype=np.float32, fill_value=2),
        sparse.DOK((2, 3, 4), {(0, 1): 3, (1, 2, 3): 4, (1, 1): [6, 5, 4, 1]}).asformat("coo"),
        sparse.zeros((2, 3)).asformat(sparse.COO), sparse.random((), density=0).shape,
    )  # fmt: skip


def likes_other_shapes(sparse):
    s = tensor(sparse)
    return (
        sparse.ones_like(s, shape=(2, 3)), np.zeros_like(s, shape=(4,)), sparse.full_like(s, 3, shape=(2,)),
        sparse.reshape(s, s.shape) is s, s.flatten(), s.reshape(s.shape) is s, sparse.repeat(s, repeats=2, axis=1),
        sparse.roll(s, (1, 2), (0, 1)),
    )  # fmt: skip


def test_nan_is_left_out():
    a = np.array([[1.0, np.nan, 0.0], [2.0, 3.0, np.nan]])
    s = weft.asarray(a, format="coo")
    same(weft.nanreduce(s, np.add, axis=0), np.nansum(a, axis=0))
    same(weft.nanreduce(s, np.maximum, axis=1), np.nanmax(a, axis=1))
    same(weft.nanreduce(s, np.minimum, identity=0.5), 0.0)
    same(weft.nanreduce(s, np.maximum, identity=2.5, axis=0), [2.0, 3.0, 2.5])


PYDATA = [
    makes_coo, makes_gcxs, fills_a_dok, does_arithmetic, uses_functions, draws, reads_coordinates, stores_what_differs,
    makes_from_little,
    likes_other_shapes,
]  # fmt: skip


@pytest.mark.parametrize("code", PYDATA, ids=lambda f: f.__name__)
def test_pydata(code):
    sparse = pytest.importorskip("sparse")
    same(code(weft), code(sparse))


# -- ndarrays: each function is called with what makes an array ----------------------------------------------------


def numbers(array):
    return array(np.array([[3.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 5.0], [0.0, 0.0, 4.0, 0.0]]))


def changes_an_array(array):
    a = numbers(array)
    b = a
    a += 1
    a -= array(np.eye(3, 4))
    a *= a
    a /= 2
    a **= 2
    a //= 3
    a %= 7
    bits = array(np.array([5, 0, 3]))
    bits &= 6
    bits |= 1
    bits ^= 2
    bits <<= 3
    bits >>= 1
    square = array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    square @= square
    return a, b is a, bits, square


def calls_methods(array):
    a = numbers(array)
    taken = a.compress([True, False, True], axis=0)
    sums, products = a.cumsum(axis=1), a.cumprod(axis=0)
    order = a.argsort(axis=1).sum()
    a.put([0, -1], [8, 9])
    best = a.argmax(axis=1), a.argmin(), a.argmax(axis=0)
    c = numbers(array)
    c.sort(axis=1)
    d = numbers(array)
    d.fill(2)
    e = numbers(array)
    e.partition(2, axis=1)
    return taken, sums, products, order, a, best, c, d, e[:, 2], a.tolist(), a.itemsize, a.dot(a.T), 4 in a, 77 in a


def counts_by(array):
    return operator.index(array(np.array(3))), [10, 20, 30][array(np.array(1))], np.eye(3)[array(np.array(2)).item()]


@pytest.mark.parametrize("format", ["csr", "coo", "dense", "dok"])
@pytest.mark.parametrize("code", [changes_an_array, calls_methods, counts_by], ids=lambda f: f.__name__)
def test_numpy(code, format):
    def array(x):
        name = "csf" if format == "csr" and np.ndim(x) != 2 else format if np.ndim(x) else "dense"
        return weft.asarray(x.copy(), format=name)

    same(code(array), code(np.array))


# -- what does not pass --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("a += 1.5", TypeError, "same_kind"),
        ("a /= 2", TypeError, "float64 into out of int64"),
        ("a += np.ones((2, 3, 3), int)", ValueError, "does not fit"),
        ("a @= np.ones((3, 2), int)", ValueError, "does not fit"),
        ("operator.index(a)", TypeError, "only integer scalar arrays"),
        ("operator.index(weft.asarray(np.array(1.5)))", TypeError, "only integer scalar arrays"),
        ("a.todia().indptr", AttributeError, "format dia have no indptr"),
        ("a.offsets", AttributeError, "format csr have no offsets"),
        ("a.blocksize", AttributeError, "format csr have no blocksize"),
        ("a.asformat('ell').row", AttributeError, "format ell have no row"),
        ("weft.csr_array((VALUES, (ROWS, COLUMNS)), shape=(2, 2))", ValueError, "outside axis 0"),
        ("weft.csr_array(np.eye(3), shape=(2, 2))", ValueError, r"does not have shape \(2, 2\)"),
        ("weft.diags_array([[1, 2]], offsets=[0], shape=(3, 3))", ValueError, "diagonal of 2 elements"),
        ("weft.diags_array([[1], [2]], offsets=[1, 1])", ValueError, "repeats"),
        ("weft.diags_array([[1], [2]], offsets=[1])", ValueError, "2 diagonals"),
        ("weft.block_array([[a, a[:2]]])", ValueError, r"row 0 of blocks has sizes \[3, 2\]"),
        ("weft.kronsum(a, a[:2])", ValueError, "square"),
        ("a.setdiag(1, k=5)", ValueError, "no diagonal"),
        ("a.resize(2, 3, 4)", ValueError, "cannot be resized"),
        ("a.put([9], 1)", IndexError, "out of bounds"),
        ("weft.random((10, 10), density=0.01).maybe_densify(5)", ValueError, "todense"),
        ("a.astype(np.int8, casting='safe')", TypeError, "'safe'"),
        ("a.toarray(out=np.zeros((2, 2)))", ValueError, "out has shape"),
        ("setattr(a, 'data', np.ones(7))", ValueError, "do not replace"),
    ],
)
def test_bad_input(statement, error, text):
    a = weft.asarray(np.diag([1, 2, 3]), format="csr")
    before = a.todense().copy()
    names = {"a": a, "np": np, "weft": weft, "operator": operator, "VALUES": VALUES, "ROWS": ROWS, "COLUMNS": COLUMNS}
    with pytest.raises(error, match=text):
        exec(statement, names)
    np.testing.assert_array_equal(a.todense(), before)


def test_structure_is_not_written_into():
    """A tensor promises that its coordinates are sorted and distinct; only values are written where they stand."""
    a = weft.asarray(np.diag([1.0, 2.0, 3.0]), format="csr")
    for name in ("indices", "indptr"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(a, name)[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        a.tocoo().coords[0, 0] = 2
    with pytest.raises(ValueError, match="outside"):
        a.indices = np.array([0, 1, 7])
    with pytest.raises(ValueError, match="has_canonical_format is False"):
        weft.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)).has_canonical_format = True
    a.data[0] = 5
    assert a[0, 0] == 5


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "csf", "dcsr", "hash", "lil", "bsr", "dia", "ell", "dense"])
def test_coords_go_with_data(format):
    x = np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]])
    a = weft.asarray(x, format=format)
    if not hasattr(a, "coords"):
        assert format in ("bsr", "dia", "ell", "hash", "lil", "dense")  # which have padding, or no coordinates
        return
    np.testing.assert_array_equal(weft.from_coords(a.coords, a.data, x.shape).todense(), x)


def test_dense_tensors_are_arrays():
    """What is dense already becomes an ndarray by itself, over the same memory; nothing else does."""
    a = weft.asarray(np.array([[0.0, 2.0], [1.0, 0.0]]), format="csr")
    total = a.sum(axis=0)
    assert total.layout.is_dense
    assert np.shares_memory(np.asarray(total), total.data)
    assert not np.shares_memory(np.array(total), total.data)
    assert np.asarray(total, np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.linalg.solve(np.eye(2), np.asarray(total)), [1.0, 2.0])
    np.testing.assert_array_equal(scipy.sparse.csr_array(np.eye(2)) @ total, [1.0, 2.0])
    place = np.zeros(2)
    place[:] = total
    with pytest.raises(TypeError, match="todense"):
        np.asarray(a)


@pytest.mark.parametrize("format", ["dense", "coo"])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_flatten_is_a_copy(format, shape):
    a = weft.asarray(np.arange(6.0).reshape(shape), format=format)
    b = a.flatten()
    b[1] = 9
    same((a, b), (np.arange(6.0).reshape(shape), [0, 9, 2, 3, 4, 5]))


def test_arrays_are_shared():
    x = scipy.sparse.random_array((20, 30), density=0.2, format="csr", rng=1)
    a = weft.csr_array((x.data, x.indices, x.indptr), shape=x.shape)
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(a, name), getattr(x, name))
    d = weft.asarray(x).todia()
    assert np.shares_memory(d.data, d._storage.vals)
    assert d.data.shape == (len(d.offsets), 30)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.dok_array, scipy.sparse.dia_array, np.ndarray])
def test_no_public_name_is_missing(kind):
    """Each attribute of the peers' classes is one of a tensor, or here with the reason why it is not."""
    memory = "base byteswap ctypes data dump dumps flags flat getfield setfield setflags strides tobytes tofile view"
    a_mapping = "clear fromkeys pop popitem setdefault update"
    a = weft.asarray(np.eye(3), format=kind(np.eye(3)).format if kind is not np.ndarray else "csr")
    missing = {name for name in dir(kind) if not name.startswith("_") and not hasattr(a, name)}
    assert missing <= {*memory.split(), *a_mapping.split()}


def test_no_function_is_missing():
    """Each function and class of the peers' modules is weft's, or here with the reason why it is not."""
    matrices = (
        "bsr_matrix coo_matrix csc_matrix csr_matrix dia_matrix dok_matrix lil_matrix spmatrix sparray SparseWarning"
    )
    of_matrices = {name for name in dir(scipy.sparse) if name.startswith("isspmatrix")} | set(matrices.split())
    internal = {"SparseEfficiencyWarning", "get_index_dtype", "msg", "safely_cast_index_arrays", "test"}
    peers = [n for n, x in vars(scipy.sparse).items() if not n.startswith("_") and not inspect.ismodule(x)]
    assert {n for n in peers if not hasattr(weft, n)} <= of_matrices | internal
    sparse = pytest.importorskip("sparse")
    known = {"SparseFutureWarning", "Enum", "float16"}
    assert {n for n, x in vars(sparse).items() if not n.startswith("_") and not inspect.ismodule(x)
            and not hasattr(weft, n)} <= known  # fmt: skip
    assert importlib.import_module("weft.interop.peer_classes").SparseArray is weft.SparseTensor
