"""Tensors in files, of which parts are read when they are asked for."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import numpy as np

from ..errors import FileFormatError, WeftError
from ..formats import FormatLike
from ..interop.sparse_groups import CompressedArrays
from ..numpy_api.stacking import concatenate
from ..tensor import SparseTensor
from ..tensor.construction import called
from ..tracebacks import ends_at_caller

Array: TypeAlias = np.ndarray[Any, Any]
_AT_ONCE = 1 << 24  # entries that are read at once if only some of them are asked for


@contextmanager
def broken_files_raise(name: str) -> Iterator[None]:
    """Raise ``FileFormatError`` for what other packages raise when a file is broken; a missing file stays one."""
    try:
        yield
    except (WeftError, MemoryError, ImportError):
        raise
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError) and not os.path.exists(name)
        if error.errno not in (None, errno.EINVAL) or is_missing:
            raise  # but of places to seek that are not there, which the file has told
        raise FileFormatError(f"{name!r} cannot be read: {error}") from None
    except Exception as error:  # h5py, zarr, pyarrow and the codecs have many classes of errors
        raise FileFormatError(f"{name!r} cannot be read: {type(error).__name__}: {error}") from None


def stamp(path: str) -> tuple[int, int] | None:
    """Return what changes if a file does; None for anything else than a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if os.path.isfile(path) else None


