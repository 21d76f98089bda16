"""Types for type checkers: the results of operators, functions and methods for given types of operands.

A dense result is an ndarray if an operand is an ndarray. Formats and fill values decide if a result is dense, and types
do not include them. In such cases the type of the result is ``SparseTensor | Array``. The operands' numbers of axes
decide if a result is a tensor or a NumPy scalar, and types do not include these either. In such cases the type is
``SparseTensor | Any``: checkers know the attributes of a tensor, and accept those of a scalar. No module imports this
one at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from .sparse_tensor import SparseTensor

Array: TypeAlias = np.ndarray[Any, Any]
Scalar: TypeAlias = np.number[Any]
Number: TypeAlias = int | float | complex | np.number[Any] | np.bool_
Axis: TypeAlias = int | tuple[int, ...] | None
Order: TypeAlias = Literal["K", "C", "F", "A"] | None
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


class Mapped(Protocol):
    """A function of NumPy that is applied to each element, with the arguments that it takes in NumPy."""

    __name__: str

    def __call__(self, x: Any, /, *args: Any, **options: Any) -> SparseTensor: ...


class Unary(Protocol):
    """A function of one operand, applied element by element."""

    __name__: str

    @overload
    def __call__(
        self, x: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
    ) -> SparseTensor: ...
    @overload
    def __call__(self, x: Array, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Array: ...
    @overload
    def __call__(self, x: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any: ...


class Binary(Protocol):
    """A function of two operands, applied element by element."""

    __name__: str

    @overload
    def __call__(
        self, x1: SparseTensor, x2: SparseTensor | Number, /, *,
        out: Any = None, dtype: DTypeLike | None = None, where: Any = True,
    ) -> SparseTensor: ...  # fmt: skip
    @overload
    def __call__(
        self, x1: Number, x2: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
    ) -> SparseTensor: ...
    @overload
    def __call__(
        self, x1: SparseTensor, x2: Array, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
    ) -> SparseTensor | Array: ...
    @overload
    def __call__(
        self, x1: Array, x2: SparseTensor, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
    ) -> SparseTensor | Array: ...
    @overload
    def __call__(
        self, x1: Any, x2: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
    ) -> Any: ...


class Sum(Protocol):
    """Type of ``sum``, ``prod`` and the variants that ignore NaN."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, dtype: DTypeLike | None = None,
        keepdims: Literal[False] = False, initial: Any = None, out: None = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def __call__(
        self, x: SparseTensor, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
        initial: Any = None, out: Any = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Array, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
        initial: Any = None, out: Any = None, where: Any = True,
    ) -> Array | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
        initial: Any = None, out: Any = None, where: Any = True,
    ) -> Any: ...  # fmt: skip


class Extreme(Protocol):
    """Type of ``min`` and ``max``, whose result for booleans is a boolean and no number."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, keepdims: Literal[False] = False, initial: Any = None,
        out: None = None, where: Any = True, explicit: bool = False,
    ) -> Scalar | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: SparseTensor, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None,
        where: Any = True, explicit: bool = False,
    ) -> SparseTensor | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Array, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None,
        where: Any = True, explicit: bool = False,
    ) -> Array | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None,
        where: Any = True, explicit: bool = False,
    ) -> Any: ...  # fmt: skip


class Mean(Protocol):
    """Type of ``mean``."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, dtype: DTypeLike | None = None,
        keepdims: Literal[False] = False, out: None = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def __call__(
        self, x: SparseTensor, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
        out: Any = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False, out: Any = None,
        where: Any = True,
    ) -> Any: ...  # fmt: skip


class Spread(Protocol):
    """Type of ``var`` and ``std``."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, dtype: DTypeLike | None = None, ddof: float = 0,
        correction: float | None = None, keepdims: Literal[False] = False, out: None = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def __call__(
        self, x: SparseTensor, /, axis: Axis = None, *, dtype: DTypeLike | None = None, ddof: float = 0,
        correction: float | None = None, keepdims: bool = False, out: Any = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    @overload
    def __call__(
        self, x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, ddof: float = 0,
        correction: float | None = None, keepdims: bool = False, out: Any = None, where: Any = True,
    ) -> Any: ...  # fmt: skip


class Test(Protocol):
    """Type of ``any`` and ``all``."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, keepdims: Literal[False] = False, out: None = None,
        where: Any = True,
    ) -> np.bool_: ...  # fmt: skip
    @overload
    def __call__(
        self, x: SparseTensor, /, axis: Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = True
    ) -> SparseTensor | Any: ...
    @overload
    def __call__(
        self, x: Array, /, axis: Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = True
    ) -> Array | Any: ...
    @overload
    def __call__(
        self, x: Any, /, axis: Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = True
    ) -> Any: ...


class Count(Protocol):
    """Type of ``count_nonzero``."""

    @overload
    def __call__(
        self, x: SparseTensor | Array, /, axis: None = None, *, keepdims: Literal[False] = False
    ) -> np.int64: ...
    @overload
    def __call__(self, x: SparseTensor, /, axis: Axis = None, *, keepdims: bool = False) -> SparseTensor | Any: ...
    @overload
    def __call__(self, x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
