"""Files that are opened and read in parts: what they hold, and what is wrong with them."""

import ast
import contextlib
import gzip
import io
import json
import os
import pickle
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, FileFormatError, MissingPackageError, ShapeError, StorageError, WeftError
from weft.interop import sparse_groups
from weft.io import blocked_files, containers
from weft.storage import check

rng = np.random.default_rng(5)
D = np.where(rng.random((37, 11)) < 0.3, rng.integers(1, 9, (37, 11)), 0).astype(float)
D[20:] = 0
D[30, 10] = -1
T = np.where(rng.random((5, 4, 3)) < 0.4, rng.random((5, 4, 3)), 0)
NEEDS = {"h5ad": "h5py", "h5": "h5py", "zarr": "zarr", "parquet": "pyarrow"}
FILES = ["a.npz", "a.mtx", "a.mtx.gz", "a.tns", "a.tns.bz2", "a.h5ad", "a.h5", "a.zarr", "a.parquet", "a.bsp.h5",
         "a.bsp.zarr", "a.bsp.npz"]  # fmt: skip
OF_ANNDATA = ["a.h5ad", "a.h5", "a.zarr"]
KEYS = [
    slice(3, 9), slice(None), slice(5, 5), slice(None, None, -1), slice(30, 3, -4), slice(90, 99), 3, -1, [3, 1, 30],
    np.arange(37) % 3 == 0, (slice(2, 5), slice(1, 4)), (..., 2), (slice(None), [1, 2]), (3, 4),
    (slice(0, 0), slice(2)), (slice(None), slice(3, 7)), (None, 3), ([0, 1], [2, 3]),
]  # fmt: skip


def needed(name):
    package = NEEDS.get(name.rpartition(".")[2])
    if package:
        pytest.importorskip(package, reason=f"{package}, of the extra files, is not installed")


def opened(path, **options):
    """Open a file in another process, as it were: without what this one may have kept."""
    shape = {"shape": D.shape} if ".tns" in str(path) else {}
    return pickle.loads(pickle.dumps(weft.open(path, **shape, **options)))


def require_parts(file, wanted, keys=KEYS):
    assert (file.shape, file.ndim) == (wanted.shape, wanted.ndim)
    whole = file.load()
    check(whole._storage)
    np.testing.assert_array_equal(whole.todense(), wanted)
    assert (file.dtype, file.format) == (whole.dtype, whole.format)
    for key in keys:
        part = file[key]
        np.testing.assert_array_equal(part.todense() if hasattr(part, "todense") else part, wanted[key])
    for entries in (1, 20, 10**6):
        sizes = file.cuts(entries)
        axis = file.axis or 0
        assert sum(sizes) == wanted.shape[axis]
        if file.axis is not None:
            counts = [np.count_nonzero(part) for part in np.split(wanted, np.cumsum(sizes)[:-1], axis=axis)]
            assert all(count <= entries or size == 1 for count, size in zip(counts, sizes, strict=True))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("format", ["csr", "csc", "ell"])
def test_parts(name, format, tmp_path, recwarn):
    needed(name)
    weft.save(tmp_path / name, weft.asarray(D, format=format))
    assert os.listdir(tmp_path) == [name]
    assert [str(w.message)[:56] for w in recwarn if "binsparse" in str(w.message)] == (
        ["binsparse has no format ell; the tensor is written in csr"[:56]]
        if ".bsp." in name and format == "ell"
        else []
    )
    file = opened(tmp_path / name)
    require_parts(file, D, KEYS if format == "csr" else KEYS[:8])
    assert file.nnz == np.count_nonzero(D)
    assert file.axis == (1 if file.format == "csc" else None if file.format == "ell" else 0)
    shape = D.shape if ".tns" in name else None
    np.testing.assert_array_equal(weft.load(tmp_path / name, format="dia", shape=shape).todense(), D)


@pytest.mark.parametrize("name", ["a.npz", "a.mtx", "a.tns", "a.h5", "a.zarr", "a.parquet", "a.bsp.h5"])
@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (1, 1), (4, 3)])
def test_empty_matrices(name, shape, tmp_path):
    needed(name)
    weft.save(tmp_path / name, weft.zeros(shape, format="csr"))
    file = weft.open(tmp_path / name, **({"shape": shape} if "tns" in name else {}))
    require_parts(pickle.loads(pickle.dumps(file)), np.zeros(shape), [slice(None), slice(1, 2), slice(0, 0)])


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "bool", "complex64", "complex128"])
def test_dtypes(dtype, tmp_path):
    wanted = D[:20].astype(dtype) * (1 - 2j if dtype.startswith("c") else 1)
    wanted = wanted.astype(dtype)
    for name in FILES:
        needed(name)
        if name == "a.parquet" and dtype.startswith("c"):
            with pytest.raises(weft.errors.FormatError, match=r"tables have no complex values: take A\.real"):
                weft.save(tmp_path / name, weft.asarray(wanted))
            assert name not in os.listdir(tmp_path)
        elif ".mtx" not in name:
            weft.save(tmp_path / name, weft.asarray(wanted, format="csr"))
            options = {"shape": wanted.shape, "dtype": dtype} if ".tns" in name else {}
            file = weft.open(tmp_path / name, **options)
            require_parts(file, wanted, [slice(2, 7)])
            assert file.dtype == dtype


