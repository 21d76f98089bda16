"""Loading, saving and opening of tensors in the kind of file that the name says."""

from __future__ import annotations

import builtins
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import FileFormatError, ShapeError
from ..formats import FormatLike
from ..interop import sparse_groups
from ..interop.sparse_groups import CompressedArrays, numbers
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor import SparseTensor, asarray
from ..tensor.construction import as_shape, called
from ..tracebacks import ends_at_caller
from . import binsparse, h5ad, parquet_files
from .blocked_files import MatrixMarketFile, TnsFile
from .containers import NpzGroup, hdf5, opened_group, replaced, zarr_package
from .frostt import read_tns, write_tns
from .matrix_market import is_array, read_mtx, write_mtx
from .npz import load_npz, save_npz
from .parquet_files import ParquetFile
from .streams import without_compression
from .tensor_files import CompressedFile, TensorFile, WholeFile, broken_files_raise

_KINDS = {
    "mtx": "mtx", "tns": "tns", "npz": "npz", "h5ad": "hdf5", "h5": "hdf5", "hdf5": "hdf5", "zarr": "zarr",
    "parquet": "parquet", "pq": "parquet",
}  # fmt: skip
_PACKED = ("mtx", "tns")  # text is what is packed by gzip and bzip2; the other kinds are compressed as they are


def _kind(path: str | os.PathLike[str]) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"the ending of a file's name says its kind, and a {type(path).__name__} is no path; read_mtx, read_tns, "
            "load_npz, write_mtx, write_tns and save_npz take streams"
        )
    name, compression = without_compression(os.fspath(path).rstrip("/"))
    ending = name.lower().rpartition(".")[2]
    kind = _KINDS.get(ending)
    if kind is None and os.path.isdir(name) and any(os.path.exists(f"{name}/{f}") for f in ("zarr.json", ".zgroup")):
        kind = "zarr"
    if kind is None:
        *most, last = (f".{ending}" for ending in _KINDS)
        raise FileFormatError(
            f"the kind of the file {os.fspath(path)!r} is not known; names end in {', '.join(most)} or {last}"
        )
    if compression and kind not in _PACKED:
        raise FileFormatError(f"{ending} files are compressed as they are: {name!r}, not {os.fspath(path)!r}")
    return kind


def _refuse(path: Any, kinds: str, **options: Any) -> None:
    """Raise ``TypeError`` for options that another kind of file has."""
    named = [name for name, option in options.items() if option is not None]
    if named:
        raise TypeError(
            f"{', '.join(named)} {'is' if len(named) == 1 else 'are'} for {kinds}, not for {os.fspath(path)!r}"
        )


@ends_at_caller
def open(
    path: str | os.PathLike[str],
    key: str | None = None,
    *,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    start: int | None = None,
    coords: Sequence[str] | None = None,
    values: str | None = None,
) -> TensorFile:
    """Open a tensor in a file, of which parts are read when they are asked for.

    Nothing in a file is ever executed. Every part that is read is checked.

    Parameters
    ----------
    path : path
        The file: ``.npz``; ``.mtx`` and ``.tns``, also ``.gz`` or ``.bz2``; ``.h5ad``, ``.h5``, ``.hdf5`` and ``.zarr``
        with a matrix as anndata writes it, or a tensor of binsparse; ``.parquet``.
    key : str, optional
        The path of the group in a ``.h5ad``, ``.h5``, ``.hdf5`` or ``.zarr`` file, such as ``"layers/counts"``. By
        default ``"X"`` of what anndata has written, and the root of others.
    shape : sequence of int, optional
        The shape of the tensor in a ``.tns`` or ``.parquet`` file. By default what the file says, or the smallest that
        holds the coordinates.
    dtype, start
        Arguments of :func:`read_tns`, for ``.tns`` files.
    coords, values
        Arguments of :func:`from_table`, for ``.parquet`` files.

    Returns
    -------
    TensorFile
        An object with the attributes ``shape``, ``dtype`` and ``nnz``. Indexing reads a part, ``file[r0:r1]`` some
        rows. ``file.load()`` reads all, and ``file.cuts(entries)`` has the sizes of blocks of rows with about as many
        entries.

    Raises
    ------
    FileFormatError
        For names with another ending, and for files that are not of the kind that their names say.
    MissingPackageError
        When the package for the kind of file is not installed; the message names it.
    TypeError
        For arguments that are for other kinds of files.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.random((1000, 50), density=0.1, rng=0, format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save(f"{folder}/a.mtx", A)
    ...     file = weft.open(f"{folder}/a.mtx")
    ...     file[100:103]
    <SparseTensor: shape=(3, 50), dtype=float64, format=coo, nnz=10, fill_value=0>
    """
    kind, name = _kind(path), os.fspath(path)
    if kind not in ("hdf5", "zarr"):
        _refuse(path, ".h5ad, .h5, .hdf5 and .zarr files", key=key)
    if kind != "tns":
        _refuse(path, ".tns files", dtype=dtype, start=start)
    if kind != "parquet":
        _refuse(path, ".parquet files", coords=coords, values=values)
    if kind not in ("tns", "parquet"):
        _refuse(path, ".tns and .parquet files", shape=shape)
    match kind:
        case "tns":
            return TnsFile(name, shape, dtype, 1 if start is None else start)
        case "mtx":
            return WholeFile(name, partial(read_mtx, name)) if is_array(name) else MatrixMarketFile(name)
        case "parquet":
            return ParquetFile(name, coords, values, shape)
    with broken_files_raise(name):
        key = _key(name, kind, key)
        with opened_group(name, kind, key) as group:
            by_rows = _compressed(group, _place(name, key)) is not None
    if by_rows:
        return CompressedFile(name, partial(_arrays, name, kind, key))
    return WholeFile(name, partial(_read_group, name, kind, key))


