"""Functions that join and split tensors, under the names of NumPy and the array API standard.

Examples
--------
>>> import weft
>>> A = weft.from_coords([[0, 1], [2, 0]], [1.5, 2.0], shape=(2, 3), format="csr")
>>> weft.concat([A, A], axis=1).todense()
array([[0. , 0. , 1.5, 0. , 0. , 1.5],
       [2. , 0. , 0. , 2. , 0. , 0. ]])
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import value_dtype
from ..execution.plan_cache import kept
from ..formats import Format, FormatLike, TensorType
from ..index_notation.nodes import Access, Apply, Assignment
from ..operations.axes import normalize_axis_index
from ..operations.elementwise import plan_operation
from ..operations.indexing import format_for_axes, without_long_arrays
from ..operations.joining import joined
from ..operations.operands import storage_of
from ..remapping import Remapping
from ..runtime import memory
from ..storage import Storage, checked_shape, is_far_longer, tensor_type
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel

if TYPE_CHECKING:
    from ..tensor.types import Casting


@memory.guarded
def concat(
    arrays: Sequence[Any], /, axis: int | None = 0, out: Any = None, *, dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> SparseTensor:  # fmt: skip
    """Return tensors joined along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        The tensors.
    axis : int, optional
        The axis. If it is None, the tensors are flattened.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    dtype : dtype, optional
        The dtype of the result, if there is no ``out``; by default the common dtype of the tensors.
    casting : {'same_kind', 'safe', 'unsafe', 'no', 'equiv'}
        The rule by which tensors may be converted to the dtype of the result.

    Returns
    -------
    SparseTensor
        A tensor with the format and the fill value of the first tensor that is not dense. Tensors of other fill values
        are converted. Or ``out``.

    Raises
    ------
    ValueError
        If there are no tensors, or a tensor has no axis.
    TypeError
        If ``casting`` does not allow a conversion, or both ``out`` and ``dtype`` are given.
    ShapeError
        If the shapes differ in another axis.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.concat([A, A], axis=1).todense()
    array([[0., 1., 0., 1.],
           [2., 0., 2., 0.]])
    """
    storages = [storage_of(ravel(x) if axis is None else x) for x in arrays]
    if not storages:
        raise ValueError("need at least one array to concatenate")
    if not storages[0].shape:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    along = normalize_axis_index(axis or 0, len(storages[0].shape))
    if out is not None and dtype is not None:
        raise TypeError("concat takes out or dtype, not both")
    if dtype is not None or out is not None:
        result_dtype = out.dtype if dtype is None else value_dtype(dtype)
        for storage in storages:
            if not np.can_cast(storage.dtype, result_dtype, casting):
                raise TypeError(f"concat cannot convert {storage.dtype} to {result_dtype} by casting {casting!r}")
        storages = [execution.in_dtype(storage, result_dtype) for storage in storages]
    return put_into(out, SparseTensor(joined(storages, along)), "concat")  # type: ignore[no-any-return]


def concatenate(
    arrays: Sequence[Any], axis: int | None = 0, out: Any = None, *, dtype: DTypeLike | None = None,
    casting: Casting = "same_kind", format: FormatLike | None = None,
) -> SparseTensor:  # fmt: skip
    """Return tensors joined along an axis: NumPy's name of :func:`concat`.

    Unlike NumPy's, the function takes a format.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.concatenate([A, A]).todense()
    array([[0., 1.],
           [2., 0.],
           [0., 1.],
           [2., 0.]])
    """
    found = concat(arrays, axis, out, dtype=dtype, casting=casting)
    return found if format is None or out is not None else found.asformat(format)


def as_asked(tensor: SparseTensor, format: FormatLike | None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Return a tensor in the requested format and dtype; None leaves either as it is."""
    return (tensor if dtype is None else tensor.astype(dtype, copy=False)).asformat(format)