@pytest.mark.parametrize(
    ("field", "symmetry"),
    [*((f, s) for f in ("real", "integer", "complex") for s in ("general", "symmetric", "skew-symmetric")),
     ("complex", "hermitian"), ("pattern", "general"), ("pattern", "symmetric")],
)  # fmt: skip
def test_blocks_of_matrix_market(symmetry, field, tmp_path, monkeypatch):
    """Entries in any order, and halves of symmetric matrices, have their rows anywhere in the file."""
    monkeypatch.setattr(blocked_files, "_BLOCK", 40)
    value = {"real": "{}.5", "integer": "{}", "complex": "{} 2", "pattern": ""}[field]
    places = [(i, j) for i, j in zip(*(np.nonzero(D[:, :] != 0)), strict=True) if symmetry == "general" or i > j]
    order = np.random.default_rng(0).permutation(len(places))
    lines = [f"{places[n][0] + 1} {places[n][1] + 1} {value.format(n)}".strip() for n in order]
    text = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% c\n37 37 {len(lines)}\n" + "\n".join(lines)
    (tmp_path / "a.mtx").write_text(text)
    wanted = weft.read_mtx(tmp_path / "a.mtx").todense()
    file = weft.open(tmp_path / "a.mtx")
    assert len(file._indexed().blocks) > 3
    require_parts(file, wanted, KEYS[:9])
    vector = "%%MatrixMarket vector coordinate real general\n5 2\n4 1.5\n2 1\n"
    (tmp_path / "v.mtx").write_text(vector)
    require_parts(weft.open(tmp_path / "v.mtx"), np.array([0, 1, 0, 1.5, 0]), [slice(1, 3), 3])


def test_only_blocks_with_the_rows_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(blocked_files, "_BLOCK", 64)
    weft.save(tmp_path / "a.tns.gz", weft.asarray(D, format="csr"))
    file = weft.open(tmp_path / "a.tns.gz", shape=D.shape)
    file.nnz  # noqa: B018 - it takes the pass
    read = []
    block = file._block
    monkeypatch.setattr(file, "_block", lambda places: read.append(len(places)) or block(places))
    np.testing.assert_array_equal(file[4:6].todense(), D[4:6])
    assert read[0] <= 4 < len(file._indexed().blocks)


@pytest.mark.compiles_alone
@pytest.mark.parametrize("name", ["a.npz", "a.h5", "a.zarr", "a.bsp.zarr"])
def test_only_the_rows_are_read(name, tmp_path, monkeypatch):
    needed(name)
    A = weft.random((3000, 200), nnz=60_000, rng=0, format="csr")
    if name == "a.npz":
        weft.save_npz(tmp_path / name, A, compressed=False)
    else:
        weft.save(tmp_path / name, A)
    sizes = []
    compressed = sparse_groups.from_compressed
    monkeypatch.setattr(
        sparse_groups,
        "from_compressed",
        lambda arrays, *rest: sizes.append(len(arrays.data)) or compressed(arrays, *rest),
    )
    file = weft.open(tmp_path / name)
    assert sizes == []
    np.testing.assert_array_equal(file[100:110].todense(), A[100:110].todense())
    assert sizes == [A[100:110].nnz]
    monkeypatch.setattr("weft.io.tensor_files._AT_ONCE", 5000)
    sizes.clear()
    np.testing.assert_array_equal(file[:, 3:9].todense(), A[:, 3:9].todense())
    assert len(sizes) >= 12
    assert max(sizes) <= 5000


def test_a_file_that_changes(tmp_path):
    weft.save_npz(tmp_path / "a.npz", weft.asarray(D, format="csr"))
    file = weft.open(tmp_path / "a.npz")
    weft.save_npz(tmp_path / "a.npz", weft.asarray(D[:, :5], format="csr"))
    with pytest.raises(FileFormatError, match=r"has changed since it was opened; call weft\.open again"):
        file[2:3]


