"""Matrix Market files, through scipy.io."""

from __future__ import annotations

import codecs
import os
import re
from io import BufferedReader, BytesIO
from typing import IO, Any

import numpy as np

from ..dtypes import index_dtype
from ..errors import FileFormatError, ShapeError
from ..formats import FormatLike
from ..records import record, replace
from ..runtime import memory
from ..tensor import SparseTensor, asarray
from ..tracebacks import ends_at_caller
from .streams import PathOrStream, reading, without_compression, writing

_LONGEST = 1 << 20  # bytes of a line of the header
_BLOCK = 1 << 20  # bytes that are looked through at a time
_BANNER = re.compile(rb"\s*%{1,2}MatrixMarket\s+(\S*)(.*)", re.IGNORECASE | re.DOTALL)
DTYPES = {"integer": "int64", "unsigned-integer": "uint64", "complex": "complex128"}
# The header that most files have, which says the same to SciPy.
_USUAL = re.compile(
    rb"%%MatrixMarket matrix coordinate (real|integer|pattern) (general|symmetric)\n(?:%[^\n]*\n)*"
    rb"(\d{1,18}) (\d{1,18}) (\d{1,18})\n"
)
_WITHOUT_EXPONENT = re.compile(rb"[eE][+-]?$")  # SciPy takes such a number as it is
_WHOLE = b"0123456789+- \t\v\f\r\n"  # the bytes of integers and of what is between them
_OF_INTEGERS = ([b"integer"], [b"unsigned-integer"], [b"pattern"])
_REAL = _WHOLE + b".eEnNaAiIfFtTyY"  # those of other numbers, nan and infinity among them
_COORDINATE = re.compile(rb"^[ \t]*[^\s%]\S*", re.MULTILINE)  # the first word of each line that is no comment


@ends_at_caller
def read_mtx(source: PathOrStream, *, format: FormatLike | None = None) -> SparseTensor:
    """Read a Matrix Market file.

    Parameters
    ----------
    source : path or stream
        The file, plain or compressed by gzip or bzip2.
    format : str or Format, optional
        The format of the result. By default ``coo`` for coordinate files and ``dense`` for array files.

    Returns
    -------
    SparseTensor
        The matrix; for a file whose first line says ``vector`` a tensor with one axis.

    Raises
    ------
    FileFormatError
        When the file is not a valid Matrix Market file; the message has SciPy's reason.
    ResultTooLargeError
        When the matrix that the header describes does not fit in memory.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.write_mtx(f"{folder}/a.mtx", A)
    ...     B = weft.read_mtx(f"{folder}/a.mtx")
    >>> B.todense()
    array([[0., 1.],
           [2., 0.]])
    """
    with reading(source) as stream:
        lead = header(stream)
        matrix = _without_elements(lead.text)
        if matrix is None:
            matrix = parsed(lead, stream, _plain_file(source, stream, lead))
    return asarray(asarray(matrix)[:, 0] if lead.is_vector else matrix, format=format)


def _plain_file(source: PathOrStream, stream: IO[bytes], lead: _Header) -> str | None:
    """Return the path of a file that SciPy may read itself: not compressed, finished, of numbers alone; else None."""
    if not isinstance(source, str | os.PathLike) or not isinstance(stream, BufferedReader) or lead.is_vector:
        return None
    path = os.fspath(source)
    if without_compression(path)[1] is not None or not os.path.isfile(path) or stream.tell() != len(lead.text):
        return None
    stream.seek(-1, os.SEEK_END)
    is_plain = stream.read(1) == b"\n" and b"\0" not in lead.text
    stream.seek(0)
    is_plain = is_plain and stream.read(len(lead.text)) == lead.text  # or else the banner is in other letters
    is_plain = is_plain and not any(map(lead.strange, iter(lambda: stream.read(_BLOCK), b"")))
    stream.seek(len(lead.text))
    return path if is_plain else None


