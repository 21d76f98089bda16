"""Memory that tensors share, with each other, with what they were made of, between threads, and through pickles."""

import copy
import operator
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.errors import StorageError
from weft.storage import storage

FORMATS = ("csr", "csc", "coo", "dok", "hash", "lil", "dia", "bsr", "ell", "dense")


@pytest.fixture
def often():
    """Switch threads as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run(*workers):
    """Run functions in threads of their own; what they raised."""
    raised = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.compiles_alone
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("format", FORMATS)
def test_threads_that_assign_different_elements_lose_none(format):
    A, wanted = weft.asarray(np.eye(60), format=format), np.eye(60)

    def writer(first):
        def work():
            for i in range(first, 60, 3):
                for j in range(0, 60, 4):
                    A[i, j] = i * 60 + j + 1.0
                A[i, 50:53] = i + 0.5
                if i % 8 == first:
                    A @ np.ones(60)
                    assert A[i, 51] == i + 0.5

        return work

    wanted[:, ::4] = np.arange(60)[:, None] * 60 + np.arange(0, 60, 4) + 1
    wanted[:, 50:53] = np.arange(60)[:, None] + 0.5
    assert run(*map(writer, range(3))) == []
    np.testing.assert_array_equal(A.todense(), wanted)


@pytest.mark.compiles_alone
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("format", ["csr", "coo", "dok", "hash", "lil"])
def test_readers_see_a_whole_tensor(format):
    """Each assignment makes a row hold one number; a row that holds two was seen in between."""
    A, going = weft.asarray(np.zeros((30, 40)), format=format), [True]

    def write():
        for k in range(1, 200):
            A[k % 30] = np.full(40, float(k))
            A[k % 30, 7] = float(k)
        going[0] = False

    def read():
        seen = 0.0
        while going[0]:
            x = A.todense()
            assert (x == x[:, :1]).all()
            assert x.max() >= seen
            seen = x.max()
            assert A.nnz % 40 == 0
            assert float(A[3, 9]) <= 200
            assert (A @ np.ones(40) == x[:, 0] * 40).sum() >= 0

    assert run(write, read, read) == []


@pytest.mark.compiles_alone
def test_structs_that_threads_make_at_once_stay_valid(monkeypatch):
    """A kernel may run with any of them: what each points to must live as long as the storage."""
    made, make = [], storage.tensor_struct

    def slowly(*arguments):
        found = make(*arguments)
        made.append(found)
        time.sleep(0.05)  # so that all threads come here before one is done
        return found

    held = weft.asarray(np.eye(3), format="csr").copy()._storage
    monkeypatch.setattr(storage, "tensor_struct", slowly)
    assert run(*(lambda: held.struct for _ in range(4))) == []
    assert len(made) > 1
    assert all(any(kept is alive for kept in held._alive) for _, alive in made)


@pytest.mark.compiles_alone
@pytest.mark.usefixtures("often")
def test_tensors_assigned_to_each_other_do_not_wait_for_each_other():
    A, B = (weft.asarray(np.eye(20), format="dok") for _ in range(2))

    def assign(to, value):
        def work():
            for k in range(100):
                to[k % 20, 3] = float(k)
                to[:5] = value[5:10]
                to[value[:, 0] > 1e9] = value[7]

        return work

    threads = [threading.Thread(target=assign(*pair), daemon=True) for pair in ((A, B), (B, A))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


def test_what_is_assigned_is_gone_with_a_storage_that_is_replaced():
    A = weft.asarray(np.eye(3), format="csr")
    A[0, 1] = 2.0
    A += A
    A[1, 1] = 5.0
    A.data = np.arange(4.0)
    np.testing.assert_array_equal(A.todense(), [[0, 1, 0], [0, 2, 0], [0, 0, 3]])


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("csr", "indptr"),
        ("csr", "indices"),
        ("csc", "indices"),
        ("bsr", "indices"),
        ("bsr", "indptr"),
        ("dia", "offsets"),
        ("coo", "row"),
        ("coo", "col"),
        ("coo", "coords"),
        ("csf", "coords"),
    ],
)
@pytest.mark.parametrize("empty", [False, True])
def test_index_arrays_cannot_be_made_writeable(format, name, empty):
    A = weft.asarray(np.eye(4) * (not empty), format=format)
    array = getattr(A, name)
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True
    with pytest.raises(ValueError, match="WRITEABLE"):
        array[...].setflags(write=True)
    if name != "coords":  # which are put together
        assert np.shares_memory(array, np.asarray(getattr(A, name))) == bool(array.size)
        assert any(np.shares_memory(array, own) for own in A._storage.arrays) == bool(array.size)


def given():
    """One of every kind of input, by name, with the arrays that it is made of."""
    D = np.diag(np.arange(1.0, 7))
    yield "ndarray", D, [D]
    yield "fortran", np.asfortranarray(D), None
    yield "list", D.tolist(), []
    for name in ("csr", "csc", "coo", "dia", "bsr", "lil", "dok"):
        for kind in ("array", "matrix"):
            S = getattr(scipy.sparse, f"{name}_{kind}")(D)
            fields = ("data", "indices", "indptr", "row", "col", "offsets")
            yield f"{name} {kind}", S, [v for f in fields if isinstance(v := getattr(S, f, None), np.ndarray)]
    for name in FORMATS:
        A = weft.asarray(D, format=name)
        yield f"weft {name}", A, [*A._storage.arrays, A._storage.vals]
    import array

    buffer = array.array("d", [1.0, 2.0, 3.0])
    yield "buffer", buffer, [np.frombuffer(buffer)]


@pytest.mark.parametrize(("name", "obj", "arrays"), list(given()), ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"dtype": "float64"}, {"format": "csr"}], ids=str)
def test_a_copy_shares_nothing(name, obj, arrays, options):
    if name == "buffer" and "format" in options:
        options = {"format": "coo"}
    A = weft.asarray(obj, copy=True, **options)
    own = [*A._storage.arrays, A._storage.vals]
    for array in arrays if arrays is not None else [obj]:
        assert not any(np.shares_memory(array, mine) for mine in own)
    wanted = obj.todense() if hasattr(obj, "todense") else np.asarray(obj)
    np.testing.assert_array_equal(A.todense(), np.asarray(wanted))


def test_what_is_written_into_scipys_arrays_is_not_seen_by_a_copy():
    S = scipy.sparse.csr_array(np.eye(4))
    A = weft.asarray(S, copy=True)
    S.indices[:] = 2
    S.indptr[:] = 0
    np.testing.assert_array_equal(A.todense(), np.eye(4))


@pytest.mark.parametrize("format", [*FORMATS, "csf", "dcsr", "hyb", "jad", "csb", "hicoo", "coo_aos", "gcxs"])
def test_pickles_and_copies(format):
    A = weft.asarray(np.diag(np.arange(6.0)), format=format)
    A[2, 3] = 8.0
    for again in (pickle.loads(pickle.dumps(A)), copy.deepcopy(A), copy.copy(A)):
        assert again.format == A.format
        np.testing.assert_array_equal(again.todense(), A.todense())
        again[0, 1] = 3.0
        assert again[0, 1] == 3
        assert A[0, 1] == 0
    own = copy.deepcopy(A)._storage
    assert not any(np.shares_memory(x, y) for x, y in zip(own.arrays, A._storage.arrays, strict=True))


def columns_first(loops):
    return loops.reorder("j", "i")


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("y(i) = A(i,j)*x(j)", {"A": "csr", "x": "dense", "y": "dense"}),
        ("C(i,j) = A(i,j) + B(j,i)", {"A": "csr", "B": "csr", "C": "dia"}),
        ("C(i,k) = A(i,j)*B(j,k) + A(i,k)", {"A": "coo", "B": "dok", "C": "csr"}),
        ("y(j) = A(i,j)*x(i)", {"A": "dense", "x": "dense", "y": "dense", "schedule": columns_first}),
    ],
)
def test_kernels_are_pickled(text, types):
    operands = {"A": np.diag(np.arange(3.0)) + 1, "B": np.arange(9.0).reshape(3, 3), "x": np.arange(3.0)}
    k = weft.compile(text, **types)
    operands = {name: operands[name] for name in k.operands}
    for again in (pickle.loads(pickle.dumps(k)), copy.deepcopy(k), copy.copy(k)):
        assert again.source == k.source
        np.testing.assert_array_equal(weft.asarray(again(**operands)).todense(), weft.asarray(k(**operands)).todense())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "new",
    [operator.pos, np.positive, copy.copy, weft.copy, lambda A: weft.roll(A, 0, axis=0), lambda A: weft.tile(A, 1)],
    ids=["+", "positive", "copy.copy", "copy", "roll", "tile"],
)
def test_what_numpy_returns_anew_shares_no_values(new, format):
    A = weft.asarray(np.diag(np.arange(1, 5.0)), format=format)
    B = new(A)
    B.data[...] = 9.0
    np.testing.assert_array_equal(A.todense(), np.diag(np.arange(1, 5.0)))


def test_plus_keeps_entries_and_takes_no_booleans():
    A = weft.asarray(scipy.sparse.coo_array(([100, 100, 3], ([1, 1, 0], [0, 0, 1])), shape=(2, 2), dtype=np.int8))
    assert (+A).nnz == 3
    np.testing.assert_array_equal((+A).todense(), [[0, 3], [-56, 0]])
    with pytest.raises(weft.errors.DTypeError, match="positive of bool"):
        +weft.asarray([True, False])


def test_pickles_are_checked():
    A = weft.asarray(np.eye(4), format="csr")
    broken = pickle.dumps(A).replace(A.indices.tobytes(), np.array([0, 9, 2, 3], np.int32).tobytes())
    with pytest.raises(StorageError, match="csr"):
        pickle.loads(broken)
    from weft.storage.storage import restored

    storage = A._storage
    for arrays, vals in (((), storage.vals), (storage.arrays, storage.vals[:2]), (storage.arrays, [1.0])):
        with pytest.raises(StorageError):
            restored(storage.shape, storage.type, arrays, vals)
    with pytest.raises(StorageError):
        restored((4,), storage.type, storage.arrays, storage.vals)
    with pytest.raises(StorageError):
        restored((4, "4"), storage.type, storage.arrays, storage.vals)


FLIPPING = """
import pickle, random, resource, sys
import numpy as np, weft
from weft.errors import StorageError
from weft.storage import storage

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
rng = random.Random(int(sys.argv[1]))
D = np.where(np.arange(48).reshape(6, 8) % 5 == 0, 1.5, 0)
refused = kept = 0
for format in ("csr", "coo", "csf", "dcsr", "bsr", "dia", "hash", "lil"):
    options = {"blocksize": (2, 2)} if format == "bsr" else {}
    A = weft.asarray(D).asformat(format, **options)
    data = pickle.dumps(A)
    spans = [(data.index(array.tobytes()), array.nbytes) for array in A._storage.arrays]
    for _ in range(150):
        flipped = bytearray(data)
        begin, length = rng.choice(spans)
        flipped[begin + rng.randrange(length)] ^= 1 << rng.randrange(8)
        try:
            B = pickle.loads(bytes(flipped))
        except StorageError:
            refused += 1
            continue
        kept += 1
        B.todense(), B.asformat("csc"), B @ np.ones(8), B + B
assert refused > 500 and kept > 10, (refused, kept)
"""


@pytest.mark.compiles_alone
@pytest.mark.parametrize("seed", range(3))
def test_pickles_of_which_a_bit_is_flipped_crash_nothing(seed):
    done = subprocess.run([sys.executable, "-c", FLIPPING, str(seed)], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
