"""Construction of tensors from arrays, from coordinates and from level arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .. import execution
from ..dtypes import INDEX_DTYPES, as_values, index_dtype, name_of, value_dtype
from ..errors import DeviceError, DTypeError, ShapeError, StorageError
from ..formats import FormatLike, LevelFormat, parse_format
from ..operations import foreign_tensors
from ..operations.foreign_objects import holds_tensors, sparse_columns, why_no_array
from ..operations.operands import (
    Operand,
    as_operand,
    is_scalar,
    operand_anywhere,
    refusal,
    storage_anywhere,
    storage_of,
)
from ..runtime import devices
from ..storage import Storage, checked_shape, coordinate_storage, current, fill_of, tensor_type
from ..tracebacks import ends_at_caller
from .devices import storage_on
from .sparse_tensor import SparseTensor


def called(storage: Storage, format: FormatLike | None = None) -> SparseTensor:
    """Return a tensor of a storage; the tensor remembers the name under which its format was requested."""
    return SparseTensor(storage).called(format)


@ends_at_caller
def asarray(
    obj: Any,
    *,
    format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
    copy: bool | None = None,
    fill_value: Any = None,
    device: Any = None,
) -> SparseTensor:
    """Convert anything array-like to a tensor that shares its memory if the format and dtype allow it.

    Parameters
    ----------
    obj : array_like
        An ndarray, nested list, scipy.sparse array or matrix, ``sparse`` array, or tensor. A DataFrame of pandas is an
        array, or csc if all its columns are sparse and have one fill value; a sparse column alone is coo.
    format : str or Format, optional
        The format of the result. By default the format of ``obj``; ``dense`` for ndarrays.
    dtype : dtype, optional
        The dtype of the result. By default the dtype of ``obj``.
    copy : bool, optional
        True for a tensor that shares no memory with ``obj``. False raises an error if a copy is needed. None, the
        default, copies only if a copy is needed. Values that are later written into ``obj`` may then appear in the
        tensor, and coordinates that are changed in ``obj`` break the tensor.
    fill_value : scalar, optional
        The value of implicit entries. If ``obj`` is a sparse array with a fill value, both must be equal. Arrays of
        scipy.sparse have none.
    device : str, optional
        The device of the tensor, as :meth:`SparseTensor.to_device` takes it. By default the device of ``obj``: matrices
        of cupyx and sparse tensors of torch on a GPU share their memory, as do dense arrays of any package there.

    Returns
    -------
    SparseTensor
        The tensor; ``obj`` itself if it is a tensor and nothing is to be changed.

    Raises
    ------
    DTypeError
        For dtypes that weft does not compute with, and for objects that are no arrays; the message says what to call.
    StorageError
        When ``fill_value`` differs from the fill value of ``obj``.
    ValueError
        When ``copy=False`` and a copy is needed.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> S = scipy.sparse.csr_array(np.eye(3))
    >>> A = asarray(S)
    >>> str(A.format), np.shares_memory(A.to_scipy_sparse().data, S.data)
    ('csr', True)
    """
    if device is not None:
        kept = asarray(obj, format=format, dtype=dtype, copy=copy, fill_value=fill_value)
        moved = storage_on(storage_anywhere(kept), device)
        return kept if moved is storage_anywhere(kept) else called(moved, format)
    target = None if dtype is None else value_dtype(dtype)
    # known: the object itself says what its fill value is, so that a given one must agree with it.
    if isinstance(obj, SparseTensor):
        source, has_fill = storage_anywhere(obj), True
    else:
        # Lists with a given dtype are left to as_values below, which converts each number directly to this dtype.
        operand = _operand(obj, target)
        source, has_fill = operand.storage, type(obj).__module__.partition(".")[0] not in ("scipy", "numpy", "builtins")
    if source.is_on_device:
        return _on_device(obj, source, format, target, (copy, fill_value))
    storage = source
    if fill_value is not None:
        fill = _fill(storage.dtype, fill_value)
        # Two NaN are equal fill values here, although they compare unequal.
        if has_fill and fill != storage.type.fill and not (fill != fill and storage.type.fill != storage.type.fill):
            raise StorageError(
                f"fill value {fill_value!r} differs from the tensor's, {storage.type.fill!r}; "
                f"weft.asarray(A).with_fill({fill_value!r}) gives the elements that are not stored another value"
            )
        storage = storage.with_values(storage.vals, fill)
    if target is not None and target != storage.dtype:
        storage = execution.in_dtype(storage, target)
    if format is not None:
        storage = foreign_tensors.convert(storage, format)
    # The conversions above share memory if possible. What remains is to satisfy copy.
    if not copy and storage is source and isinstance(obj, SparseTensor):
        return obj if format in (None, obj.format) else called(storage, format)
    if copy is None:
        return called(storage, format)
    if copy:
        return called(storage.apart_from(source), format)
    if not _shares(storage, obj) and storage.vals.size:
        to = f"a tensor of shape {storage.shape}, format {storage.format} and dtype {storage.dtype}"
        raise ValueError(f"asarray(copy=False) of a {type(obj).__name__} to {to} needs a copy")
    return called(storage, format)


def _on_device(
    obj: Any, storage: Storage, format: FormatLike | None, dtype: np.dtype[Any] | None, others: tuple[Any, Any]
) -> SparseTensor:
    """Return the tensor of an object on a device; copies, and other formats and fill values, are not made there."""
    copy, fill_value = others
    if copy or (fill_value is not None and fill_value != storage.type.fill):
        raise refusal(storage, "asarray with copy or fill_value")
    if dtype is not None:
        storage = execution.in_dtype(storage, dtype)
    if format is not None:
        storage = foreign_tensors.convert(storage, format)
    return obj if isinstance(obj, SparseTensor) and storage_anywhere(obj) is storage else called(storage, format)


def _operand(obj: Any, dtype: np.dtype[Any] | None) -> Operand:
    """Return storage of anything array-like."""
    try:
        operand = operand_anywhere(obj) if dtype is None or hasattr(obj, "dtype") else None
        if operand is not None:
            return operand
        if (reason := why_no_array(obj)) is not None:
            raise DTypeError(reason)
        if (columns := sparse_columns(obj)) is not None:
            return Operand(columns, False)
        array = np.asarray(obj)
        if array.dtype == object and not array.ndim:
            raise DTypeError(f"{type(obj).__name__} is no array; weft.asarray takes tensors, arrays, lists and numbers")
        value_dtype(array.dtype)
        operand = as_operand(array if dtype is None else as_values(obj, dtype))
        assert operand is not None
        return operand
    except (TypeError, ValueError):
        if isinstance(obj, list | tuple) and holds_tensors(obj):
            kind = type(obj).__name__
            reason = f"a {kind} of sparse arrays is no array; join them with weft.stack, weft.concat or weft.block"
            raise DTypeError(reason) from None
        raise


def _fill(dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Return a user's fill value in a dtype; raise an error if it is no number or the dtype cannot hold it."""
    if not is_scalar(fill_value):
        raise DTypeError(f"fill_value is a number, not {fill_value!r} of type {type(fill_value).__name__}")
    return fill_of(dtype, as_values(fill_value, dtype))