# -- what is wrong with files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_cut_off(name, tmp_path):
    """No prefix of a file is taken for a smaller tensor; text that ends behind a line is, in files without a count."""
    needed(name)
    path = tmp_path / name
    weft.save(path, weft.asarray(D, format="csr"))
    if path.is_dir():
        for part in sorted(p for p in path.rglob("*") if p.is_file()):
            data = part.read_bytes()
            for change in (lambda: part.write_bytes(data[: len(data) // 2]), part.unlink):  # noqa: B023
                change()
                with pytest.raises((FileFormatError, FileNotFoundError)):
                    weft.open(path).load()
                part.write_bytes(data)
        return
    data = path.read_bytes()
    for size in sorted({0, 1, 8, *range(9, len(data), max(1, len(data) // 40)), len(data) - 1}):
        path.write_bytes(data[:size])
        try:
            found = opened(path).load()
        except FileFormatError:
            continue
        assert name == "a.tns" or size >= len(data) - 9, size  # the last bytes of HDF5 and gzip may say nothing
        if name != "a.tns":
            np.testing.assert_array_equal(found.todense(), D)


@pytest.mark.parametrize("name", ["a.npz", *OF_ANNDATA, "a.parquet", "a.bsp.h5", "a.bsp.npz"])
def test_bytes_that_are_changed(name, tmp_path):
    """Whatever byte of a file is another one, the result is right, or an error of weft, or has other values."""
    needed(name)
    path = tmp_path / name
    weft.save(path, weft.asarray(D, format="csr"))
    parts = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    for part in parts:
        data = part.read_bytes()
        for place in range(0, len(data), max(1, len(data) // (60 // len(parts) + 4))):
            part.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
            with contextlib.suppress(WeftError, FileNotFoundError):
                check(weft.open(path).load()._storage)
        part.write_bytes(data)
    check(weft.open(path).load()._storage)


def group_of(kind, path):
    """A group with a csr matrix of anndata, and a function that opens it with ``weft.open``."""
    needed(f"a.{kind}")
    weft.save(path / f"a.{kind}", weft.asarray(D, format="csr"))
    if kind == "zarr":
        import zarr

        return zarr.open_group(path / "a.zarr", mode="r+")
    import h5py

    return h5py.File(path / "a.h5", "r+")


def put(group, name, values):
    del group[name]
    if type(group).__module__.startswith("h5py"):
        group.create_dataset(name, data=np.asarray(values))
    else:
        group.create_array(name, data=np.asarray(values))


S = sp.csr_array(D)
LIES = {
    "indptr is to be an array of numbers": {"indptr": S.indptr.reshape(1, -1)},
    "indptr goes from 0": {"indptr": np.append(S.indptr[:-1], S.nnz + 3)},
    "indptr goes from 1": {"indptr": S.indptr + 1},
    "indptr goes from 0 to": {"indptr": np.append(S.indptr[:-1], S.nnz - 1)},
    "indptr has 30 entries": {"indptr": S.indptr[:30]},
    "indptr": {"indptr": np.where(np.arange(38) == 5, S.nnz, S.indptr)},
    "indptr (goes|does)": {"indptr": np.where(np.arange(38) == 5, -1, S.indptr)},
    "positions are integers": {"indptr": S.indptr.astype(float)},
    "indices holds coordinates outside": {"indices": np.where(np.arange(S.nnz) == S.indptr[4], 11, S.indices)},
    "indices holds": {"indices": np.where(np.arange(S.nnz) == S.indptr[4], -1, S.indices)},
    "there are": {"indices": S.indices[:-1]},
    "indices and": {"data": S.data[:-1]},
    f"{S.nnz + 2} data": {"data": np.append(S.data, [1.0, 2.0]), "indices": np.append(S.indices, [1, 2])},
    "axis": {"data": S.data.reshape(1, -1)},
    "no array 'data'": {"data": None},
}


@pytest.mark.parametrize("kind", ["h5", "zarr"])
@pytest.mark.parametrize("message", LIES)
def test_arrays_that_lie(kind, message, tmp_path):
    group = group_of(kind, tmp_path)
    for name, values in LIES[message].items():
        if values is None:
            del group[name]
        else:
            put(group, name, values)
    if kind == "h5":
        group.close()
    for read in (lambda path: weft.open(path).load(), weft.load, lambda path: weft.open(path)[2:9]):
        with pytest.raises(FileFormatError, match=message):
            read(tmp_path / f"a.{kind}")


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_what_a_group_says(kind, tmp_path):
    path = tmp_path / f"a.{kind}"

    def refused(message, **attributes):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        group = group_of(kind, tmp_path)
        for name, value in attributes.items():
            if value is None:
                del group.attrs[name.replace("_", "-")]
            else:
                group.attrs[name.replace("_", "-")] = value
        if kind == "h5":
            group.close()
        with pytest.raises(FileFormatError, match=message):
            weft.open(path)

    refused(r"is csr_matrix of version '0\.2\.0'; weft reads version '0\.1\.0'", encoding_version="0.2.0")
    refused("of version None", encoding_version=None)
    refused("holds no sparse matrix", encoding_type="coo_matrix")
    refused("has no shape", shape=None)
    refused("has no shape", shape=[3.5, 2.0])
    refused("has no shape", shape=[-3, 2])
    refused("not that of a matrix", shape=[37])
    refused("indptr has 38 entries", shape=[10**15, 11])


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_entries_that_are_unsorted_are_all_there(kind, tmp_path):
    group = group_of(kind, tmp_path)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(S.indptr, S.indptr[1:], strict=False)])
    put(group, "indices", S.indices[order])
    put(group, "data", S.data[order])
    if kind == "h5":
        group.close()
    require_parts(weft.open(tmp_path / f"a.{kind}"), D)


def test_a_chunk_that_is_missing(tmp_path):
    """Zarr reads it as zeros."""
    zarr = pytest.importorskip("zarr")
    A = weft.random((100, 1000), nnz=5000, rng=0, format="csr")
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    for name, array in (("data", A.data), ("indices", A.indices), ("indptr", A.indptr)):
        group.create_array(name, shape=array.shape, chunks=(512,), dtype=array.dtype)[:] = array
    group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [100, 1000]})
    assert weft.open(tmp_path / "a.zarr")[3:50].nnz == A[3:50].nnz
    (tmp_path / "a.zarr" / "data" / "c" / "4").unlink()
    with pytest.raises(FileFormatError, match="1 of the 10 chunks of data are not there"):
        weft.open(tmp_path / "a.zarr")


class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = np.array([Evil()] * 3, dtype=object)
    for name in ("data", "indices", "indptr", "format", "shape", "binsparse", "weft"):
        arrays = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "format": "csr", "shape": S.shape}
        np.savez("a.npz", **(arrays | {name: evil}))
        for read in (weft.load, lambda path: weft.open(path).load()):
            with pytest.raises(FileFormatError):
                read("a.npz")
    zarr = pytest.importorskip("zarr")
    for dtype in ("|O", "<f8"):
        with zarr.config.set({"default_zarr_format": 2}):
            weft.save("a.zarr", weft.asarray(D, format="csr"))
        about = json.loads(Path("a.zarr/data/.zarray").read_text())
        about |= {"dtype": dtype, "filters": [{"id": "pickle", "protocol": 5}], "compressor": None, "fill_value": 0}
        Path("a.zarr/data/.zarray").write_text(json.dumps(about))
        Path("a.zarr/data/0").write_bytes(pickle.dumps(evil))
        with pytest.raises(FileFormatError):
            weft.open("a.zarr").load()
    assert not os.path.exists("executed")
    pickle.loads(pickle.dumps(evil))
    assert os.path.exists("executed")  # so that the file would have run it


def test_codecs_that_weft_does_not_run():
    class Codec:
        codec_id = "pickle"

    class Array:
        dtype, shape = np.dtype(float), (3,)

        class metadata:  # noqa: N801
            filters = (Codec(),)

    with pytest.raises(FileFormatError, match="data is encoded by 'pickle', which weft does not run"):
        sparse_groups.numbers({"data": Array}, "data", "the file")


def test_directories_that_are_no_groups_of_zarr(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "a.zarr").mkdir()
    for read in (weft.open, weft.load):
        with pytest.raises(FileFormatError, match="No group found"):
            read(tmp_path / "a.zarr")
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "b.zarr")


def test_npz_with_arrays_of_other_sizes(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "format": "csr", "shape": S.shape}
    np.savez(path, **(arrays | {"indices": np.append(S.indices, 0)}))
    with pytest.raises(FileFormatError, match="there are"):
        weft.open(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array))
                if name == "data":
                    member.write(b"12345678")
    with pytest.raises(FileFormatError, match=r"data\.npy has \d+ bytes"):
        weft.open(path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [("1 1 2\n2 2 3\n", "has 2 entries; its header says 3"), ("1 1 2\n" * 4, "has 4 entries; its header says 3"),
     ("1 1 2\n9 1 3\n1 1 1\n", "Row index out of bounds"),
     ("1 1 2\n1 x 3\n1 1 1\n", "Line 5"), ("1 1 2\n1 1\n1 1 1\n", "Line")],
)  # fmt: skip
def test_matrix_market_files_that_lie(lines, message, tmp_path, monkeypatch):
    monkeypatch.setattr(blocked_files, "_BLOCK", 8)
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n% c\n4 3 3\n" + lines)
    file = weft.open(path)
    for read in (lambda: file[:1], lambda: file.nnz, file.load):
        with pytest.raises(FileFormatError, match="Line|of bounds|Truncated" if read == file.load else message):
            read()


def test_parquet_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    table = pa.table({"user": [4, 0, 4, 2], "item": [1, 0, 1, 2], "n": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(table, path, row_group_size=2)
    wanted = np.zeros((5, 3))
    wanted[[4, 0, 2], [1, 0, 2]] = [4, 2, 4]
    require_parts(weft.open(path), wanted, [slice(1, 3), 4, slice(None)])
    require_parts(weft.open(path, coords=["item", "user"], values="n"), wanted.T, [slice(1, 3)])
    require_parts(weft.open(path, shape=(6, 4)), np.pad(wanted, ((0, 1), (0, 1))), [slice(1, 3)])
    with pytest.raises(FileFormatError, match=r"column 'user' has coordinates from 0 to 4, outside axis 0"):
        weft.open(path, shape=(3, 3))[:2]
    for read in (lambda: weft.load(path, shape=(3, 3)), lambda: weft.open(path, values="m")):
        with pytest.raises(FileFormatError, match="is no table of a tensor"):
            read()
    for bad, message in [
        ({"i": [1, None], "v": [1.0, 2.0]}, "1 nulls"),
        ({"i": ["a", "b"], "v": [1.0, 2.0]}, "type string, no integers; labels become"),
        ({"i": [1, 2], "v": ["1", "2"]}, "type string, no numbers"),
        ({"i": [-1, 2], "v": [1, 2]}, "outside"),
    ]:
        pq.write_table(pa.table(bad), path)
        with pytest.raises(FileFormatError, match=message):
            weft.open(path).load()
    A = weft.asarray(np.where(T > 0, T, np.nan), format="csf").asformat("coo").with_fill(np.nan)
    weft.save(path, A)
    found = weft.open(path)
    assert np.isnan(found.fill_value)
    np.testing.assert_array_equal(found[1:3].todense(), A.todense()[1:3])
    np.testing.assert_array_equal(weft.load(path).todense(), A.todense())


def test_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    A = weft.asarray(T, format="csf")
    table = weft.to_table(A, coords=["x", "y", "z"], values="rain")
    assert table.column_names == ["x", "y", "z", "rain"]
    np.testing.assert_array_equal(weft.from_table(table, format="csf").todense(), T)
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=3))
    np.testing.assert_array_equal(weft.from_table(batches).todense(), T)
    with pytest.raises(StorageError, match=r"which column has the values\? give values=, one of 'z', 'rain'"):
        weft.from_table(table, coords=["x", "y"])
    with pytest.raises(StorageError, match="no columns of coordinates, one for each axis, beside that of values, 'v'"):
        weft.from_table(pa.table({"v": [1.0, 2.0]}))
    with pytest.raises(StorageError, match="no column 'w'"):
        weft.from_table(table, coords=["w", "y"], values="rain")
    with pytest.raises(ShapeError, match="2 axes; there are 3 columns"):
        weft.from_table(table, shape=(3, 4))
    with pytest.raises(StorageError, match="outside axis 0"):
        weft.from_table(table, shape=(2, 4, 3))
    with pytest.raises(DTypeError, match="table of pyarrow, not a SparseTensor"):
        weft.from_table(A)
    with pytest.raises(ShapeError, match="a column for each axis"):
        weft.to_table(A, coords=["x"])
    with pytest.raises(DTypeError, match=r"weft\.from_table\(x\)"):
        weft.asarray(table)


# -- binsparse -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "coo:1,0", "dcsr", "dcsc", "dense", "dense_f"])
@pytest.mark.parametrize("end", ["npz", "h5", "zarr"])
def test_binsparse_as_its_own_package_reads_and_writes_it(format, end, tmp_path, recwarn):
    binsparse = pytest.importorskip("binsparse")
    needed(f"a.{end}")
    A = weft.asarray(D, format=format)
    path, other = tmp_path / f"a.bsp.{end}", tmp_path / f"b.bsp.{end}"
    weft.save(path, A)
    for alias in (True, False):
        binsparse.save_binsparse(binsparse.load_binsparse(path, alias=alias), other, alias=alias)
        found = weft.load(other)
        assert found.layout == A.layout
        np.testing.assert_array_equal(found.todense(), D)
    assert not [w for w in recwarn if "binsparse" in str(w.message)]


@pytest.mark.parametrize("format", [*(f for f in weft.formats if f != "hash_vector"), "csf:1,0", "ss", "uq:1,0"])
def test_binsparse_of_every_format(format, tmp_path):
    """Formats that it has come back as they are; for others a warning names both."""
    A = weft.asarray(D + 1, format=format) - 1 if format == "csf:1,0" else weft.asarray(D).asformat(format)
    path = tmp_path / "a.bsp.npz"
    one_to_one = format in {
        "dense",
        "dense_f",
        "coo",
        "csr",
        "csc",
        "dcsr",
        "dcsc",
        "csf",
        "gcxs",
        "csf:1,0",
        "ss",
        "uq:1,0",
    }
    if one_to_one:
        weft.save(path, A)
    else:
        with pytest.warns(
            UserWarning, match=rf"no format {A.layout}.*; the tensor is written in csr, as A\.asf"
        ) as caught:
            weft.save(path, A)
        assert caught[0].filename == __file__
    found = weft.load(path)
    check(found._storage)
    assert not one_to_one or found.layout == A.layout
    assert found.fill_value == A.fill_value
    np.testing.assert_array_equal(found.todense(), A.todense())


@pytest.mark.parametrize("format", ["csf", "coo", "csf:2,0,1", "dss", "sds", "dense", "dus"])
@pytest.mark.parametrize("fill", [0, 1.5, np.inf])
def test_binsparse_of_tensors(format, fill, tmp_path, recwarn):
    A = weft.asarray(T).asformat(format)
    A = A if A.layout.is_dense else A.with_fill(fill)
    weft.save(tmp_path / "a.bsp.npz", A)
    found = weft.open(tmp_path / "a.bsp.npz")
    np.testing.assert_array_equal(found[1:4].todense(), A.todense()[1:4])
    assert found.format == A.format or format == "dus"
    assert found.fill_value == A.fill_value
    v = weft.asarray(T[0, 0], format="coo")
    weft.save(tmp_path / "v.bsp.npz", v)
    np.testing.assert_array_equal(weft.load(tmp_path / "v.bsp.npz").todense(), T[0, 0])


def binsparse_file(path, arrays, **header):
    types = {name: str(array.dtype) for name, array in arrays.items()}
    about = {"version": "0.1", "format": "CSR", "shape": [3, 3], "number_of_stored_values": 3, "data_types": types}
    types |= header.pop("types", {})
    about = {key: value for key, value in (about | header).items() if value is not None}
    np.savez(path, binsparse=np.array(json.dumps({"binsparse": about})), **arrays)


CSR = {"pointers_to_1": np.array([0, 1, 2, 3], np.uint64), "indices_1": np.array([0, 0, 1], np.uint64),
       "values": np.array([1.0, 2.0, 3.0])}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "sign"), [("symmetric_lower", 1), ("skew_symmetric_lower", -1), ("hermitian_lower", None)]
)
def test_binsparse_of_triangles(kind, sign, tmp_path):
    path = tmp_path / "a.npz"
    values = np.array([0 if sign == -1 else 1.0, 2.0, 3.0])
    arrays, types = CSR | {"values": values}, {}
    if sign is None:
        arrays, types = CSR | {"values": np.array([1.0, 0, 2, 5, 3, 0])}, {"values": "complex[float64]"}
    binsparse_file(path, arrays, structure=kind, types=types)
    half = np.array([[values[0], 0, 0], [2, 0, 0], [0, 3, 0]], complex if sign is None else float)
    half[1, 0] += 5j if sign is None else 0
    other = half.conj().T if sign is None else sign * half.T
    np.testing.assert_array_equal(weft.load(path).todense(), half + other - np.diag(np.diag(other)))
    binsparse_file(path, arrays, structure=kind.replace("lower", "upper"), types=types)
    with pytest.raises(FileFormatError, match="is not the triangle"):
        weft.load(path)


