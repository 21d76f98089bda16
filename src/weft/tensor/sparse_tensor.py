"""``SparseTensor``: an n-dimensional array that is stored sparsely and behaves like an ndarray."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import checked_index_dtype, value_dtype
from ..dtypes import index_dtype as smallest_index_dtype
from ..errors import ShapeError
from ..formats import Format, FormatLike, FormatName, FormatOptions, check_keywords, shown_name
from ..operations import foreign_tensors
from ..operations.assignment import PendingWrites
from ..operations.canonical import canonical, count_explicit_fill, drop_explicit_fill
from ..operations.indexing import getitem
from ..operations.operands import StorageHolder
from ..operations.places import element_at, inside, place_of
from ..runtime.forks import data_lock
from ..storage import Storage
from .devices import DEVICE
from .dispatch import Dispatch
from .lazy import resolve
from .lazy_methods import LazyMethods

if TYPE_CHECKING:
    from types import EllipsisType

    from scipy.sparse import sparray

    from .format_advice import Suggestion
    from .tree import Tree
    from .types import Array

__all__ = ["SparseTensor"]


class SparseTensor(Dispatch, LazyMethods):
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
        return foreign_tensors.count_entries(self._storage)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self._storage.nbytes

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._storage.dtype.itemsize

    @property
    def format(self) -> FormatName:
        """The name of the format: a string, as in scipy.sparse.

        A tensor made with a name keeps that name. Wherever a format is taken, ``A.format`` gives the format of ``A``
        itself, with the sizes of its blocks and the like.

        Examples
        --------
        >>> import weft
        >>> A = weft.eye(4, format="csr")
        >>> A.format in {"csr", "csc"}, A.T.format, A.asformat("csf").format
        (True, 'csc', 'csf')
        """
        return shown_name(self._storage.format, self._named)

    @property
    def layout(self) -> Format:
        """The format itself: a coordinate remapping, and a level format for each coordinate (2018, section 3).

        Examples
        --------
        >>> import weft
        >>> [str(level) for level in weft.eye(4, format="csr").layout.levels]
        ['dense', 'compressed']
        """
        return self._storage.format

    @property
    def fill_value(self) -> Any:
        """The value of entries that are not stored, a NumPy scalar."""
        return self.dtype.type(self._storage.type.fill)

    @property
    def device(self) -> str:
        return DEVICE

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

    def transpose(self, *order: Any, axes: Sequence[int] | None = None, copy: bool = False) -> SparseTensor:
        """The axes in another order, sharing all arrays unless ``copy``; without arguments they are reversed."""
        if copy:
            return self.copy().transpose(*order, axes=axes)
        given: Any = order[0] if len(order) == 1 else order or axes
        if given is None:
            return self.T
        n = self.ndim
        given = tuple(map(operator.index, given)) if np.ndim(given) else (operator.index(given),)
        modes = tuple(axis + n if axis < 0 else axis for axis in given)
        if sorted(modes) != list(range(n)):
            raise ShapeError(f"axes {tuple(given)} are not a permutation of the {n} axes of shape {self.shape}")
        return SparseTensor(self._storage.permuted(modes))

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

    # -- what is stored ----------------------------------------------------------------------------------------
    @property
    def is_ordered(self) -> bool:
        """Whether the format promises that coordinates are sorted in every level."""
        return all(level.ordered for level in self.layout.levels)

    @property
    def is_unique(self) -> bool:
        """Whether the format promises no duplicates. Unsorted coordinates are not searched, and promise nothing."""
        return self.layout.is_unique

    @property
    def is_canonical(self) -> bool:
        """Whether the format promises sorted coordinates without duplicates."""
        return self.layout.is_canonical

    def canonical(self) -> SparseTensor:
        """The tensor in its own format, sorted and with duplicates summed; itself where the format promises that.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[1, 0, 1], [0, 2, 0]], [1.0, 2.0, 3.0], shape=(2, 3), duplicates="keep")
        >>> A.nnz, A.is_ordered, A.is_unique
        (3, False, False)
        >>> A.canonical().nnz
        2
        """
        return self._as(canonical(self._storage))

    def count_explicit_fill(self) -> int:
        """How many stored values equal the fill value: explicit zeros, as a rule."""
        return count_explicit_fill(self._storage)

    def pruned(self) -> SparseTensor:
        """The tensor in canonical form without entries equal to the fill value; itself where it is that.

        Duplicates are summed first. What a dense level below the last sparse one stores stays as it is.
        """
        return self._as(drop_explicit_fill(self._storage))

    def _as(self, storage: Storage) -> SparseTensor:
        return self if storage is self._storage else SparseTensor(storage)

    # -- conversions -------------------------------------------------------------------------------------------
    def asformat(
        self,
        format: FormatLike | None,
        copy: bool = False,
        *,
        index_dtype: DTypeLike | None = None,
        sort: bool = True,
        **options: Unpack[FormatOptions],
    ) -> SparseTensor:
        """The tensor in another format; itself where it is stored so already.

        Parameters
        ----------
        format : str, Format or None
            A catalogue name, letters such as ``"ds:1,0"``, or a format; None for the one it has.
        copy : bool
            True for a tensor that shares no memory with this one. Otherwise coordinates and values are shared where
            they stand already where they are to be, as between csr and a sorted coo.
        index_dtype : dtype, optional
            int32 or int64 for the result's index arrays; by default they are as small as will do.
        sort : bool
            False where coordinates may stay in the order in which they are found: nothing is sorted then, and the
            result says that it is not ordered (2020 paper, section 3).
        **options
            What the format takes: ``blocksize=(3, 3)`` for ``"bsr"``, ``block=...`` for ``"csb"`` and ``"hicoo"``.

        Raises
        ------
        FormatError
            For formats that do not exist or store another number of axes, and options they do not take.
        TypeError
            For arguments that neither this method nor a format takes.

        Examples
        --------
        >>> import numpy as np, weft
        >>> weft.asarray(np.eye(4)).asformat("bsr", blocksize=(2, 2)).nnz
        8
        """
        index = None if index_dtype is None else checked_index_dtype(index_dtype).name
        if options:
            check_keywords(SparseTensor.asformat, self.format if format is None else format, options)
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        wanted = self.layout if format is None else format
        found = foreign_tensors.convert(self._storage, wanted, given, sort=sort, index_dtype=index)
        if copy:
            found = found.apart_from(self._storage)
        same = found is self._storage and format in (None, self.format)
        return self if same else SparseTensor(found).called(self._named if format is None else format)

    def suggest_format(self, op: str = "spmv") -> Suggestion:
        """A format that suits this tensor, with the reasons.

        Parameters
        ----------
        op : {'spmv', 'spgemm', 'add', 'insert'}
            What the tensor is for.

        Returns
        -------
        Suggestion
            Its ``format``, the ``options`` that :meth:`asformat` takes with it, and ``reasons``.

        Examples
        --------
        >>> import weft
        >>> print(weft.eye(1000).suggest_format())
        dia
          1000 entries of 1000000
          rows of 1 entries at most, 1.0 on average, 0 of 1000 empty
          1 diagonals
          diagonals are full enough: no coordinates are read
        """
        return resolve("tensor.format_advice", "suggest_format")(self._storage, op)  # type: ignore[no-any-return]

    def todia(self, copy: bool = False) -> SparseTensor:
        """The matrix by diagonals."""
        return self.asformat("dia", copy)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> SparseTensor:
        """The matrix by blocks; by default the largest that divide it and are nearly full, as scipy chooses them."""
        if blocksize is None:
            blocksize = (resolve("tensor.format_advice", "block_side")(self),) * 2
        return self.asformat("bsr", copy, blocksize=blocksize)

    def tolil(self, copy: bool = False) -> SparseTensor:
        """The matrix by rows that can grow."""
        return self.asformat("lil", copy)

    def todok(self, copy: bool = False) -> SparseTensor:
        """A hash table of coordinates."""
        return self.asformat("dok", copy)

    def astype(self, dtype: DTypeLike, *, casting: Any = "unsafe", copy: bool = True) -> SparseTensor:
        """The same entries with another dtype, on the same index arrays."""
        wanted = value_dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise TypeError(f"cannot cast a tensor of {self.dtype} to {wanted} according to the rule {casting!r}")
        if wanted == self.dtype and not copy:
            return self
        return SparseTensor(execution.in_dtype(self._storage, wanted)).called(self._named)

    def copy(self) -> SparseTensor:
        """A tensor that shares no memory with this one."""
        old = self._storage
        new = Storage(old.shape, old.type, tuple(a.copy() for a in old.arrays), old.vals.copy())
        return SparseTensor(new).called(self._named)

    def __copy__(self) -> SparseTensor:
        """A tensor with the same arrays, which need no check."""
        return SparseTensor(self._storage).called(self._named)

    def __deepcopy__(self, memo: Any) -> SparseTensor:
        """A tensor that shares no memory with this one; its arrays need no check."""
        return self.copy()

    def todense(self, order: Any = None, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """An ndarray of all elements; it shares memory with a tensor of dense format.

        Parameters
        ----------
        order : {'C', 'F'}, optional
            Of its memory; by default as it comes.
        out : ndarray, optional
            Where to put the elements: an array of this shape and dtype.
        """
        storage = self._storage
        if not storage.format.is_dense:
            storage = foreign_tensors.convert(storage, "dense_f" if order == "F" and self.ndim else "dense")
        found = storage.to_dense_array()
        if out is None:
            return found if order is None else np.asarray(found, order=order)
        if out.shape != found.shape or out.dtype != found.dtype or order is not None:
            raise ValueError(f"out has shape {out.shape} and dtype {out.dtype}, not {found.shape} and {found.dtype}")
        out[...] = found
        return out

    to_numpy = todense
    toarray = todense

    def to_coo(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Coordinates, an array of shape ``(ndim, nnz)``, and values, in lexicographic order without duplicates."""
        storage = foreign_tensors.convert(self._storage, "coo").apart_from(self._storage)
        crds = storage.arrays[1:]
        if not crds:
            return np.zeros((0, storage.nnz), smallest_index_dtype(0)), storage.vals
        return np.stack(crds), storage.vals

    def tocsr(self, copy: bool = False) -> SparseTensor:
        """The matrix in compressed sparse rows."""
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> SparseTensor:
        """The matrix in compressed sparse columns."""
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool = False) -> SparseTensor:
        """The tensor as coordinates."""
        return self.asformat("coo", copy)

    def to_scipy_sparse(self, format: str | None = None) -> sparray:
        """A scipy.sparse array; it shares the memory of csr, csc and coo tensors."""
        return foreign_tensors.write("scipy", self._storage, format)

    def to_pydata_sparse(self, format: str | None = None) -> Any:
        """An array of the package ``sparse``, which it needs: ``"coo"``, ``"gcxs"`` or ``"dok"``.

        By default GCXS, which shares memory, for what is laid out so (csr, csc, gcxs), else COO.
        """
        return foreign_tensors.write("sparse", self._storage, format)

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

    def __str__(self) -> str:
        """Return what ``print`` shows: the line of ``repr``, and the first entries as they are stored."""
        return "\n".join([repr(self), *resolve("tensor.preview", "entry_lines")(self._storage)])

    def _repr_html_(self) -> str:
        """What notebooks show: a table of facts, and a picture of where entries are stored."""
        return resolve("tensor.display", "to_html")(self._storage, self.format)  # type: ignore[no-any-return]

    def tree(self, max_entries: int = 50) -> Tree:
        """The coordinate hierarchy: a root, a level of coordinates below each, values at the leaves.

        Levels are those of the storage, from the root, named by the coordinates that the format's remapping makes.
        A level that has one coordinate below each (branchless) continues the line of its parent.

        Parameters
        ----------
        max_entries : int, optional
            How many values, and coordinates with nothing below them, to show.

        Returns
        -------
        str
            It shows itself without quotes.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[0, 0, 2], [0, 2, 1]], [1.5, 2.0, 3.0], shape=(3, 3), format="csr")
        >>> A.tree()
        csr, float64, shape (3, 3), 3 stored, fill value 0
        levels of (i,j) -> (i,j): i dense, j compressed
        root
        ├─ i=0
        │  ├─ j=0: 1.5
        │  └─ j=2: 2.0
        ├─ i=1
        └─ i=2
           └─ j=1: 3.0
        """
        return resolve("tensor.tree", "tree")(self._storage, self.format, max_entries)  # type: ignore[no-any-return]

    @overload
    def __getitem__(self, key: slice | EllipsisType | list[Any] | Array | SparseTensor | None) -> SparseTensor: ...
    @overload
    def __getitem__(self, key: Any) -> SparseTensor | Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Elements by NumPy's rules: integers, slices, ``...``, ``None``, arrays of integers or booleans, mixed.

        Parameters
        ----------
        key : object
            Masks may be tensors of ``bool``; their stored entries are what they cost.

        Returns
        -------
        SparseTensor or scalar
            A tensor in this one's format, or in the nearest for another number of axes; a NumPy scalar where integers
            name one element.

        Raises
        ------
        IndexError
            For keys that do not fit the shape.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[0, 1, 2], [2, 0, 1]], [1.5, 2.0, 3.0], shape=(3, 3), format="csr")
        >>> A[1:, 0], A[0, 2]
        (<SparseTensor: shape=(2,), dtype=float64, format=coo, nnz=1, fill_value=0>, np.float64(1.5))
        >>> A[[2, 0]].todense()
        array([[0. , 3. , 0. ],
               [0. , 0. , 1.5]])
        """
        place = place_of(key)
        if place is not None:
            writing = getattr(self, "_writing", _NEVER)
            if writing.base is None:
                element = element_at(self._storage, place, {})
            else:
                with writing.lock:
                    now = self._storage if writing.base is None else writing.storage
                    element = element_at(now, place, writing.written)
            if element is not None:
                return element
        found = getitem(self._storage, key)
        dots = key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))
        return SparseTensor(found) if found.shape or dots else SparseTensor(found).todense()[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign elements: a scalar, an array or a tensor that broadcasts to ``self[key]``, converted to this dtype.

        A dense tensor is written in place, and with it what shares its memory. Formats that entries can be put into
        (dok, hash, lil) are copied once, and then written where they stand until the tensor is looked at as a whole;
        any other is stored anew. Single elements are collected and stored together then.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[], []], [], shape=(3, 3), format="csr")
        >>> A[1] = [1, 0, 2]
        >>> A[:, 0] = 7
        >>> A[2, 2] = 5
        >>> A.todense()
        array([[7., 0., 0.],
               [7., 0., 2.],
               [7., 0., 5.]])
        """
        place = place_of(key) if isinstance(value, (int, float, complex, np.generic)) else None
        if place is None or not self._assign_element(place, value):
            self._put(_as_it_is(key), _as_it_is(value))

    def _put(self, key: Any, value: Any) -> None:
        """Assign the elements where ``key`` points."""
        writing = self._begin()
        with writing.lock:
            if writing.base is None:
                storage = self._storage
                writing.base = storage
                del self._storage
            writing.put(key, value)
            if writing.room is None:
                self._end(writing, writing.storage)

    def _begin(self) -> PendingWrites:
        """Return what is being assigned, from the first assignment on."""
        try:
            return self._writing
        except AttributeError:
            with _FIRST:
                if getattr(self, "_writing", None) is None:
                    self._writing = PendingWrites()
                return self._writing

    def _assign_element(self, place: tuple[int, ...], value: Any) -> bool:
        """Assign one element, if elements of this tensor are collected, and ``place`` names one."""
        writing = self._begin()
        with writing.lock:
            storage = self._storage if writing.base is None else writing.base
            if len(place) != len(storage.shape) or storage.type.format.is_dense:
                return False
            place, scalar = inside(place, storage.shape), storage.vals.dtype.type(value)
            if writing.base is None:
                writing.base = storage
                del self._storage
            writing.written[place] = scalar
        return True

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

    def __index__(self) -> int:
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())  # type: ignore[arg-type]

    def __round__(self, ndigits: int = 0) -> SparseTensor:
        """Return the elements rounded to a number of decimals."""
        return resolve("numpy_api.ufuncs", "round")(self, ndigits)  # type: ignore[no-any-return]

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())


_FIRST = data_lock()
"""Held while a tensor gets what holds its assignments."""
_NEVER = PendingWrites()
"""Of tensors that have never been assigned to."""


def _as_it_is(given: Any) -> Any:
    """Return an argument, a tensor as it is now: nothing waits for its lock afterwards."""
    if isinstance(given, StorageHolder):
        return SparseTensor(given._storage)
    return tuple(map(_as_it_is, given)) if type(given) is tuple else given