def _shares(storage: Storage, obj: Any) -> bool:
    """Return whether a storage made from ``obj`` may share its values with ``obj``."""
    for holder in (storage_of(obj).vals if isinstance(obj, SparseTensor) else obj, getattr(obj, "data", None)):
        if isinstance(holder, np.ndarray) and np.may_share_memory(storage.vals, holder):
            return True
    return False


@ends_at_caller
def from_coords(
    coords: ArrayLike | Sequence[ArrayLike],
    values: ArrayLike,
    shape: Sequence[int] | None = None,
    *,
    format: FormatLike = "coo",
    dtype: DTypeLike | None = None,
    fill_value: Any = 0,
    duplicates: Literal["sum", "raise", "keep"] = "sum",
) -> SparseTensor:
    """Make a tensor from coordinates and values.

    Parameters
    ----------
    coords : array_like
        An array of shape ``(ndim, nnz)``, or one array for each axis. int32 and int64 arrays are shared.
    values : array_like
        An array of length nnz, or a scalar for all entries.
    shape : sequence of int, optional
        The shape of the tensor. By default the smallest that holds the coordinates.
    format : str or Format, optional
        The format of the result.
    dtype : dtype, optional
        The dtype of the values.
    fill_value : scalar, optional
        The value of implicit entries.
    duplicates : {'sum', 'raise', 'keep'}
        Treatment of entries with equal coordinates: they are summed, raise an error, or are kept. To keep them, the
        coordinates are left in the given order, and the format must be a coordinate format.

    Returns
    -------
    SparseTensor
        The tensor in ``format``; with ``duplicates="keep"`` an unsorted coordinate format that may hold duplicates.

    Raises
    ------
    ShapeError
        When lengths differ, or a row of coordinates is missing for an axis.
    StorageError
        When coordinates are outside the shape, repeat with ``duplicates="raise"``, or cannot be kept in ``format``.

    Examples
    --------
    >>> from_coords([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0]).to_coo()
    (array([[0, 1],
           [1, 2]], dtype=int32), array([3., 3.]))
    """
    rows = _coordinate_rows(coords)
    vals = np.asarray(values, None if dtype is None else value_dtype(dtype))
    vals = np.asarray(vals, value_dtype(vals.dtype))  # native byte order; raises for dtypes that weft does not have
    count = len(rows[0]) if rows else vals.size
    if vals.ndim == 0:
        vals = np.full(count, vals)
    if vals.ndim != 1 or any(row.shape != vals.shape for row in rows):
        turned = "; pass coords.T" if vals.shape == (len(rows),) else ""
        raise ShapeError(
            f"coordinates of shape {(len(rows), count)} do not go with values of shape {vals.shape}: coordinates have "
            f"a row for each axis and a column for each value{turned}"
        )
    if shape is None:
        sizes = tuple(int(row.max()) + 1 if len(row) else 0 for row in rows)
        checked_shape(sizes, "a tensor of these coordinates")
    else:
        sizes = as_shape(shape)
        if len(sizes) != len(rows):
            raise ShapeError(f"{len(rows)} rows of coordinates for the {len(sizes)} axes of shape {sizes}")
    for axis, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        if len(row) and (row.min() < 0 or row.max() >= size):
            entry = int(((row < 0) | (row >= size)).argmax())
            places = f"{size} places, 0 to {size - 1}" if size else "no places"
            raise StorageError(
                f"coordinate {row[entry]} of entry {entry} is outside axis {axis} of shape {sizes}, which has {places}"
            )
    if duplicates not in ("sum", "raise", "keep"):
        raise ValueError(f"duplicates is 'sum', 'raise' or 'keep', not {duplicates!r}")
    # Arrays that already have an index dtype stay as they are, and are shared.
    dtypes = [index_dtype(max(size - 1, 0)) for size in sizes]
    kept = [row if name_of(row.dtype) in INDEX_DTYPES else row.astype(d) for row, d in zip(rows, dtypes, strict=True)]
    storage = coordinate_storage(
        sizes, [np.ascontiguousarray(row) for row in kept], np.ascontiguousarray(vals), _fill(vals.dtype, fill_value)
    )
    target = parse_format(format, len(sizes))
    if duplicates == "keep":
        if storage.format.canonical() != target.canonical():
            raise StorageError(f"format {target} cannot keep duplicates in the order in which they come")
        return called(storage)
    result = foreign_tensors.convert(storage, target)
    # Conversion sums duplicates, so fewer entries than given mean that some coordinates repeat. A dense result does
    # not tell, since every element has a place in it.
    if duplicates == "raise" and not storage.format.is_canonical:
        canonical = storage.format.canonical()
        distinct = result if not result.format.is_dense else foreign_tensors.convert(storage, canonical)
        if distinct.nnz != storage.nnz:
            raise StorageError(f"{storage.nnz - distinct.nnz} coordinates repeat, in shape {sizes}")
    return called(result, format)