def _place(path: str, key: str | None) -> str:
    return repr(path) if key is None else f"{key!r} in {path!r}"


def _key(path: str, kind: str, key: str | None) -> str | None:
    """Return the group that is meant: that of X if the file is one of anndata."""
    if key is not None or kind == "npz":
        return key
    with opened_group(path, kind) as root:
        return "X" if sparse_groups.attribute(root, "encoding-type") == "anndata" else None


def _compressed(group: Any, place: str) -> CompressedArrays | None:
    """Return the arrays of a matrix of which rows or columns can be read; None for other tensors."""
    if isinstance(group, NpzGroup):
        return _of_scipy(group, place)
    if hasattr(group, "attrs") and binsparse.HEADER in group.attrs:
        return binsparse.compressed_arrays(group, place)
    return sparse_groups.arrays_of(group, place)


def _of_scipy(group: NpzGroup, place: str) -> CompressedArrays | None:
    if binsparse.HEADER in group:
        return binsparse.compressed_arrays(group, place)
    if "format" not in group or "indptr" not in group or "fill_value" in group or "weft" in group:
        return None
    kind = group.small("format")[()]
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    try:
        shape = as_shape(group.small("shape").tolist())
    except ShapeError as error:
        raise FileFormatError(f"{place} has no shape: {error}") from None
    if kind not in ("csr", "csc") or len(shape) != 2:
        return None
    parts = (numbers(group, name, place) for name in ("indptr", "indices", "data"))
    return CompressedArrays(place, shape, (0, 1) if kind == "csr" else (1, 0), *parts).checked()


@contextmanager
def _arrays(path: str, kind: str, key: str | None) -> Iterator[CompressedArrays]:
    """Open the arrays of a matrix of which rows or columns can be read."""
    with opened_group(path, kind, key) as group:
        arrays = _compressed(group, _place(path, key))
        if arrays is None:
            raise FileFormatError(f"{_place(path, key)} has changed since it was opened; call weft.open again")
        yield arrays


def _read_group(path: str, kind: str, key: str | None) -> SparseTensor:
    """Read the tensor in a group."""
    with broken_files_raise(path), opened_group(path, kind, key) as group:
        if isinstance(group, NpzGroup) and binsparse.HEADER not in group:
            return load_npz(path)
        if isinstance(group, NpzGroup) or binsparse.HEADER in group.attrs:
            return binsparse.read(group, _place(path, key))
        return called(sparse_groups.arrays_of(group, _place(path, key)).complete().read())


@ends_at_caller
def load(
    path: str | os.PathLike[str],
    *,
    format: FormatLike | None = None,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    start: int | None = None,
    progress: bool | None = None,
    key: str | None = None,
) -> SparseTensor:
    """Load a tensor from a file of any kind that :func:`open` takes.

    Parameters
    ----------
    path : path
        The file.
    format : str or Format, optional
        The format of the result. By default the format in the file.
    shape, dtype, start, progress
        Arguments of :func:`read_tns`, for ``.tns`` files; ``shape`` also for ``.parquet`` files. The other kinds of
        files have the shape and the dtype of a tensor.
    key : str, optional
        The path of the group in a ``.h5ad``, ``.h5``, ``.hdf5`` or ``.zarr`` file, as :func:`open` takes it.

    Returns
    -------
    SparseTensor
        The tensor in the file.

    Raises
    ------
    FileFormatError
        For names with another ending, and for files that are not of the kind that their names say.
    MissingPackageError
        When the package for the kind of file is not installed; the message names it.
    TypeError
        For arguments that are for other kinds of files.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save(f"{folder}/a.npz", A)
    ...     B = weft.load(f"{folder}/a.npz")
    >>> B
    <SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=2, fill_value=0>
    """
    kind = _kind(path)
    if kind != "tns":
        _refuse(path, ".tns files", dtype=dtype, start=start, progress=progress)
        if kind == "npz" and not _holds_binsparse(path):
            _refuse_key(path, key, shape)
            found = load_npz(path)
            return found if format is None else found.asformat(format)
        if kind == "mtx":
            _refuse_key(path, key, shape)
            return read_mtx(path, format=format)
        return open(path, key, shape=shape).load(format)
    _refuse(path, ".h5ad, .h5, .hdf5 and .zarr files", key=key)
    format, start = "coo" if format is None else format, 1 if start is None else start
    return read_tns(path, format=format, shape=shape, dtype=dtype, start=start, progress=progress)


