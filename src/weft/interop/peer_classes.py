"""Array classes of scipy.sparse and of the package ``sparse``, which are called in the same way and make tensors.

Each class represents the tensors of one format: ``isinstance(A, weft.csr_array)`` tests the format of ``A``.

Examples
--------
>>> import weft
>>> A = weft.csr_array(([1.0, 2.0, 3.0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3))
>>> A
<SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=2, fill_value=0>
>>> isinstance(A, weft.csr_array), isinstance(A, weft.COO)
(True, False)
>>> weft.COO([[0, 1], [2, 0]], [1.5, 2.0], shape=(2, 3)).coords
array([[0, 1],
       [2, 0]])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import index_dtype
from ..errors import ShapeError
from ..formats import FormatOptions, check_keywords, formats
from ..numpy_api.creation import zeros
from ..numpy_api.searching import where
from ..operations.fill_change import change_fill
from ..operations.operands import storage_of
from ..storage import segment_order
from ..tensor.construction import as_shape, asarray, from_coords, from_levels
from ..tensor.sparse_tensor import SparseTensor


class _OfFormat(type):
    """A metaclass of classes whose instances are the tensors of one format."""

    format: str

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, SparseTensor) and bool(obj.format == cls.format)


class _ScipyArray(metaclass=_OfFormat):
    """A tensor in the format of the class name, made from the arguments of SciPy's class of that name."""

    format: str
    pairs = "sum"
    """Treatment of duplicates if ``arg1`` is a pair of values and coordinates; empty if pairs mean something else."""

    def __new__(
        cls, arg1: Any, shape: Any = None, dtype: DTypeLike | None = None, copy: bool = False, blocksize: Any = None
    ) -> Any:
        options: dict[str, Any] = {} if blocksize is None else {"blocksize": tuple(blocksize)}
        if isinstance(arg1, int | np.integer) and isinstance(shape, int | np.integer):
            raise ShapeError(f"a shape is a tuple: weft.{cls.__name__}(({arg1}, {shape}))")
        tensor = cls._read(arg1, shape, dtype)
        if shape is not None and tuple(shape) != tensor.shape:
            raise ShapeError(f"{cls.__name__}: a tensor of shape {tensor.shape} does not have shape {tuple(shape)}")
        if options:
            tensor = tensor.asformat(cls.format, **options)
        elif tensor.format != cls.format:
            tensor = getattr(tensor, f"to{cls.format}")()  # tobsr chooses the size of blocks, which asformat does not
        return tensor.copy() if copy else tensor

    @classmethod
    def _read(cls, arg1: Any, shape: Any, dtype: DTypeLike | None) -> SparseTensor:
        """Convert the first argument of the class to a tensor of any format."""
        match arg1:
            case tuple() if arg1 and all(isinstance(n, int | np.integer) for n in arg1):
                return zeros(tuple(map(int, arg1)), dtype=dtype)
            case (data, coords) if isinstance(arg1, tuple) and cls.pairs:
                return from_coords(coords, data, shape, dtype=dtype, duplicates=cls.pairs)  # type: ignore[arg-type]
            case tuple() if len(arg1) in (2, 3):
                import scipy.sparse

                # SciPy's class checks the arrays by its own rules, and asarray shares them.
                return asarray(getattr(scipy.sparse, f"{cls.format}_array")(arg1, shape=shape, dtype=dtype))
        return asarray(arg1, dtype=dtype)


def _index_dtype(dtype: DTypeLike | None) -> np.dtype[Any] | None:
    """Return the index dtype of weft that holds the numbers of another dtype; None for None."""
    return None if dtype is None else index_dtype(np.iinfo(dtype).max)


def _kind(format: str, pairs: str = "sum") -> Any:
    doc = f"""{cleandoc(_ScipyArray.__doc__ or "")}

Examples
--------
>>> import weft
>>> weft.{format}_array([[0.0, 1.0], [2.0, 0.0]])
<SparseTensor: shape=(2, 2), dtype=float64, format={format}, nnz=2, fill_value=0>
"""
    members = {"format": format, "pairs": pairs, "__doc__": doc, "__module__": __name__}
    return _OfFormat(f"{format}_array", (_ScipyArray,), members)


if TYPE_CHECKING:  # type checkers see subclasses of SparseTensor, so that calls and isinstance have the right types

    class _Made(SparseTensor):
        def __init__(
            self,
            arg1: Any,
            shape: Any = None,
            dtype: DTypeLike | None = None,
            copy: bool = False,
            blocksize: Any = None,
        ) -> None: ...

    class bsr_array(_Made): ...  # noqa: N801

    class coo_array(_Made): ...  # noqa: N801

    class csc_array(_Made): ...  # noqa: N801

    class csr_array(_Made): ...  # noqa: N801

    class dia_array(_Made): ...  # noqa: N801

    class dok_array(_Made): ...  # noqa: N801

    class lil_array(_Made): ...  # noqa: N801