def parsed(lead: _Header, stream: IO[bytes], path: str | None = None) -> Any:
    """Return SciPy's array of a header and of what follows it in a stream."""
    import scipy.io

    try:
        source = _Joined(lead, stream)
        matrix = scipy.io.mmread(path or source, spmatrix=False)
    except (ValueError, OverflowError, EOFError, OSError) as error:
        raise _unreadable(error) from None
    except MemoryError:
        raise memory.exhausted("what the header of the Matrix Market file says") from None
    if source.strange:
        kind = "integers" if lead.allowed == _WHOLE else "numbers"
        raise _unreadable(f"it has the character {source.strange.decode('latin-1')!r} among {kind}")
    if source.ends_within_number:
        raise _unreadable("it ends within a number")
    return matrix


@record
class _Header:
    """Lines of a file down to the one with the sizes, as SciPy reads them."""

    text: bytes  # the lines. Those of a vector are the lines of a matrix with one column.
    is_vector: bool  # True for the header of a vector
    is_listed: bool  # True if the lines that follow have coordinates
    allowed: bytes  # the bytes that the lines that follow may have

    def resized(self, sizes: str) -> _Header:
        """Return the header with other sizes."""
        lines = self.text.rstrip(b"\n").split(b"\n")
        return replace(self, text=b"\n".join([*lines[:-1], sizes.encode(), b""]))

    def strange(self, text: bytes) -> bytes:
        """Return the first byte that the lines that follow may not have, if there is one; SciPy passes over it."""
        return text.translate(None, self.allowed)[:1]


class _Joined:
    """Stream of a header and of what follows it in another stream.

    It cannot be sought in. SciPy's reader would go back in a stream when it is deleted, which may be after the stream
    has been closed, and then aborts the process. A last line that is not finished gets its end: in one that is cut off
    within a number, the reader would go on behind the text. A byte that is zero is taken for the end, and would end the
    process. The reader passes over the rest of a word that begins with a number, so that the first wrong byte is kept.
    """

    def __init__(self, header: _Header, stream: IO[bytes]):
        self._header, self._head, self._stream, self._end = header, BytesIO(header.text), stream, b"\n"
        self.ends_within_number, self.strange = False, b""
        if header.is_vector and header.is_listed:
            self._stream = BytesIO(_COORDINATE.sub(rb"\g<0> 1", stream.read()))

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        text = self._head.read(size)
        if not text:
            text = self._stream.read(size)
            self.strange = self.strange or self._header.strange(text)
        if not text and not self._end.endswith(b"\n") and size:
            self.ends_within_number = _WITHOUT_EXPONENT.search(self._end) is not None
            text = b"\n"
        self._end = (self._end + text)[-2:]
        if b"\0" in text:
            self.strange, text = self.strange or b"\0", text.replace(b"\0", b"?")
        return text


class _Appended:
    """Stream that is written to and not sought in, for the reason that :class:`_Joined` has."""

    def __init__(self, stream: IO[bytes]):
        self.write = stream.write


def header(stream: IO[bytes]) -> _Header:
    """Read the header of a file."""
    line = stream.readline(_LONGEST).removeprefix(codecs.BOM_UTF8)
    lines = [b""]
    while line.isspace():
        lines.append(b"\n")  # blank lines come behind the banner, so that errors have the right number of the line
        line = stream.readline(_LONGEST)
    banner = _BANNER.fullmatch(line)
    if banner is None:
        raise _unreadable("it does not begin with %%MatrixMarket")
    kind, rest = banner.groups()
    words = rest.lower().split()
    is_vector, is_listed = kind.lower() == b"vector", words[:1] != [b"array"]
    lines[0] = b"%%MatrixMarket " + (b"matrix" if is_vector else kind) + rest
    while line := stream.readline(_LONGEST):
        lines.append(line)
        if not (line.startswith(b"%") or line.isspace()):  # neither a comment nor blank: the sizes
            break
    if is_vector:
        sizes, names = lines[-1].split(), "its length and the number of entries" if is_listed else "its length"
        if words[-1:] != [b"general"]:
            raise _unreadable(f"a vector is general: {_shown(banner[0])}")
        if len(sizes) != 1 + is_listed:
            raise _unreadable(f"a vector has {names}: {_shown(lines[-1])}")
        lines[-1] = b" ".join([sizes[0], b"1", *sizes[1:]]) + b"\n"
    return _Header(b"".join(lines), is_vector, is_listed, _WHOLE if words[1:2] in _OF_INTEGERS else _REAL)