def stack(
    arrays: Sequence[Any], /, axis: int = 0, out: Any = None, *, dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> SparseTensor:  # fmt: skip
    """Return tensors of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        The tensors.
    axis : int
        The place of the new axis in the result.
    out, dtype, casting
        The arguments of :func:`concat`.

    Returns
    -------
    SparseTensor
        A tensor with one more axis. Its fill value is that of :func:`concat`.

    Raises
    ------
    ValueError
        If there are no tensors, or shapes differ.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.stack([x, x]).todense()
    array([[0., 3.],
           [0., 3.]])
    """
    if not len(arrays):
        raise ValueError("need at least one array to stack")
    if len({storage_of(x).shape for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, len(storage_of(arrays[0]).shape) + 1)
    return concat([expand_dims(x, axis) for x in arrays], axis, out, dtype=dtype, casting=casting)


def vstack(arrays: Sequence[Any], format: FormatLike | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Return tensors joined vertically, along the first axis; vectors are rows.

    Unlike NumPy's, the function takes a format, and has the fill value of :func:`concat`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.vstack([A, A]).shape
    (4, 2)
    """
    return as_asked(concat([atleast_2d(x) for x in arrays], axis=0), format, dtype)


def hstack(arrays: Sequence[Any], format: FormatLike | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Return tensors joined horizontally, along the second axis; vectors are joined along their axis.

    Unlike NumPy's, the function takes a format, and has the fill value of :func:`concat`. Vectors beside matrices are
    rows, as in scipy.sparse.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.hstack([A, A]).todense()
    array([[0., 1., 0., 1.],
           [2., 0., 2., 0.]])
    """
    parts = [atleast_1d(x) for x in arrays]
    if len({x.ndim == 1 for x in parts}) > 1:
        parts = [atleast_2d(x) for x in parts]
    return as_asked(concat(parts, axis=0 if parts and parts[0].ndim == 1 else 1), format, dtype)


def dstack(arrays: Sequence[Any]) -> SparseTensor:
    """Return tensors joined along the third axis.

    Unlike NumPy's, the result is sparse; its format and fill value are those of :func:`concat`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.dstack([A, A]).shape
    (2, 2, 2)
    """
    return concat([atleast_3d(x) for x in arrays], axis=2)


def column_stack(arrays: Sequence[Any]) -> SparseTensor:
    """Return vectors as the columns of a matrix; scalars are vectors of one element.

    Unlike NumPy's, the result is sparse; its format and fill value are those of :func:`concat`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.column_stack([x, x]).todense()
    array([[0., 0.],
           [3., 3.]])
    """
    return concat([expand_dims(atleast_1d(x), 1) if len(storage_of(x).shape) < 2 else x for x in arrays], axis=1)


def block(arrays: Any) -> SparseTensor:
    """Return nested lists of tensors joined as blocks: the innermost lists along the last axis.

    Unlike NumPy's, the result is sparse; its format and fill value are those of :func:`concat`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.block([[A, A], [A, A]]).todense()
    array([[0., 1., 0., 1.],
           [2., 0., 2., 0.],
           [0., 1., 0., 1.],
           [2., 0., 2., 0.]])
    """

    # Lists of level 1 are joined along the last axis, those of level 2 along the axis before it, and so on.
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def build(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            return x
        if not x:
            raise ValueError("List at arrays cannot be empty")
        parts = [build(part, level - 1) for part in x]
        # Every part gets as many axes as the deepest one, and at least as many as there are levels of lists.
        n = max(max(len(storage_of(part).shape) for part in parts), deep)
        missing = [n - len(storage_of(part).shape) for part in parts]
        raised = [expand_dims(p, tuple(range(m))) if m else p for p, m in zip(parts, missing, strict=True)]
        return concat(raised, axis=-level)

    deep = depth(arrays)
    return SparseTensor(storage_of(build(arrays, deep)))


def array_split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[SparseTensor]:
    """Return parts of a tensor along an axis, as equal as possible, or the parts between some indices.

    Parameters
    ----------
    x : array_like
        The tensor.
    sections : int or sequence of int
        The number of parts, or the indices at which parts begin. If the parts cannot be equal, the first ones are
        larger by one.
    axis : int
        The axis.

    Returns
    -------
    list of SparseTensor
        The parts, which are copies unlike NumPy's.

    Raises
    ------
    ValueError
        If the number of parts is not positive.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 1, 2, 3, 4], format="coo")
    >>> [part.todense() for part in weft.array_split(x, 2)]
    [array([0, 1, 2]), array([3, 4])]
    """
    tensor = SparseTensor(storage_of(x))
    axis = normalize_axis_index(axis, tensor.ndim)
    size = tensor.shape[axis]
    if isinstance(sections, (int, np.integer)):
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        # The first ``extra`` parts are longer by one.
        each, extra = divmod(size, int(sections))
        edges = np.cumsum([0, *[each + 1] * extra, *[each] * (int(sections) - extra)]).tolist()
    else:
        edges = [0, *sections, size]
    front = (slice(None),) * axis
    return [tensor[(*front, slice(a, b))] for a, b in itertools.pairwise(edges)]


def split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[SparseTensor]:
    """Return equal parts of a tensor along an axis, or the parts between some indices.

    Parameters
    ----------
    x : array_like
        The tensor.
    sections : int or sequence of int
        The number of parts, or the indices at which parts begin.
    axis : int
        The axis.

    Returns
    -------
    list of SparseTensor
        The parts, which are copies unlike NumPy's.

    Raises
    ------
    ValueError
        If the axis cannot be divided into equal parts.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> [part.todense().tolist() for part in weft.split(A, 2, axis=0)]
    [[[0.0, 1.0]], [[2.0, 0.0]]]
    """
    if isinstance(sections, (int, np.integer)) and storage_of(x).shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, sections, axis)


def hsplit(x: Any, sections: int | Sequence[int]) -> list[SparseTensor]:
    """Return parts of a tensor along the second axis, or of a vector along its axis; see :func:`split`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> [part.todense().tolist() for part in weft.hsplit(A, 2)]
    [[[0.0], [2.0]], [[1.0], [0.0]]]
    """
    return split(x, sections, 1 if len(storage_of(x).shape) > 1 else 0)


def vsplit(x: Any, sections: int | Sequence[int]) -> list[SparseTensor]:
    """Return parts of a tensor along the first axis; see :func:`split`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> [part.todense().tolist() for part in weft.vsplit(A, 2)]
    [[[0.0, 1.0]], [[2.0, 0.0]]]
    """
    return split(x, sections, 0)


def dsplit(x: Any, sections: int | Sequence[int]) -> list[SparseTensor]:
    """Return parts of a tensor along the third axis; see :func:`split`.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> T = weft.asarray(np.arange(4).reshape(1, 2, 2), format="csf")
    >>> [part.todense().tolist() for part in weft.dsplit(T, 2)]
    [[[[0], [2]]], [[[1], [3]]]]
    """
    return split(x, sections, 2)


def unstack(x: Any, /, axis: int = 0) -> tuple[SparseTensor, ...]:
    """Return the slices of a tensor along an axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int
        The axis, which the slices do not have.

    Returns
    -------
    tuple of SparseTensor
        The slices.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> [row.todense().tolist() for row in weft.unstack(A)]
    [[0.0, 1.0], [2.0, 0.0]]
    """
    tensor = SparseTensor(storage_of(x))
    axis = normalize_axis_index(axis, tensor.ndim)
    front = (slice(None),) * axis
    return tuple(tensor[(*front, k, ...)] for k in range(tensor.shape[axis]))


@memory.guarded
def kron(a: Any, b: Any, format: FormatLike | None = None) -> SparseTensor:
    """Return the Kronecker product: every element of ``a`` multiplied by the whole of ``b``.

    Parameters
    ----------
    a, b : array_like
        The operands. Missing axes are added in front.
    format : str or Format, optional
        The format, by default that of ``a``, or that of ``b`` if ``a`` is dense.

    Returns
    -------
    SparseTensor
        The product. Its size along each axis is the product of the sizes.

    Raises
    ------
    ShapeError
        If an axis is too long for 64-bit integers.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.kron(weft.eye(2, format="csr"), A).todense()
    array([[0., 1., 0., 0.],
           [2., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 2., 0.]])
    """
    return as_asked(_kron(a, b), format)


def _kron(a: Any, b: Any) -> SparseTensor:
    first, second = storage_of(a), storage_of(b)
    n = max(len(first.shape), len(second.shape))
    first, second = (_with_order(s, n) for s in (first, second))
    sizes = tuple(p * q for p, q in zip(first.shape, second.shape, strict=True))
    shape = checked_shape(sizes, f"kron of shapes {first.shape} and {second.shape}")
    if not n:
        return SparseTensor(first) * SparseTensor(second)
    like = format_for_axes(first.format if not first.format.is_dense else second.format, n)
    entries = max(first.nnz * second.nnz, *first.level_sizes, *second.level_sizes)
    like = without_long_arrays(like, shape, entries)
    no_dense_levels = is_far_longer(shape[0], entries) or not (like.is_structured or like.levels[0].has_every)
    if no_dense_levels:  # compressed levels do not store empty rows, which are thus not paired
        first, second = (execution.convert(s, s.format.plain(True)) for s in (first, second))
    plan, flat = _kron_plan(first.type, second.type, like, no_dense_levels)
    product = plan.run((first, second))
    old = product.type
    # The plan stores the coordinate i * size(j) + j for each pair of axes, which is the coordinate in the result.
    result = Storage(shape, tensor_type(old.dtype, flat, old.index_dtypes, old.fill), product.arrays, product.vals)
    return SparseTensor(execution.convert(result, like))


@kept
def _kron_plan(
    first: TensorType, second: TensorType, like: Format, no_dense_levels: bool
) -> tuple[execution.Plan, Format]:
    """Return the plan of a Kronecker product, and the format whose arrays the plan makes."""
    n = first.format.order
    # The remapping stores coordinate i * size(j) + j for each pair (i, j) of coordinates of the operands.
    axes = ",".join(f"i{k},j{k}" for k in range(n))
    stored = ",".join(f"i{k}*size(j{k})+j{k}" for k in range(n))
    plain = like if like.is_dense else like.plain(no_dense_levels)
    format = Format(Remapping.parse(f"({axes}) -> ({stored})"), plain.levels)
    product = Apply(
        "multiply", (Access("A", tuple(f"i{k}" for k in range(n))), Access("B", tuple(f"j{k}" for k in range(n))))
    )
    target = Access("C", tuple(v for k in range(n) for v in (f"i{k}", f"j{k}")))
    plan = plan_operation(Assignment(target, product), (first, second), format)
    return plan, Format(Remapping.identity(n), format.levels)


def _with_order(storage: Storage, order: int) -> Storage:
    """Return a tensor with ``order`` axes, new ones first, in a format without remapping."""
    if storage.format.is_structured:
        storage = execution.convert(storage, storage.plain_format)
    missing = order - len(storage.shape)
    return storage_of(expand_dims(SparseTensor(storage), tuple(range(missing)))) if missing else storage