def test_binsparse_of_one_value(tmp_path):
    path = tmp_path / "a.npz"
    binsparse_file(path, CSR | {"values": np.array([7], np.int8)}, types={"values": "iso[int8]"})
    file = weft.open(path)
    assert file.load().todense().tolist() == [[7, 0, 0], [7, 0, 0], [0, 7, 0]]
    binsparse_file(path, CSR | {"values": np.array([1, 0, 1], np.uint8)}, types={"values": "bint8"})
    assert weft.load(path).todense().tolist() == [[True, False, False], [False] * 3, [False, True, False]]


@pytest.mark.parametrize(
    ("arrays", "header", "message"),
    [
        ({}, {"version": "0.2"}, r"of binsparse version '0\.2'; weft reads 0\.1"),
        ({}, {"version": None}, "has no version"),
        ({}, {"format": "XSR"}, "binsparse has no format 'XSR'"),
        ({}, {"shape": [3]}, "makes 1 coordinates for 2 levels|axes"),
        ({}, {"shape": ["3", 3]}, "shape"),
        ({}, {"shape": [2, 3]}, "has 4 entries"),
        ({}, {"number_of_stored_values": 4}, "has 3 elements instead of 4"),
        ({}, {"types": {"values": "float32"}}, "has dtype float64; the header says 'float32'"),
        ({}, {"types": {"values": "real"}}, "the header says 'real'"),
        ({}, {"types": {"values": 3}}, "has the data type 3"),
        ({}, {"structure": "triangle"}, "no structure 'triangle'"),
        ({}, {"format": "custom"}, "no level such as None"),
        ({}, {"format": "custom", "custom": {"level": {"level_desc": "sparse", "rank": 0, "level": {}}}}, "no level"),
        ({}, {"format": "custom", "custom": {"transpose": [0, 0], "level": {}}}, "no order of 2 axes"),
        ({"values": np.array([1.0, 2.0])}, {}, "2 elements instead of 3"),
        ({"indices_1": np.array([0, 0, 3])}, {}, "outside"),
        ({"indices_1": np.array([0, -1, 1])}, {}, "outside"),
        ({"pointers_to_1": np.array([0, 2, 1, 3])}, {}, "decreases|goes from"),
        ({"pointers_to_1": np.array([0, 1, 2, 4])}, {}, "goes from 0 to 4"),
        ({"indices_0": np.array([2, 1, 0])}, {"format": "COOR"}, "is no tensor of binsparse"),
        ({"indices_0": np.array([0, 0, 0]), "indices_1": np.array([1, 1, 2])}, {"format": "COOR"}, "is no tensor"),
    ],
)
def test_binsparse_files_that_lie(arrays, header, message, tmp_path):
    path = tmp_path / "a.npz"
    binsparse_file(path, CSR | arrays, **header)
    for read in (weft.load, lambda path: weft.open(path)[:], lambda path: weft.open(path).load()):
        with pytest.raises(FileFormatError, match=message):
            read(path)