def _coordinate_rows(coords: Any) -> list[np.ndarray[Any, Any]]:
    if not isinstance(coords, Iterable):
        raise ShapeError(f"coords are arrays of coordinates, one for each axis, not a {type(coords).__name__}")
    rows = [np.asarray(row) for row in coords]
    # Empty lists are float64 arrays to NumPy, and are accepted.
    for row in rows:
        if row.dtype.kind not in "iu" and row.size:
            raise DTypeError(f"coordinates are integers, not {row.dtype}")
        if row.ndim != 1:
            raise ShapeError(f"coordinates have shape (ndim, nnz), not {(len(rows), *row.shape)}")
    if len({len(row) for row in rows}) > 1:
        raise ShapeError(f"rows of coordinates have different lengths: {[len(row) for row in rows]}")
    return [row if row.dtype.isnative else row.astype(row.dtype.newbyteorder("=")) for row in rows]


def as_shape(shape: Sequence[int] | int) -> tuple[int, ...]:
    """Return a shape as a tuple of integers; an integer is the shape of a vector."""
    try:
        sizes = tuple(map(operator.index, shape)) if np.ndim(shape) else (operator.index(shape),)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ShapeError(f"a shape is a tuple of integers, not {shape!r}") from None
    if any(size < 0 for size in sizes):
        raise ShapeError(f"shape {sizes} has a negative size")
    return checked_shape(sizes)


