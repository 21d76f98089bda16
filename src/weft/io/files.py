"""Loading and saving of tensors in the kind of file that the name says."""

from __future__ import annotations

import os
from collections.abc import Sequence

from numpy.typing import DTypeLike

from ..errors import FileFormatError
from ..formats import FormatLike
from ..tensor import SparseTensor
from ..tracebacks import ends_at_caller
from .frostt import read_tns, write_tns
from .matrix_market import read_mtx, write_mtx
from .npz import load_npz, save_npz
from .streams import without_compression

__all__ = ["load", "save"]


def _kind(path: str | os.PathLike[str]) -> str:
    name, compression = without_compression(os.fspath(path))
    kind = name.lower().rpartition(".")[2]
    if kind == "npz" and compression:
        raise FileFormatError(f"npz files are compressed as they are: {name!r}, not {os.fspath(path)!r}")
    if kind not in ("mtx", "tns", "npz"):
        raise FileFormatError(f"the kind of the file {os.fspath(path)!r} is not known; names end in .mtx, .tns or .npz")
    return kind


@ends_at_caller
def load(
    path: str | os.PathLike[str],
    *,
    format: FormatLike | None = None,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    start: int | None = None,
    progress: bool | None = None,
) -> SparseTensor:
    """Load a tensor from a file: ``.mtx``, ``.tns`` (both also ``.gz`` or ``.bz2``) or ``.npz``.

    Parameters
    ----------
    path : path
        The file.
    format : str or Format, optional
        The format of the result. By default the format in the file.
    shape, dtype, start, progress
        Arguments of :func:`read_tns`, for ``.tns`` files only. The other kinds of files have the shape and the dtype of
        a tensor.

    Returns
    -------
    SparseTensor
        The tensor in the file.

    Raises
    ------
    FileFormatError
        For names with another ending, and for files that are not of the kind that their names say.
    TypeError
        For ``shape``, ``dtype``, ``start`` or ``progress`` with another file than ``.tns``.

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
    if kind != "tns" and any(given is not None for given in (shape, dtype, start, progress)):
        raise TypeError(f"shape, dtype, start and progress are for .tns files, not for {os.fspath(path)!r}")
    match kind:
        case "mtx":
            return read_mtx(path, format=format)
        case "tns":
            format, start = "coo" if format is None else format, 1 if start is None else start
            return read_tns(path, format=format, shape=shape, dtype=dtype, start=start, progress=progress)
    found = load_npz(path)
    return found if format is None else found.asformat(format)


@ends_at_caller
def save(path: str | os.PathLike[str], A: SparseTensor) -> None:
    """Save a tensor to a file: ``.mtx``, ``.tns`` (both also ``.gz`` or ``.bz2``) or ``.npz``.

    Parameters
    ----------
    path : path
        The file.
    A : SparseTensor
        The tensor to save.

    Raises
    ------
    FileFormatError
        For names with another ending.

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
    match _kind(path):
        case "mtx":
            write_mtx(path, A)
        case "tns":
            write_tns(path, A)
        case _:
            save_npz(path, A)