# -- anndata ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_files_of_anndata(zarr_format, tmp_path):
    ad = pytest.importorskip("anndata")
    cells = ad.AnnData(sp.csr_matrix(D))
    cells.layers["counts"] = sp.csc_matrix(D * 2)
    cells.obsm["few"] = sp.csr_matrix(D[:, :2])
    cells.write_h5ad(tmp_path / "a.h5ad")
    with ad.settings.override(zarr_write_format=zarr_format):
        cells.write_zarr(tmp_path / "a.zarr")
    for name in ("a.h5ad", "a.zarr"):
        path = tmp_path / name
        require_parts(weft.open(path), D)
        require_parts(weft.open(path, "layers/counts"), D * 2)
        np.testing.assert_array_equal(weft.load(path, key="obsm/few").todense(), D[:, :2])
        with pytest.raises(
            FileFormatError, match="holds no sparse matrix; those in it are 'X', 'layers/counts', 'obsm/few'"
        ):
            weft.open(path, "/")
        with pytest.raises(FileFormatError, match="has no member 'layers/none'; at its root are"):
            weft.open(path, "layers/none")
    backed = ad.read_h5ad(tmp_path / "a.h5ad", backed="r")
    np.testing.assert_array_equal(weft.asarray(backed.X).todense(), D)
    np.testing.assert_array_equal(weft.asarray(backed.X[3:5]).todense(), D[3:5])
    for view in (cells[3:5], cells[[4, 3]]):
        np.testing.assert_array_equal(weft.asarray(view.X).todense(), view.X.toarray())
    np.testing.assert_array_equal(weft.asarray(backed.file._file["layers/counts"]).todense(), D * 2)
    backed.file.close()
    with pytest.raises(DTypeError, match=r"AnnData is a table of matrices; take one, as in weft\.asarray\(x\.X\)"):
        weft.asarray(cells)