else:
    bsr_array = _kind("bsr")
    coo_array = _kind("coo", pairs="keep")
    csc_array = _kind("csc")
    csr_array = _kind("csr")
    dia_array = _kind("dia", pairs="")
    dok_array = _kind("dok")
    lil_array = _kind("lil")


class _PydataArray(metaclass=_OfFormat):
    """Base of the classes of the package ``sparse``, with their alternative constructors."""

    format: str

    @classmethod
    def from_numpy(
        cls, x: Any, fill_value: Any = None, idx_dtype: DTypeLike | None = None, **options: Unpack[FormatOptions]
    ) -> SparseTensor:
        """Make a tensor from the elements of an ndarray that differ from the fill value."""
        check_keywords(cls.from_numpy, cls.format, options)
        whole = asarray(np.asarray(x), fill_value=fill_value)
        return cls.from_coo(whole, idx_dtype=idx_dtype, **options).pruned()

    @classmethod
    def from_scipy_sparse(cls, x: Any, /, *, fill_value: Any = None) -> SparseTensor:
        """Make a tensor from an array of scipy.sparse."""
        return asarray(x, fill_value=fill_value, format=cls.format).canonical()

    @classmethod
    def from_coo(cls, x: Any, idx_dtype: DTypeLike | None = None, **options: Unpack[FormatOptions]) -> SparseTensor:
        """Make a tensor of this class's format from a tensor of any format."""
        check_keywords(cls.from_coo, cls.format, options)
        told: dict[str, Any] = {**options}
        given: Any = {name: tuple(value) if np.ndim(value) else value for name, value in told.items()}
        return asarray(x).asformat(cls.format, index_dtype=_index_dtype(idx_dtype), **given)

    @classmethod
    def from_iter(
        cls, x: Any, shape: Any = None, fill_value: Any = None, dtype: DTypeLike | None = None
    ) -> SparseTensor:
        """Make a tensor from coordinates and values in a mapping or an iterable."""
        # A pair of values and coordinates is SciPy's notation; anything else consists of coordinates with their values.
        fill = 0 if fill_value is None else fill_value
        if _is_data_and_rows(x):
            values = np.asarray(x[0], dtype)
            return from_coords(x[1], values, shape, fill_value=fill, format=cls.format)
        pairs: Iterable[Any] = x.items() if isinstance(x, Mapping) else x
        entries = [(key if isinstance(key, tuple) else (key,), value) for key, value in pairs]
        order = len(entries[0][0]) if entries else len(shape or ())
        coords = np.array([key for key, _ in entries], np.int64).reshape(len(entries), order).T
        values = np.array([value for _, value in entries], dtype)
        return from_coords(coords, values, shape, fill_value=fill, format=cls.format)


class COO(_PydataArray):
    """A tensor in format coo, made from the arguments of ``sparse.COO``.

    Parameters
    ----------
    coords : array_like
        Coordinates of shape ``(ndim, nnz)``. Without ``data``, an array, ``{coordinates: value}``, or
        ``(data, (rows, columns))``.
    data : array_like or scalar, optional
        The values. Values of equal coordinates are summed.
    shape : tuple of int, optional
        The shape of the tensor. By default the smallest that holds the coordinates.
    has_duplicates, sorted, cache : bool, optional
        Ignored: coordinates are checked in any case.
    prune : bool
        True to leave out values that equal the fill value.
    fill_value : scalar, optional
        The fill value; 0 by default.
    idx_dtype : dtype, optional
        A dtype that limits the index arrays, which are int32 if it holds no larger numbers, else int64.

    Examples
    --------
    >>> import weft
    >>> weft.COO([[0, 1], [1, 0]], [1.0, 2.0], shape=(2, 2))
    <SparseTensor: shape=(2, 2), dtype=float64, format=coo, nnz=2, fill_value=0>
    """

    format = "coo"

    def __new__(  # noqa: PLR0913  # the parameters of the package sparse
        cls, coords: Any, data: Any = None, shape: Any = None, has_duplicates: bool = True, sorted: bool = False,
        prune: bool = False, cache: bool = False, fill_value: Any = None, idx_dtype: DTypeLike | None = None,
    ) -> Any:  # fmt: skip
        # The first argument decides by its type which constructor of the package sparse is meant.
        if data is None and _is_data_and_rows(coords):
            data, coords = coords
        if data is not None:
            fill = 0 if fill_value is None else fill_value
            rows: Any = np.atleast_2d(np.asarray(coords)) if shape is None or np.size(shape) else []
            tensor = from_coords(rows, data, shape, fill_value=fill)
        elif isinstance(coords, Mapping) or (isinstance(coords, list | tuple) and coords and _is_pair(coords[0])):
            tensor = cls.from_iter(coords, shape, fill_value)
        elif isinstance(coords, np.ndarray | list | tuple | int | float | complex):
            tensor = _of_shape(cls.from_numpy(coords, fill_value), shape)
        else:
            tensor = _of_shape(asarray(coords, fill_value=fill_value, format="coo"), shape)
        tensor = tensor.pruned() if prune else tensor
        return tensor.asformat("coo", index_dtype=_index_dtype(idx_dtype))


