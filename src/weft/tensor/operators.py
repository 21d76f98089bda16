"""Python's operators on tensors: a call with a known plan runs it at once, other calls make a plan first.

A call with a known plan looks the plan up by the numbers of the operands' types, and runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..errors import ShapeError, WeftError
from ..execution.plan_cache import plans
from ..index_notation.operator_table import OPERATORS
from ..operations import foreign_tensors
from ..operations.elementwise import (
    apply_scalar,
    apply_unary,
    common_shape,
    depends_on_values,
    only_element,
    plan_elementwise,
)
from ..operations.indexing import expanded
from ..operations.operands import (
    StorageHolder,
    is_number,
    is_scalar,
    makes_array,
    operand_anywhere,
    refusal,
    replace_storage,
    require_one_device,
    storage_anywhere,
    storage_of,
    touches_device,
)
from ..operations.products import plan_matmul
from ..runtime.devices import in_use
from ..storage import Storage
from ..tracebacks import end_at_caller, tell_operands
from .out_argument import write_out

if TYPE_CHECKING:
    from ..execution import Plan
    from .sparse_tensor import SparseTensor
    from .types import Array, Infix, InPlace, Number

_ndarray = np.ndarray
_NUMBERS = frozenset((int, float, complex))


def wrap_result(cls: type[StorageHolder], result: Storage, has_array: bool) -> Any:
    """Return a result for the caller: an ndarray if the result is dense and an operand was one, else a tensor."""
    if has_array and result.type.format.is_dense:
        return result.to_dense_array() if result.shape else element(result)
    return cls(result)


def element(result: Storage) -> Any:
    """Return a result without axes: a NumPy scalar, or an array without axes on a device."""
    return result.vals.reshape(()) if in_use and result.is_on_device else result.vals[0]


def elementwise(op: str, left: Any, right: Any, cls: type[StorageHolder]) -> Any:
    """Compute ``left op right`` element by element.

    The result is an ndarray or a scalar if an operand is an ndarray and the result is dense, and else a tensor of class
    ``cls``. It is ``NotImplemented`` for operands of types that weft does not know.
    """
    if in_use and touches_device(left, right):
        return _elementwise(op, left, right, cls)
    # The usual cases come first, since these checks are most of the time that a small operation takes.
    if type(left) is cls and type(right) is cls:
        a, b = storage_of(left), storage_of(right)
        if a.shape == b.shape:
            plan = plans.find((op, a.type.number, b.type.number)) or _plan_same_shape(op, a, b)
            return cls(plan.run((a, b)))
    if type(left) is cls and type(right) in _NUMBERS:
        return cls(apply_scalar(op, storage_of(left), right, False))
    if type(right) is cls and type(left) in _NUMBERS:
        return cls(apply_scalar(op, storage_of(right), left, True))
    return _elementwise(op, left, right, cls)


def _elementwise(op: str, left: Any, right: Any, cls: type[StorageHolder]) -> Any:
    """Compute ``left op right`` for all operands that weft knows."""
    first, second = operand_anywhere(left), operand_anywhere(right)
    if first is None or second is None:
        if op == "multiply" and isinstance(left if first is None else right, Sequence):  # Python would repeat it
            raise TypeError(f"unsupported operand type(s) for *: {type(left).__name__!r} and {type(right).__name__!r}")
        if foreign_tensors.met(type(left), type(right)):
            return OPERATORS[op].ufunc(left, right)
        return NotImplemented
    # apply_scalar keeps the structure of the other operand. If both are scalars, a Python number counts as the scalar.
    if is_scalar(right) and (type(right) in _NUMBERS or not is_scalar(left)):
        return wrap_result(cls, apply_scalar(op, first.storage, right, False), first.is_array)
    if is_scalar(left) and (type(left) in _NUMBERS or not is_scalar(right)):
        return wrap_result(cls, apply_scalar(op, second.storage, left, True), second.is_array)
    a, b = first.storage, second.storage
    away, has_array = _are_on_device(a, b), makes_array([(len(x.storage.shape), x.is_array) for x in (first, second)])
    if a.shape != b.shape and not away:  # beside a number, the other operand keeps its structure
        shape = common_shape(op, (a, b))
        for number, other, is_first in ((b, a, False), (a, b, True)):
            if is_number(number.shape, shape):
                found = apply_scalar(op, other, only_element(number), is_first)
                return wrap_result(cls, expanded(found, tuple(range(len(shape) - len(other.shape)))), has_array)
    storages = [a, b]
    if a.shape == b.shape and not away:
        plan = plans.find((op, a.type.number, b.type.number)) or _plan_same_shape(op, a, b)
    else:
        plan, storages = plan_elementwise(op, (a, b))
    return wrap_result(cls, plan.run(storages), has_array)


def _are_on_device(a: Storage, b: Storage) -> bool:
    """Return whether two operands are on a device; raise if they are on several."""
    if not in_use or not (a.is_on_device or b.is_on_device):
        return False
    require_one_device({"the operand on the left": a, "the operand on the right": b})
    return True


def _plan_same_shape(op: str, a: Storage, b: Storage) -> Plan:
    """Return a plan that computes ``a op b``, and keep it unless it depends on values."""
    plan, _ = plan_elementwise(op, (a, b))
    if not depends_on_values(op, a, b):
        plans.keep((op, a.type.number, b.type.number), plan)
    return plan


def matmul(left: Any, right: Any, cls: type[StorageHolder]) -> Any:
    """Compute ``left @ right``, of which one is a tensor of class ``cls``.

    The result is ``NotImplemented`` for operands of types that weft does not know.
    """
    # Kept plans are tried first, for an ndarray or a tensor on the right.
    if type(left) is cls and not (in_use and touches_device(left, right)):
        a = storage_of(left)
        if type(right) is _ndarray:
            if right.ndim == 2 and len(a.shape) == 2 and right.shape == (a.shape[1], 1):
                return matmul(left, right[:, 0], cls)[:, None]  # faster than as a matrix
            product = _times_array(a, right)
            if product is not None:
                return product
        elif type(right) is cls:
            b = storage_of(right)
            plan = plans.find(("matmul", a.type.number, b.type.number, False, False))
            if plan is not None and a.shape[-1] == b.shape[0]:
                return cls(plan.run((a, b)))
    if is_scalar(left) or is_scalar(right):
        raise ShapeError("matmul: an operand is a scalar; use * instead")
    first, second = operand_anywhere(left), operand_anywhere(right)
    if first is None or second is None:
        return np.matmul(left, right) if foreign_tensors.met(type(left), type(right)) else NotImplemented
    a, b = first.storage, second.storage
    has_array = first.is_array or second.is_array
    key = "matmul", a.type.number, b.type.number, has_array, _are_on_device(a, b)
    plan = plans.find(key)
    if plan is not None and a.shape[-1] == b.shape[0]:
        return wrap_result(cls, plan.run((a, b)), has_array)
    plan, storages = plan_matmul(a, b, has_array)
    result = plan.run(storages)
    # Plans are kept for vectors and matrices whose product has axes. Plans for plain ndarrays are kept by dtype, too,
    # so that _times_array need not make the type of an ndarray.
    if len(a.shape) <= 2 and len(b.shape) <= 2 and result.shape:
        plans.keep(key, plan)
        plain = type(right) is _ndarray and right.flags.c_contiguous and right.dtype.isnative
        if plain and type(left) is cls and result.format.is_dense:
            plans.keep(("matmul with an ndarray", a.type.number, right.dtype, right.ndim), plan)
    if not result.shape:
        return element(result)
    return wrap_result(cls, result, has_array)


def _times_array(a: Storage, right: np.ndarray) -> Any:
    """Return the product with an ndarray of one or two axes as an ndarray; None if no plan for it is kept."""
    plan = plans.find(("matmul with an ndarray", a.type.number, right.dtype, right.ndim))
    if plan is None or right.shape[0] != a.shape[-1]:
        return None
    if right.ndim == 1:
        right = right if right.flags.c_contiguous else right.copy()
        return plan.run((a, Storage(right.shape, plan.types[1], (), right))).vals
    if not right.flags.c_contiguous:
        return None
    return plan.run((a, Storage(right.shape, plan.types[1], (), right.reshape(-1)))).to_dense_array()


def unary(op: str, tensor: StorageHolder) -> Any:
    """Compute the unary operator ``op`` of a tensor."""
    return type(tensor)(apply_unary(op, storage_anywhere(tensor)))


def ufunc_on_device(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any], cls: type[StorageHolder]
) -> Any:
    """Compute a ufunc of operands on a device; raise if it is no operator, or has options."""
    if method == "__call__" and not options:
        if ufunc is np.matmul:
            return matmul(inputs[0], inputs[1], cls)
        op = ufunc.__name__
        if op in OPERATORS and OPERATORS[op].ufunc is ufunc:
            return elementwise(op, *inputs, cls) if len(inputs) == 2 else unary(op, inputs[0])
    away = next(storage_anywhere(x) for x in inputs if isinstance(x, StorageHolder))
    raise refusal(away, f"np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}")


def power(left: Any, right: Any, cls: type[StorageHolder], exact: bool = False) -> Any:
    """Compute ``left ** right``.

    The exponent 2 is computed as a square, as with ndarrays. For floating-point and complex tensors, the exponents 0.5,
    -1 and 1 are computed as square root, reciprocal and identity. With ``exact`` all of them are computed as powers.
    """
    op = None if exact else power_operator(left, right)
    if op is not None:
        return unary(op, left)
    # NumPy refuses negative integer powers of integers, whose results would not be integers.
    exponents = operand_anywhere(right)
    if exponents is not None and exponents.storage.dtype.kind == "i":
        bases, storage = operand_anywhere(left), exponents.storage
        both = [] if bases is None else [bases.storage.dtype, *([] if type(right) is int else [storage.dtype])]
        integers = both and np.result_type(*both).kind in "iub"  # int64 and uint64 have float64 in common
        fill = 0 if storage.format.is_dense else storage.type.fill
        if integers and storage.is_on_device:
            raise refusal(storage, "power of integers by integers")
        if integers and (fill < 0 or (storage.vals.size and storage.vals.min() < 0)):
            raise ValueError("Integers to negative integer powers are not allowed.")
    return elementwise("power", left, right, cls)


def power_operator(left: Any, right: Any) -> str | None:
    """Return the unary operator that is ``left ** right``; None if there is none."""
    if not isinstance(left, StorageHolder) or not isinstance(right, (int, float)):
        return None
    if type(right) is int and right == 2:
        return "square"
    dtype = left.dtype  # type: ignore[attr-defined]
    return _POWERS.get(right) if dtype.kind in "fc" else None


_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive"}


def in_place(tensor: StorageHolder, result: Any, name: str) -> Any:
    """Put a result of the same shape into a tensor and return the tensor, which keeps its format and dtype."""
    if result is NotImplemented:
        return result
    if type(result) is type(tensor) and not storage_anywhere(result).format.is_dense:
        new, old = storage_anywhere(result), storage_anywhere(tensor)
        # The storage of a result of the same type replaces the old one without a conversion.
        if new.type is old.type and new.shape == old.shape:
            replace_storage(tensor, new)
            return tensor
    return write_out(result, tensor, name)


def _tell(error: WeftError, text: str, left: Any, right: Any) -> None:
    """Let an error end at the caller, with the operands of the operator that is too large."""
    end_at_caller(error)
    tell_operands(error, text, {"A": left, "B": right})


def _within(op: str) -> InPlace:
    """Return the method of an operator that changes the tensor on its left."""

    def method(self: Any, other: Any) -> Any:
        try:
            return in_place(self, elementwise(op, self, other, type(self)), op)
        except WeftError as error:
            end_at_caller(error)
            raise

    method.__name__ = op
    return method  # type: ignore[return-value]  # as a method it takes one argument less


def _pair(op: str) -> tuple[Infix, Infix]:
    """Return the methods of an infix operator with the tensor on the left, and with the tensor on the right."""

    def forward(self: Any, other: Any) -> Any:
        try:
            return elementwise(op, self, other, type(self))
        except WeftError as error:
            _tell(error, f"{op}(A, B)", self, other)
            raise

    def reflected(self: Any, other: Any) -> Any:
        try:
            return elementwise(op, other, self, type(self))
        except WeftError as error:
            _tell(error, f"{op}(A, B)", other, self)
            raise

    forward.__name__ = reflected.__name__ = op
    return forward, reflected  # type: ignore[return-value]  # as methods they take one argument less


class Operators(StorageHolder):
    """Python's operators of a tensor."""

    __slots__ = ()

    @overload
    def __matmul__(self, other: SparseTensor) -> SparseTensor: ...
    @overload
    def __matmul__(self, other: Array) -> Array: ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        try:
            return matmul(self, other, type(self))
        except WeftError as error:
            _tell(error, "A @ B", self, other)
            raise

    @overload
    def __rmatmul__(self, other: Array) -> Array: ...
    @overload
    def __rmatmul__(self, other: Any) -> Any: ...
    def __rmatmul__(self, other: Any) -> Any:
        try:
            return matmul(other, self, type(self))
        except WeftError as error:
            _tell(error, "A @ B", other, self)
            raise

    __add__, __radd__ = _pair("add")
    __sub__, __rsub__ = _pair("subtract")
    __mul__, __rmul__ = _pair("multiply")
    __truediv__, __rtruediv__ = _pair("divide")
    __floordiv__, __rfloordiv__ = _pair("floor_divide")
    __mod__, __rmod__ = _pair("remainder")
    __and__, __rand__ = _pair("bitwise_and")
    __or__, __ror__ = _pair("bitwise_or")
    __xor__, __rxor__ = _pair("bitwise_xor")
    __lshift__, __rlshift__ = _pair("left_shift")
    __rshift__, __rrshift__ = _pair("right_shift")
    __iadd__ = _within("add")
    __isub__ = _within("subtract")
    __imul__ = _within("multiply")
    __itruediv__ = _within("divide")
    __ifloordiv__ = _within("floor_divide")
    __imod__ = _within("remainder")
    __iand__ = _within("bitwise_and")
    __ior__ = _within("bitwise_or")
    __ixor__ = _within("bitwise_xor")
    __ilshift__ = _within("left_shift")
    __irshift__ = _within("right_shift")
    # Python tries the mirrored comparison of the other operand itself.
    __eq__, _ = _pair("equal")
    __ne__, _ = _pair("not_equal")
    __lt__, _ = _pair("less")
    __le__, _ = _pair("less_equal")
    __gt__, _ = _pair("greater")
    __ge__, _ = _pair("greater_equal")
    del _
    __hash__ = None  # type: ignore[assignment]  # like an ndarray's

    def __imatmul__(self, other: Any) -> SparseTensor:  # type: ignore[misc]
        return in_place(self, matmul(self, other, type(self)), "matmul")  # type: ignore[no-any-return]

    def __ipow__(self, other: Any) -> SparseTensor:  # type: ignore[misc]
        return in_place(self, power(self, other, type(self)), "power")  # type: ignore[no-any-return]

    @overload
    def __pow__(self, other: SparseTensor | Number) -> SparseTensor: ...
    @overload
    def __pow__(self, other: Array) -> SparseTensor | Array: ...
    @overload
    def __pow__(self, other: Any) -> Any: ...
    def __pow__(self, other: Any) -> Any:
        return power(self, other, type(self))

    @overload
    def __rpow__(self, other: Number) -> SparseTensor: ...
    @overload
    def __rpow__(self, other: Any) -> Any: ...
    def __rpow__(self, other: Any) -> Any:
        return power(other, self, type(self))

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __invert__(self) -> SparseTensor:
        return unary("invert", self)  # type: ignore[no-any-return]

    def __neg__(self) -> SparseTensor:
        return unary("negative", self)  # type: ignore[no-any-return]

    def __pos__(self) -> SparseTensor:
        return unary("positive", self)  # type: ignore[no-any-return]

    def __abs__(self) -> SparseTensor:
        return unary("absolute", self)  # type: ignore[no-any-return]


INFIX: dict[str, str] = {
    method: op for method, function in vars(Operators).items() if (op := getattr(function, "__name__", "")) in OPERATORS
}
"""The operator of each method that takes two operands."""