@pytest.mark.filterwarnings("ignore")
def test_anndata_reads_what_weft_writes(tmp_path):
    ad = pytest.importorskip("anndata")
    path = tmp_path / "a.h5ad"
    weft.save(path, weft.asarray(D, format="csr"))
    weft.save(path, weft.asarray(D * 2, format="csc"), "layers/two")
    weft.save(path, weft.asarray(D * 3, format="ell"))  # in the place of X
    weft.save(path, weft.asarray(D @ D.T, format="csr"), "obsp/graph")
    cells = ad.read_h5ad(path)
    np.testing.assert_array_equal(cells.X.toarray(), D * 3)
    np.testing.assert_array_equal(cells.layers["two"].toarray(), D * 2)
    np.testing.assert_array_equal(cells.obsp["graph"].toarray(), D @ D.T)
    assert (cells.X.format, cells.layers["two"].format, list(cells.obs_names[:2])) == ("csr", "csc", ["0", "1"])
    for key in ("X", "layers/two", "obsm/x", "varm/x"):
        with pytest.raises(ShapeError, match="37 observations and 11 variables"):
            weft.save(path, weft.asarray(D[:, :10][:30], format="csr"), key)
    with pytest.raises(FileFormatError, match="group of other things, which weft does not replace"):
        weft.save(path, weft.asarray(D, format="csr"), "obs")
    assert ad.read_h5ad(path).shape == D.shape
    for kind in (2, 3):
        zarr = pytest.importorskip("zarr")
        with zarr.config.set({"default_zarr_format": kind}):
            weft.save(tmp_path / f"{kind}.zarr", weft.asarray(D, format="csc"))
        group = zarr.open_group(tmp_path / f"{kind}.zarr", mode="r")
        assert group.metadata.zarr_format == kind
        np.testing.assert_array_equal(ad.io.read_elem(group).toarray(), D)
        np.testing.assert_array_equal(weft.asarray(ad.io.sparse_dataset(group)).todense(), D)


@pytest.mark.filterwarnings("ignore")
def test_anndata_writes_tensors(tmp_path):
    ad = pytest.importorskip("anndata")
    import h5py
    import zarr

    import weft.interop.anndata

    A, B = weft.asarray(D, format="ell"), weft.asarray(D * 2, format="csc")
    for group in (h5py.File(tmp_path / "a.h5", "w"), zarr.open_group(tmp_path / "a.zarr", mode="w")):
        ad.io.write_elem(group, "a", A)
        ad.io.write_elem(group, "b", B)
        assert [ad.io.read_elem(group[name]).format for name in "ab"] == ["csr", "csc"]
        np.testing.assert_array_equal(ad.io.read_elem(group["b"]).toarray(), D * 2)
        with pytest.raises(FileFormatError, match="hold matrices with fill value 0"):
            ad.io.write_elem(group, "c", weft.asarray(T, format="csf"))
    cells = ad.AnnData(sp.csr_matrix(D))
    cells.uns["tensor"] = A
    cells.write_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(ad.read_h5ad(tmp_path / "a.h5ad").uns["tensor"].toarray(), D)
    try:
        whole = ad.AnnData(A)
    except ValueError:  # anndata before 0.13 takes SciPy's matrices alone
        return
    whole.layers["two"] = B
    whole.write_h5ad(tmp_path / "b.h5ad")
    whole[2:9].write_zarr(tmp_path / "b.zarr")
    np.testing.assert_array_equal(ad.read_h5ad(tmp_path / "b.h5ad").layers["two"].toarray(), D * 2)
    np.testing.assert_array_equal(weft.load(tmp_path / "b.zarr", key="X").todense(), D[2:9])


