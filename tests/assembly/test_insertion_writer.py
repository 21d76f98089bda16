"""Conversion by insertion: the 2020 paper's Fig. 6, scalars instead of arrays, and coordinates that nothing sorts."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.paper_figures import assert_follow

import weft
from weft.execution.insertion_assembly import InsertionAssembly
from weft.execution.kernel import Kernel, insertion_kernel
from weft.formats import Compressed, Format, Singleton, TensorType, parse_format
from weft.ir.printer import function_text
from weft.operations.reshaping import linear
from weft.runtime import memory
from weft.storage import check

LIST = Format("(i,j) -> (i,j)", [Compressed(unique=False, ordered=False), Singleton(ordered=False)])
CSR = parse_format("csr", 2)
NAMES = [name for name in weft.formats if name != "hash_vector"]
FIGURES = {
    "fig06a": (CSR, parse_format("dia", 2)),
    "fig06b": (CSR, parse_format("ell", 2)),
    "fig06c": (LIST, CSR.unsorted()),
}
# The figure as printed, phase by phase: what must follow what.
SKELETONS = {
    "fig06a": ["for i0_ in 0 .. A1_dim", "for pA2 in int64(A2_pos[i0_]) .. int64(A2_pos[i0_ + 1])",
               "i1_minus_i0: int64 = i1_ - i0_", "B1_nz[i1_minus_i0 - (1 - B1_dim)] = 1",
               "q: int64 = weft_next_flag(B1_nz, 0,", "while q <", "B1_crd[n] =", "n += 1",
               "for i0_ in 0 .. A1_dim", "for pA2", "i1_minus_i0: int64 = i1_ - i0_",
               "pB1: int64 = int64(B1_rank[i1_minus_i0 - (1 - B1_dim)])", "pB2: int64 = pB1 *",
               "B_vals[pB2] = A_vals[pA2]"],
    "fig06b": ["for i0_ in 0 .. A1_dim", "if int64(A2_pos[i0_ + 1]) - int64(A2_pos[i0_]) > int64(B1_size[0])",
               "B1_size[0] = int32(int64(A2_pos[i0_ + 1]) - int64(A2_pos[i0_]))", "for i0_ in 0 .. A1_dim",
               "count1: int64 = 0", "for pA2 in int64(A2_pos[i0_]) .. int64(A2_pos[i0_ + 1])",
               "nth1: int64 = count1", "count1 += 1", "pB2: int64 = nth1 * B1_dim + i0_", "B3_crd[pB2] = int32(i1_)",
               "B_vals[pB2] = A_vals[pA2]"],
    "fig06c": ["for pA1 in int64(A1_pos[0]) .. int64(A1_pos[1])", "i0_: int64 = int64(A1_crd[pA1])",
               "B2_pos[i0_ + 1] += 1", "for q in 0 .. B1_dim", "B2_pos[q + 1] += B2_pos[q]",
               "for pA1 in int64(A1_pos[0]) .. int64(A1_pos[1])", "i0_: int64 = int64(A1_crd[pA1])",
               "i1_: int64 = int64(A2_crd[pA1])", "pB2: int64 = int64(B2_pos[i0_])", "B2_pos[i0_] += 1",
               "B2_crd[pB2] = int32(i1_)", "B_vals[pB2] = A_vals[pA1]", "for qB in 0 .. B1_dim",
               "B2_pos[B1_dim - qB] = B2_pos[B1_dim - qB - 1]", "B2_pos[0] = 0"],
}  # fmt: skip


def text_of(source, target, dtype="float64"):
    found = insertion_kernel(TensorType.of(dtype, source), TensorType.of("float64", target), False)
    assert isinstance(found, Kernel), found
    return "\n\n".join([function_text(found.module.lowered(name).ir) for name in found.module.ordinary])


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, golden):
    text = text_of(*FIGURES[name])
    assert_follow(text, SKELETONS[name])
    golden(f"2020_{name}.txt", text)


def test_counters_are_arrays_where_rows_come_in_no_order():
    assert "count1" not in text_of(parse_format("csc", 2), parse_format("ell", 2))
    assert "B1_counter[i0_]" in text_of(parse_format("csc", 2), parse_format("ell", 2))


def test_the_next_position_is_a_scalar_where_entries_come_in_its_order():
    assert "B_vals[pA1] = float64(A_vals[pA1])" in text_of(parse_format("coo", 2), CSR, "float32")
    assert "B_vals" not in text_of(linear(((0, 1),)), CSR).split("\n", 1)[1]  # values stay where they are
    assert "B2_crd" not in text_of(parse_format("coo", 2), CSR).split("\n", 1)[1]  # and coordinates, too
    assert "pB_next" in text_of(parse_format("dense", 2), parse_format("csc", 2))
    assert "B2_pos[i1_] += 1" in text_of(CSR, parse_format("csc", 2))


ROWS = [[], [0], [9], [0, 9], [4, 4, 4, 4, 4], [0, 0, 0, 3, 3, 8], [0, 0, 3, 3, 3, 8], list(range(10))]
ROWS += [[4] * 99, [0] * 7 + [4] * 70 + [5] + [9] * 20, [2] * 50 + [3] * 49]  # chunks begin within rows


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_edges_are_seen_as_entries_pass(rows, threads, monkeypatch):
    monkeypatch.setattr(weft.config, "parallel_threshold", 1)
    monkeypatch.setattr(weft.config, "num_threads", threads)
    A = weft.from_coords([rows, list(range(len(rows)))], np.ones(len(rows)), (10, 100), format="coo")
    B = A.asformat("csr")
    np.testing.assert_array_equal(B.indptr, np.searchsorted(rows, range(11)))
    assert len(rows) == 0 or np.shares_memory(A.data, B.data)
    np.testing.assert_array_equal(A.reshape((20, 50)).todense(), A.todense().reshape(20, 50))


@pytest.mark.parametrize("shape", [(7, 4, 9), (1, 30, 2), (50, 1, 3), (3, 0, 4), (1, 1, 1)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_edges_below_several_dense_levels(shape, threads, monkeypatch):
    """Sources whose outermost level holds a coordinate once, several times, or all of them."""
    monkeypatch.setattr(weft.config, "parallel_threshold", 1)
    monkeypatch.setattr(weft.config, "num_threads", threads)
    rng = np.random.default_rng(1)
    dense = np.where(rng.random(shape) < 0.3, rng.integers(1, 9, shape), 0).astype(float)
    dense[1:3] = 0
    target = parse_format("dds", 3)
    for name in ("csf", "coo", "dss", "dds"):
        for dtype in (float, np.float32):
            B = weft.asarray(dense).asformat(name).astype(dtype).asformat(target)
            check(B._storage)
            np.testing.assert_array_equal(B.todense(), dense)


def test_threads_have_parents_of_their_own():
    target = TensorType.of("float64", parse_format("dds", 3))
    for remapping, own in [("(i,j,k) -> (i,j,k)", True), ("(i,j,k) -> (i*size(j)+j,k)", False)]:
        levels = [Compressed(unique=False), Singleton(unique=False), Singleton()]
        source = Format(remapping, levels if own else levels[::2])
        found = insertion_kernel(TensorType.of("float64", source), target, False)
        assert isinstance(found, Kernel)
        assert found.facts.inserted.copies
        assert found.chunked == own


def matrix(kind):
    """The entries of a matrix with duplicates or not, in some order or none, as weft takes them from SciPy."""
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((13, 17)) < 0.3, rng.integers(1, 9, (13, 17)), 0).astype(float)
    i, j = np.nonzero(dense)
    order = rng.permutation(len(i))
    if kind == "csc":
        return weft.from_coords([i, j], dense[i, j], dense.shape, format="csc"), dense
    i, j, v = i[order], j[order], dense[i, j][order]
    if kind == "twice":
        i, j, v, dense = np.r_[i, i], np.r_[j, j], np.r_[v, 2 * v], 3 * dense
    return weft.asarray(sp.coo_array((v, (i, j)), shape=dense.shape)), dense


@pytest.mark.parametrize("kind", ["csc", "shuffled", "twice"])
@pytest.mark.parametrize("name", NAMES)
def test_what_need_not_be_sorted(name, kind):
    A, dense = matrix(kind)
    B = A.asformat(name, sort=False)
    assert B.layout.remapping == parse_format(name, 2).remapping
    check(B._storage)
    np.testing.assert_array_equal(B.todense(), dense)
    np.testing.assert_array_equal(B @ np.arange(17.0), dense @ np.arange(17.0))
    np.testing.assert_array_equal((B + A).todense(), 2 * dense)


@pytest.mark.parametrize("name", NAMES)
def test_memory_that_is_not_zeroed_is_not_read(name, monkeypatch):
    def dirty(shape, dtype):
        return np.full(shape, 77, dtype)

    monkeypatch.setattr(memory, "empty", dirty)
    dense = np.zeros((9, 11))
    for _ in range(2):  # nothing stored, and then rows of several lengths, the longest last
        for source in ("csr", "csc", "coo"):
            B = weft.asarray(dense, format=source).asformat(name)
            check(B._storage)
            np.testing.assert_array_equal(B.todense(), dense)
        dense = np.triu(np.ones((9, 11)))[::-1]


def test_nothing_is_sorted_or_summed_where_rows_are_only_counted():
    A, dense = matrix("twice")
    B = A.asformat("csr", sort=False)
    assert B.nnz == A.nnz
    assert (B.is_ordered, B.is_unique) == (False, False)
    assert B.canonical().nnz == np.count_nonzero(dense)
    assert A.asformat("csr").is_canonical


def test_what_is_sorted_already_says_so():
    A, _ = matrix("csc")
    assert A.asformat("csc", sort=False) is A


@pytest.mark.parametrize("source", NAMES)
def test_threads_make_what_one_makes(source):
    """Histograms of their own, put together, give every entry the place that it has from one thread."""
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((61, 47)) < 0.2, rng.integers(1, 9, (61, 47)), 0).astype(float)
    A = weft.asarray(dense).asformat(source)
    shared = 0
    for name in NAMES:
        target = TensorType.of("float64", parse_format(name, 2))
        found = insertion_kernel(A._storage.type, target, False)
        if not isinstance(found, Kernel) or not found.chunked:
            continue
        shared += 1
        made = []
        for threads in (1, 2, 5):
            with weft.config.override(num_threads=threads, parallel_threshold=0, optimization=0):
                made.append(found.run((A._storage,)))
        for other in made:
            check(other)
            assert np.array_equal(other.vals, made[0].vals)
            assert all(map(np.array_equal, other.arrays, made[0].arrays))
        whole = weft.SparseTensor(made[0]).todense()
        np.testing.assert_array_equal(whole, dense, err_msg=name)
    assert shared


@pytest.mark.parametrize(("source", "target"), [("coo", "csr"), ("csr", "csc"), ("csr", "dia"), ("csr", "ell")])
def test_conversions_are_shared_by_threads(source, target, monkeypatch):
    A = weft.asarray(sp.diags_array([1.0, 2.0, 3.0], offsets=[-1, 0, 4], shape=(200, 200))).asformat(source)
    seen = []
    make = InsertionAssembly.make

    def noting(self, storages, shape, threads, out=None):
        seen.append(threads)
        return make(self, storages, shape, threads, out)

    monkeypatch.setattr(InsertionAssembly, "make", noting)
    with weft.config.override(num_threads=2, parallel_threshold=0):
        B = A.asformat(target)
    assert seen == [2]
    np.testing.assert_array_equal(B.todense(), A.todense())


def test_positions_that_do_not_fit_widen_or_are_refused():
    """Runs of a skyline from column 0 on: a sum of 2**32 and a little more, which must not go round."""

    def triangle(n):
        rows = np.arange(n)
        return weft.from_coords([rows, np.zeros(n, int)], np.ones(n), (n, n), format="csr")

    with pytest.raises(weft.errors.IndexOverflowError, match="4295022903 positions of 92682 runs do not fit int32"):
        triangle(92682).asformat("skyline", index_dtype="int32")
    with pytest.raises(weft.errors.ResultTooLargeError, match="16,000,072,000,008 bytes"):
        triangle(2_000_000).asformat("skyline")


@pytest.mark.parametrize(
    ("have", "want", "levels"),
    [
        ("csr", "coo", {1: 1}),
        ("coo", "csr", {1: 1}),
        ("csf", "coo", {2: 2}),
        ("coo", "csc", {}),
        ("csr", "dcsr", {1: 1}),
    ],
)
def test_what_stands_where_it_is_to_be_is_shared(have, want, levels):
    order = 3 if "csf" in (have, want) else 2
    A = weft.random((7, 8, 9)[:order], nnz=30, format=have, rng=0)
    B = A.asformat(want)
    check(B._storage)
    np.testing.assert_array_equal(B.todense(), A.todense())
    assert np.shares_memory(A._storage.vals, B._storage.vals) == (want != "csc")  # whose order is another
    for k, level in enumerate(B.layout.levels):
        for role in level.roles:
            array = B._storage.level_arrays(k)[role]
            mine = [a for a in A._storage.arrays if np.shares_memory(a, array)]
            assert bool(mine) == (role == "crd" and k in levels), (k, role)
            assert not mine or mine[0] is A._storage.level_arrays(levels[k])["crd"]
    other = A.asformat(want, copy=True)
    arrays = [
        (a, b) for a in (A._storage.vals, *A._storage.arrays) for b in (other._storage.vals, *other._storage.arrays)
    ]
    assert not any(np.shares_memory(a, b) for a, b in arrays)
    assert A.asformat(have, copy=True) is not A


def test_sharing_heeds_dtypes_duplicates_and_fill_values():
    A = weft.random((7, 8), nnz=30, format="csr", rng=0)
    wide = A.asformat("coo", index_dtype="int64")
    assert not any(np.shares_memory(a, b) for a in A._storage.arrays for b in wide._storage.arrays)
    np.testing.assert_array_equal(wide.todense(), A.todense())
    twice = weft.from_coords([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], shape=(2, 2), duplicates="keep")
    np.testing.assert_array_equal(twice.asformat("csr").todense(), [[0, 3], [3, 0]])
    back = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(weft.asarray(back).asformat("csr").asformat("coo").asformat("csr").todense(), back)
