"""Arrays of a tensor, by the names that scipy.sparse and the package ``sparse`` give them.

These arrays are properties of ``SparseTensor`` (``weft._api`` lists them). A tensor whose format does not have an array
raises ``AttributeError``. The arrays are not copies. Writing into the values changes the tensor, and all objects that
share its memory. Coordinates are read-only, and can be replaced as a whole: ``A.indices = order[A.indices]``.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.5], [2.0, 0.0]], format="csr")
>>> A.indptr, A.indices, A.data
(array([0, 1, 2], dtype=int32), array([1, 0], dtype=int32), array([1.5, 2. ]))
>>> A.todia().offsets
array([-1,  1], dtype=int32)
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..operations import foreign_tensors
from ..operations.operands import any_storage_of, replace_storage, storage_of
from ..storage import Storage
from ..tensor.sparse_tensor import SparseTensor

_read: WeakKeyDictionary[Storage, dict[str, np.ndarray[Any, Any]]] = WeakKeyDictionary()
"""Arrays that were read from each storage, since loops over rows read the same ones again and again."""


def _structure(name: str, doc: str, format: str, result: str) -> property:
    """Return the property of an index array, which is read-only and can be replaced as a whole."""
    example = f"""{doc}

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="{format}")
>>> A.{name}
{result}
"""

    def read(self: SparseTensor) -> np.ndarray[Any, Any]:
        cache = _read.setdefault(storage_of(self), {})
        if name not in cache:
            cache[name] = _fixed(getattr(_viewed(self, name), name))
        return cache[name]

    def write(self: SparseTensor, array: Any) -> None:
        _assign(self, name, np.asarray(array))

    return property(read, write, doc=example)


def _fixed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a read-only array on the same memory, since formats guarantee sorted and distinct coordinates."""
    buffer: Any = array
    return np.asarray(memoryview(buffer).toreadonly())  # users cannot make an array writeable if its buffer is not


def _values(self: SparseTensor) -> np.ndarray[Any, Any]:
    """Return the stored values in storage order, by blocks or diagonals for the formats that are so in SciPy.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.data
    array([1., 2.])
    """
    storage = storage_of(self)
    vals: np.ndarray[Any, Any] = storage.vals
    if storage.format.is_structured:
        found = getattr(foreign_tensors.view("scipy", storage), "data", vals)
        return found if np.shape(found) else vals
    return vals


def _set_values(self: SparseTensor, values: Any) -> None:
    old, new = _values(self), np.asarray(values)
    if new.shape != old.shape:
        raise ValueError(f"values of shape {new.shape} do not replace those of shape {old.shape}")
    storage, fill = storage_of(self), storage_of(self).type.fill
    replace_storage(self, storage.with_values(np.ascontiguousarray(new).reshape(-1), new.dtype.type(fill)))


def _coords(self: SparseTensor) -> np.ndarray[Any, Any]:
    """Return the coordinates of the entries in the order of ``data``, a row for each axis.

    Formats with padding have none. The coordinates of coo can be replaced by assignment.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.tocoo().coords
    array([[0, 1],
           [1, 0]], dtype=int32)
    """
    storage = storage_of(self)
    rows = getattr(foreign_tensors.view("scipy", storage), "coords", None)
    if rows is None and storage.format.is_compact and not storage.format.is_dense:
        plain = foreign_tensors.convert(storage, "coo", sort=False)
        rows = plain.arrays[1:] if np.shape(_values(self)) == plain.vals.shape else None
    if rows is None:
        raise lacks(self, "coords")
    return _fixed(np.stack(rows))


def _set_coords(self: SparseTensor, arrays: Any) -> None:
    _assign(self, "coords", tuple(map(np.asarray, arrays)))


def _blocksize(self: SparseTensor) -> tuple[int, int]:
    """Return the numbers of rows and columns of a block of bsr.

    Examples
    --------
    >>> import weft
    >>> weft.ones((4, 4)).tobsr((2, 2)).blocksize
    (2, 2)
    """
    return _option(self, "blocksize")  # type: ignore[no-any-return]


def _compressed_axes(self: SparseTensor) -> tuple[int, ...]:
    """Return the axes that make the rows of gcxs.

    Examples
    --------
    >>> import weft
    >>> weft.GCXS([[0.0, 1.0], [2.0, 0.0]], compressed_axes=(1,)).compressed_axes
    (1,)
    """
    return _option(self, "compressed_axes")  # type: ignore[no-any-return]


def _viewed(tensor: SparseTensor, name: str) -> Any:
    """Return another package's tensor over the same memory that has an array of this name."""
    for package in ("scipy", "sparse"):
        found = foreign_tensors.view(package, storage_of(tensor))
        if hasattr(found, name):
            return found
    raise lacks(tensor, name)


def _assign(tensor: SparseTensor, name: str, arrays: Any) -> None:
    """Replace coordinate arrays through an object of the package that has them, which is read back and so checked."""
    fill, viewed = storage_of(tensor).type.fill, _viewed(tensor, name)
    setattr(viewed, name, arrays)
    new = foreign_tensors.read(viewed)
    assert new is not None, "what is viewed as another package's is read as its"
    replace_storage(tensor, new.with_values(new.vals, fill))


def _option(tensor: SparseTensor, name: str) -> Any:
    options = any_storage_of(tensor).format.options
    if name not in options:
        raise lacks(tensor, name)
    return options[name]


def lacks(tensor: SparseTensor, name: str) -> AttributeError:
    """Return the error that tensors of this format have no attribute of this name."""
    storage = any_storage_of(tensor)
    text = f"tensors of format {storage.format} have no {name}; this one has shape {storage.shape}"
    return AttributeError(text, name=name, obj=tensor)


data = property(_values, _set_values)
coords = property(_coords, _set_coords)
indptr = _structure(
    "indptr",
    "The places where rows of csr, columns of csc, and rows of blocks of bsr begin.",
    "csr",
    "array([0, 1, 2], dtype=int32)",
)
indices = _structure(
    "indices", "The coordinates of csr, csc, bsr and gcxs that ``indptr`` divides.", "csr", "array([1, 0], dtype=int32)"
)
offsets = _structure("offsets", "The diagonals that dia stores.", "dia", "array([-1,  1], dtype=int32)")
row = _structure("row", "The row of each entry of coo.", "coo", "array([0, 1], dtype=int32)")
col = _structure("col", "The column of each entry of coo.", "coo", "array([1, 0], dtype=int32)")
blocksize = property(_blocksize)
compressed_axes = property(_compressed_axes)