# -- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.h5", "a.zarr", "a.parquet", "a.bsp.npz", "a.bsp.h5"])
def test_a_file_is_kept_if_another_cannot_take_its_place(name, tmp_path, monkeypatch):
    needed(name)
    A = weft.asarray(D, format="csr")
    weft.save(tmp_path / name, A)

    def fails(*arguments, **named):
        raise OSError("no space left")

    place = {"a.parquet": "pyarrow.parquet.write_table", "a.bsp.npz": "numpy.savez"}.get(name)
    monkeypatch.setattr(
        place or ("weft.interop.sparse_groups.write" if ".bsp" not in name else "weft.io.binsparse.write"), fails
    )
    with pytest.raises(OSError, match="no space left"):
        weft.save(tmp_path / name, A * 2)
    assert os.listdir(tmp_path) == [name]
    np.testing.assert_array_equal(weft.load(tmp_path / name).todense(), D)


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_members_beside_others(kind, tmp_path):
    needed(f"a.{kind}")
    path, A = tmp_path / f"a.{kind}", weft.asarray(D, format="csr")
    weft.save(path, A, key="m/one")
    weft.save(path, A * 2, key="m/two")
    weft.save(path, A * 3, key="m/one")
    np.testing.assert_array_equal(weft.load(path, key="m/one").todense(), D * 3)
    np.testing.assert_array_equal(weft.load(path, key="m/two").todense(), D * 2)
    with pytest.raises(FileFormatError, match=f"a.{kind}' holds 'm'; give key= to write a member beside"):
        weft.save(path, A)
    with pytest.raises(FileFormatError, match="group of other things, which weft does not replace"):
        weft.save(path, A, key="m")
    np.testing.assert_array_equal(weft.load(path, key="m/two").todense(), D * 2)


@pytest.mark.parametrize("name", OF_ANNDATA)
def test_what_matrices_of_anndata_cannot_be(name, tmp_path):
    needed(name)
    for A in (weft.asarray(T, format="csf"), weft.asarray(D, format="csr").with_fill(2)):
        with pytest.raises(
            FileFormatError, match=r"fill value 0, not a tensor .*; save it in a file ending in \.npz or \.bsp"
        ):
            weft.save(tmp_path / name, A)
    assert not os.listdir(tmp_path)


def test_arguments_of_other_kinds_of_files(tmp_path):
    A = weft.asarray(D, format="csr")
    weft.save(tmp_path / "a.npz", A)
    for options, message in [
        ({"key": "X"}, r"key is for \.h5ad, \.h5, \.hdf5 and \.zarr files, not for"),
        ({"shape": (3, 3)}, r"shape is for \.tns and \.parquet files, not for"),
        ({"dtype": int, "start": 0}, r"dtype, start are for \.tns files"),
        ({"coords": ["i"], "values": "v"}, r"coords, values are for \.parquet files"),
    ]:
        with pytest.raises(TypeError, match=message):
            weft.open(tmp_path / "a.npz", **options)
    with pytest.raises(FileFormatError, match=r"names end in \.mtx, .* or \.pq"):
        weft.open(tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match="h5ad files are compressed as they are"):
        weft.save(tmp_path / "a.h5ad.gz", A)
    with pytest.raises(TypeError, match="key is for"):
        weft.save(tmp_path / "a.npz", A, key="X")
    for name in ("none.npz", "none.mtx", "none.tns", "none.h5ad", "none.zarr", "none.parquet"):
        needed(name)
        with pytest.raises(FileNotFoundError):
            weft.open(tmp_path / name)


@pytest.mark.parametrize(("name", "package"), [("a.h5ad", "h5py"), ("a.zarr", "zarr"), ("a.parquet", "pyarrow")])
def test_packages_that_are_missing(name, package, tmp_path, monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(b"")
    for do in (weft.open, weft.load, lambda path: weft.save(path.with_name(f"b.{name[2:]}"), weft.eye(3))):
        with pytest.raises(MissingPackageError, match=rf"with {package}: pip install 'weft\[files\]'"):
            do(tmp_path / name)


def test_large_arrays_are_compared_with_memory_first(tmp_path):
    """A compressed array of zeros is a small file."""
    path = tmp_path / "a.npz"
    count = 10**13
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("indptr", "indices", "data"):
            with archive.open(f"{name}.npy", "w") as member:
                text = header if name != "indptr" else header.replace(f"({count},)", "(2,)")
                text = text if name == "data" else text.replace("f8", "i8")
                np.lib.format.write_array_header_1_0(member, ast.literal_eval(text))
                if name == "indptr":
                    member.write(np.array([0, count]).tobytes())
        for name, array in (("format", "csr"), ("shape", (1, 5))):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array))
    with pytest.raises((FileFormatError, weft.errors.ResultTooLargeError)):
        weft.open(path).load()


def test_parts_of_open_groups_stay_small(tmp_path):
    """Containers are closed behind each part."""
    assert containers  # imported for its name in messages
    weft.save_npz(tmp_path / "a.npz", weft.asarray(D, format="csr"), compressed=False)
    file = weft.open(tmp_path / "a.npz")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        file[2:4]
    assert not before or len(os.listdir("/proc/self/fd")) <= before
    shutil.copy(tmp_path / "a.npz", tmp_path / "b.npz")
    with gzip.open(tmp_path / "c.npz.gz", "wb") as stream:
        stream.write(b"")
    with pytest.raises(FileFormatError, match="compressed as they are"):
        weft.open(tmp_path / "c.npz.gz")


