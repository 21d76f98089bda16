"""Matrices in groups of HDF5 and Zarr, in the encodings ``csr_matrix`` and ``csc_matrix`` that anndata writes.

A group has arrays ``indptr``, ``indices`` and ``data``, and attributes for the encoding, its version and the shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..dtypes import index_dtype, value_dtype
from ..errors import DTypeError, FileFormatError, IndexOverflowError, ShapeError, StorageError
from ..formats import Format, TensorType
from ..operations.foreign_tensors import convert, register_reader
from ..records import record
from ..runtime import memory
from ..storage import Storage
from ..tensor.construction import as_shape
from .scipy_sparse import from_compressed, from_scipy

MODES = {"csr_matrix": (0, 1), "csc_matrix": (1, 0)}
VERSION = "0.1.0"
CHUNK = 1 << 18  # elements of a chunk of an array that grows
# What may stand between numbers and the bytes of a file. A codec that unpickles runs what the file says.
CODECS = {
    "adler32", "astype", "bitround", "blosc", "bytes", "bz2", "crc32", "crc32c", "delta", "endian", "fixedscaleoffset",
    "fletcher32", "gzip", "jenkins_lookup3", "lz4", "lzma", "packbits", "pcodec", "quantize", "sharding_indexed",
    "shuffle", "transpose", "zfpy", "zlib", "zstd",
}  # fmt: skip


def attribute(group: Any, name: str) -> Any:
    """Return an attribute of a group or an array, text as a string; None if there is none."""
    found = group.attrs.get(name)
    return found.decode(errors="replace") if isinstance(found, bytes) else found


def encoding_of(group: Any) -> str | None:
    """Return the encoding of a sparse matrix in a group; None for anything else."""
    found = attribute(group, "encoding-type") if hasattr(group, "attrs") and hasattr(group, "keys") else None
    return found if isinstance(found, str) and found in MODES else None


def where(group: Any) -> str:
    """Return the words that say where a group is, for messages."""
    file = getattr(getattr(group, "file", None), "filename", None) or getattr(group, "store_path", None)
    place = f"the group {getattr(group, 'name', None) or '/'!r}"
    return place if file is None else f"{place} of {str(file)!r}"


def numbers(group: Any, name: str, place: str) -> Any:
    """Return an array of numbers in a group, none of which has been read; unusual codecs are refused."""
    if name not in group:
        raise FileFormatError(f"{place} has no array {name!r}")
    array = group[name]
    kind = getattr(getattr(array, "dtype", None), "kind", None)
    if kind is None or kind not in "biufc" or len(array.shape) != 1:
        what = "is a group" if kind is None else f"has dtype {array.dtype} and shape {array.shape}"
        raise FileFormatError(f"{place}: {name} is to be an array of numbers with one axis, and {what}")
    for codec in _codecs(array):
        if codec not in CODECS:
            raise FileFormatError(f"{place}: {name} is encoded by {codec!r}, which weft does not run")
    return array


def _codecs(array: Any) -> Iterator[str]:
    metadata = getattr(array, "metadata", None)
    parts = [getattr(metadata, name, None) for name in ("codecs", "filters", "compressor")]
    for part in parts:
        for codec in part if isinstance(part, list | tuple) else [part] * (part is not None):
            name = getattr(codec, "codec_id", None)
            if name is None and codec is not None and hasattr(codec, "to_dict"):
                name = codec.to_dict().get("name")
            yield str(name).removeprefix("numcodecs.").lower()


@record
class CompressedArrays:
    """A matrix in csr or csc whose arrays are in a file; any rows of csr, and columns of csc, can be read alone."""

    place: str  # Words that say where the arrays are
    shape: tuple[int, ...]  # the shape of the matrix
    modes: tuple[int, int]  # the axis that is compressed, and the axis of the indices
    indptr: Any  # arrays with one axis, of which slices are read
    indices: Any
    data: Any
    fill: Any = 0
    names: tuple[str, str, str] = ("indptr", "indices", "data")  # the names of the three arrays in the file

    @property
    def count(self) -> int:
        return int(self.data.shape[0])

    @property
    def length(self) -> int:
        return self.shape[self.modes[0]]

    def checked(self) -> CompressedArrays:
        """Return this matrix; raise ``FileFormatError`` if its arrays have lengths that do not fit together."""
        pointers, indices, data = self.names
        try:
            value_dtype(self.data.dtype)
        except DTypeError as error:
            raise FileFormatError(f"{self.place}: {error}") from None
        for name, array in ((pointers, self.indptr), (indices, self.indices)):
            if array.dtype.kind not in "iu":
                raise FileFormatError(f"{self.place}: {name} has dtype {array.dtype}; positions are integers")
        if self.indptr.shape[0] != self.length + 1:
            has = f"{pointers} has {self.indptr.shape[0]} entries"
            raise FileFormatError(f"{self.place}: {has}; shape {self.shape} needs {self.length + 1}")
        first, last = int(self.indptr[0:1][0]), int(self.indptr[self.length : self.length + 1][0])
        if first != 0 or not last == self.indices.shape[0] == self.count:
            raise FileFormatError(
                f"{self.place}: {pointers} goes from {first} to {last}; there are {self.indices.shape[0]} {indices} "
                f"and {self.count} {data}"
            )
        return self

    def complete(self) -> CompressedArrays:
        """Return this matrix; raise ``FileFormatError`` if it lacks chunks of a Zarr array, which are read as zeros."""
        for name, array in zip(self.names, (self.indptr, self.indices, self.data), strict=True):
            zeros = name == self.names[0] and not self.count  # nor are chunks of zeros written by everybody
            zeros |= name == self.names[1] and self.shape[self.modes[1]] < 2
            here, all_of_them = getattr(array, "nchunks_initialized", None), getattr(array, "nchunks", None)
            if here is not None and here != all_of_them and not zeros and array.shape[0]:
                raise FileFormatError(
                    f"{self.place}: {all_of_them - here} of the {all_of_them} chunks of {name} are not there"
                )
        return self

    def ends(self) -> np.ndarray[Any, Any]:
        """Return where each row or column begins, and where the last one ends."""
        memory.require(8 * (self.length + 1), f"{self.names[0]} of {self.place}")
        positions = np.asarray(self.indptr[:]).astype(np.int64)
        if positions[0] != 0 or (positions[1:] < positions[:-1]).any():
            raise FileFormatError(f"{self.place}: {self.names[0]} does not start at 0 or decreases")
        return positions

    def read(self, start: int = 0, stop: int | None = None) -> Storage:
        """Return the rows of csr, or columns of csc, from ``start`` to ``stop``."""
        stop = self.length if stop is None else stop
        pos = np.asarray(self.indptr[start : stop + 1])
        begin, end = int(pos[0]), int(pos[-1])
        if not 0 <= begin <= end <= min(self.count, self.indices.shape[0]):
            raise FileFormatError(
                f"{self.place}: {self.names[0]} goes from {begin} to {end} in a matrix of {self.count} entries"
            )
        each = self.data.dtype.itemsize + self.indices.dtype.itemsize
        memory.require((end - begin) * each, f"{end - begin} entries of {self.place}")
        crd = np.asarray(self.indices[begin:end])
        shape = list(self.shape)
        shape[self.modes[0]] = stop - start
        # Signed integers of one dtype are what SciPy shares.
        dtype = np.promote_types(index_dtype(end - begin), crd.dtype if crd.dtype.kind == "i" else np.int32)
        parts = SimpleNamespace(
            indptr=pos - pos[:1] if begin or pos.dtype != dtype else pos,
            indices=crd,
            data=np.asarray(self.data[begin:end]),
        )
        if parts.indptr.dtype != dtype and dtype.kind == "i":
            if not (begin <= int(pos.min()) and int(pos.max()) <= end):  # a narrower dtype would wrap around
                raise FileFormatError(f"{self.place}: {self.names[0]} does not start at 0 or decreases")
            parts.indptr = parts.indptr.astype(dtype)
        try:
            part = from_compressed(parts, tuple(shape), self.modes)
        except (StorageError, DTypeError, IndexOverflowError) as error:
            raise FileFormatError(f"{self.place}: {str(error).partition('; this is')[0]}") from None
        return part.with_values(part.vals, self.fill)


def arrays_of(group: Any, place: str | None = None) -> CompressedArrays:
    """Return the matrix in a group, none of which has been read."""
    place = where(group) if place is None else place
    kind, version = encoding_of(group), attribute(group, "encoding-version")
    if kind is None:
        raise FileFormatError(f"{place} holds no sparse matrix; {_listed(group)}")
    if version != VERSION:
        raise FileFormatError(f"{place} is {kind} of version {version!r}; weft reads version {VERSION!r}")
    try:
        found = np.asarray(group.attrs["shape"])
        shape = as_shape(found.tolist() if found.dtype.kind in "iu" else None)  # type: ignore[arg-type]
    except (KeyError, ShapeError, ValueError) as error:
        raise FileFormatError(f"{place} has no shape: {error}") from None
    if len(shape) != 2:
        raise FileFormatError(f"{place} is {kind} of shape {shape}, which is not that of a matrix")
    parts = (numbers(group, name, place) for name in ("indptr", "indices", "data"))
    return CompressedArrays(place, shape, MODES[kind], *parts).checked()


def _listed(group: Any) -> str:
    """Return the words that name the sparse matrices in a group."""
    names = [*_matrices(group, "")] if isinstance(group, Mapping) or hasattr(group, "keys") else []
    if not names:
        return "nor do the groups in it"
    return f"those in it are {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}"


def _matrices(group: Any, prefix: str, depth: int = 6) -> Iterator[str]:
    for name in sorted(group.keys()):
        member = group[name]
        if encoding_of(member) is not None:
            yield prefix + name
        elif hasattr(member, "keys") and depth:
            yield from _matrices(member, f"{prefix}{name}/", depth - 1)


def require_matrix(member: Any, place: str) -> None:
    """Raise ``FileFormatError`` for a member of a file that is no sparse matrix, and is not to be replaced by one."""
    if encoding_of(member) is None and "binsparse" not in member.attrs and not hasattr(member, "dtype"):
        raise FileFormatError(f"{place} is a group of other things, which weft does not replace")


class Writer:
    """A matrix that is written into a group, some rows of csr or columns of csc after the others."""

    def __init__(self, group: Any, shape: tuple[int, ...], dtype: Any, kind: str, index: Any = np.int64) -> None:
        self.group, self.shape, self.kind, self.rows = group, shape, kind, 0
        self._indptr = _growing(group, "indptr", index)
        self._indices, self._data = _growing(group, "indices", index), _growing(group, "data", dtype)
        _append(self._indptr, np.zeros(1, index))

    def append(self, storage: Storage) -> None:
        """Append rows of csr or columns of csc."""
        pos, crd = (part := convert(storage, self.kind[:3])).arrays
        _append(self._indptr, pos[1:].astype(self._indptr.dtype) + self._indices.shape[0])
        _append(self._indices, crd)
        _append(self._data, part.vals)
        self.rows += len(pos) - 1

    def finish(self) -> None:
        """Write the attributes, without which a group is no matrix to anybody."""
        attrs = self.group.attrs
        attrs["shape"] = np.array(self.shape, np.int64) if _is_hdf5(self.group) else [*self.shape]
        attrs["encoding-version"] = VERSION
        attrs["encoding-type"] = self.kind


@record
class Parts:
    """A matrix that is made part by part while it is written: rows, or columns of csc."""

    shape: tuple[int, ...]  # the shape of the matrix
    type: TensorType  # the type of its parts
    parts: Iterable[Storage]  # the parts, one after the other

    @property
    def format(self) -> Format:
        return self.type.format

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.type.dtype)


def axis_of_parts(format: Format) -> int:
    """Return the axis along which a matrix of a format is written part by part: 1 for csc, and else 0."""
    return int(format == "csc")


def write(group: Any, storage: Storage | Parts) -> None:
    """Write a matrix with fill value 0 into an empty group: csc as ``csc_matrix``, and others as ``csr_matrix``."""
    require_writable(storage)
    kind = "csc_matrix" if axis_of_parts(storage.format) else "csr_matrix"
    if isinstance(storage, Parts):
        writer = Writer(group, storage.shape, storage.dtype, kind)
        for part in storage.parts:
            writer.append(part)
        writer.finish()
        return
    matrix = convert(storage, kind[:3])
    index = np.promote_types(matrix.arrays[0].dtype, matrix.arrays[1].dtype)
    writer = Writer(group, storage.shape, storage.dtype, kind, index)
    writer.append(matrix)
    writer.finish()


def require_writable(storage: Storage | Parts) -> None:
    """Raise ``FileFormatError`` for a tensor that is no matrix with fill value 0."""
    if len(storage.shape) != 2 or (storage.type.fill != 0 and not storage.format.is_dense):
        raise FileFormatError(
            f"files of anndata hold matrices with fill value 0, not a tensor of shape {storage.shape} with fill value "
            f"{storage.type.fill!r}; save it in a file ending in .npz or .bsp.h5"
        )


def _is_hdf5(group: Any) -> bool:
    return type(group).__module__.partition(".")[0] == "h5py"


def _growing(group: Any, name: str, dtype: Any) -> Any:
    if _is_hdf5(group):
        return group.create_dataset(name, (0,), dtype, maxshape=(None,), chunks=(CHUNK // 16,))
    # Chunks of zeros are written, too: a chunk that is not there is one that has been lost.
    return group.create_array(name, shape=(0,), chunks=(CHUNK,), dtype=dtype, config={"write_empty_chunks": True})


def _append(array: Any, values: np.ndarray[Any, Any]) -> None:
    begin = array.shape[0]
    array.resize((begin + len(values),))
    if len(values):
        array[begin:] = values


def _from_group(obj: Any) -> Storage | None:
    return arrays_of(obj).complete().read() if hasattr(obj, "keys") and hasattr(obj, "attrs") else None


def _from_anndata(obj: Any) -> Storage | None:
    group = getattr(obj, "group", None)
    if group is not None and encoding_of(group) is not None:
        return arrays_of(group).complete().read()
    if hasattr(obj, "obs_names") and hasattr(obj, "layers"):
        raise DTypeError(f"{type(obj).__name__} is a table of matrices; take one, as in weft.asarray(x.X)")
    return from_scipy(obj)  # anndata's views derive from SciPy's classes


register_reader("h5py", _from_group)
register_reader("zarr", _from_group)
register_reader("anndata", _from_anndata)
