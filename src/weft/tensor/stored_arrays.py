"""The arrays of a tensor by the names that scipy.sparse and the package ``sparse`` give them.

They are not copies: what is written into them is written into the tensor, and into what shares its memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import foreign
from .operands import Tensor

__all__ = ["StoredArrays"]


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
            found = getattr(foreign.view("scipy", storage), "data", vals)
            return found if np.shape(found) else vals
        return vals

    @data.setter
    def data(self, values: Any) -> None:
        old, new = self.data, np.asarray(values)
        if new.shape != old.shape:
            raise ValueError(f"values of shape {new.shape} do not replace those of shape {old.shape}")
        storage, fill = self._storage, self._storage.type.fill
        self._storage = storage.with_values(np.ascontiguousarray(new).reshape(-1), new.dtype.type(fill))

    @property
    def indptr(self) -> np.ndarray[Any, Any]:
        """Where the entries of each row of csr, column of csc, or row of blocks of bsr begin."""
        return self._array("indptr")  # type: ignore[no-any-return]

    @property
    def indices(self) -> np.ndarray[Any, Any]:
        """The coordinates of csr, csc, bsr and gcxs that ``indptr`` divides."""
        return self._array("indices")  # type: ignore[no-any-return]

    @property
    def offsets(self) -> np.ndarray[Any, Any]:
        """Which diagonals dia stores."""
        return self._array("offsets")  # type: ignore[no-any-return]

    @property
    def coords(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The coordinates of the entries of coo, an array for each axis."""
        return tuple(self._array("coords"))

    @property
    def row(self) -> np.ndarray[Any, Any]:
        """The row of each entry of coo."""
        return self._array("row")  # type: ignore[no-any-return]

    @property
    def col(self) -> np.ndarray[Any, Any]:
        """The column of each entry of coo."""
        return self._array("col")  # type: ignore[no-any-return]

    @property
    def blocksize(self) -> tuple[int, int]:
        """Rows and columns of a block of bsr."""
        return self._option("blocksize")  # type: ignore[no-any-return]

    @property
    def compressed_axes(self) -> tuple[int, ...]:
        """The axes that make the rows of gcxs."""
        return self._option("compressed_axes")  # type: ignore[no-any-return]

    def _array(self, name: str) -> Any:
        for package in ("scipy", "sparse"):
            found = foreign.view(package, self._storage)
            if hasattr(found, name):
                return getattr(found, name)
        raise self._lacks(name)

    def _option(self, name: str) -> Any:
        options = self._storage.format.options
        if name not in options:
            raise self._lacks(name)
        return options[name]

    def _lacks(self, name: str) -> AttributeError:
        storage = self._storage
        text = f"tensors of format {storage.format} have no {name}; this one has shape {storage.shape}"
        return AttributeError(text, name=name, obj=self)