def test_matrix_market_that_ends_within_a_line(tmp_path):
    """SciPy's reader ends the process in a file that ends within an exponent."""
    head = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 "
    for end in (b"7.8E-", b"7.8E", b"7.8E-1"):
        (tmp_path / "a.mtx").write_bytes(head + end)
        (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(head + end))
        for source in (tmp_path / "a.mtx", tmp_path / "a.mtx.gz", io.BytesIO(head + end)):
            if end == b"7.8E-1":
                assert weft.read_mtx(source).todense().tolist() == [[0, 0.78], [0, 0]]
            else:
                with pytest.raises(FileFormatError):
                    weft.read_mtx(source)
    (tmp_path / "a.mtx").write_bytes(head + b"7.8E-")
    with pytest.raises(FileFormatError):
        weft.open(tmp_path / "a.mtx")[...]


def test_matrix_market_with_bytes_that_are_zero(tmp_path):
    """They end the process in SciPy's reader."""
    head, path = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n", tmp_path / "a.mtx"
    for text in (head + b"1 2 7\0\n", head + b"1 2 7\0", head[:-2] + b"\0" + head[-2:] + b"1 2 7\n"):
        path.write_bytes(text)
        for load in (weft.read_mtx, weft.load, lambda source: weft.open(source)[...]):
            with pytest.raises(FileFormatError):
                load(path)
        with pytest.raises(FileFormatError):
            weft.read_mtx(io.BytesIO(text))


@pytest.mark.parametrize(
    ("field", "entry"),
    [("real", "1d5"), ("real", "0x10"), ("real", "1_0"), ("complex", "1 2j"), ("integer", "1.5"), ("integer", "1e3"),
     ("pattern", "0.5")],
)  # fmt: skip
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_matrix_market_with_something_behind_a_number(layout, field, entry, tmp_path):
    """SciPy's reader takes the number before it, such as 1 for the 1d5 of Fortran."""
    lines = ["2 2 1", f"1 1 {entry}"] if layout == "coordinate" else ["1 1", entry]
    text = "\n".join([f"%%MatrixMarket matrix {layout} {field} general", *lines, ""])
    (tmp_path / "a.mtx").write_text(text)
    for load in (weft.load, lambda path: weft.open(path)[...], lambda _: weft.read_mtx(io.BytesIO(text.encode()))):
        with pytest.raises(FileFormatError):
            load(tmp_path / "a.mtx")


@pytest.mark.parametrize(
    "banner", ["%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL", "%matrixmarket matrix coordinate real general"]
)
def test_matrix_market_in_letters_of_any_case(banner, tmp_path):
    (tmp_path / "a.mtx").write_text(f"{banner}\n2 2 3\n1 1 -Inf\n1 2 2.5E-1\n2 1 NaN\n")
    for found in (weft.load(tmp_path / "a.mtx"), weft.open(tmp_path / "a.mtx")[...]):
        np.testing.assert_array_equal(found.todense(), [[-np.inf, 0.25], [np.nan, 0]])


def test_places_of_members_that_a_damaged_npz_makes_up(tmp_path):
    weft.save_npz(tmp_path / "a.npz", weft.eye(9, format="csr"))
    text = (tmp_path / "a.npz").read_bytes()
    begin = text.rindex(b"PK\5\6")
    for place in (begin + 12, begin + 16, text.index(b"PK\1\2") + 42):  # size and place of the directory, of a member
        damaged = bytearray(text)
        damaged[place + 1 : place + 4] = b"\xff\xff\xff"
        (tmp_path / "b.npz").write_bytes(damaged)
        with pytest.raises(FileFormatError):
            weft.open(tmp_path / "b.npz")[...]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("indices", lambda a, kind=kind: a.astype(kind)) for kind in ("f8", "c16", "?", "U3", "m8[s]")),
        ("indices", lambda a: a + 0.5), ("indptr", lambda a: a + 0.5),
        ("indptr", lambda a: np.append(a[:-1], a[-1] - 1)), ("shape", lambda a: np.array([37, -11])),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("beside", [{}, {"fill_value": np.array(0.0)}], ids=["scipy", "sparse"])
def test_positions_in_npz_that_are_not_integers_or_leave_entries_out(kind, name, wrong, beside, tmp_path):
    """Nothing is cast, and nothing is lost, whether a file is loaded or opened."""
    matrix = sp.csr_array(D).asformat(kind)
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(D.shape)}
    np.savez(tmp_path / "a.npz", format=np.array(kind), **(arrays | beside | {name: wrong(arrays[name])}))
    for read in (weft.load, weft.open):
        with pytest.raises(FileFormatError, match=name):
            read(tmp_path / "a.npz")


@pytest.mark.parametrize("wrong", [2**63 + 2, 2**40])
def test_coordinates_that_are_too_large(tmp_path, wrong):
    arrays = {"data": np.ones(2), "indices": np.array([0, wrong], np.uint64), "indptr": np.array([0, 1, 2])}
    np.savez(tmp_path / "w.npz", format=np.array(b"csr"), shape=np.array([2, 3]), **arrays)
    with pytest.raises(FileFormatError, match="indices") as caught:
        weft.open(tmp_path / "w.npz")[...]
    assert "Namespace" not in str(caught.value)


@pytest.mark.parametrize(
    "indptr", [np.array([0, 2**33, 2**33, 4]), np.array([0, 2**32 + 2, 2, 4], np.uint64)], ids=["int64", "uint64"]
)
def test_positions_that_narrower_integers_would_wrap(tmp_path, indptr):
    arrays = {"data": np.ones(4), "indices": np.array([0, 2, 1, 2], np.int32), "indptr": indptr}
    np.savez(tmp_path / "w.npz", format=np.array(b"csr"), shape=np.array([3, 3]), **arrays)
    with pytest.raises(FileFormatError, match="indptr does not start at 0 or decreases"):
        weft.open(tmp_path / "w.npz")[...]