@ends_at_caller
def from_levels(
    shape: Sequence[int],
    format: FormatLike,
    levels: Sequence[Any],
    values: ArrayLike,
    *,
    fill_value: Any = 0,
    check: bool = True,
) -> SparseTensor:
    """Make a tensor from the arrays of its levels, which are shared.

    Parameters
    ----------
    shape : sequence of int
        Sizes of the axes.
    format : str or Format
        The format of the tensor, which determines the levels.
    levels : sequence
        The arrays of each level, from the root: a dict by role (``{"pos": ..., "crd": ...}``), a tuple in the order of
        the level's roles, or None if the level has no arrays. The arrays are int32 or int64.
    values : array_like
        The values, one for each position of the last level.
    fill_value : scalar, optional
        The value of implicit entries.
    check : bool, optional
        True to check every invariant of the format, which reads all arrays once. Kernels rely on these invariants.
        Arrays on a device are taken with ``check=False`` alone.

    Returns
    -------
    SparseTensor
        The tensor over the given arrays.

    Raises
    ------
    StorageError
        When arrays are missing, or break an invariant; the message names the level and the invariant.

    Examples
    --------
    >>> columns = {"pos": [0, 1, 2], "crd": [2, 0]}
    >>> A = from_levels((2, 3), "csr", [None, columns], [1.5, 2.0])
    >>> A.todense()
    array([[0. , 0. , 1.5],
           [2. , 0. , 0. ]])
    """
    sizes = as_shape(shape)
    layout = parse_format(format, len(sizes))
    if not isinstance(levels, (list, tuple)):
        raise StorageError(f"levels are the arrays of each level of format {layout}, not {levels!r}")
    if len(levels) != len(layout.levels):
        raise StorageError(f"arrays of {len(levels)} levels for the {len(layout.levels)} levels of format {layout}")
    arrays: list[np.ndarray[Any, Any]] = []
    for k, (level, given) in enumerate(zip(layout.levels, levels, strict=True)):
        arrays.extend(_level_arrays(f"level {k + 1} ({level}) of format {layout}", level, given))
    vals = devices.adopted(values)
    if vals is not None:
        if check:
            raise DeviceError("from_levels checks arrays on the CPU; check=False takes arrays of a device as they are")
        if vals.ndim != 1 or not vals.flags.c_contiguous:
            raise StorageError(f"values on a device are a contiguous vector, not an array of shape {vals.shape}")
    else:
        vals = np.asarray(values)
        vals = np.ascontiguousarray(vals, value_dtype(vals.dtype))
    names = tuple(name_of(array.dtype) for array in arrays)
    type = tensor_type(name_of(vals.dtype), layout, names, _fill(vals.dtype, fill_value))
    storage = current(Storage(sizes, type, tuple(arrays), vals))
    places = {devices.name_of(array) for array in (*arrays, vals)}
    if len(places) > 1:
        raise DeviceError(f"the arrays of a tensor are on one device, not on {' and '.join(sorted(places))}")
    if check:
        execution.verify(storage)
    return called(storage, format)


def _level_arrays(where: str, level: LevelFormat, members: Any) -> list[np.ndarray[Any, Any]]:
    # The arrays may be given by role, as a sequence, or as one array if the level has a single role.
    roles, earlier = level.roles, {old: role for role, old in level.earlier_roles.items()}
    if members is None:
        members = ()
    if isinstance(members, Mapping):
        members = {earlier.get(role, role): array for role, array in members.items()}
        if set(members) != set(roles):
            raise StorageError(f"{where} stores {roles}, not {tuple(members)}")
        members = [members[role] for role in roles]
    elif (isinstance(members, np.ndarray) or devices.is_array(members)) and len(roles) == 1:
        members = [members]
    if not isinstance(members, (Sequence, np.ndarray)):
        raise StorageError(f"{where} stores {len(roles)} arrays {roles}, not a {type(members).__name__}")
    if len(members) != len(roles):
        raise StorageError(f"{where} stores {len(roles)} arrays {roles}, not {len(members)}")
    arrays = []
    for role, member in zip(roles, members, strict=True):
        array = devices.adopted(member)
        array = member if array is None else array
        if not isinstance(array, np.ndarray) and not devices.is_array(array):
            array = np.asarray(array)
            # Lists become arrays of the smallest index dtype. Only arrays must have an index dtype already.
            if array.dtype.kind == "i" or not array.size:
                array = array.astype(index_dtype(int(array.max(initial=0))))
        if name_of(array.dtype) not in INDEX_DTYPES:
            raise StorageError(f"{where}: {role} has dtype {array.dtype}; index dtypes are int32 and int64")
        if array.ndim != 1:
            raise StorageError(f"{where}: {role} has {array.ndim} axes instead of one")
        if devices.is_array(array):
            array = array if array.flags.c_contiguous else array.copy()
        elif not (array.dtype.isnative and array.flags.c_contiguous):
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        arrays.append(array)
    return arrays
