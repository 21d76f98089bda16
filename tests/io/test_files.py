"""Round trips through files, and files that are broken."""

import copy
import gzip
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import weft
from weft.errors import FileFormatError
from weft.storage import check

DATA = Path(__file__).parents[3] / "shared" / "data"
rng = np.random.default_rng(5)
D = np.where(rng.random((5, 7)) < 0.4, rng.integers(1, 9, (5, 7)), 0).astype(float)
T = np.where(rng.random((3, 4, 5)) < 0.3, rng.random((3, 4, 5)), 0)
MATRICES = [name for name in weft.formats if name not in ("hash_vector", "bitmap")]


@pytest.mark.parametrize("format", MATRICES)
@pytest.mark.parametrize("compressed", [True, False])
def test_npz(format, compressed, tmp_path):
    A = weft.asarray(D, format=format)
    weft.save_npz(tmp_path / "a.npz", A, compressed)
    found = weft.load_npz(tmp_path / "a.npz")
    check(found._storage)
    assert found.format == A.format
    np.testing.assert_array_equal(found.todense(), D)
    if format in ("csr", "csc", "coo", "dia"):  # scipy has bsr, too, for blocks that divide the shape
        S = sp.load_npz(tmp_path / "a.npz")
        assert S.format == format
        np.testing.assert_array_equal(S.toarray(), D)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("what", ["array", "matrix"])
def test_npz_of_scipy(kind, what):
    stream = io.BytesIO()
    sp.save_npz(stream, getattr(sp, f"{kind}_{what}")(D))
    stream.seek(0)
    found = weft.load_npz(stream)
    assert str(found.format.canonical()) == str(weft.asarray(sp.csr_array(D).asformat(kind)).format.canonical())
    np.testing.assert_array_equal(found.todense(), D)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "complex64", "bool"])
@pytest.mark.parametrize("fill", [0, 1])
def test_npz_of_tensors_dtypes_and_fill_values(dtype, fill):
    array = (T * 10).astype(dtype)
    array[T == 0] = fill
    coords = np.nonzero(T)
    A = weft.from_coords(coords, array[coords], T.shape, format="csf", fill_value=fill)
    stream = io.BytesIO()
    weft.save_npz(stream, A)
    stream.seek(0)
    found = weft.load_npz(stream)
    assert (found.dtype, found.fill_value, found.format) == (A.dtype, A.fill_value, A.format)
    np.testing.assert_array_equal(found.todense(), array)


def test_npz_refuses(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array([{}], dtype=object), format=np.array("csr"))
    with pytest.raises(FileFormatError):
        weft.load_npz(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(FileFormatError, match="neither scipy's nor weft's: the file holds a"):
        weft.load_npz(path)
    weft.save_npz(path, weft.asarray(D, format="ell"))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileFormatError):
        weft.load_npz(path)


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_matrix_market(name, tmp_path):
    A = weft.asarray(D, format="csr")
    weft.save(tmp_path / name, A)
    found = weft.load(tmp_path / name)
    assert str(found.format) == "coo"
    np.testing.assert_array_equal(found.todense(), D)
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / name).toarray(), D)
    np.testing.assert_array_equal(weft.load(tmp_path / name, format="dia").todense(), D)


def test_matrix_market_streams_and_errors():
    stream = io.BytesIO()
    weft.write_mtx(stream, weft.asarray(D))
    stream.seek(0)
    np.testing.assert_array_equal(weft.read_mtx(stream).todense(), D)
    for text in ["", "%%MatrixMarket nonsense\n", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n",
                 "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 5\n"]:  # fmt: skip
        with pytest.raises(FileFormatError, match="Matrix Market"):
            weft.read_mtx(io.BytesIO(text.encode()))


@pytest.mark.parametrize("name", ["a.tns", "a.tns.gz"])
def test_frostt(name, tmp_path):
    A = weft.asarray(T, format="csf")
    weft.save(tmp_path / name, A)
    np.testing.assert_array_equal(weft.read_tns(tmp_path / name, shape=T.shape).todense(), T)
    found = weft.load(tmp_path / name, format="csf")
    assert str(found.format) == "csf"