def _of_shape(tensor: SparseTensor, shape: Any) -> SparseTensor:
    """Return a tensor made of an array, if the array has the requested shape."""
    if shape is not None and as_shape(shape) != tensor.shape:
        asked = as_shape(shape)
        raise ShapeError(f"an array of shape {tensor.shape} was given together with shape={asked}; omit shape")
    return tensor


def _is_data_and_rows(x: Any) -> bool:
    """Return whether an argument is a pair of values and coordinates, as in SciPy."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], tuple)


def _is_pair(x: Any) -> bool:
    """Return whether an argument is a pair of coordinates and a value."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], tuple)


class GCXS(_PydataArray):
    """A tensor in format gcxs, made from the arguments of ``sparse.GCXS``.

    Parameters
    ----------
    arg : array_like or tuple
        ``(data, indices, indptr)``, three arrays that are shared, or anything array-like.
    shape : tuple of int, optional
        The shape of the tensor, which is required with three arrays.
    compressed_axes : sequence of int, optional
        The axes that make the rows; by default the shortest axis.
    prune : bool
        True to leave out values that equal the fill value.
    fill_value : scalar, optional
        The fill value; 0 by default.
    idx_dtype : dtype, optional
        A dtype that limits the index arrays, which are int32 if it holds no larger numbers, else int64.

    Examples
    --------
    >>> import weft
    >>> weft.GCXS([[0.0, 1.0], [2.0, 0.0]], compressed_axes=(1,))
    <SparseTensor: shape=(2, 2), dtype=float64, format=gcxs, nnz=2, fill_value=0>
    """

    format = "gcxs"

    def __new__(
        cls, arg: Any, shape: Any = None, compressed_axes: Any = None, prune: bool = False, fill_value: Any = None,
        idx_dtype: DTypeLike | None = None,
    ) -> Any:  # fmt: skip
        arrays = isinstance(arg, tuple) and len(arg) == 3
        source = None if arrays else _of_shape(asarray(arg, fill_value=fill_value), shape)
        sizes = tuple(shape) if source is None else source.shape
        options: dict[str, Any] = {}
        if len(sizes) > 1:
            rows = (np.argmin(sizes),) if compressed_axes is None else compressed_axes
            options["compressed_axes"] = tuple(int(axis) for axis in rows)
        if source is not None:
            tensor = source.asformat(cls.format, index_dtype=_index_dtype(idx_dtype), **options)
            return tensor.pruned() if prune or isinstance(arg, np.ndarray) else tensor
        # One pass over the coordinates decides what the format may guarantee of them.
        data, indices, indptr = arg
        pos, crd = np.asarray(indptr), np.asarray(indices)
        format = formats[cls.format](len(sizes), **options)
        try:
            ordered, unique = segment_order(pos, crd)
        except IndexError:  # the check of the levels says what is wrong with the bounds
            ordered, unique = True, True
        loose = format if ordered and unique else format.unsorted(unique)
        levels = [None] * (len(format.levels) - 1) + [{"pos": pos, "crd": crd}]
        tensor = from_levels(sizes, loose, levels, data, fill_value=0 if fill_value is None else fill_value)
        return tensor.pruned() if prune else tensor


class DOK(_PydataArray):
    """A tensor in format dok, made from the arguments of ``sparse.DOK``.

    Parameters
    ----------
    shape : int or tuple of int
        The sizes of the axes; or a tensor of any format, which is converted.
    data : mapping or array_like, optional
        ``{coordinates: value}``, or an array of all elements.
    dtype : dtype, optional
        The dtype of the values; float64 by default if there is no data.
    fill_value : scalar, optional
        The fill value; 0 by default.

    Examples
    --------
    >>> import weft
    >>> A = weft.DOK((2, 2), {(0, 1): 1.0})
    >>> A[1, 0] = 2.0
    >>> A.todense()
    array([[0., 1.],
           [2., 0.]])
    """

    format = "dok"

    def __new__(cls, shape: Any, data: Any = None, dtype: DTypeLike | None = None, fill_value: Any = None) -> Any:
        # Another array in the place of the shape is converted, as in the package sparse.
        sizes = (shape,) if isinstance(shape, int | np.integer) else shape
        if not isinstance(sizes, tuple | list):
            return cls.from_coo(sizes)
        if data is not None and not isinstance(data, Mapping):
            return _of_shape(cls.from_numpy(np.asarray(data, dtype), fill_value), sizes)
        if data and any(np.size(key) < len(sizes) for key in data):  # such a key selects more than one element
            tensor = cls(
                sizes,
                dtype=np.result_type(*map(np.asarray, data.values())) if dtype is None else dtype,
                fill_value=fill_value,
            )
            for key, value in data.items():
                tensor[key] = value
            return tensor
        return cls.from_iter(data or {}, tuple(sizes), fill_value, np.float64 if not data and dtype is None else dtype)