def _refuse_key(path: Any, key: str | None, shape: Any) -> None:
    _refuse(path, ".h5ad, .h5, .hdf5 and .zarr files", key=key)
    _refuse(path, ".tns and .parquet files", shape=shape)


def _holds_binsparse(path: str | os.PathLike[str]) -> bool:
    try:
        with opened_group(os.fspath(path), "npz") as group:
            return binsparse.HEADER in group
    except zipfile.BadZipFile:
        return False


@ends_at_caller
def save(path: str | os.PathLike[str], A: SparseTensor, key: str | None = None) -> None:
    """Save a tensor to a file of the kind that the name says.

    Parameters
    ----------
    path : path
        The file. ``.npz`` holds any tensor as it is. ``.mtx`` and ``.tns`` (also ``.gz`` or ``.bz2``) and ``.parquet``
        hold entries. ``.h5ad``, ``.h5``, ``.hdf5`` and ``.zarr`` hold matrices as anndata writes them, csc by columns
        and others by rows. ``.bsp.h5``, ``.bsp.zarr`` and ``.bsp.npz`` hold tensors of binsparse; a tensor in a format
        that binsparse does not have is converted, with a warning.
    A : SparseTensor
        The tensor to save.
    key : str, optional
        The path of the group in a ``.h5ad``, ``.h5``, ``.hdf5`` or ``.zarr`` file, which is then kept but for that
        group. ``.h5ad`` files are those of anndata, and the key is ``"X"`` by default.

    Raises
    ------
    FileFormatError
        For names with another ending, and for tensors that such a file cannot hold.
    MissingPackageError
        When the package for the kind of file is not installed; the message names it.

    Warns
    -----
    UserWarning
        When the tensor is written in another format.

    Examples
    --------
    >>> import weft
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save(f"{folder}/a.mtx", A)
    ...     print(Path(folder, "a.mtx").read_text().splitlines()[0])
    %%MatrixMarket matrix coordinate real general
    """
    kind, name = _kind(path), os.fspath(path).rstrip("/")
    if kind not in ("hdf5", "zarr"):
        _refuse(path, ".h5ad, .h5, .hdf5 and .zarr files", key=key)
    match kind:
        case "mtx":
            write_mtx(path, A)
        case "tns":
            write_tns(path, A)
        case "parquet":
            parquet_files.save(name, A)
        case "npz" if not name.lower().endswith(".bsp.npz"):
            save_npz(path, A)
        case _:
            _save_group(name, kind, storage_of(asarray(A)), key)


def save_parts(path: str | os.PathLike[str], parts: sparse_groups.Parts, key: str | None = None) -> None:
    """Save a matrix to a file that is written part by part, while the parts are made."""
    kind, name = _kind(path), os.fspath(path).rstrip("/")
    if kind not in ("hdf5", "zarr") or name.lower().rpartition(".")[0].endswith(".bsp"):
        raise FileFormatError(f"{name!r} is not written by parts; those ending in .h5ad, .h5, .hdf5 and .zarr are")
    _save_group(name, kind, parts, key)


def _save_group(path: str, kind: str, storage: Storage | sparse_groups.Parts, key: str | None) -> None:
    """Write a tensor into a group of a file: all of a new file, or one member of the file that is there."""
    bare = path.lower()
    write: Any = binsparse.write if bare.rpartition(".")[0].endswith(".bsp") else sparse_groups.write
    if bare.endswith(".h5ad"):
        h5ad.save(path, storage, key or "X")
    elif kind == "npz":
        arrays: dict[str, Any] = {}
        write(arrays, storage)
        with replaced(path) as new, builtins.open(new, "wb") as stream:
            np.savez(stream, **arrays)
    elif kind == "hdf5" and key is None:
        _require_alone(path, kind)
        with replaced(path) as new, hdf5().File(new, "w") as file:
            write(file, storage)
    elif kind == "hdf5":
        with hdf5().File(path, "a") as file:
            h5ad.put(file, key or "", partial(write, storage=storage))
    elif key is None:
        _require_alone(path, kind)
        with replaced(path) as new:
            write(zarr_package().open_group(new, mode="w"), storage)
    else:
        group = zarr_package().open_group(path, mode="a")
        if key in group:
            sparse_groups.require_matrix(group[key], _place(path, key))
        write(group.create_group(key, overwrite=True), storage)


def _require_alone(path: str, kind: str) -> None:
    """Raise unless a file may be replaced: it holds one tensor, and nothing else."""
    if not os.path.exists(path):
        return
    with broken_files_raise(path), opened_group(path, kind) as group:
        if sparse_groups.encoding_of(group) is None and binsparse.HEADER not in group.attrs and [*group.keys()]:
            raise FileFormatError(
                f"{path!r} holds {', '.join(map(repr, group.keys()))}; give key= to write a member beside them, or "
                "remove it first"
            )