def test_frostt_text():
    text = "# a comment\n1 1 2 5\n\n% another\n2 3 1 1.5e0\n2 3 1 1\n"
    A = weft.read_tns(io.StringIO(text))
    assert A.shape == (2, 3, 2)
    assert A.to_coo()[1].tolist() == [5.0, 2.5]
    assert weft.read_tns(io.StringIO(text), dtype="int64").dtype == np.int64
    stream = io.StringIO()
    weft.write_tns(stream, weft.asarray(np.array([[0, 3], [4, 0]])))
    assert stream.getvalue() == "1 2 3\n2 1 4\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 2.0\n1 2\n", "line 2 has 2 numbers instead of 3"),
        ("1 1 2.0\n# c\n1 1 1 2.0\n", "line 3 has 4 numbers instead of 3"),
        ("1 1 2.0\n1 x 2.0\n", "line 2 holds 'x', which is no number"),
        ("1 1 2.0\n1 0 2.0\n", "line 2 has coordinate 0; coordinates count from 1"),
        ("1 1 2.0\n1 1.5 2.0\n", "line 2 has 1.5 for a coordinate"),
        ("1 1 2.0\n1 -4 2.0\n", "line 2 has coordinate -4"),
        ("7\n", "line 1 has 1 numbers instead of 2"),
    ],
)
def test_frostt_errors(text, message):
    with pytest.raises(FileFormatError, match=message):
        weft.read_tns(io.StringIO(text))


def test_frostt_shape_is_kept():
    with pytest.raises(FileFormatError, match=r"entry 2: coordinates \[1, 4\] are outside shape \(2, 3\)"):
        weft.read_tns(io.StringIO("1 1 1\n1 4 1\n"), shape=(2, 3))
    with pytest.raises(FileFormatError, match="lines have 2 coordinates"):
        weft.read_tns(io.StringIO("1 1 1\n"), shape=(2, 3, 4))
    assert weft.read_tns(io.StringIO(""), shape=(2, 3)).shape == (2, 3)


def test_names_say_what_files_are(tmp_path):
    with pytest.raises(FileFormatError, match="does not say what it is"):
        weft.load(tmp_path / "a.xyz")


@pytest.mark.parametrize("format", MATRICES)
def test_pickle_and_copy(format):
    A = weft.asarray(D, format=format)
    A @ np.ones(7)  # the C struct exists
    for B in (pickle.loads(pickle.dumps(A)), copy.copy(A), copy.deepcopy(A)):
        assert B.format == A.format
        np.testing.assert_array_equal(B.todense(), D)
        np.testing.assert_allclose(B @ np.ones(7), D.sum(1))
    assert not np.shares_memory(copy.deepcopy(A).data, A.data)


def test_pickles_of_other_processes_are_equal():
    """Formats cache their hashes, and strings hash differently in every process."""
    code = "import pickle, sys, weft; sys.stdout.buffer.write(pickle.dumps(weft.formats['bsr'](2)))"
    found = []
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, check=True)
        found.append(pickle.loads(done.stdout))
    assert {*found} == {weft.formats["bsr"](2)}


def test_real_files():
    files = sorted(DATA.rglob("*.mtx.gz")) + sorted(DATA.rglob("*.mtx"))
    if not files:
        pytest.skip(f"no matrices in {DATA}")
    smallest = min(files, key=lambda path: path.stat().st_size)
    np.testing.assert_array_equal(weft.load(smallest, format="csr").todense(), scipy.io.mmread(smallest).toarray())
    tensors = sorted(DATA.rglob("*.tns.gz"))
    if tensors:
        path = min(tensors, key=lambda path: path.stat().st_size)
        with gzip.open(path, "rt") as lines:
            first = next(line for line in lines if not line.startswith("#")).split()
        A = weft.load(path)
        assert A.ndim == len(first) - 1
        check(A._storage)