SparseArray = SparseTensor


def as_coo(x: Any, shape: Any = None, fill_value: Any = None, idx_dtype: DTypeLike | None = None) -> SparseTensor:
    """Convert anything array-like to format coo.

    Parameters
    ----------
    x : array_like
        The array, or any first argument of ``COO``.
    shape, fill_value, idx_dtype : optional
        The arguments of ``COO`` with these names.

    Examples
    --------
    >>> import weft
    >>> weft.as_coo([[0, 1], [2, 0]])
    <SparseTensor: shape=(2, 2), dtype=int64, format=coo, nnz=2, fill_value=0>
    """
    return COO(x, shape=shape, fill_value=fill_value, idx_dtype=idx_dtype)  # type: ignore[no-any-return]


asCOO = as_coo  # noqa: N816


def asnumpy(a: Any, dtype: DTypeLike | None = None, order: Any = None) -> np.ndarray[Any, Any]:
    """Convert a tensor or anything array-like to an ndarray of all elements.

    Parameters
    ----------
    a : array_like
        The tensor.
    dtype : dtype, optional
        The dtype of the result.
    order : {'C', 'F', 'A', 'K'}, optional
        The memory order of the result.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.asnumpy(A)
    array([[0., 1.],
           [2., 0.]])
    """
    return np.asarray(a.todense() if isinstance(a, SparseTensor) else a, dtype, order)


def elemwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to arguments element by element, which is ``func(*args, **kwargs)`` for tensors.

    Parameters
    ----------
    func : callable
        The function, such as a ufunc.
    *args, **kwargs
        Its arguments, with tensors among them.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.elemwise(np.multiply, A, 3.0).todense()
    array([[0., 3.],
           [6., 0.]])
    """
    return func(*args, **kwargs)


def nanreduce(
    x: Any, method: np.ufunc, identity: Any = None, axis: Any = None, keepdims: bool = False, **kwargs: Any
) -> Any:
    """Reduce a tensor by a ufunc, without its elements that are NaN.

    Parameters
    ----------
    x : array_like
        The tensor.
    method : numpy.ufunc
        The ufunc.
    identity : scalar, optional
        The value that replaces NaN. By default the identity of the ufunc; for ``maximum`` and ``minimum`` NaN is
        ignored.
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool, optional
        True to keep the reduced axes with size 1.
    **kwargs
        Other arguments of ``method.reduce``.

    Raises
    ------
    TypeError
        If ``method`` is no ufunc.
    ValueError
        If neither the ufunc nor the caller has an identity.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanreduce(x, np.add)
    np.float64(2.0)
    """
    tensor: Any = asarray(x)
    if not callable(getattr(method, "reduce", None)):
        raise TypeError(f"nanreduce takes a ufunc such as numpy.add, not {method!r}")
    # maximum and minimum have no identity, but variants that ignore NaN.
    if identity is None and method in (np.maximum, np.minimum):
        method = np.fmax if method is np.maximum else np.fmin
    else:
        start = method.identity if identity is None else identity
        if start is None:
            raise ValueError(f"{method.__name__} has no identity, which takes the place of NaN; give identity=")
        tensor = where(np.isnan(tensor), tensor.dtype.type(start), tensor)
    return method.reduce(tensor, axis=axis, keepdims=keepdims, **kwargs)


def diagonalize(a: Any, axis: int = 0) -> SparseTensor:
    """Put the elements of a tensor on the diagonals of one of its axes and a new last axis.

    Parameters
    ----------
    a : array_like
        The tensor.
    axis : int, optional
        The axis that the new axis, which is the last one, is combined with. An element of the result is an element of
        ``a`` if both coordinates are equal, and zero otherwise.

    Examples
    --------
    >>> import weft
    >>> weft.diagonalize([1.0, 2.0]).todense()
    array([[1., 0.],
           [0., 2.]])
    """
    tensor = SparseTensor(change_fill(storage_of(asarray(a)), 0))
    coords, values = tensor.to_coo()
    return from_coords([*coords, coords[axis]], values, (*tensor.shape, tensor.shape[axis]))
