"""The arrays of a tensor by the names that scipy.sparse and the package ``sparse`` give them.

They are not copies: what is written into the values is written into the tensor, and into what shares its memory. The
coordinates are not written into but assigned: ``A.indices = order[A.indices]``.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..operations import foreign_tensors
from ..operations.operands import Tensor
from ..storage import Storage

__all__ = ["StoredArrays"]


_read: WeakKeyDictionary[Storage, dict[str, np.ndarray[Any, Any]]] = WeakKeyDictionary()
"""The arrays that were asked for, as loops over rows ask for the same ones each time."""


def _structure(name: str, doc: str) -> property:
    """Index arrays: they are read as they are, and changed by assigning others, which are checked as a whole."""

    def read(self: StoredArrays) -> Any:
        known = _read.setdefault(self._storage, {})
        if name not in known:
            known[name] = _fixed(getattr(self._viewed(name), name))
        return known[name]

    def write(self: StoredArrays, array: Any) -> None:
        self._assign(name, np.asarray(array))

    return property(read, write, doc=doc)


def _fixed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory, which cannot be written: a tensor knows of its coordinates that they are sorted and distinct."""
    buffer: Any = array
    return np.asarray(memoryview(buffer).toreadonly())  # NumPy makes no array writeable whose buffer is not


class StoredArrays(Tensor):
    """What scipy's arrays of the same format have; other formats raise ``AttributeError``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.5], [2.0, 0.0]], format="csr")
    >>> A.indptr, A.indices, A.data
    (array([0, 1, 2], dtype=int32), array([1, 0], dtype=int32), array([1.5, 2. ]))
    >>> A.todia().offsets
    array([-1,  1], dtype=int32)
    """

    __slots__ = ()

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The stored values in the order of their storage, by blocks or diagonals where scipy has them so."""
        storage = self._storage
        vals: np.ndarray[Any, Any] = storage.vals
        if storage.format.is_structured:
            found = getattr(foreign_tensors.view("scipy", storage), "data", vals)
            return found if np.shape(found) else vals
        return vals

    @data.setter
    def data(self, values: Any) -> None:
        old, new = self.data, np.asarray(values)
        if new.shape != old.shape:
            raise ValueError(f"values of shape {new.shape} do not replace those of shape {old.shape}")
        storage, fill = self._storage, self._storage.type.fill
        self._become(storage.with_values(np.ascontiguousarray(new).reshape(-1), new.dtype.type(fill)))

    indptr = _structure("indptr", "Where the entries of each row of csr, column of csc, or row of blocks of bsr begin.")
    indices = _structure("indices", "The coordinates of csr, csc, bsr and gcxs that ``indptr`` divides.")
    offsets = _structure("offsets", "Which diagonals dia stores.")
    row = _structure("row", "The row of each entry of coo.")
    col = _structure("col", "The column of each entry of coo.")

    @property
    def coords(self) -> np.ndarray[Any, Any]:
        """The coordinates of the entries in the order of ``data``, a row for each axis; formats with padding have none.

        Those of coo are changed by assigning others.
        """
        storage = self._storage
        rows = getattr(foreign_tensors.view("scipy", storage), "coords", None)
        if rows is None and storage.format.is_compact and not storage.format.is_dense:
            plain = foreign_tensors.convert(storage, "coo", sort=False)
            rows = plain.arrays[1:] if np.shape(self.data) == plain.vals.shape else None
        if rows is None:
            raise self._lacks("coords")
        return _fixed(np.stack(rows))

    @coords.setter
    def coords(self, arrays: Any) -> None:
        self._assign("coords", tuple(map(np.asarray, arrays)))

    @property
    def blocksize(self) -> tuple[int, int]:
        """Rows and columns of a block of bsr."""
        return self._option("blocksize")  # type: ignore[no-any-return]

    @property
    def compressed_axes(self) -> tuple[int, ...]:
        """The axes that make the rows of gcxs."""
        return self._option("compressed_axes")  # type: ignore[no-any-return]

    def _viewed(self, name: str) -> Any:
        """Another package's tensor over the same memory that has an array of this name."""
        for package in ("scipy", "sparse"):
            found = foreign_tensors.view(package, self._storage)
            if hasattr(found, name):
                return found
        raise self._lacks(name)

    def _assign(self, name: str, arrays: Any) -> None:
        fill, viewed = self._storage.type.fill, self._viewed(name)
        setattr(viewed, name, arrays)
        new = foreign_tensors.read(viewed)
        assert new is not None, "what is viewed as another package's is read as its"
        self._become(new.with_values(new.vals, fill))

    def _option(self, name: str) -> Any:
        options = self._storage.format.options
        if name not in options:
            raise self._lacks(name)
        return options[name]

    def _lacks(self, name: str) -> AttributeError:
        storage = self._storage
        text = f"tensors of format {storage.format} have no {name}; this one has shape {storage.shape}"
        return AttributeError(text, name=name, obj=self)
