"""Functions that move elements, against NumPy: every kind of format, any fill value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats_for_tests import FORMATS as EVERY
from tests.formats_for_tests import sparse

import weft
from weft.config import config
from weft.formats import Compressed, Format, Morton, Singleton
from weft.remapping import Remapping
from weft.storage import check

CASES = {
    "permute": lambda w, a, b, c: w.transpose(b, (2, 0, 1)),
    "swapaxes": lambda w, a, b, c: w.swapaxes(b, 0, 2),
    "moveaxis": lambda w, a, b, c: w.moveaxis(b, 0, -1),
    "rollaxis": lambda w, a, b, c: w.rollaxis(b, 2),
    "expand_dims": lambda w, a, b, c: w.expand_dims(a, (0, 2)),
    "expand_dims of a vector": lambda w, a, b, c: w.expand_dims(c, 1),
    "squeeze": lambda w, a, b, c: w.squeeze(w.expand_dims(a, (0, 2))),
    "squeeze what is not 1": lambda w, a, b, c: w.squeeze(a, axis=0),
    "squeeze one axis": lambda w, a, b, c: w.squeeze(a[:1], axis=0),
    "reshape": lambda w, a, b, c: w.reshape(a, (3, -1)),
    "reshape to 3 axes": lambda w, a, b, c: w.reshape(a, (2, 3, 4)),
    "reshape from 3 axes": lambda w, a, b, c: w.reshape(b, (6, 4)),
    "reshape to a vector": lambda w, a, b, c: w.reshape(b, -1),
    "reshape in Fortran order": lambda w, a, b, c: w.reshape(a, (3, 8), order="F"),
    "reshape of another size": lambda w, a, b, c: w.reshape(a, (5, 5)),
    "ravel": lambda w, a, b, c: w.ravel(b),
    "atleast_3d of a vector": lambda w, a, b, c: w.atleast_3d(c),
    "atleast_3d of a matrix": lambda w, a, b, c: w.atleast_3d(a),
    "broadcast_to more axes": lambda w, a, b, c: w.broadcast_to(a, (2, 4, 6)),
    "broadcast_to more rows": lambda w, a, b, c: w.broadcast_to(a[:1], (5, 6)),
    "broadcast_to more columns": lambda w, a, b, c: w.broadcast_to(a[:, :1], (4, 3)),
    "broadcast_to what does not fit": lambda w, a, b, c: w.broadcast_to(a, (4, 5)),
    "concat0": lambda w, a, b, c: w.concatenate([a, a[:2], a]),
    "concat1": lambda w, a, b, c: w.concatenate([a, a[:, :2], a], axis=1),
    "concatN": lambda w, a, b, c: w.concatenate([a, c], axis=None),
    "concatbad": lambda w, a, b, c: w.concatenate([a, a[:, :2]]),
    "concat3": lambda w, a, b, c: w.concatenate([b, b], axis=2),
    "concat31": lambda w, a, b, c: w.concatenate([b, b], axis=1),
    "concat30": lambda w, a, b, c: w.concatenate([b, b], axis=0),
    "stack": lambda w, a, b, c: w.stack([a, a]),
    "stack2": lambda w, a, b, c: w.stack([a, a], axis=-1),
    "stack1": lambda w, a, b, c: w.stack([c, c], axis=1),
    "vstack": lambda w, a, b, c: w.vstack([c, c]),
    "vstackm": lambda w, a, b, c: w.vstack([a, a]),
    "hstack": lambda w, a, b, c: w.hstack([a, a]),
    "hstack1": lambda w, a, b, c: w.hstack([c, c]),
    "dstack": lambda w, a, b, c: w.dstack([a, a]),
    "cstack": lambda w, a, b, c: w.column_stack([c, c]),
    "block": lambda w, a, b, c: w.block([[a, a], [a, a]]),
    "split": lambda w, a, b, c: w.split(a, 2),
    "asplit": lambda w, a, b, c: w.array_split(a, 4, axis=1),
    "split2": lambda w, a, b, c: w.split(a, [1, 3], axis=1),
    "splitbad": lambda w, a, b, c: w.split(a, 3),
    "hsplit": lambda w, a, b, c: w.hsplit(a, 3),
    "vsplit": lambda w, a, b, c: w.vsplit(a, 2),
    "flip": lambda w, a, b, c: w.flip(a),
    "flip1": lambda w, a, b, c: w.flip(b, axis=1),
    "flipud": lambda w, a, b, c: w.flipud(a),
    "rot": lambda w, a, b, c: w.rot90(a),
    "rot3": lambda w, a, b, c: w.rot90(b, 3, axes=(1, 2)),
    "rot2": lambda w, a, b, c: w.rot90(a, 2),
    "roll": lambda w, a, b, c: w.roll(a, 2, axis=1),
    "rollN": lambda w, a, b, c: w.roll(b, -5),
    "roll2": lambda w, a, b, c: w.roll(b, (1, 2), axis=(0, 1)),
    "pad": lambda w, a, b, c: w.pad(a, ((1, 2), (0, 3)), constant_values=FILL[0]),
    "padz": lambda w, a, b, c: w.pad(a, 1, constant_values=7.0),
    "repeat": lambda w, a, b, c: w.repeat(a, 2, axis=1),
    "repeatN": lambda w, a, b, c: w.repeat(a, 2),
    "repeats": lambda w, a, b, c: w.repeat(b, [1, 0, 2], axis=0),
    "tile": lambda w, a, b, c: w.tile(a, (2, 3)),
    "tile3": lambda w, a, b, c: w.tile(a, (2, 1, 2)),
    "tile1": lambda w, a, b, c: w.tile(b, 2),
    "take": lambda w, a, b, c: w.take(a, np.array([1, 0, 1]), axis=1),
    "takeN": lambda w, a, b, c: w.take(a, np.array([[1, 0], [20, 3]])),
    "talong": lambda w, a, b, c: w.take_along_axis(a, np.array([[0, 1], [1, 2], [3, 3], [0, 5]]), axis=1),
    "talong3": lambda w, a, b, c: w.take_along_axis(b, np.zeros((1, 4, 2), int), axis=0),
    "tril": lambda w, a, b, c: w.tril(a, k=1),
    "triu": lambda w, a, b, c: w.triu(a, k=-1),
    "tril3": lambda w, a, b, c: w.tril(b),
    "diagonal": lambda w, a, b, c: w.diagonal(a, 1),
    "diagonal-": lambda w, a, b, c: w.diagonal(a, -2),
    "diagonal3": lambda w, a, b, c: w.diagonal(b, 0, 2, 0),
    "diagonalx": lambda w, a, b, c: w.diagonal(a, 9),
    "diag": lambda w, a, b, c: w.diag(c, 1),
    "diag-": lambda w, a, b, c: w.diag(c, -2),
    "diag2": lambda w, a, b, c: w.diag(a),
    "kron": lambda w, a, b, c: w.kron(a, a),
    "kron1": lambda w, a, b, c: w.kron(c, c),
    "kron12": lambda w, a, b, c: w.kron(a, c),
    "kron32": lambda w, a, b, c: w.kron(b, a),
    "unstack": lambda w, a, b, c: w.unstack(b, axis=1),
}
FILL = [0.0]
FORMATS = [("csr", "csf"), ("coo", "coo"), ("csc", "gcxs"), ("dia", "dense"), ("dense", "hicoo"), ("bsr", "csf"),
           ("dok", "mode_generic"), ("ell", "coo"), ("skyline", "csf"), ("lil", "coo")]  # fmt: skip


def compare(found, expected):
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
        return
    assert isinstance(found, weft.SparseTensor)
    check(found._storage)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.todense(), expected)


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name, fill):
    case, rng = CASES[name], np.random.default_rng(7)
    FILL[0] = fill
    for matrix, tensor in FORMATS:
        dense = [
            np.where(rng.random(s) < 0.4, rng.integers(1, 9, s).astype(float), fill) for s in ((4, 6), (3, 4, 2), 5)
        ]
        ours = [sparse(d, fill, f) for d, f in zip(dense, (matrix, tensor, "coo"), strict=True)]
        try:
            expected = case(np, *dense)
        except ValueError:
            expected = None
        if expected is not None:
            compare(case(weft, *ours), expected)
            continue
        with pytest.raises(ValueError):  # NumPy's words differ from function to function
            case(weft, *ours)


@given(data=st.data())
def test_reshape(data):
    factors = data.draw(st.permutations([2, 3, 2, 1, data.draw(st.sampled_from([1, 4, 0]))]))
    cuts = [sorted(data.draw(st.lists(st.integers(0, 5), max_size=3))) for _ in range(2)]
    old, new = (tuple(int(np.prod(factors[a:b])) for a, b in zip([0, *c], [*c, 5], strict=True)) for c in cuts)
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    dense = np.where(rng.random(old) < 0.5, rng.random(old), 0)
    A = weft.asarray(dense, format="coo")
    compare(A.reshape(new), dense.reshape(new))
    compare(A.reshape(*new, order="F"), dense.reshape(new, order="F"))


def test_reshape_of_more_elements_than_fit_32_bits():
    A = weft.from_coords([[5, 10**6 - 1], [7, 10**6 - 2]], [1.0, 2.0], shape=(10**6, 10**6), format="csr")
    flat = A.reshape(-1)
    assert flat.to_coo()[0].tolist() == [[5 * 10**6 + 7, 10**12 - 2]]
    assert flat.reshape(10**3, 10**9).to_coo()[0].tolist() == [[0, 999], [5 * 10**6 + 7, 10**9 - 2]]
    big = weft.from_coords([[1], [1]], [1.0], shape=(2**40, 2**40))
    with pytest.raises(weft.errors.ShapeError, match="64-bit"):
        big.reshape(-1)


@pytest.mark.parametrize(("ndim", "format"), [(ndim, format) for ndim, formats in EVERY.items() for format in formats])
def test_joining_tensors_of_every_format(ndim, format):
    rng = np.random.default_rng(3)
    shape = (3, 4, 2)[:ndim]
    for axis in range(ndim):
        for sizes in [(1, 3), (3, 0, 1, 2), (2, 5)]:
            dense = [
                np.where(rng.random(s) < 0.5, rng.integers(1, 9, s).astype(float), 0)
                for s in ((*shape[:axis], n, *shape[axis + 1 :]) for n in sizes)
            ]
            compare(weft.concat([sparse(d, 0, format) for d in dense], axis=axis), np.concatenate(dense, axis))
            mixed = [sparse(d, 0, f) for d, f in zip(dense, (format, "coo", "dense", format), strict=False)]
            compare(weft.concat(mixed, axis=axis), np.concatenate(dense, axis))


@pytest.mark.parametrize("fill", [0.0, -0.0, 3.0, np.nan])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr"])
def test_joining_keeps_every_bit_that_is_stored(format, fill):
    """Zeros of either sign, NaN and infinities, one after another in another place."""
    values = np.array([-0.0, 0.0, np.nan, -np.inf, 5.0])
    A = weft.from_coords([[0, 0, 1, 2, 2], [0, 3, 1, 0, 2]], values, (3, 4), format=format, fill_value=fill)
    for axis in (0, 1):
        joined = weft.concat([A, A, A], axis=axis)
        assert joined.nnz == 15
        found, wanted = joined.todense(), np.concatenate([A.todense()] * 3, axis)
        np.testing.assert_array_equal(found.view(np.int64), wanted.view(np.int64))


@pytest.mark.parametrize("order", [2, 3])
def test_joining_and_taking_apart_along_a_curve(order):
    """Pieces that follow it one by one do not follow it together; nor does what is left without an axis."""
    inner = [Singleton(ordered=False, unique=False)] * (order - 2)
    format = Format(Remapping.identity(order), [Morton(unique=False), *inner, Singleton(ordered=False)])
    rng, shape = np.random.default_rng(0), (5, 8, 3)[:order]
    dense = rng.random(shape) * (rng.random(shape) < 0.5)
    A = weft.asarray(dense).asformat(format)
    for axis in range(order):
        joined = weft.concat([A, A], axis=axis)
        assert joined.format == format
        compare(joined, np.concatenate([dense, dense], axis))
        key = (slice(None),) * axis
        compare(A[(*key, 2)], dense[(*key, 2)])
        compare(weft.squeeze(A[(*key, slice(1, 2))], axis=axis), dense[(*key, 1)])


def test_joining_beyond_small_indices():
    wide = weft.from_coords([[0, 1], [5, 2**31 - 3]], [1.0, 2.0], (2, 2**31 - 2), format="csr")
    joined = weft.hstack([wide, wide])
    assert joined.shape == (2, 2**32 - 4)
    assert joined.indices.tolist() == [5, 2**31 + 3, 2**31 - 3, 2**32 - 5]


def test_joining_keeps_format_and_fill_value():
    A = weft.random((4, 5), density=0.5, format="csr", rng=1)
    for joined in (weft.vstack([A, A]), weft.hstack([A, A]), weft.concat([A, np.ones((4, 2))], axis=1)):
        assert str(joined.format) == "csr"
    B = weft.from_coords([[0], [1]], [5.0], shape=(4, 5), fill_value=1)
    both = weft.concat([B, A])
    assert both.fill_value == 1
    np.testing.assert_array_equal(both.todense(), np.concatenate([B.todense(), A.todense()]))
    huge = weft.from_coords([[0], [1]], [5.0], shape=(10**5, 10**5))
    with config.override(max_densify_bytes=10**6), pytest.raises(weft.errors.DensifyError, match="max_densify_bytes"):
        weft.concat([B, weft.from_coords([[0], [1]], [5.0], shape=(10**6, 5))])
    assert weft.concat([huge, huge], axis=1).nnz == 2


def test_views_of_the_axes_share_arrays():
    A = weft.random((4, 5), density=0.5, format="csr", rng=1)
    assert weft.permute_dims(A, (1, 0)).data is A.data
    assert str(weft.moveaxis(A, 0, 1).format) == "csc"
    assert A.trace() == pytest.approx(A.todense().trace())


@pytest.mark.parametrize("format", ["csf", "coo", "dss", "sds", "ssd", "sss:1,0,2", "dds", "mode_generic"])
@pytest.mark.parametrize("fill", [0.0, np.nan])
def test_reshape_above_the_last_axes(format, fill):
    """What the last axes store stays as it is, where only axes above them change."""
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((4, 6, 5)) < 0.3, rng.random((4, 6, 5)), fill)
    dense[2] = fill
    A = sparse(dense, fill, format)
    for shape in [(8, 3, 5), (24, 5), (2, 2, 6, 5), (4, 2, 3, 5), (4, 1, 6, 5), (3, 8, 5), (120,), (4, 30), (24, 5, 1)]:
        found = A.reshape(shape)
        check(found._storage)
        np.testing.assert_array_equal(found.todense(), dense.reshape(shape))
        again = found.reshape(dense.shape)
        check(again._storage)
        np.testing.assert_array_equal(again.todense(), dense)


def test_reshape_shares_what_hangs_below():
    A = weft.random((20, 30, 40), density=0.2, format="csf", rng=1)
    found = A.reshape(60, 10, 40)
    for mine, its in zip((*A._storage.arrays[4:], A.data), (*found._storage.arrays[4:], found.data), strict=True):
        assert mine is its
    rows = A.reshape(600, 40).asformat("csr")
    np.testing.assert_array_equal(rows.reshape(20, 30, 40).todense(), A.todense())


def test_huge_dimensions_get_no_arrays_of_their_length():
    """Where the dense level that a format has would be far longer than what is stored, levels are compressed."""
    n = 10**5
    A = weft.from_coords([[3, n - 1], [5, n - 2]], [1.0, 2.0], shape=(n, n), format="csr")
    found = weft.kron(A, A)
    assert (found.shape, found.nnz, found.format) == ((n**2, n**2), 4, A.asformat("dcsr").format)
    assert found[n**2 - 1, n**2 - n - 2] == 4
    assert found[3 * n + n - 1, 5 * n + n - 2] == 2
    tall = A.reshape(n**2, 1)
    assert (tall.format, tall[3 * n + 5, 0], tall.nbytes < 1000) == (found.format, 1, True)
    assert A.reshape(n**2, 1, order="F").nbytes < 1000
    below = weft.pad(A, ((0, n**2), (0, 0)))
    assert (below.format, below[n - 1, n - 2]) == (found.format, 2)
    # A length that the operand has itself is no reason.
    assert A.reshape(n * 10, n // 10).format == A.format
    assert weft.kron(A, np.eye(2)).format == A.format


def test_coordinates_that_32_bits_do_not_hold():
    """Where those of the result are larger than any of the operands, whose arrays are narrow."""
    n = 10**5
    coords = np.array([[3, n - 1], [0, 1], [1, 1]], np.int32)
    A = weft.from_coords(coords, [1.0, 2.0], shape=(n, 2, 2), format="csf")
    assert set(A._storage.type.index_dtypes) == {"int32"}
    found = weft.kron(A, A)
    check(found._storage)
    assert found.coords[0].tolist() == [3 * n + 3, 3 * n + n - 1, (n - 1) * n + 3, n * n - 1]
    assert found[n * n - 1, 3, 3] == 4
    joined = Format(Remapping.parse("(i,j) -> (i*size(j)+j)"), [Compressed()])
    a = weft.from_coords([coords[0]], [1.0, 2.0], shape=(n,), format="s").asformat("s", index_dtype="int32")
    outer = weft.evaluate("C(i,j) = a(i)*b(j)", a=a, b=a, format=joined)
    check(outer._storage)
    assert (outer[n - 1, n - 1], outer[3, 3], outer.nnz) == (4, 1, 4)


def test_more_elements_than_integers():
    """What need not number all elements does without; what must says so."""
    n = 10**12
    A = weft.from_coords([[3, n - 1], [5, n - 2]], [1.0, 2.0], shape=(n, n), format="coo")
    assert [c.tolist() for c in A.reshape(n, 2, n // 2).coords] == [[3, n - 1], [0, 1], [5, n // 2 - 2]]
    assert A.reshape(n, 1, n, 1).reshape(1, n, n).coords.tolist() == [[0, 0], [3, n - 1], [5, n - 2]]
    assert weft.repeat(A, 3, axis=0).coords[0].tolist() == [9, 10, 11, 3 * n - 3, 3 * n - 2, 3 * n - 1]
    assert weft.tile(A, (2, 1)).coords[0].tolist() == [3, n - 1, n + 3, 2 * n - 1]
    assert weft.sort(A, axis=0).coords.tolist() == [[n - 1, n - 1], [5, n - 2]]
    assert A[[n - 1, 3, 4], [n - 2, 5, 5]].todense().tolist() == [2, 1, 0]
    assert A[[[n - 1], [4]], [n - 2, 5]].todense().tolist() == [[2, 0], [0, 0]]
    assert A[A > 1].todense().tolist() == [2]
    for call in (lambda: A.reshape(-1), lambda: weft.kron(A, A)):
        with pytest.raises(weft.errors.ShapeError, match=f"{n * n}"):
            call()
    for call in (lambda: weft.std(A), lambda: A.argmax()):
        with pytest.raises(weft.errors.IndexOverflowError, match=f"{n * n}|{n}, {n}"):
            call()


@pytest.mark.parametrize("function", [weft.repeat, weft.tile])
def test_repetitions_of_long_axes(function, monkeypatch):
    """Where an array over the axis would be far longer than what is stored, none is made."""
    monkeypatch.setattr("weft.numpy_api.manipulation.is_far_longer", lambda length, entries: True)
    dense = np.where(np.random.default_rng(2).random((4, 5)) < 0.3, 2.0, np.nan)
    for format in ("csr", "coo", "csc", "dia"):
        A = sparse(dense, np.nan, format)
        for times in (0, 1, 3):
            expected = np.repeat(dense, times, axis=1) if function is weft.repeat else np.tile(dense, (1, times))
            found = function(A, times, axis=1) if function is weft.repeat else function(A, (1, times))
            np.testing.assert_array_equal(found.todense(), expected)
            assert found.format == A.format


@pytest.mark.parametrize("format", ["csr", "coo", "dense"])
@pytest.mark.parametrize("shape", [(6, 8), (48,), (12, 4), (6, 1, 8)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_copy_that_is_asked_for_shares_nothing(format, shape, order):
    A = weft.random((6, 8), density=0.4, format=format, rng=1)
    expected = A.todense()
    found = weft.reshape(A, shape, order=order, copy=True)
    np.testing.assert_array_equal(found.todense(), expected.reshape(shape, order=order))
    mine, its = ((*t._storage.arrays, t.data) for t in (A, found))
    assert not any(np.shares_memory(a, b) for a in mine for b in its)