class TensorFile(ABC):
    """A tensor in a file, of which parts are read when they are asked for.

    :func:`weft.open` makes it. It holds no open file, and can be pickled; the file is looked for again where it is
    unpickled.

    Attributes
    ----------
    path : str
        The file.
    shape : tuple of int
        The shape of the tensor.
    dtype : dtype
        The dtype of the values.
    nnz : int
        The number of entries in the file.
    format : str
        The format in which parts are read.
    fill_value : scalar
        The value of elements that are not stored.
    axis : int or None
        The axis along which parts are read alone: 0 for rows, 1 for the columns of csc. None if the file is read
        whole.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.random((1000, 50), density=0.1, rng=0, format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save_npz(f"{folder}/a.npz", A, compressed=False)
    ...     file = weft.open(f"{folder}/a.npz")
    ...     file.shape, file.nnz, file[10:20].shape, file.cuts(2000)
    ((1000, 50), 5000, (10, 50), (399, 407, 194))
    """

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    format: str
    fill_value: Any
    axis: int | None

    def __init__(self, path: str) -> None:
        self.path, self._stamp, self.fill_value, self.axis = path, stamp(path), 0, 0

    @property
    @abstractmethod
    def nnz(self) -> int:
        """Number of entries in the file, for text the number of lines.

        Examples
        --------
        >>> import weft
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     weft.save(f"{folder}/a.tns", weft.eye(3))
        ...     weft.open(f"{folder}/a.tns").nnz
        3
        """

    @abstractmethod
    def _read(self, start: int, stop: int) -> SparseTensor:
        """Return the part between two coordinates of ``axis``, with the other axes whole."""

    @abstractmethod
    def _counts(self) -> tuple[Array, Array]:
        """Return some coordinates of ``axis``, from 0 to its size, and the number of entries before each."""

    @property
    def ndim(self) -> int:
        """Number of axes.

        Examples
        --------
        >>> import weft
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     weft.save(f"{folder}/a.tns", weft.eye(3))
        ...     weft.open(f"{folder}/a.tns").ndim
        2
        """
        return len(self.shape)

    def __repr__(self) -> str:
        parts = {0: "rows", 1: "columns"}.get(-1 if self.axis is None else self.axis)
        how = "read whole" if parts is None else f"read by {parts}"
        return f"<TensorFile {self.path!r}: shape={self.shape}, dtype={self.dtype}, format={self.format}, {how}>"

    def __len__(self) -> int:
        return self.shape[0]

    @ends_at_caller
    def load(self, format: FormatLike | None = None) -> SparseTensor:
        """Read the whole tensor.

        Parameters
        ----------
        format : str or Format, optional
            The format of the result. By default the format of the file.

        Examples
        --------
        >>> import weft
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     weft.save(f"{folder}/a.tns", weft.eye(3))
        ...     weft.open(f"{folder}/a.tns").load("csr")
        <SparseTensor: shape=(3, 3), dtype=float64, format=csr, nnz=3, fill_value=0>
        """
        found = self._load()
        return found if format is None else found.asformat(format)

    def _load(self) -> SparseTensor:
        return self._part(0, self.shape[self.axis or 0])

    @ends_at_caller
    def cuts(self, entries: int) -> tuple[int, ...]:
        """Return the sizes of consecutive parts along ``axis`` of about as many entries, as dask's chunks are given.

        Parameters
        ----------
        entries : int
            The number of entries of a part. A part of a single row may have more.

        Examples
        --------
        >>> import weft
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     weft.save(f"{folder}/a.tns", weft.eye(5))
        ...     weft.open(f"{folder}/a.tns").cuts(2)
        (2, 2, 1)
        """
        if self.axis is None:
            return (self.shape[0],) if self.shape else ()
        places, ends = self._counts()
        cuts, at = [0], 0
        while at < len(places) - 1:
            last = int(np.searchsorted(ends, ends[at] + max(entries, 1), side="right")) - 1
            at = min(max(last, at + 1), len(places) - 1)
            cuts.append(int(places[at]))
        return tuple(np.diff(cuts).tolist()) or (0,)

    @ends_at_caller
    def __getitem__(self, key: Any) -> SparseTensor:
        """Read a part of the tensor, in the way that a tensor is indexed."""
        axis, keys = self.axis, list(key) if isinstance(key, tuple) else [key]
        if axis is None or any(k is None for k in keys) or sum(k is Ellipsis for k in keys) > 1:
            return self._load()[key]  # type: ignore[no-any-return]
        if any(k is Ellipsis for k in keys):
            place = next(n for n, k in enumerate(keys) if k is Ellipsis)
            keys[place : place + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        if len(keys) > self.ndim or any(np.ndim(k) > 1 for k in keys if not isinstance(k, slice)):
            return self._load()[key]  # type: ignore[no-any-return]
        keys += [slice(None)] * (self.ndim - len(keys))
        start, stop, keys[axis] = _range(keys[axis], self.shape[axis], axis)
        full_slices = [isinstance(k, slice) and k == slice(None) for k in keys]
        if all(full_slices):
            return self._part(start, stop)
        if not (full_slices[axis] and all(isinstance(k, slice) for k in keys)):
            return self._part(start, stop)[tuple(keys)]
        # A part along the other axes is read piece by piece, so that no more than that part and a piece is in memory.
        edges = np.cumsum([0, *self.cuts(_AT_ONCE)])
        edges = np.unique(np.clip(edges, start, stop)) if stop > start else np.array([start, stop])
        pieces = [self._part(a, b)[tuple(keys)] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        return pieces[0] if len(pieces) == 1 else concatenate(pieces, axis=axis)

    def _part(self, start: int, stop: int) -> SparseTensor:
        self._require_same()
        return self._read(start, stop)

    def _require_same(self) -> None:
        if stamp(self.path) != self._stamp:
            raise FileFormatError(f"{self.path!r} has changed since it was opened; call weft.open again")


def _range(key: Any, size: int, axis: int) -> tuple[int, int, Any]:
    """Return the range of coordinates that a key needs, and the key within that range."""
    if isinstance(key, slice):
        chosen = range(size)[key]
        if not chosen:
            return 0, 0, slice(None)
        low, high = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1
        last = chosen[-1] - low + (1 if chosen.step > 0 else -1)
        step = None if chosen.step == 1 else chosen.step
        if step is None:
            return low, high, slice(None)
        return low, high, slice(chosen[0] - low, None if last < 0 else last, step)
    places = np.asarray(key)
    if places.dtype == bool and places.shape == (size,):
        places = places.nonzero()[0]
    if places.dtype.kind not in "iu" and places.size:
        raise IndexError(f"axis {axis} is indexed by integers, slices and masks of {size} elements, not by {key!r}")
    places = places.astype(np.int64)
    if places.size and (places.min() < -size or places.max() >= size):
        raise IndexError(f"index {key!r} is outside axis {axis}, which has size {size}")
    places = places + (places < 0) * size
    low, high = (int(places.min()), int(places.max()) + 1) if places.size else (0, 0)
    return low, high, int(places) - low if not places.ndim else places - low


class CompressedFile(TensorFile):
    """A matrix in csr or csc, whose rows or columns are read alone."""

    def __init__(self, path: str, opened: Callable[[], AbstractContextManager[CompressedArrays]]) -> None:
        super().__init__(path)
        self._opened = opened
        with broken_files_raise(path), opened() as arrays:
            arrays.complete()
            self.shape, self.axis, self._nnz = arrays.shape, arrays.modes[0], arrays.count
            self.dtype, self.format = arrays.data.dtype.newbyteorder("="), ("csr", "csc")[arrays.modes[0]]
            self.fill_value = self.dtype.type(arrays.fill)

    @property
    def nnz(self) -> int:
        return self._nnz

    def _read(self, start: int, stop: int) -> SparseTensor:
        with broken_files_raise(self.path), self._opened() as arrays:
            return called(arrays.read(start, stop))

    def _counts(self) -> tuple[Array, Array]:
        self._require_same()
        with broken_files_raise(self.path), self._opened() as arrays:
            ends = arrays.ends()
        return np.arange(len(ends)), ends


class WholeFile(TensorFile):
    """A tensor in a file that is read whole, when it is opened."""

    def __init__(self, path: str, reader: Callable[[], SparseTensor]) -> None:
        super().__init__(path)
        self.axis = None
        self._tensor: SparseTensor | None = None
        self._whole = reader
        found = self._load()
        self.shape, self.dtype, self.format, self.fill_value = found.shape, found.dtype, found.format, found.fill_value
        self._nnz = found.nnz

    @property
    def nnz(self) -> int:
        return self._nnz

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tensor": None}

    def _load(self) -> SparseTensor:
        if self._tensor is None:
            self._require_same()
            self._tensor = self._whole()
        return self._tensor

    def _read(self, start: int, stop: int) -> SparseTensor:
        return self._load()[start:stop]

    def _counts(self) -> tuple[Array, Array]:
        raise NotImplementedError
