"""``SparseTensor``: an n-dimensional array that is stored sparsely and behaves like an ndarray."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..doors import Door
from ..dtypes import checked_index_dtype, value_dtype
from ..dtypes import index_dtype as smallest_index_dtype
from ..errors import ShapeError, WeftError
from ..formats import Format, FormatLike, FormatOptions, check_keywords, shown_name
from ..operations import foreign_tensors
from ..operations.assignment import setitem
from ..operations.canonical import canonical, count_explicit_fill, drop_explicit_fill
from ..operations.indexing import getitem
from ..operations.operands import StorageHolder, storage_of
from ..operations.pending_writes import PendingWrites
from ..operations.places import element_at, inside, place_of
from ..runtime.devices import in_use
from ..runtime.forks import data_lock
from ..storage import Storage
from ..tracebacks import end_at_caller
from .devices import dense_on_device, on_cpu_to_count
from .dispatch import Dispatch
from .lazy_methods import LazyMethods

if TYPE_CHECKING:
    from types import EllipsisType

    from scipy.sparse import sparray

    from . import display, format_advice, tree
    from .format_advice import Suggestion
    from .tree import Tree
    from .types import Array, PydataFormat, SciPyFormat
else:
    display, format_advice = Door("weft.tensor.display"), Door("weft.tensor.format_advice")
    tree = Door("weft.tensor.tree")

F = TypeVar("F", bound=Callable[..., Any])


_CONVERSION = """Convert the tensor to format {name}, {layout}.

Parameters
----------
copy : bool, optional
    True for a tensor that shares no memory with this one.

