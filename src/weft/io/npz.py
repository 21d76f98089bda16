"""Files in npz, in the layouts of scipy.sparse and ``sparse`` for their formats, and in weft's own for all others."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import IO, Any, TypeAlias

import numpy as np

from .. import execution
from ..dtypes import value_dtype
from ..errors import FileFormatError
from ..formats import Format, LevelFormat
from ..formats import levels as known
from ..interop.pydata_sparse import from_nodes, to_nodes
from ..operations.operands import storage_of
from ..remapping import Remapping
from ..storage import Storage, current, fill_of, tensor_type
from ..tensor import SparseTensor, asarray
from ..tensor.construction import as_shape, called
from ..tracebacks import ends_at_caller
from .streams import opened

NpzFile: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
_SCIPY = ("csr", "csc", "coo", "dia", "bsr")
_POSITIONS = frozenset({"indptr", "indices", "row", "col", "coords", "offsets"})


@ends_at_caller
def save_npz(file: NpzFile, matrix: SparseTensor, compressed: bool = True) -> None:
    """Save a tensor as npz.

    Parameters
    ----------
    file : path or stream
        The file to write; ``.npz`` is added to a name without it.
    matrix : SparseTensor
        Any tensor. Matrices in csr, csc, dia and bsr with fill value 0 have the layout of SciPy. Tensors in coo and
        gcxs, and matrices in csr and csc with another fill value, have the layout of ``sparse``. Both packages load coo
        with fill value 0.
    compressed : bool
        True to compress the arrays.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save_npz(f"{folder}/a.npz", A)
    ...     B = weft.load_npz(f"{folder}/a.npz")
    >>> B.nnz
    2
    """
    name = os.fspath(file) if isinstance(file, str | os.PathLike) else ""
    if name.lower().endswith(".npz") and not name.endswith(".npz"):  # NumPy would add the ending again
        with open(name, "wb") as stream:
            save_npz(stream, matrix, compressed)
        return
    A = asarray(matrix)
    storage = storage_of(A)
    nodes = to_nodes(storage)
    # SciPy's layout is used if it gives the same storage back. Coo has a layout that both packages read.
    if A.ndim == 2 and A.fill_value == 0 and not storage.format.is_dense and (nodes is None or "coords" not in nodes):
        import scipy.sparse

        array = A.to_scipy_sparse()
        if array.format in _SCIPY and array.nnz == A.nnz and _is_its_own(storage, array):
            scipy.sparse.save_npz(file, array, compressed)
            return
    save: Any = np.savez_compressed if compressed else np.savez
    save(file, **(_own_arrays(storage) if nodes is None else nodes))


def _own_arrays(storage: Storage) -> dict[str, Any]:
    """Return the level arrays of a tensor, with a description of its format."""
    levels = [
        {"level": type(level).__name__, **{f.name: getattr(level, f.name) for f in fields(level)}}
        for level in storage.format.levels
    ]
    about = {"remapping": str(storage.format.remapping), "levels": levels}
    arrays = {f"level{k}_{role}": a for (k, role), a in zip(storage.format.roles, storage.arrays, strict=True)}
    return {
        "weft": np.array(json.dumps(about)),
        "shape": np.array(storage.shape, np.int64),
        "fill_value": np.array(storage.type.fill, storage.dtype),
        "values": storage.vals,
        **arrays,
    }


def _is_its_own(storage: Storage, array: Any) -> bool:
    """Return whether SciPy's array shares the values of a tensor and has the same format."""
    shares = bool(np.shares_memory(array.data, storage.vals)) or not len(storage.vals)
    return shares and asarray(array).layout == storage.format


