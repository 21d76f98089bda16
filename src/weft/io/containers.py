"""Groups of arrays in HDF5, Zarr and npz files, opened for reading parts, and replaced as a whole."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from ..doors import optional
from ..errors import FileFormatError
from .streams import opened as opened_file


def _package(kind: str, package: str) -> AbstractContextManager[None]:
    return optional(f"{kind} files are read and written with {package}", "files")


def hdf5() -> ModuleType:
    """Return the package h5py; raise ``MissingPackageError`` if it is not installed."""
    with _package("HDF5", "h5py"):
        import h5py
    return h5py  # type: ignore[no-any-return]


def zarr_package() -> ModuleType:
    """Return the package zarr; raise ``MissingPackageError`` if it is not installed."""
    with _package("Zarr", "zarr"):
        import zarr
    return zarr  # type: ignore[no-any-return]


def parquet() -> ModuleType:
    """Return the module pyarrow.parquet; raise ``MissingPackageError`` if it is not installed."""
    with _package("parquet", "pyarrow"):
        import pyarrow.parquet
    return pyarrow.parquet  # type: ignore[no-any-return]


@contextmanager
def opened_group(path: str, kind: str, key: str | None = None) -> Iterator[Any]:
    """Open a group of arrays for reading."""
    if kind == "npz":
        with opened_file(path) as stream:
            yield NpzGroup(stream)
        return
    if kind == "zarr":
        yield _member(zarr_package().open_group(path, mode="r"), path, key)
        return
    with opened_file(path):  # h5py's messages do not say that there is no such file, or that it is a directory
        pass
    with hdf5().File(path, "r") as file:
        yield _member(file, path, key)


def _member(root: Any, path: str, key: str | None) -> Any:
    if key is None or not key.strip("/"):
        return root
    try:
        return root[key]
    except KeyError:
        pass
    names = [*root.keys()]
    raise FileFormatError(f"{path!r} has no member {key!r}; at its root are {', '.join(map(repr, names)) or 'none'}")


class NpzGroup:
    """The arrays of an npz file by name, of which parts are read."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream
        self._zip = zipfile.ZipFile(stream)
        self._names = {name.removesuffix(".npy"): name for name in self._zip.namelist()}
        self.attrs: dict[str, Any] = {}

    def keys(self) -> list[str]:
        """Return the names of the arrays."""
        return [*self._names]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Any:
        return _Member(self._stream, self._zip, self._zip.getinfo(self._names[name]))

    def small(self, name: str) -> Any:
        """Return a whole array that is not numbers, such as the name of a format."""
        with self._zip.open(self._names[name]) as member:
            return np.lib.format.read_array(member, allow_pickle=False)


class _Member:
    """An array of an npz file, of which slices are read; those of compressed ones by decompressing what is before."""

    def __init__(self, stream: BufferedReader, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._stream, self._zip, self._info = stream, archive, info
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, _, self.dtype = header(member)
            self._begin = member.tell()
        if info.file_size - self._begin != prod(self.shape) * self.dtype.itemsize and not self.dtype.hasobject:
            size = f"has {info.file_size - self._begin} bytes"
            raise FileFormatError(f"{info.filename} {size}; shape {self.shape} of {self.dtype} needs others")

    def __getitem__(self, part: slice) -> np.ndarray[Any, Any]:
        if self.dtype.hasobject:
            raise FileFormatError(f"{self._info.filename} holds Python objects, which weft does not unpickle")
        start, stop, _ = part.indices(self.shape[0])
        count, place = max(stop - start, 0), self._begin + start * self.dtype.itemsize
        data = bytearray(count * self.dtype.itemsize)  # which can be written to, unlike bytes
        if self._info.compress_type == zipfile.ZIP_STORED:
            self._stream.seek(self._info.header_offset + 26)  # where the local header has the lengths of its two texts
            lengths = np.frombuffer(self._stream.read(4), "<u2")
            self._stream.seek(self._info.header_offset + 30 + int(lengths.sum()) + place)
            size = self._stream.readinto(data)
        else:
            with self._zip.open(self._info) as member:
                member.seek(place)
                data = bytearray(member.read(len(data)))
                size = len(data)
        if size != count * self.dtype.itemsize:
            raise FileFormatError(f"{self._info.filename} ends too early")
        return np.frombuffer(data, self.dtype)


@contextmanager
def replaced(path: str) -> Iterator[str]:
    """Yield the name of a new file or directory that takes the place of another once it is written whole."""
    new = f"{path}.{os.getpid()}.new"
    try:
        yield new
        if os.path.isdir(path):
            old = f"{path}.{os.getpid()}.old"
            os.rename(path, old)
            os.rename(new, path)
            shutil.rmtree(old)
        else:
            os.replace(new, path)
    finally:
        if os.path.isdir(new):
            shutil.rmtree(new)
        elif os.path.exists(new):
            os.remove(new)