Examples
--------
>>> import weft
>>> weft.asarray([[0.0, 1.0], [2.0, 0.0]]).to{name}().format
'{name}'
"""


def _conversion(layout: str) -> Callable[[F], F]:
    """Return a decorator that documents a method ``toxxx`` as the conversion to format ``xxx``."""

    def documented(method: F) -> F:
        method.__doc__ = _CONVERSION.format(name=method.__name__.removeprefix("to"), layout=layout)
        return method

    return documented


class SparseTensor(Dispatch, LazyMethods):
    """A tensor that is stored in a format; :func:`weft.asarray` and similar functions make one.

    Operators have the same meaning as for ndarrays. The other operand may be a tensor, a scalar, an ndarray, or an
    array or matrix of scipy.sparse; ``*`` is always element by element. The arrays of a tensor should not be changed in
    place, since tensors may share them with each other and with the objects that they were made from.

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
        """Sizes of the axes.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.shape
        (2, 2)
        """
        return self._anywhere.shape

    @property
    def ndim(self) -> int:
        """Number of axes.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.ndim
        2
        """
        return len(self._anywhere.shape)

    @property
    def size(self) -> int:
        """Number of elements, stored or implicit.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.size
        4
        """
        size = 1
        for length in self._anywhere.shape:
            size *= length
        return size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the values.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.dtype
        dtype('float64')
        """
        return self._anywhere.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries, explicit zeros among them.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.nnz, A.size
        (2, 4)
        """
        return foreign_tensors.count_entries(on_cpu_to_count(self._anywhere))

    @property
    def nbytes(self) -> int:
        """Number of bytes of all arrays.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.nbytes
        36
        """
        return self._anywhere.nbytes

    @property
    def kept(self) -> dict[str, int]:
        """Bytes of each conversion that the tensor keeps, by the name of the format.

        A tensor that an expression reads in another format keeps the coordinates of the converted tensor from the
        second call on. Values are copied at each call, so that changes are seen. :meth:`drop_kept` frees the memory,
        and ``weft.config.max_kept_bytes`` limits that of all tensors together.

        Examples
        --------
        >>> import weft
        >>> A = weft.eye(3, format="csr")
        >>> B = A.tocsc()
        >>> for _ in range(2):
        ...     C = weft.evaluate("C(i,k) = A(i,j)*B(j,k)", A=A, B=B)
        >>> list(B.kept)
        ['csr']
        """
        return dict(execution.kept_bytes(self._anywhere))

    def drop_kept(self) -> None:
        """Drop the conversions that the tensor keeps (see :attr:`kept`).

        Examples
        --------
        >>> import weft
        >>> A = weft.eye(3, format="csr")
        >>> A.drop_kept()
        >>> A.kept
        {}
        """
        execution.drop_kept(self._anywhere)

    @property
    def itemsize(self) -> int:
        """Number of bytes of an element.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.itemsize
        8
        """
        return self._anywhere.dtype.itemsize

    @property
    def base(self) -> None:
        """Always None: no tensor is a view of another that it would keep in memory.

        Examples
        --------
        >>> import weft
        >>> weft.eye(3, format="csr")[:2].base
        """
        return

    @property
    def format(self) -> str:
        """Name of the format, a string as in scipy.sparse.

        A tensor that was made with the name of a format keeps this name. A function that is given ``A.format`` as a
        format uses exactly the format of ``A``, with options such as the sizes of its blocks.

        Examples
        --------
        >>> import weft
        >>> A = weft.eye(4, format="csr")
        >>> A.format in {"csr", "csc"}, A.T.format, A.asformat("csf").format
        (True, 'csc', 'csf')
        """
        return shown_name(self._anywhere.format, self._named)

    @property
    def layout(self) -> Format:
        """Format of the tensor: a coordinate remapping, and a level format for each coordinate (2018, section 3).

        Examples
        --------
        >>> import weft
        >>> [str(level) for level in weft.eye(4, format="csr").layout.levels]
        ['dense', 'compressed']
        """
        return self._anywhere.format

    @property
    def fill_value(self) -> Any:
        """Value of implicit entries, a NumPy scalar.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> weft.cos(A).fill_value
        np.float64(1.0)
        """
        return self.dtype.type(self._anywhere.type.fill)

    @property
    def device(self) -> str:
        """Name of the device that has the tensor: ``'cpu'``, ``'cuda:0'`` or ``'emulated'``.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.device
        'cpu'
        """
        return self._anywhere.device

    @property
    def T(self) -> SparseTensor:  # noqa: N802
        """Transpose of the tensor, with all axes reversed; it shares all arrays.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.T.todense()
        array([[0., 2.],
               [1., 0.]])
        """
        return self._turned(tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> SparseTensor:  # noqa: N802
        """Transpose of the last two axes; it shares all arrays.

        Examples
        --------
        >>> import weft
        >>> T = weft.zeros((2, 3, 4), format="csf")
        >>> T.mT.shape
        (2, 4, 3)
        """
        if self.ndim < 2:
            raise ShapeError(f"mT needs two axes; this tensor has shape {self.shape}")
        *batch, i, j = range(self.ndim)
        return self._turned((*batch, j, i))

    def transpose(self, *order: Any, axes: Sequence[int] | None = None, copy: bool = False) -> SparseTensor:
        """Return the tensor with its axes in another order.

        Parameters
        ----------
        *order : int
            The axes in their new order, one by one or as a sequence. By default the axes are reversed.
        axes : sequence of int, optional
            Another way to give the order.
        copy : bool, optional
            True for a tensor that shares no memory with this one. By default both share all arrays.

        Raises
        ------
        ShapeError
            When the order is not a permutation of the axes.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.transpose().todense()
        array([[0., 2.],
               [1., 0.]])
        """
        if copy:
            return self.copy().transpose(*order, axes=axes)
        permutation: Any = order[0] if len(order) == 1 else order or axes
        if permutation is None:
            return self.T
        n = self.ndim
        permutation = tuple(map(operator.index, permutation if np.ndim(permutation) else (permutation,)))
        modes = tuple(axis + n if axis < 0 else axis for axis in permutation)
        if sorted(modes) != list(range(n)):
            raise ShapeError(f"axes {tuple(permutation)} are not a permutation of the {n} axes of shape {self.shape}")
        return self._turned(modes)

    def _turned(self, order: tuple[int, ...]) -> SparseTensor:
        return SparseTensor(self._anywhere.permuted(order))

    @property
    def real(self) -> SparseTensor:
        """Real part of each element.

        Examples
        --------
        >>> import weft
        >>> (weft.eye(2, format="csr") * (1 + 2j)).real.todense()
        array([[1., 0.],
               [0., 1.]])
        """
        return self._part("real")

    @property
    def imag(self) -> SparseTensor:
        """Imaginary part of each element.

        Examples
        --------
        >>> import weft
        >>> (weft.eye(2, format="csr") * (1 + 2j)).imag.todense()
        array([[2., 0.],
               [0., 2.]])
        """
        return self._part("imag")

    def _part(self, name: str) -> SparseTensor:
        storage = self._storage
        vals = np.ascontiguousarray(getattr(storage.vals, name))
        return SparseTensor(storage.with_values(vals, getattr(self.fill_value, name)))

    # -- order, duplicates and explicit fill values ------------------------------------------------------------
    @property
    def is_ordered(self) -> bool:
        """True if the format guarantees sorted coordinates in every level.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.is_ordered
        True
        """
        return all(level.ordered for level in self.layout.levels)

    @property
    def is_unique(self) -> bool:
        """True if the format guarantees that no coordinate is stored twice.

        Coordinates are not searched for duplicates. The value may be False for unsorted coordinates without duplicates.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[0, 0], [1, 1]], [2.0, 1.0], (2, 2), duplicates="keep")
        >>> A.is_unique, A.canonical().is_unique
        (False, True)
        """
        return self.layout.is_unique

    @property
    def is_canonical(self) -> bool:
        """True if the format guarantees sorted coordinates without duplicates.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.is_canonical
        True
        """
        return self.layout.is_canonical

    def canonical(self) -> SparseTensor:
        """Return the tensor in its own format with sorted coordinates and duplicates summed.

        The tensor itself is returned if its format guarantees both.

        Examples
        --------
        >>> import weft
        >>> coords = [[1, 0, 1], [0, 2, 0]]
        >>> A = weft.from_coords(coords, [1.0, 2.0, 3.0], (2, 3), duplicates="keep")
        >>> A.nnz, A.is_ordered, A.is_unique
        (3, False, False)
        >>> A.canonical().nnz
        2
        """
        return self._as(canonical(self._storage))

    def count_explicit_fill(self) -> int:
        """Count the stored values that equal the fill value, such as explicit zeros.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[0, 1], [1, 0]], [0.0, 2.0], shape=(2, 2), format="csr")
        >>> A.count_explicit_fill()
        1
        """
        return count_explicit_fill(self._storage)

    def pruned(self) -> SparseTensor:
        """Return the tensor in canonical form without entries that equal the fill value.

        Duplicates are summed first. Values in dense levels below the last sparse level are kept. The tensor itself is
        returned if there is nothing to change.

        Examples
        --------
        >>> import weft
        >>> A = weft.from_coords([[0, 1], [1, 0]], [0.0, 2.0], shape=(2, 2), format="csr")
        >>> A.pruned().nnz
        1
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
        """Return the tensor in another format; the tensor itself if it has this format already.

        Parameters
        ----------
        format : str, Format or None
            A catalogue name, letters such as ``"ds:1,0"``, or a format; None for the format of this tensor.
        copy : bool
            True for a tensor that shares no memory with this one. Otherwise both share the arrays that are equal in
            both formats, such as the column coordinates and the values of csr and a sorted coo.
        index_dtype : dtype, optional
            The dtype of the result's index arrays, int32 or int64; by default the smallest that is sufficient.
        sort : bool
            False to leave coordinates in the order in which they are stored. The format of the result is then not
            ordered (2020 paper, section 3).
        **options
            Options of the format: ``blocksize=(3, 3)`` for ``"bsr"``, ``block=...`` for ``"csb"`` and ``"hicoo"``.

        Raises
        ------
        FormatError
            For formats that do not exist or store another number of axes, and for options that they do not take.
        TypeError
            For arguments that neither this method nor a format takes.

        Examples
        --------
        >>> import numpy as np, weft
        >>> weft.asarray(np.eye(4)).asformat("bsr", blocksize=(2, 2)).nnz
        8
        """
        try:
            index = None if index_dtype is None else checked_index_dtype(index_dtype).name
            target = self._requested(format, sort, options)
            storage = execution.convert(self._storage, target, strict=True, index_dtype=index)
        except WeftError as error:
            end_at_caller(error)
            raise
        if copy:
            storage = storage.apart_from(self._storage)
        same = storage is self._storage and format in (None, self.format)
        return self if same else SparseTensor(storage).called(self._named if format is None else format)

    def _requested(self, format: FormatLike | None, sort: bool, options: Mapping[str, Any]) -> Format:
        """Return the format that :meth:`asformat` makes."""
        if options:
            check_keywords(SparseTensor.asformat, self.format if format is None else format, options)
        # Options are parts of formats, which must be hashable.
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        return foreign_tensors.requested(self._anywhere, self.layout if format is None else format, given, sort=sort)

    def suggest_format(self, op: str = "spmv") -> Suggestion:
        """Suggest a format that suits this tensor, with the reasons.

        Parameters
        ----------
        op : {'spmv', 'spgemm', 'add', 'insert'}
            The operation that the tensor is needed for.

        Returns
        -------
        Suggestion
            The name of a format, ``format``, its ``options`` for :meth:`asformat`, and ``reasons``.

        Raises
        ------
        FormatError
            For other operations.

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
        return format_advice.suggest_format(self._storage, op)

    @_conversion("which stores the coordinates of each entry")
    def tocoo(self, copy: bool = False) -> SparseTensor:
        return self.asformat("coo", copy)

    @_conversion("compressed sparse columns")
    def tocsc(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csc", copy)

    @_conversion("compressed sparse rows")
    def tocsr(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csr", copy)

    @_conversion("which stores diagonals")
    def todia(self, copy: bool = False) -> SparseTensor:
        return self.asformat("dia", copy)

    @_conversion("a hash table of coordinates")
    def todok(self, copy: bool = False) -> SparseTensor:
        return self.asformat("dok", copy)

    @_conversion("whose rows can grow")
    def tolil(self, copy: bool = False) -> SparseTensor:
        return self.asformat("lil", copy)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> SparseTensor:
        """Convert the matrix to format bsr, which stores blocks.

        Parameters
        ----------
        blocksize : tuple of int, optional
            The rows and columns of a block. By default the largest square blocks that divide the matrix and are nearly
            full, as in SciPy.
        copy : bool, optional
            True for a tensor that shares no memory with this one.

        Examples
        --------
        >>> import weft
        >>> weft.ones((4, 4)).tobsr((2, 2)).blocksize
        (2, 2)
        """
        if blocksize is None:
            blocksize = (format_advice.block_side(self),) * 2
        return self.asformat("bsr", copy, blocksize=blocksize)

    def astype(
        self, dtype: DTypeLike, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> SparseTensor:
        """Convert the values to another dtype; the result shares the index arrays of this tensor.

        Parameters
        ----------
        dtype : dtype
            The dtype of the result.
        order, subok : optional
            NumPy's parameters for the order of memory and for subclasses, which change nothing.
        casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}, optional
            The rule by which values may be converted.
        copy : bool, optional
            False to return this tensor itself if it has this dtype already.

        Raises
        ------
        TypeError
            When ``casting`` does not allow the conversion.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.astype("float32").dtype
        dtype('float32')
        """
        target = value_dtype(dtype)
        if not np.can_cast(self.dtype, target, casting):
            raise TypeError(f"cannot cast a tensor of {self.dtype} to {target} according to the rule {casting!r}")
        if target == self.dtype and not copy:
            return self
        return self._in_dtype(target)

    def _in_dtype(self, dtype: np.dtype[Any]) -> SparseTensor:
        return SparseTensor(execution.in_dtype(self._anywhere, dtype)).called(self._named)

    def copy(self, order: Any = "C") -> SparseTensor:
        """Return a tensor that shares no memory with this one.

        Parameters
        ----------
        order : optional
            NumPy's parameter for the order of memory, which changes nothing.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> B = A.copy()
        >>> B[0, 1] = 9.0
        >>> A[0, 1], B[0, 1]
        (np.float64(1.0), np.float64(9.0))
        """
        old = self._anywhere
        new = Storage(old.shape, old.type, tuple(a.copy() for a in old.arrays), old.vals.copy())
        return SparseTensor(new).called(self._named)

    def __copy__(self) -> SparseTensor:
        """Return a tensor that shares no memory with this one, as NumPy does; its arrays need no check."""
        return self.copy()

    def __deepcopy__(self, memo: Any) -> SparseTensor:
        """Return a tensor that shares no memory with this one; its arrays need no check."""
        return self.copy()

    def todense(self, order: Any = None, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Return an ndarray of all elements, which shares memory with the tensor if the format is dense.

        Parameters
        ----------
        order : {'C', 'F'}, optional
            The memory order of the array. By default no order is guaranteed.
        out : ndarray, optional
            An array of the same shape and dtype to write the elements into.

        Raises
        ------
        ValueError
            When ``out`` has another shape or dtype, or is given together with ``order``.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.todense()
        array([[0., 1.],
               [2., 0.]])
        """
        storage = self._anywhere
        if in_use and storage.is_on_device:
            return dense_on_device(storage, order, out)  # type: ignore[no-any-return]
        if not storage.format.is_dense:
            storage = foreign_tensors.convert(storage, "dense_f" if order == "F" and self.ndim else "dense")
        array = storage.to_dense_array()
        if out is None:
            return array if order is None else np.asarray(array, order=order)
        if out.shape != array.shape or out.dtype != array.dtype or order is not None:
            raise ValueError(f"out has shape {out.shape} and dtype {out.dtype}, not {array.shape} and {array.dtype}")
        out[...] = array
        return out

    to_numpy = todense
    toarray = todense

    def to_coo(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the coordinates, an array of shape ``(ndim, nnz)``, and the values of the stored entries.

        Both are copies, in lexicographic order of the coordinates and without duplicates.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> coords, values = A.to_coo()
        >>> coords.tolist(), values.tolist()
        ([[0, 1], [1, 0]], [1.0, 2.0])
        """
        storage = foreign_tensors.convert(self._storage, "coo").apart_from(self._storage)
        crds = storage.arrays[1:]
        if not crds:
            return np.zeros((0, storage.nnz), smallest_index_dtype(0)), storage.vals
        return np.stack(crds), storage.vals

    def to_scipy_sparse(self, format: SciPyFormat | None = None) -> sparray:
        """Convert the tensor to a scipy.sparse array, which shares the memory of csr, csc, coo, dia and bsr tensors.

        Parameters
        ----------
        format : {'bsr', 'coo', 'csc', 'csr', 'dia', 'dok', 'lil'}, optional
            A format of SciPy. By default the format of the tensor if SciPy has it, else ``"coo"``.

        Raises
        ------
        FormatError
            For fill values other than 0, and for formats that SciPy does not have.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.to_scipy_sparse().format
        'csr'
        """
        return foreign_tensors.write("scipy", self._storage, format)

    def to_pydata_sparse(self, format: PydataFormat | None = None) -> Any:
        """Convert the tensor to an array of the package ``sparse``, which must be installed.

        Parameters
        ----------
        format : {'coo', 'gcxs', 'dok'}, optional
            The format of the array. By default a tensor in csr, csc or gcxs becomes a GCXS array that shares its
            memory, and any other a COO array.

        Raises
        ------
        FormatError
            For other formats.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.to_pydata_sparse().format
        'gcxs'
        """
        return foreign_tensors.write("sparse", self._storage, format)

    def item(self, *index: Any) -> bool | int | float | complex:
        """Return an element as a Python scalar.

        Parameters
        ----------
        *index : int or tuple of int
            The coordinates of the element, or its index in the flattened tensor; none for the only element.

        Raises
        ------
        ShapeError
            Without an index, when there is not exactly one element.
        IndexError
            When the tensor has no such element.

        Examples
        --------
        >>> import weft
        >>> weft.asarray([[3.0]], format="csr").item()
        3.0
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.item(2), A.item(0, 1)
        (2.0, 1.0)
        """
        if not index:
            if self.size != 1:
                raise ShapeError(f"item() needs exactly one element; this tensor has shape {self.shape}")
            return self.todense().item()  # type: ignore[no-any-return]
        coords: Any = index[0] if len(index) == 1 else index
        if not isinstance(coords, tuple):
            flat, size = operator.index(coords), self.size
            if not -size <= flat < size:
                raise IndexError(f"index {flat} is out of bounds for size {size}")
            coords = np.unravel_index(flat % size, self.shape)
        if len(coords) != self.ndim:
            raise IndexError(f"item{index} has {len(coords)} coordinates; this tensor has shape {self.shape}")
        return self[tuple(map(operator.index, coords))].item()

    # -- protocols ---------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        storage = self._anywhere
        away = in_use and storage.is_on_device
        if storage.format.is_dense and not away:
            return tree.array_repr(storage, self.format)
        fill = storage.type.fill
        return (
            f"<SparseTensor: shape={self.shape}, dtype={self.dtype}, format={self.format}, nnz={self.nnz}, "
            f"fill_value={bool(fill) if self.dtype == bool else fill}{f', device={storage.device}' if away else ''}>"
        )

    def __str__(self) -> str:
        """Return the text that ``print`` shows: a dense tensor's is NumPy's, others list entries in storage order."""
        if in_use and self._anywhere.is_on_device:
            return repr(self)
        if self._storage.format.is_dense:
            return str(self._storage.to_dense_array())
        return "\n".join([repr(self), *tree.entry_lines(self._storage)])

    def __format__(self, spec: str) -> str:
        """Return the text of a tensor without axes as a number is formatted, as in NumPy."""
        return format(self.item(), spec) if spec and not self.ndim else super().__format__(spec)

    def _repr_inline_(self, max_width: int) -> str:
        """Return the line that xarray shows of a variable in a Dataset."""
        line = f"{self.format}: nnz={self.nnz}, fill_value={self.fill_value}"
        return line if len(line) <= max_width else f"{line[: max(max_width - 3, 0)]}..."

    def _repr_html_(self) -> str | None:
        """Return the HTML that notebooks show: a table of facts, and a picture of the places of stored entries."""
        if in_use and self._anywhere.is_on_device:
            return None  # notebooks show the text of repr
        return display.to_html(self._storage, self.format)

    def tree(self, max_entries: int = 50) -> Tree:
        """Return the coordinate hierarchy as text, from the root over the levels to the values at the leaves.

        The levels are those of the storage, from the root. Their names are the coordinates in the format's remapping. A
        coordinate of a branchless level continues the line of its parent.

        Parameters
        ----------
        max_entries : int, optional
            The largest number of values, and of coordinates with nothing below them, to show.

        Returns
        -------
        str
            The hierarchy. An interactive prompt shows it without quotes.

        Examples
        --------
        >>> import weft
        >>> coords = [[0, 0, 2], [0, 2, 1]]
        >>> A = weft.from_coords(coords, [1.5, 2.0, 3.0], (3, 3), format="csr")
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
        return tree.tree(self._storage, self.format, max_entries)

    @overload
    def __getitem__(self, key: slice | EllipsisType | list[Any] | Array | SparseTensor | None) -> SparseTensor: ...
    @overload
    def __getitem__(self, key: Any) -> SparseTensor | Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Return elements that are selected by NumPy's rules.

        Parameters
        ----------
        key : object
            Integers, slices, ``...``, ``None``, and arrays of integers or booleans, in any combination. A mask may be a
            tensor of ``bool``, whose cost depends on its stored entries alone.

        Returns
        -------
        SparseTensor or scalar
            A tensor in the format of this one, or in the nearest format for another number of axes; a NumPy scalar if
            integers select one element.

        Raises
        ------
        IndexError
            For keys that do not fit the shape.

        Examples
        --------
        >>> import weft
        >>> coords = [[0, 1, 2], [2, 0, 1]]
        >>> A = weft.from_coords(coords, [1.5, 2.0, 3.0], (3, 3), format="csr")
        >>> A[1:, 0], A[0, 2]
        (<SparseTensor: shape=(2,), dtype=float64, format=coo, nnz=1, fill_value=0>, np.float64(1.5))
        >>> A[[2, 0]].todense()
        array([[0. , 3. , 0. ],
               [0. , 0. , 1.5]])
        """
        # One element is read without compiled code, and without storing the assigned elements that are collected.
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
        try:
            part = getitem(self._storage, key)
        except WeftError as error:
            end_at_caller(error)
            raise
        dots = key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))
        return SparseTensor(part) if part.shape or dots else SparseTensor(part).todense()[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign a scalar, an array or a tensor to elements that are selected by NumPy's rules.

        The value is broadcast to the shape of ``self[key]`` and converted to the dtype of this tensor. A dense tensor
        is written in place, so that objects that share its memory change, too. Tensors in formats that support
        insertion (dok, hash, lil) are copied once. Later assignments insert into this copy until the tensor is used as
        a whole. Tensors in any other format are stored again. Single elements are collected, and are stored together
        when the tensor is used as a whole.

        Parameters
        ----------
        key : object
            The elements to assign, as in indexing.
        value : array_like
            The value to assign.

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
        # Single elements are collected in a dictionary. Other assignments are made at once.
        place = place_of(key) if isinstance(value, (int, float, complex, np.generic)) else None
        if place is None or not self._assign_element(place, value):
            self._put(_as_it_is(key), _as_it_is(value))

    def _put(self, key: Any, value: Any) -> None:
        """Assign a value to the elements that ``key`` selects."""
        writing = self._begin()
        with writing.lock:
            # From here on the pending assignments hold the storage. The tensor has none, so that reading its attribute
            # _storage finishes the assignments first.
            if writing.base is None:
                storage = self._storage
                writing.base = storage
                del self._storage
            writing.put(key, value)
            if writing.room is None:  # the format does not support insertion, and the tensor is stored again already
                self._end(writing, writing.storage)

    def _begin(self) -> PendingWrites:
        """Return the pending assignments of this tensor, and create them on its first assignment."""
        try:
            return self._writing
        except AttributeError:
            with _FIRST:
                if getattr(self, "_writing", None) is None:
                    self._writing = PendingWrites(setitem)
                return self._writing

    def _assign_element(self, place: tuple[int, ...], value: Any) -> bool:
        """Collect the assignment of one element; return False if ``place`` names no element or the format is dense."""
        writing = self._begin()
        with writing.lock:
            storage = writing.base
            if storage is not None:
                if len(place) != len(storage.shape):
                    return False
                writing.written[inside(place, storage.shape)] = storage.vals.dtype.type(value)
                return True
            storage = self._storage
            if len(place) != len(storage.shape) or storage.type.format.is_dense:
                return False
            place, scalar = inside(place, storage.shape), storage.vals.dtype.type(value)
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
            raise ValueError(
                f"the truth value of a tensor with shape {self.shape} is ambiguous; use weft.array_equal(A, B) to "
                "compare tensors as a whole, or .all() and .any()"
            )
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
        return self.round(ndigits)

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())


_FIRST = data_lock()
"""Lock that is held while a tensor gets its object of pending assignments."""
_NEVER = PendingWrites(setitem)
"""Pending assignments of tensors that have never been assigned to."""


def _as_it_is(argument: Any) -> Any:
    """Return an argument, with each tensor in it replaced by its present state.

    The assignment reads the arguments while it holds a lock. These tensors have no lock of their own to wait for.
    """
    if isinstance(argument, StorageHolder):
        return SparseTensor(storage_of(argument))
    return tuple(map(_as_it_is, argument)) if type(argument) is tuple else argument
