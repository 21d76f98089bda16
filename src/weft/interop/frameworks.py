"""Statements as functions of arrays, for packages that differentiate: the structures of tensors are constants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import execution
from ..derivatives import backward_pass
from ..dtypes import VALUE_DTYPES, value_dtype
from ..errors import NotationError, ShapeError, StorageError
from ..formats import FormatLike, parse_format
from ..index_notation import explicit_sums, infer_extents, parse
from ..index_notation.nodes import Assignment
from ..operations import foreign_tensors
from ..operations.operands import StorageHolder, storage_of
from ..records import record
from ..storage import Storage, fill_of, tensor_type
from ..tensor.compiled_kernel import check_names, operand_names
from ..tensor.derivative import vjp
from ..tensor.einsum import evaluate
from ..tensor.sparse_tensor import SparseTensor


class Structure:
    """A tensor without its values; equal to another if all index arrays are."""

    def __init__(self, storage: Storage) -> None:
        self.shape, self.size = storage.shape, storage.nnz
        self._type, self._arrays = storage.type, storage.arrays
        # The dtype is that of the values; as text, NaN equals NaN.
        self._key = self.shape, self.size, self._type.format, self._type.index_dtypes, repr(self._type.fill)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        pairs = zip(self._arrays, other._arrays, strict=False)
        return self._key == other._key and all(a is b or np.array_equal(a, b) for a, b in pairs)

    def tensor(self, values: Any, fill: Any = None) -> SparseTensor:
        """Return the tensor with these values, or with what another package has in their place."""
        name = str(getattr(values, "dtype", None)).rpartition(".")[2]  # PyTorch's have a prefix
        old, fill = self._type, self._type.fill if fill is None else fill
        dtype = name if name in VALUE_DTYPES else old.dtype
        type = tensor_type(dtype, old.format, old.index_dtypes, fill_of(np.dtype(dtype), fill))
        return SparseTensor(Storage(self.shape, type, self._arrays, values))


def with_values(A: SparseTensor, values: Any) -> SparseTensor:
    """Return a tensor with the structure of another, and with values that a package differentiates by.

    Parameters
    ----------
    A : SparseTensor
        The tensor with the structure.
    values : array
        An array of the package with a value for each stored entry, as ``A.data`` has them.

    Returns
    -------
    SparseTensor
        The tensor, for ``evaluate`` of the same module: other functions take values of NumPy alone.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.autograd.with_values(A, 2 * A.data).todense()
    array([[0., 2.],
           [4., 0.]])
    """
    storage = storage_of(A)
    if math.prod(np.shape(values)) != storage.nnz:
        raise ShapeError(f"values have the shape {np.shape(values)}, and the tensor stores {storage.nnz} entries")
    return Structure(storage).tensor(values.reshape(-1))


@record
class Result:
    """The result of a statement: the values of a structure, or an array if the structure is None."""

    structure: Structure | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@record
class Statement:
    """A statement with its operands' names and, for tensors, structures: a function of arrays that is a constant."""

    text: str
    names: tuple[str, ...]
    structures: tuple[Structure | None, ...]
    format: FormatLike | None  # of the result

    def result(self, arrays: Sequence[Any]) -> Result:
        """Return what the statement computes of arrays, of which this reads shapes and dtypes alone."""
        dtypes = [str(array.dtype).rpartition(".")[2] for array in arrays]
        return _result(self, tuple([tuple(map(int, array.shape)) for array in arrays]), tuple(dtypes))

    def require_gradients(self, wrt: Sequence[int]) -> None:
        """Raise for an operator or a reduction without a derivative between the result and some operands."""
        backward_pass(_parsed(self.text), [self.names[n] for n in wrt])

    def values(self, structure: Structure | None, arrays: Sequence[Any]) -> Any:
        """Compute the result of arrays of NumPy: an array, or the values of a tensor of a structure."""
        result = evaluate(self.text, format=self.format, **self._operands(arrays))
        if structure is None:
            return result.todense() if isinstance(result, SparseTensor) else np.asarray(result)
        if Structure(storage_of(result)) != structure:
            raise StorageError(
                "the structure of the result depends on values, such as zeros of a divisor, and has to be known before "
                f"these; ask for a dense result: format='dense'\n  {self.text}"
            )
        return storage_of(result).vals

    def gradients(
        self, structure: Structure | None, wrt: Sequence[int], arrays: Sequence[Any], cotangent: Any
    ) -> list[Any]:
        """Compute the gradients of arrays of NumPy at some positions, for that of the result's values."""
        names = [self.names[n] for n in wrt]
        _, pullback = vjp(self.text, wrt=names, format=self.format, **self._operands(arrays))
        gradients = pullback(cotangent if structure is None else structure.tensor(cotangent, fill=0))
        by_position = [gradients[name] for name in names]
        return [x if self.structures[n] is None else storage_of(x).vals for n, x in zip(wrt, by_position, strict=True)]

    def _operands(self, arrays: Sequence[Any]) -> dict[str, Any]:
        pairs = zip(self.structures, arrays, strict=True)
        return dict(zip(self.names, [x if s is None else s.tensor(x) for s, x in pairs], strict=True))


