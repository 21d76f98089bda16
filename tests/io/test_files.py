"""Round trips through files, and files that are broken."""

import copy
import gzip
import io
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import weft
from weft.__main__ import main
from weft.errors import FileFormatError, ResultTooLargeError
from weft.io import frostt
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
    assert found.layout == A.layout
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
    assert str(found.layout.canonical()) == str(weft.asarray(sp.csr_array(D).asformat(kind)).layout.canonical())
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
    with pytest.raises(
        FileFormatError, match=r"a.npz' holds plain arrays \('a'\), no sparse tensor; read it with np.l"
    ):
        weft.load(path)
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(FileFormatError, match=r"a.npy' holds a plain array, no sparse tensor; read it with np.load"):
        weft.load_npz(tmp_path / "a.npy")
    weft.save_npz(path, weft.asarray(D, format="ell"))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileFormatError):
        weft.load_npz(path)


BEGINS = {"gz": b"\x1f\x8b", "bz2": b"BZh", "npz": b"PK"}


@pytest.mark.parametrize("name", ["a.mtx.bz2", "A.MTX.GZ", "a.Tns.Bz2", "A.NPZ", "a.tns.gz"])
def test_endings_in_any_case_say_how_to_write(name, tmp_path):
    A = weft.asarray(D, format="csr")
    weft.save(tmp_path / name, A)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes().startswith(BEGINS[name.lower().rpartition(".")[2]])
    np.testing.assert_array_equal(weft.load(tmp_path / name).todense(), D)
    if not name.endswith("NPZ"):
        with (tmp_path / name).open("rb") as stream:
            read = weft.read_mtx if "mtx" in name.lower() else weft.read_tns
            np.testing.assert_array_equal(read(stream).todense(), D)
            assert not stream.closed


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_matrix_market(name, tmp_path):
    A = weft.asarray(D, format="csr")
    weft.save(tmp_path / name, A)
    found = weft.load(tmp_path / name)
    assert str(found.format) == "coo"
    np.testing.assert_array_equal(found.todense(), D)
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / name, spmatrix=False).toarray(), D)
    np.testing.assert_array_equal(weft.load(tmp_path / name, format="dia").todense(), D)


@pytest.mark.parametrize("format", MATRICES)
@pytest.mark.parametrize("write", [weft.write_mtx, weft.write_tns])
def test_text_files_hold_no_padding(write, format):
    """Only dense matrices are written whole, as arrays of Matrix Market."""
    stream, whole = io.BytesIO(), format.startswith("dense") and write is weft.write_mtx
    write(stream, weft.asarray(D, format=format))
    lines = [line for line in stream.getvalue().splitlines() if not line.startswith(b"%")]
    assert len(lines) - (write is weft.write_mtx) == (D.size if whole else np.count_nonzero(D))


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


BANNER = "%%MatrixMarket "
VECTORS = {
    "vector coordinate real general\n% c\n\n4 2\n1 2.5\n3 4\n": [2.5, 0, 4, 0],
    "Vector Coordinate Real General\n4 2\n3 4\n3 -1\n": [0.0, 0, 3, 0],
    "vector coordinate integer general\n4 1\n  2\t-7\n": [0, -7, 0, 0],
    "vector coordinate pattern general\n3 2\n1\n 3\n": [1.0, 0, 1],
    "vector coordinate complex general\n2 1\n2 1 -2\n": [0, 1 - 2j],
    "vector coordinate real general\n3 0\n": [0.0, 0, 0],
    "vector coordinate real general\n0 0\n": np.zeros(0),
    "vector array real general\n3\n1.5\n0\n-2\n": [1.5, 0, -2],
    "vector array integer general\n% c\n2\n1\n2\n": [1, 2],
    "vector array complex general\n1\n1 2\n": [1 + 2j],
    "vector array real general\n0\n": np.zeros(0),
}


@pytest.mark.parametrize("text", VECTORS)
def test_matrix_market_files_of_vectors(text, tmp_path, capsys):
    path = tmp_path / "v.mtx"
    path.write_text(BANNER + text)
    for found in (weft.load(path), weft.read_mtx(io.StringIO(BANNER + text)), weft.load(path, format="dense")):
        assert found.dtype == np.asarray(VECTORS[text]).dtype
        np.testing.assert_array_equal(found.todense(), VECTORS[text])
    assert weft.load(path).format == ("dense" if "array" in text else "coo")
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"shape    {len(VECTORS[text])}\n")


