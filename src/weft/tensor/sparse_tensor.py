"""``SparseTensor``: an n-dimensional array that is stored sparsely and behaves like an ndarray."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import index_dtype as smallest_index_dtype
from ..dtypes import value_dtype
from ..errors import ShapeError
from ..formats import Format, FormatLike
from ..storage import Storage
from . import foreign
from .dispatch import Dispatch
from .methods import Methods

if TYPE_CHECKING:
    from scipy.sparse import sparray

__all__ = ["SparseTensor"]


class SparseTensor(Dispatch, Methods):
    """A tensor stored in a format; make one with :func:`weft.asarray` and its kin.

    Operators mean what they mean for ndarrays, whatever is on the other side: a tensor, a scalar, an ndarray, a
    scipy.sparse array or matrix (``*`` is always element by element). Values are not meant to be changed in place:
    tensors may share their arrays with each other and with what they were made of.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 1], [2, 0]], [1.5, 2.0], shape=(2, 3), format="csr")
    >>> A
    <SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=2, fill_value=0>
    >>> A @ [1.0, 1.0, 2.0]
    array([3., 2.])
    """

    __slots__ = ()

    # -- attributes --------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        return self._storage.shape

    @property
    def ndim(self) -> int:
        return len(self._storage.shape)

    @property
    def size(self) -> int:
        """Number of elements, stored or not."""
        size = 1
        for length in self._storage.shape:
            size *= length
        return size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._storage.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries, explicit zeros among them."""
        return self._storage.nnz

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self._storage.nbytes

    @property
    def format(self) -> Format:
        """How it is stored; ``str(A.format)`` is its name."""
        return self._storage.format

    @property
    def fill_value(self) -> Any:
        """The value of entries that are not stored, a NumPy scalar."""
        return self.dtype.type(self._storage.type.fill)

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def T(self) -> SparseTensor:  # noqa: N802
        """The transpose, which reverses the axes and shares all arrays."""
        return SparseTensor(self._storage.permuted(tuple(reversed(range(self.ndim)))))

    @property
    def mT(self) -> SparseTensor:  # noqa: N802
        """The transpose of the last two axes, sharing all arrays."""
        if self.ndim < 2:
            raise ShapeError(f"mT needs two axes; this tensor has shape {self.shape}")
        *batch, i, j = range(self.ndim)
        return SparseTensor(self._storage.permuted((*batch, j, i)))

    def transpose(self, *axes: int | Sequence[int] | None) -> SparseTensor:
        """The axes in another order, sharing all arrays; without arguments they are reversed."""
        given: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not given:
            return self.T
        n = self.ndim
        order = tuple(int(axis) + n if axis < 0 else int(axis) for axis in given)
        if sorted(order) != list(range(n)):
            raise ShapeError(f"axes {tuple(given)} are not a permutation of the {n} axes of shape {self.shape}")
        return SparseTensor(self._storage.permuted(order))

    @property
    def real(self) -> SparseTensor:
        """The real part."""
        return self._part("real")

    @property
    def imag(self) -> SparseTensor:
        """The imaginary part."""
        return self._part("imag")

    def _part(self, name: str) -> SparseTensor:
        storage = self._storage
        vals = np.ascontiguousarray(getattr(storage.vals, name))
        return SparseTensor(storage.with_values(vals, getattr(self.fill_value, name)))

    # -- conversions -------------------------------------------------------------------------------------------
    def asformat(self, format: FormatLike, *, index_dtype: DTypeLike | None = None) -> SparseTensor:
        """The tensor in another format; itself where it is stored so already.

        Parameters
        ----------
        format : str or Format
            A catalogue name, letters such as ``"ds:1,0"``, or a format.
        index_dtype : dtype, optional
            int32 or int64 for the result's index arrays; by default they are as small as will do.

        Raises
        ------
        FormatError
            For formats that do not exist or store another number of axes.
        """
        dtypes = {} if index_dtype is None else {"index_dtype": np.dtype(index_dtype).name}
        found = foreign.convert(self._storage, format, **dtypes)
        return self if found is self._storage else SparseTensor(found)

    def astype(self, dtype: DTypeLike, *, copy: bool = True) -> SparseTensor:
        """The same entries with another dtype, on the same index arrays."""
        wanted = value_dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        storage = self._storage
        return SparseTensor(storage.with_values(storage.vals.astype(wanted), self.fill_value))

    def copy(self) -> SparseTensor:
        """A tensor that shares no memory with this one."""
        old = self._storage
        return SparseTensor(Storage(old.shape, old.type, tuple(a.copy() for a in old.arrays), old.vals.copy()))

    def todense(self) -> np.ndarray[Any, Any]:
        """An ndarray of all elements; it shares memory with a tensor of dense format."""
        storage = self._storage
        if not storage.format.is_dense:
            storage = foreign.convert(storage, Format.dense(self.ndim))
        return storage.to_dense_array()

    to_numpy = todense
    toarray = todense

    def to_coo(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Coordinates, an array of shape ``(ndim, nnz)``, and values, in lexicographic order without duplicates."""
        storage = foreign.convert(self._storage, "coo")
        crds = storage.arrays[1:]
        if not crds:
            return np.zeros((0, storage.nnz), smallest_index_dtype(0)), storage.vals
        return np.stack(crds), storage.vals

    def tocsr(self) -> SparseTensor:
        """The matrix in compressed sparse rows."""
        return self.asformat("csr")

    def tocsc(self) -> SparseTensor:
        """The matrix in compressed sparse columns."""
        return self.asformat("csc")

    def tocoo(self) -> SparseTensor:
        """The tensor as coordinates."""
        return self.asformat("coo")

    def to_scipy_sparse(self, format: str | None = None) -> sparray:
        """A scipy.sparse array; it shares the memory of csr, csc and coo tensors."""
        return foreign.write("scipy", self._storage, format)

    def to_pydata_sparse(self) -> Any:
        """A ``sparse.COO``; needs the package ``sparse``."""
        return foreign.write("sparse", self._storage)

    def item(self) -> bool | int | float | complex:
        """The only element, as a Python scalar."""
        if self.size != 1:
            raise ShapeError(f"item() needs exactly one element; this tensor has shape {self.shape}")
        return self.todense().item()  # type: ignore[no-any-return]

    # -- protocols ---------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        return (
            f"<SparseTensor: shape={self.shape}, dtype={self.dtype}, format={self.format}, nnz={self.nnz}, "
            f"fill_value={self._storage.type.fill}>"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth value of a tensor with shape {self.shape} is ambiguous")
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self.item())  # type: ignore[arg-type]

    def __complex__(self) -> complex:
        return complex(self.item())
