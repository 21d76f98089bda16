"""Types for type checkers: the results of operators, functions and methods for given types of operands.

A dense result is an ndarray if an operand is an ndarray. Formats and fill values decide if a result is dense, and types
do not include them. In such cases the type of the result is ``SparseTensor | Array``. The operands' numbers of axes
decide if a result is a tensor or a NumPy scalar, and types do not include these either. In such cases the type is
``SparseTensor | Any``: checkers know the attributes of a tensor, and accept those of a scalar. Functions that are made
of tables have the types of a model. No module imports this one at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from .sparse_tensor import SparseTensor

Array: TypeAlias = np.ndarray[Any, Any]
Scalar: TypeAlias = np.number[Any]
Number: TypeAlias = int | float | complex | np.number[Any] | np.bool_
Axis: TypeAlias = int | tuple[int, ...] | None
Order: TypeAlias = Literal["K", "C", "F", "A"] | None
Operand = TypeVar("Operand", "SparseTensor", Array)
"""The class of an operand and of a result; a subclass counts as the one of the two that it belongs to."""
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


SciPyFormat: TypeAlias = Literal["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
PydataFormat: TypeAlias = Literal["coo", "gcxs", "dok"]


class Infix(Protocol):
    """An infix operator on elements, with a tensor on one side."""

    @overload
    def __call__(self, other: SparseTensor | Number, /) -> SparseTensor: ...
    @overload
    def __call__(self, other: Array, /) -> SparseTensor | Array: ...
    @overload
    def __call__(self, other: Any, /) -> Any: ...


class MatMul(Protocol):
    """The matrix product, with a tensor on one side; vectors are typed as matrices, as in NumPy's own types."""

    @overload
    def __call__(self, other: SparseTensor, /) -> SparseTensor: ...
    @overload
    def __call__(self, other: Array, /) -> Array: ...
    @overload
    def __call__(self, other: Any, /) -> Any: ...


class InPlace(Protocol):
    """An operator that changes the tensor on its left."""

    def __call__(self, other: Any, /) -> SparseTensor: ...


def mapped(x: Any, /, *args: Any, **options: Any) -> SparseTensor:
    """Model of a function of NumPy that is applied to each element, with the arguments that it takes in NumPy."""
    raise NotImplementedError


@overload
def unary(
    x: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> SparseTensor: ...
@overload
def unary(x: Array, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Array: ...
@overload
def unary(x: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any: ...
def unary(x: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
    """Model of a function of one operand that is applied element by element."""
    raise NotImplementedError


@overload
def binary(
    x1: SparseTensor, x2: SparseTensor | Number, /, *,
    out: Any = None, dtype: DTypeLike | None = None, where: Any = True,
) -> SparseTensor: ...  # fmt: skip
@overload
def binary(
    x1: Number, x2: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> SparseTensor: ...
@overload
def binary(
    x1: SparseTensor, x2: Array, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> SparseTensor | Array: ...
@overload
def binary(
    x1: Array, x2: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> SparseTensor | Array: ...
@overload
def binary(x1: Any, x2: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any: ...
def binary(x1: Any, x2: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
    """Model of a function of two operands that is applied element by element."""
    raise NotImplementedError