@pytest.mark.parametrize("lead", ["\n\n ", "\t", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("banner", ["%%MatrixMarket ", "%MatrixMarket ", "%%MATRIXMARKET\t"])
def test_matrix_market_banners(lead, banner):
    data = (lead + banner + "matrix coordinate real general\n2 2 1\n1 2 3.5\n").encode()
    np.testing.assert_array_equal(weft.read_mtx(io.BytesIO(data)).todense(), [[0, 3.5], [0, 0]])
    line = 3 + lead.count("\n")
    with pytest.raises(FileFormatError, match=f"Line {line}: Invalid floating-point value"):
        weft.read_mtx(io.BytesIO(data.replace(b"3.5", b"x")))


@pytest.mark.parametrize("text", ["matrix coordinate real general\n2 2 1\n1 x 5\n", "matrix array real general\n0 3\n",
                                  "matrix array real general\n0 0\n", "vector coordinate real general\n2 1\n3 5\n",
                                  "vector coordinate real symmetric\n2 1\n1 5\n", "nonsense\n1\n",
                                  "vector coordinate real general\n2 1 1\n1 5\n", "vector array"])  # fmt: skip
def test_no_matrix_market_file_ends_the_process(text, tmp_path):
    """SciPy's reader aborted, as it sought in a file that was closed, or divided by no rows."""
    path = tmp_path / "a.mtx"
    path.write_text(BANNER + text)
    code = (
        "import sys, weft\nfor path in sys.argv[1:]:\n"
        "    try: print(weft.load(path).shape)\n    except weft.errors.FileFormatError: print('refused')\n"
        "    with open(path, 'rb') as stream:\n        try: weft.read_mtx(stream)\n"
        "        except weft.errors.FileFormatError as error: kept = error\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    sizes = text.partition("\n")[2].split()
    wanted = f"({', '.join(sizes)})" if text.startswith("matrix array") else "refused"
    assert (done.returncode, done.stdout.strip()) == (0, wanted), done.stderr


def test_matrix_market_holds_no_fill_value(tmp_path):
    with pytest.raises(FileFormatError, match=r"has no fill value, and this tensor has 1.0; .*ending in .npz"):
        weft.save(tmp_path / "a.mtx", weft.asarray(D, format="csr") + 1)
    assert not os.listdir(tmp_path)


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
    stream = io.StringIO()
    weft.write_tns(stream, weft.asarray(np.array([[0, 3], [4, 0]])))
    assert stream.getvalue() == "1 2 3\n2 1 4\n"


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "complex128"])
def test_frostt_from_zero(dtype):
    A = weft.asarray((T * 9).astype(dtype) * (1 - 2j if dtype.startswith("c") else 1), format="csf")
    stream = io.BytesIO()
    weft.write_tns(stream, A, start=0)
    data = stream.getvalue()
    for text in (data, b"\xef\xbb\xbf" + data):
        found = weft.read_tns(io.BytesIO(text), shape=T.shape, dtype=dtype, start=0)
        np.testing.assert_array_equal(found.todense(), A.todense())
    with pytest.raises(FileFormatError, match=r"counts? from 1; start=0 reads files that count from 0"):
        weft.read_tns(io.BytesIO(data), dtype=dtype)
    for do in (weft.read_tns, lambda stream, start: weft.write_tns(stream, A, start=start)):
        with pytest.raises(ValueError, match="count from 0 or 1: start=2"):
            do(io.BytesIO(data), start=2)


@pytest.mark.parametrize(
    ("word", "value"),
    [("1+2j", 1 + 2j), ("(1+2j)", 1 + 2j), ("-.5e1-infj", complex(-5, -np.inf)), ("nan+1i", complex(np.nan, 1)),
     ("3", 3), ("-0.0-0.0j", complex(-0.0, -0.0)), ("1e400+1j", None), ("1+1e400j", None), ("(3", None)],
)  # fmt: skip
def test_frostt_complex_values(word, value):
    text = f"1 1\n2 {word}\n"
    if value is None:
        with pytest.raises(FileFormatError, match=r"line 2 (has value|holds)"):
            weft.read_tns(io.StringIO(text), dtype="complex128")
        return
    found = weft.read_tns(io.StringIO(text), dtype="complex128").todense()[1]
    np.testing.assert_array_equal(found, value)
    assert np.signbit(found.real) == np.signbit(np.real(value))
    if isinstance(value, complex):
        with pytest.raises(FileFormatError, match=r"line 2 has value .* not hold; give dtype='compl"):
            weft.read_tns(io.StringIO(text))


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
        ("1 1 2\n1 nan 1.0\n", "line 2 has nan for a coordinate"),
        ("1 1 2\n\n# c\ninf 1 1.0\n", "line 4 has inf for a coordinate"),
        ("1.0 1 2\n", "line 1 has 1.0 for a coordinate; coordinates are written as integers"),
        ("1e3 1 2\n", "line 1 has 1e3 for a coordinate"),
        ("9007199254740992.5 1 2\n", "line 1 has 9007199254740992.5 for a coordinate"),
        ("9223372036854775808 1\n", "line 1 has coordinate 9223372036854775808, which int64 does not hold"),
        ("1 1e400\n", "line 1 has value 1e400, which float64 does not hold"),
        ("1 1_0\n", "line 1 holds '1_0', which is no number"),
        ("1 1\n2 \0\n", "line 2 holds a NUL byte"),
        ("1 \N{LATIN SMALL LETTER U WITH DIAERESIS}\n", "line 1 holds '\xfc', which is no number"),
        ("", "the file has no entries"),
        ("# nothing\n\n% else\n", "the file has no entries"),
        ("1 " * 66, "line 1 has 65 coordinates; tensors have up to 64 axes"),
    ],
)
def test_frostt_errors(text, message):
    with pytest.raises(FileFormatError, match=message):
        weft.read_tns(io.StringIO(text))