@ends_at_caller
def load_npz(file: NpzFile) -> SparseTensor:
    """Load a tensor that :func:`save_npz` has saved, or the function of that name of scipy.sparse or ``sparse``.

    Parameters
    ----------
    file : path or stream
        The file to read.

    Raises
    ------
    FileFormatError
        For other files, broken files, and files with pickles or values of dtypes that weft does not have.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save_npz(f"{folder}/a.npz", A)
    ...     B = weft.load_npz(f"{folder}/a.npz")
    >>> B.format
    'csr'
    """
    if isinstance(file, str | os.PathLike):
        with opened(file) as stream:  # np.load would leave a broken file open
            return load_npz(stream)
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise FileFormatError(f"{_name(file)} holds a plain array, no sparse tensor; read it with np.load")
        with loaded:
            # weft's own layout has "weft", those of SciPy and sparse "format", and only that of sparse "fill_value".
            if "weft" in loaded:
                return called(_storage({name: loaded[name] for name in loaded.files}))
            if "format" not in loaded:
                names = ", ".join(map(repr, loaded.files))
                what = f"plain arrays ({names})" if names else "nothing"
                raise FileFormatError(f"{_name(file)} holds {what}, no sparse tensor; read it with np.load")
            arrays = {name: loaded[name] for name in loaded.files}
            _require_positions(arrays)
            return called(from_nodes(arrays)) if "fill_value" in loaded else asarray(_from_scipy(arrays))
    except FileFormatError:
        raise
    except (ValueError, KeyError, OSError, EOFError, AttributeError, TypeError) as error:
        raise FileFormatError(f"not an npz file of a sparse tensor: {error}") from None
    except Exception as error:  # broken zip files raise errors of the codecs of their members
        raise FileFormatError(f"a broken npz file: {type(error).__name__}: {error}") from None


def _name(file: Any) -> str:
    name = getattr(file, "name", None)
    return repr(name) if isinstance(name, str) else "the file"


def _require_positions(arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Raise ``FileFormatError`` for positions that other packages would cast, and entries that they would leave out."""
    for name, array in arrays.items():
        if name in _POSITIONS and array.dtype.kind not in "iu" and array.size:
            raise FileFormatError(f"{name} has dtype {array.dtype}; positions are integers")
    if "indptr" in arrays and arrays["indptr"].size:
        last, count = int(arrays["indptr"].flat[-1]), len(arrays["indices"])
        if not last == count == len(arrays["data"]):
            raise FileFormatError(f"indptr goes to {last}; there are {count} indices and {len(arrays['data'])} of data")


def _from_scipy(arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    import scipy.sparse

    kind = arrays["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    shape, data = as_shape(arrays["shape"].tolist()), arrays["data"]
    value_dtype(data.dtype)
    if kind not in _SCIPY:
        raise FileFormatError(f"scipy has no format {kind!r}")
    make = getattr(scipy.sparse, f"{kind}_array")
    if kind == "coo":
        coords = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
        return make((data, tuple(coords)), shape=shape)
    if kind == "dia":
        return make((data, arrays["offsets"]), shape=shape)
    return make((data, arrays["indices"], arrays["indptr"]), shape=shape)


def _storage(arrays: dict[str, np.ndarray[Any, Any]]) -> Storage:
    # The description of the format is data of the file, so that only names of level formats are accepted.
    about = json.loads(str(arrays["weft"]))
    levels: list[LevelFormat] = []
    for description in about["levels"]:
        name = description.pop("level")
        kind = getattr(known, name, None)
        if not (isinstance(kind, type) and issubclass(kind, LevelFormat)):
            raise FileFormatError(f"the file uses a level format {name!r}, which weft does not have")
        levels.append(kind(**description))
    format = Format(Remapping.parse(about["remapping"]), levels)
    # Earlier versions stored some arrays under other names.
    stored = [(k, role, format.levels[k].earlier_roles.get(role, role)) for k, role in format.roles]
    names_of = [f"level{k}_{role}" if f"level{k}_{role}" in arrays else f"level{k}_{old}" for k, role, old in stored]
    index_arrays = tuple(np.ascontiguousarray(arrays[name]) for name in names_of)
    vals = np.ascontiguousarray(arrays["values"], value_dtype(arrays["values"].dtype))
    names = tuple(a.dtype.name for a in index_arrays)
    fill = fill_of(vals.dtype, arrays["fill_value"][()])
    shape = as_shape(arrays["shape"].tolist())
    storage = current(Storage(shape, tensor_type(vals.dtype.name, format, names, fill), index_arrays, vals))
    execution.verify(storage)
    return storage