def statement_of(text: str, format: FormatLike | None, operands: Mapping[str, Any]) -> tuple[Statement, list[Any]]:
    """Return a statement, and the arrays of its operands: as they are, or the values of tensors."""
    assignment = _parsed(text)
    names = operand_names(assignment)
    check_names(text, operands, names, ("format",))
    if lacking := [name for name in names if name not in operands]:
        raise NotationError(f"{', '.join(lacking)} not given\n  {text}")
    structures, arrays = list[Structure | None](), list[Any]()
    for operand in [operands[name] for name in names]:
        # A reader returns None for what it leaves to its package, such as dense tensors of PyTorch.
        storage = storage_of(operand) if isinstance(operand, StorageHolder) else foreign_tensors.read(operand)
        structures.append(None if storage is None else Structure(storage))
        arrays.append(operand if storage is None else storage.vals)
    return Statement(text, names, tuple(structures), format), arrays


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Assignment:
    assignment = explicit_sums(parse(text))
    if assignment.op is not None:
        raise NotationError(f"+= has no derivative: write =, and the old value as a further term\n  {text}")
    return assignment


@lru_cache(maxsize=64)  # results hold index arrays
def _result(statement: Statement, shapes: tuple[tuple[int, ...], ...], dtypes: tuple[str, ...]) -> Result:
    assignment, types, whole_shapes = _parsed(statement.text), {}, {}
    for name, structure, shape, dtype in zip(statement.names, statement.structures, shapes, dtypes, strict=True):
        if structure is not None and shape != (structure.size,):
            raise ShapeError(f"values of {name} have the shape {shape}, and {name} stores {structure.size} entries")
        none = np.empty((0,) * len(shape), value_dtype(dtype))
        types[name] = Storage.dense(none).type if structure is None else storage_of(structure.tensor(none)).type
        whole_shapes[name] = shape if structure is None else structure.shape
    extents = infer_extents(assignment, whole_shapes)
    wanted = None if statement.format is None else parse_format(statement.format, len(assignment.target.indices))
    target = execution.target_type(execution.assumed(assignment, types).assignment, types, wanted, None)
    if target.format.is_dense or not assignment.target.indices:
        return Result(None, tuple([extents[v] for v in assignment.target.indices]), np.dtype(target.dtype))
    # Which entries a result stores follows from structures, so that any values show it.
    ones = [np.ones(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    operands = [x if s is None else s.tensor(x) for s, x in zip(statement.structures, ones, strict=True)]
    pattern = storage_of(evaluate(statement.text, format=wanted, **dict(zip(statement.names, operands, strict=True))))
    return Result(Structure(pattern), (pattern.nnz,), pattern.dtype)