@pytest.mark.parametrize(
    ("dtype", "text"),
    [("int8", "300"), ("int8", "1.5"), ("int64", "nan"), ("int64", "inf"), ("int64", "9223372036854775808"),
     ("uint8", "-1"), ("uint64", "18446744073709551616"), ("bool", "2"), ("float32", "1e39")],
)  # fmt: skip
def test_frostt_values_that_the_dtype_does_not_hold(dtype, text):
    with pytest.raises(FileFormatError, match=f"line 2 has value {text}, which {dtype} does not hold"):
        weft.read_tns(io.StringIO(f"1 1\n2 {text}\n"), dtype=dtype)


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "complex64"])
def test_frostt_integers_that_are_written_as_floats(dtype):
    A = weft.read_tns(io.StringIO("1 5.0\n2 1e1\n3 -3\n"), dtype=dtype)
    assert A.dtype == dtype
    assert A.todense().tolist() == [5, 10, -3]


@pytest.mark.parametrize("dtype", [*map(np.dtype, "?bhiqBHIQfd")], ids=str)
def test_frostt_holds_every_value_of_every_real_dtype(dtype):
    if dtype.kind == "f":
        about = np.finfo(dtype)
        values = [about.max, about.min, about.tiny, about.smallest_subnormal, about.eps, np.inf, np.nan, 1 / 3, -0.0]
    elif dtype.kind == "b":
        values = [True, False]
    else:
        about = np.iinfo(dtype)
        values = [about.max, about.max - 1, about.min, about.min + 1, 7]
    values = np.array([*values, *([9007199254740993] if dtype.itemsize == 8 and dtype.kind in "iu" else [])], dtype)
    rows = np.arange(len(values)), np.full(len(values), 2**53)  # the coordinates that are written are 2**53 + 1
    stream = io.BytesIO()
    weft.write_tns(stream, weft.from_coords(rows, values))
    stream.seek(0)
    coords, found = weft.read_tns(stream, dtype=dtype).to_coo()
    assert coords.tolist() == [row.tolist() for row in rows]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(values))


def test_frostt_writes_the_largest_narrow_coordinate():
    A = weft.from_coords([np.array([2**31 - 1], np.int32)], [1.0], (2**31,))
    stream = io.BytesIO()
    weft.write_tns(stream, A)
    assert stream.getvalue() == b"2147483648 1\n"


@pytest.mark.compiles_alone
def test_frostt_reads_a_long_line_once():
    """A line of so many words took minutes, as its time grew with their square."""
    start = time.perf_counter()
    with pytest.raises(FileFormatError, match="line 1 has 99999 coordinates"):
        weft.read_tns(io.BytesIO(b"1 " * 100_000))
    assert time.perf_counter() - start < 2


def test_frostt_blocks(monkeypatch):
    """Lines are cut anywhere between blocks, and keep their numbers."""
    monkeypatch.setattr(frostt, "_BLOCK", 7)
    A = weft.read_tns(io.BytesIO(b"# c\n1 1 3\n\n2 3 4.5\r\n1 1 1"))
    assert A.todense().tolist() == [[4, 0, 0], [0, 0, 4.5]]
    with pytest.raises(FileFormatError, match="line 4 has 2 numbers instead of 3"):
        weft.read_tns(io.BytesIO(b"# c\n1 1 3\n\n2 3\n1 1 1"))
    with pytest.raises(FileFormatError, match="line 2 has more than 7 characters"):
        weft.read_tns(io.BytesIO(b"1 1 3\n1 1 30000000000000000"))