def _shown(line: bytes) -> str:
    return repr(line[:400].decode(errors="replace").strip()[:80])


def _without_elements(head: bytes) -> np.ndarray[Any, Any] | None:
    """Return the array of a header that speaks of no elements, else None; raises if a matrix does not fit in memory."""
    rows, columns, entries, kind, field, symmetry = _info(head)
    # An entry has a value and two coordinates, and symmetric matrices are stored with both halves.
    each = 16 if field == "complex" else 8
    if kind == "coordinate":
        each = (each + 2 * index_dtype(max(rows, columns)).itemsize) * (1 if symmetry == "general" else 2)
    what = f"the {rows} x {columns} {kind} matrix of {entries} entries that the Matrix Market header speaks of"
    memory.require(entries * each, what)
    # SciPy's reader divides by the number of rows of an array.
    return None if kind == "coordinate" or (rows and columns) else np.empty((rows, columns), DTYPES.get(field))


def _info(head: bytes) -> tuple[int, int, int, str, str, str]:
    if (usual := _USUAL.fullmatch(head)) is not None:
        field, symmetry, *sizes = (part.decode() for part in usual.groups())
        rows, columns, entries = map(int, sizes)
        return rows, columns, entries, "coordinate", field, symmetry
    import scipy.io

    try:
        return scipy.io.mminfo(BytesIO(head))  # type: ignore[no-any-return]
    except (ValueError, OverflowError) as error:
        raise _unreadable(error) from None


def is_array(path: str) -> bool:
    """Return whether a file holds every element, rather than entries with coordinates."""
    with reading(path) as stream:
        return not header(stream).is_listed


def sizes(lead: _Header) -> tuple[int, int, int, str]:
    """Return the numbers of rows, columns and entries, and the kind of values, that a header says."""
    rows, columns, entries, _, field, _ = _info(lead.text)
    return rows, columns, entries, field


def _unreadable(reason: object) -> FileFormatError:
    return FileFormatError(f"not a Matrix Market file that can be read: {reason}")


@ends_at_caller
def write_mtx(target: PathOrStream, A: SparseTensor) -> None:
    """Write a matrix as a Matrix Market file, compressed if the name ends in ``.gz`` or ``.bz2``.

    Parameters
    ----------
    target : path or stream
        The file to write.
    A : SparseTensor
        A matrix with fill value 0.

    Raises
    ------
    ShapeError
        For tensors that do not have two axes.
    FileFormatError
        For fill values other than 0.

    Examples
    --------
    >>> import weft
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.write_mtx(f"{folder}/a.mtx", A)
    ...     print(Path(folder, "a.mtx").read_text())
    %%MatrixMarket matrix coordinate real general
    %
    2 2 2
    1 2 1
    2 1 2
    """
    import scipy.io

    A = asarray(A)
    if A.ndim != 2:
        kinds = ".npz or .tns" if A.ndim else ".npz"
        raise ShapeError(
            f"a Matrix Market file holds a matrix, not a tensor of shape {A.shape}; save it in a file ending in {kinds}"
        )
    if A.fill_value != 0 and not A.layout.is_dense:
        raise FileFormatError(
            f"a Matrix Market file has no fill value, and this tensor has {A.fill_value}; save it in a file ending in "
            ".npz"
        )
    matrix = A.todense() if A.layout.is_dense else A.to_scipy_sparse("coo")
    with writing(target) as stream:
        scipy.io.mmwrite(_Appended(stream), matrix)
