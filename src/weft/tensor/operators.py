"""Python's operators: what is warm goes straight to a compiled kernel, the rest is planned first.

A warm call is a look-up by the identity of the operands' types (equal types of the usual makers are one object, and
a plan keeps its types alive, so that an identity is never reused) and a run. The compiler is imported when the first
plan is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import ShapeError
from ..storage import Storage
from .operands import Tensor, adopt, is_scalar

if TYPE_CHECKING:
    from .elementwise import Plan

__all__ = ["Operators", "elementwise", "finish", "matmul", "unary"]

_ndarray = np.ndarray
_same_shape: dict[tuple[str, int, int], Plan] = {}
_products: dict[tuple[int, int], Plan] = {}
_vectors: dict[tuple[int, np.dtype[Any]], Plan] = {}


def finish(cls: type[Tensor], result: Storage, has_array: bool) -> Any:
    """A result as the caller gets it: an ndarray where an operand was one and the result is dense."""
    if has_array and result.type.format.is_dense:
        return result.to_dense_array() if result.shape else result.vals[0]
    return cls(result)


def elementwise(op: str, left: Any, right: Any, cls: type[Tensor]) -> Any:
    """``left op right`` element by element; one of them is a tensor of class ``cls``."""
    if type(left) is cls and type(right) is cls:
        a, b = left._storage, right._storage
        if a.shape == b.shape:
            key = (op, id(a.type), id(b.type))
            plan = _same_shape.get(key)
            if plan is None:
                from .elementwise import plan_binary

                plan, _ = plan_binary(op, a, b)
                _same_shape[key] = _keep(plan, a, b)
            return cls(plan.run((a, b)))
    from .elementwise import apply_scalar, plan_binary

    if is_scalar(right):
        return cls(apply_scalar(op, left._storage, right, False))
    if is_scalar(left):
        return cls(apply_scalar(op, right._storage, left, True))
    first, second = adopt(left), adopt(right)
    if first is None or second is None:
        return NotImplemented
    plan, storages = plan_binary(op, first.storage, second.storage)
    return finish(cls, plan.run(storages), first.is_array or second.is_array)


def matmul(left: Any, right: Any, cls: type[Tensor]) -> Any:
    """``left @ right``; one of them is a tensor of class ``cls``."""
    if type(left) is cls:
        a = left._storage
        if type(right) is _ndarray:
            if right.ndim == 1:
                plan = _vectors.get((id(a.type), right.dtype))
                if plan is not None and right.flags.c_contiguous and right.shape[0] == a.shape[-1]:
                    return plan.run((a, Storage(right.shape, plan.types[1], (), right))).vals
        elif type(right) is cls:
            b = right._storage
            plan = _products.get((id(a.type), id(b.type)))
            if plan is not None and a.shape[-1] == b.shape[0]:
                return cls(plan.run((a, b)))
    if is_scalar(left) or is_scalar(right):
        raise ShapeError("matmul: an operand is a scalar; use * instead")
    first, second = adopt(left), adopt(right)
    if first is None or second is None:
        return NotImplemented
    from .products import plan_matmul

    has_array = first.is_array or second.is_array
    plan, storages = plan_matmul(first.storage, second.storage, has_array)
    result = plan.run(storages)
    a, b = first.storage, second.storage
    if len(a.shape) == 2 and type(left) is cls:
        if type(right) is cls and len(b.shape) <= 2:
            _products[id(a.type), id(b.type)] = _keep(plan, a, b)
        elif type(right) is _ndarray and len(b.shape) == 1 and b.vals is right and result.format.is_dense:
            _vectors[id(a.type), right.dtype] = _keep(plan, a, b)
    if not result.shape:
        return result.vals[0]
    return finish(cls, result, has_array)


_kept: dict[int, Any] = {}


def _keep(plan: Plan, *storages: Storage) -> Plan:
    """Keep alive the types whose identities serve as keys."""
    for storage in storages:
        _kept[id(storage.type)] = storage.type
    return plan


def unary(op: str, tensor: Tensor) -> Any:
    """``op tensor``."""
    from .elementwise import apply_unary

    return type(tensor)(apply_unary(op, tensor._storage))


class Operators(Tensor):
    """The operators of a tensor."""

    __slots__ = ()

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other, type(self))

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self, type(self))

    def __add__(self, other: Any) -> Any:
        return elementwise("add", self, other, type(self))

    def __radd__(self, other: Any) -> Any:
        return elementwise("add", other, self, type(self))

    def __sub__(self, other: Any) -> Any:
        return elementwise("subtract", self, other, type(self))

    def __rsub__(self, other: Any) -> Any:
        return elementwise("subtract", other, self, type(self))

    def __mul__(self, other: Any) -> Any:
        return elementwise("multiply", self, other, type(self))

    def __rmul__(self, other: Any) -> Any:
        return elementwise("multiply", other, self, type(self))

    def __truediv__(self, other: Any) -> Any:
        return elementwise("divide", self, other, type(self))

    def __rtruediv__(self, other: Any) -> Any:
        return elementwise("divide", other, self, type(self))

    def __neg__(self) -> Any:
        return unary("negative", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return unary("absolute", self)

    def _no_comparison(self, other: Any) -> NoReturn:
        raise TypeError("comparisons of SparseTensors are not supported yet; compare what `todense()` gives")

    __eq__ = _no_comparison
    __ne__ = _no_comparison
    __lt__ = _no_comparison
    __le__ = _no_comparison
    __gt__ = _no_comparison
    __ge__ = _no_comparison
    __hash__ = None  # type: ignore[assignment]  # like an ndarray's