@pytest.mark.parametrize("read", [weft.read_tns, weft.read_mtx, weft.load_npz])
def test_what_is_no_file_is_refused(read, tmp_path):
    with pytest.raises(FileFormatError, match="is a directory"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError):  # nobody writes to it
        read(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")
    if read is not weft.load_npz:
        with pytest.raises(TypeError, match="from a path or a stream, not from a SparseTensor"):
            read(weft.eye(2))
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    with pytest.raises(FileFormatError):
        read(tmp_path / "bytes")


def test_a_pipe_is_read():
    """As a shell gives one: ``weft info <(zcat a.tns.gz)``."""
    reader, writer = os.pipe()
    os.write(writer, b"1 1 3\n")
    os.close(writer)
    assert weft.read_tns(f"/dev/fd/{reader}").todense().tolist() == [[3]]
    os.close(reader)


@pytest.mark.parametrize(("name", "cut"), [("a.tns.gz", slice(None, -30)), ("a.mtx.gz", slice(None, -30)),
                                           ("a.tns.gz", slice(40, None)), ("a.mtx.gz", slice(40, None))])  # fmt: skip
def test_packed_files_that_are_broken(name, cut, tmp_path):
    path = tmp_path / name
    weft.save(path, weft.random((200, 200), nnz=4000, rng=0))
    data = path.read_bytes()
    path.write_bytes(data[:30] + data[30:][cut])
    with pytest.raises(FileFormatError, match=r"gzip|Matrix Market|Compressed"):
        weft.load(path)


def test_text_that_cannot_be_decoded(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1 1 \xff\n")
    for read in (weft.read_tns, weft.read_mtx):
        with path.open(encoding="utf-8") as stream, pytest.raises(FileFormatError, match="cannot be decoded"):
            read(stream)


@pytest.mark.parametrize("header", ["coordinate real general\n2 2 1000000000000000\n1 1 1\n",
                                    "array real general\n100000000 100000000\n1\n",
                                    "coordinate complex symmetric\n3 3 40000000000000\n1 1 1 1\n"])  # fmt: skip
def test_matrix_market_headers_that_speak_of_too_much(header):
    with pytest.raises(ResultTooLargeError, match=r"Matrix Market header speaks of would take [\d,]{15,} bytes"):
        weft.read_mtx(io.BytesIO(b"%%MatrixMarket matrix " + header.encode()))


@pytest.mark.parametrize("format", ["csr", "ell"])
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]", "U3", "S3", "float16", "longdouble", "i4,i4"])
def test_npz_of_values_that_weft_does_not_have(format, dtype):
    stream = io.BytesIO()
    weft.save_npz(stream, weft.asarray(np.eye(2), format=format))
    stream.seek(0)
    arrays = dict(np.load(stream))
    arrays["data" if format == "csr" else "values"] = np.zeros(2, dtype)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    stream.seek(0)
    with pytest.raises(FileFormatError, match="no values of dtype"):
        weft.load_npz(stream)


def test_frostt_shape_is_kept():
    with pytest.raises(FileFormatError, match=r"line 2 has coordinates \[1, 4\], which are outside shape \(2, 3\)"):
        weft.read_tns(io.StringIO("1 1 1\n1 4 1\n"), shape=(2, 3))
    with pytest.raises(FileFormatError, match="lines have 2 coordinates"):
        weft.read_tns(io.StringIO("1 1 1\n"), shape=(2, 3, 4))
    assert weft.read_tns(io.StringIO(""), shape=(2, 3)).shape == (2, 3)


def test_names_say_what_files_are(tmp_path):
    with pytest.raises(FileFormatError, match="the kind of the file"):
        weft.load(tmp_path / "a.xyz")
    with pytest.raises(FileFormatError, match="npz files are compressed as they are"):
        weft.save(tmp_path / "a.npz.gz", weft.eye(2))


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
    np.testing.assert_array_equal(
        weft.load(smallest, format="csr").todense(), scipy.io.mmread(smallest, spmatrix=False).toarray()
    )
    tensors = sorted(DATA.rglob("*.tns.gz"))
    if tensors:
        path = min(tensors, key=lambda path: path.stat().st_size)
        with gzip.open(path, "rt") as lines:
            first = next(line for line in lines if not line.startswith("#")).split()
        A = weft.load(path)
        assert A.ndim == len(first) - 1
        check(A._storage)


@pytest.mark.parametrize("thing", [io.BytesIO(b"garbage"), 3, None])
def test_what_has_no_name_has_no_kind(thing):
    for run in (weft.load, weft.open, lambda thing: weft.save(thing, weft.eye(2))):
        with pytest.raises(TypeError, match=r"is no path; read_mtx, read_tns, load_npz"):
            run(thing)
