"""Lazy tensors: operators and functions that are recorded, and computed together later.

A lazy tensor is a tensor whose storage does not exist yet. Operations that index notation can say are recorded, and
make other lazy tensors. Code that reads the storage computes it at that moment, so that every function takes lazy
tensors.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from types import MethodType
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..config import config
from ..errors import DTypeError, UnsupportedError, WeftError
from ..execution.plan_cache import PlanCache
from ..index_notation.nodes import Assignment
from ..index_notation.operator_table import OPERATORS
from ..operations.operands import StorageHolder, is_scalar, operand_anywhere, refusal, replace_storage, scalar_storage
from ..records import replace
from ..runtime.devices import in_use
from ..storage import Storage
from ..tracebacks import end_at_caller
from . import recorded
from .operators import INFIX, power, power_operator, wrap_result
from .recorded import Argument, Recorded, Source, Statement
from .sparse_tensor import SparseTensor

P = ParamSpec("P")
T = TypeVar("T")


class LazyTensor(SparseTensor):
    """Tensor that is computed when its storage is read."""

    __slots__ = ("_is_array", "_recorded")
    _recorded: Recorded | None  # None once the tensor is computed
    _is_array: bool  # whether a dense result is an array

    def __init__(self, what: Recorded | Storage) -> None:
        self._recorded, self._is_array = None, False
        if isinstance(what, Storage):
            super().__init__(what)
        else:
            self._recorded, self._is_array = what, what.is_array

    # -- what is known before -----------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        return self._anywhere.shape if self._recorded is None else self._recorded.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._anywhere.dtype if self._recorded is None else self._recorded.dtype

    # -- computing ----------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        waits = name == "_storage" and (self._recorded is not None or getattr(self, "_writing", None) is None)
        if not waits:
            return super().__getattr__(name)  # type: ignore[misc]
        storage = self._anywhere
        if storage.is_on_device:
            raise refusal(storage)
        return storage

    @property
    def _anywhere(self) -> Storage:
        node = self._recorded
        if node is not None:
            # Vectors on the way that are still in use are kept, so that loops go on from them.
            users = [tensor for reference in node.before if (tensor := reference()) is not None and tensor.ndim < 2]
            pending = [(tensor, own) for tensor in users if (own := tensor._recorded) is not None]
            pending.append((self, node))
            for (tensor, _), storage in zip(pending, recorded.run([own for _, own in pending]), strict=True):
                replace_storage(tensor, storage)
                tensor._recorded = None
        return StorageHolder._anywhere.fget(self)  # type: ignore[attr-defined, no-any-return]

    # -- what is recorded ---------------------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        keys = key if type(key) is tuple else (key,)
        slices = [k for k in keys if type(k) is slice and k == slice(None)]
        dots, new = sum(k is Ellipsis for k in keys), sum(k is None for k in keys)
        if len(slices) + dots + new < len(keys) or dots > 1 or len(slices) > self.ndim:
            return super().__getitem__(key)
        places, place = [], 0
        for k in keys:
            if k is None:
                places.append(place)
            place += self.ndim - len(slices) if k is Ellipsis else 1
        return LazyTensor(node_of(self).with_axes(places)) if places else self

    def __setitem__(self, key: Any, value: Any) -> None:
        _ = self._anywhere
        super().__setitem__(key, value)

    def _turned(self, order: Sequence[int]) -> SparseTensor:
        return LazyTensor(node_of(self).turned(order))

    def _part(self, name: str) -> SparseTensor:
        return record(name, self)  # type: ignore[no-any-return]

    def _in_dtype(self, dtype: np.dtype[Any]) -> SparseTensor:
        return self if dtype == self.dtype else record(dtype.name, self)

    def main_diagonal(self) -> LazyTensor:
        """Return the main diagonal of a square matrix."""
        return LazyTensor(node_of(self).diagonal())

    def reduced(self, op: str, chain: Sequence[str], axis: Any, keepdims: bool) -> LazyTensor:
        """Return a reduction over some axes, after unary operators."""
        node = node_of(self)
        for name in chain:
            node = recorded.mapped(name, (node,))
        return LazyTensor(node.reduced(op, axis, keepdims))

    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options:
            op = ufunc.__name__
            if ufunc is np.matmul or (op in OPERATORS and OPERATORS[op].ufunc is ufunc):
                try:
                    result = record(op, *inputs)
                except DTypeError:  # of arrays, NumPy may compute what weft has no dtype for
                    if not all(is_scalar(x) or node_of(x).is_array for x in inputs):
                        raise
                    return ufunc(*[x if is_scalar(x) else np.asarray(x) for x in inputs])
                if result is not NotImplemented:
                    return result
        return super().__array_ufunc__(ufunc, method, *inputs, **options)

    def __repr__(self) -> str:
        if self._recorded is None:
            return super().__repr__()
        return f"<lazy tensor: shape={self.shape}, dtype={self.dtype}; weft.compute() computes it>"


_METHODS = INFIX | {
    "__matmul__": "matmul", "__rmatmul__": "matmul", "__imatmul__": "matmul", "__pow__": "**", "__rpow__": "**",
    "__ipow__": "**", "__invert__": "invert", "__neg__": "negative", "__pos__": "positive", "__abs__": "absolute",
}  # fmt: skip


def _recording(method: str, op: str) -> Callable[..., Any]:
    """Return a method that records an operator; those in place bind the name to another lazy tensor, as of numbers."""
    if method[2] == "r" and f"__{method[3:]}" in _METHODS:  # the tensor is on the right
        return lambda self, other: record(op, other, self)
    return lambda *operands: record(op, *operands)


for _method, _op in _METHODS.items():
    setattr(LazyTensor, _method, _recording(_method, _op))


def is_lazy(*operands: Any) -> bool:
    """Return whether an operand is a lazy tensor, so that a function is recorded."""
    return LazyTensor in map(type, operands)


def node_of(x: Any) -> Recorded:
    """Return the recorded expression of an operand."""
    if (node := _known_node(x)) is None:
        raise DTypeError(f"weft takes tensors, arrays and numbers, not {type(x).__name__}")
    return node


def _known_node(x: Any) -> Recorded | None:
    """Return the recorded expression of an operand; None for objects that weft does not know."""
    node = x._recorded if type(x) is LazyTensor else None
    if node is None:
        node = recorded.leaf_of(x)
        return replace(node, is_array=x._is_array) if node and type(x) is LazyTensor else node
    if node.size > recorded.LARGEST:  # it becomes a statement of its own
        planned = node.is_planned
        node = node.apart() if planned else recorded.leaf(x, node.shape, node.dtype, None, node.is_array)
    return replace(node, before=(weakref.ref(x), *[b for b in node.before if b() is not None]))


def record(op: str, *operands: Any) -> Any:
    """Return an operator on lazy tensors and other operands; ``NotImplemented`` for objects that weft does not know."""
    nodes: list[Any] = [x if is_scalar(x) else _known_node(x) for x in operands]
    if any(node is None for node in nodes):
        return NotImplemented
    try:
        if op in ("**", "power"):
            return _power(operands[0], operands[1], op == "power")
        return LazyTensor(recorded.product(*nodes) if op == "matmul" else recorded.mapped(op, nodes))
    except WeftError as error:
        end_at_caller(error)
        raise


def written(assignment: Assignment, operands: Mapping[str, Any]) -> LazyTensor:
    """Return an assignment with lazy tensors and other operands; numbers take their dtypes from these."""
    nodes = {name: node_of(x) for name, x in operands.items() if not is_scalar(x)}
    beside = np.result_type(*[node.dtype for node in nodes.values()])
    numbers = {name: node_of(scalar_storage(x, beside)) for name, x in operands.items() if name not in nodes}
    return LazyTensor(recorded.substituted(assignment, nodes | numbers))


def _power(left: Any, right: Any, exact: bool) -> Any:
    """Return ``left ** right`` as operators on tensors compute it, or as ``np.power`` does if it is ``exact``."""
    op = None if exact else power_operator(left, right)
    if op is not None:
        return record(op, left)
    if type(right) is int and right < 0 and left.dtype.kind in "biu":
        raise ValueError("Integers to negative integer powers are not allowed.")
    dtypes = [x if is_scalar(x) else lazy(x).dtype for x in (left, right)]
    if not isinstance(right, (int, float, complex)) and np.result_type(*dtypes).kind in "biu":
        first, second = compute(left, right)
        return power(first, second, SparseTensor, exact)  # the values decide
    return LazyTensor(recorded.mapped("power", [x if is_scalar(x) else node_of(x) for x in (left, right)]))


def apart(x: LazyTensor) -> LazyTensor:
    """Return a lazy tensor that is computed by a statement of its own."""
    return LazyTensor(node_of(x).apart())


def chosen(condition: Any, yes: Any, no: Any) -> Any:
    """Return the elements of ``yes`` where a condition holds, and those of ``no`` elsewhere."""
    dtype = np.result_type(*[x if is_scalar(x) else lazy(x).dtype for x in (yes, no)])
    operands = zip((condition, yes, no), (np.dtype(bool), dtype, dtype), strict=True)
    parts = [np.asarray(x).astype(own)[()] if is_scalar(x) else lazy(x)._in_dtype(own) for x, own in operands]
    return record("where", *parts)._in_dtype(dtype)


def lazy(x: Any, /) -> LazyTensor:
    """Return a tensor whose operators and functions are recorded, and computed by :func:`compute`.

    Parameters
    ----------
    x : array_like
        A tensor, an ndarray or an array of scipy.sparse, which is not copied. If it changes before the result is
        computed, the result is that of the new values.

    Returns
    -------
    SparseTensor
        A lazy tensor, with the shape and the dtype of ``x``. Operators, NumPy's functions of single elements,
        reductions, products, transposes and ``None`` in an index make other lazy tensors. All else computes the tensor
        when it needs the values: ``if``, ``float``, ``print``, other indices and other functions.

    Examples
    --------
    The product of the matrices is never computed, since that with the vector is cheaper:

    >>> import numpy as np
    >>> import weft
    >>> A = weft.random((1000, 1000), nnz=5000, format="csr", rng=0)
    >>> L = weft.lazy(A)
    >>> y = L @ L @ np.ones(1000)
    >>> y
    <lazy tensor: shape=(1000,), dtype=float64; weft.compute() computes it>
    >>> weft.compute(y).shape
    (1000,)
    """
    if type(x) is LazyTensor:
        return x
    return LazyTensor(node_of(x))


def compute(*tensors: Any) -> Any:
    """Compute lazy tensors together.

    Parameters
    ----------
    *tensors : SparseTensor
        Lazy tensors; other objects are returned as they are.

    Returns
    -------
    SparseTensor, ndarray, NumPy scalar or tuple
        The result, or a tuple of several: a scalar for one without axes, an ndarray for a dense one if an operand is an
        ndarray, and else a tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.lazy(weft.asarray([[0.0, 1.0], [2.0, 2.0]], format="csr"))
    >>> shares, total = weft.compute(A / A.sum(axis=1)[:, None], A.sum())
    >>> shares.todense(), total
    (array([[0. , 1. ],
           [0.5, 0.5]]), np.float64(5.0))
    """
    try:
        results = iter(_computed([x for x in tensors if type(x) is LazyTensor]))
    except WeftError as error:
        end_at_caller(error)
        raise
    found = [next(results) if type(x) is LazyTensor else x for x in tensors]
    return found[0] if len(found) == 1 else tuple(found)


def _computed(tensors: Sequence[LazyTensor]) -> list[Any]:
    """Return the results of lazy tensors as the caller gets them."""
    storages = recorded.run([node_of(x) for x in tensors])
    return [wrap_result(SparseTensor, storage, x._is_array) for storage, x in zip(storages, tensors, strict=True)]


_PLAIN = frozenset((bool, int, str, type(None)))
"""Types of arguments that are equal to others only if they are the same."""


# -- functions ------------------------------------------------------------------------------------------------------
class Fused:
    """Function whose tensors are recorded, and computed when it returns."""

    def __init__(self, function: Callable[..., Any], static: bool):
        self._function, self._static = function, static
        self._programs = PlanCache(lambda: config.plan_cache_size)
        update_wrapper(self, function)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined, no-any-return]  # copied and pickled as functions are

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **named: Any) -> Any:
        arguments = [*args, *named.values()]
        if is_lazy(*arguments):  # a part of a larger program
            return self._function(*args, **named)
        try:
            if self._static:
                return self._run(arguments, (*named,))
            results, form = self.recorded(arguments, (*named,))
            return _replaced(form, Argument, _at(_computed(results)))
        except WeftError as error:
            end_at_caller(error)
            raise

    def recorded(self, arguments: Sequence[Any], names: tuple[str, ...]) -> tuple[list[LazyTensor], Any]:
        """Return the lazy results for arguments, the last of which have names, and what holds places for them."""
        arguments = [lazy(x) if _is_tensor(x) else x for x in arguments]
        count = len(arguments) - len(names)
        results: list[LazyTensor] = []

        def take(tensor: LazyTensor) -> Argument:
            results.append(tensor)
            return Argument(len(results) - 1)

        value = self._function(*arguments[:count], **dict(zip(names, arguments[count:], strict=True)))
        return results, _replaced(value, LazyTensor, take)

    def _run(self, arguments: Sequence[Any], names: tuple[str, ...]) -> Any:
        """Run the program that is kept for the types and shapes of tensors, and for other arguments themselves."""
        key, storages = list[Any](names), list[Any]()
        for x in arguments:
            cls, storage = x.__class__, None
            if cls in _PLAIN:
                key += cls, x
            elif (operand := operand_anywhere(x) if _is_tensor(x) else None) is None:
                key.append(_same(x))
            else:
                storage, is_array = operand
                key += storage.type.number, storage.shape, is_array, storage.device if in_use else ""
            storages.append(storage)
        kept = tuple(key)
        program, are_arrays, form = self._programs.find(kept) or self._programs.get(
            kept, lambda: self._recorded(arguments, names)
        )
        results = [
            wrap_result(SparseTensor, storage, is_array)
            for storage, is_array in zip(
                recorded.run_statements(program, len(are_arrays), storages), are_arrays, strict=True
            )
        ]
        return results[0] if type(form) is Argument else _replaced(form, Argument, _at(results))

    def _recorded(self, arguments: Sequence[Any], names: tuple[str, ...]) -> tuple[list[Statement], list[bool], Any]:
        """Return the program for arguments of these types and shapes, and what holds places for its results."""
        placed = [_placed(x, k) if _is_tensor(x) else x for k, x in enumerate(arguments)]
        results, form = self.recorded(placed, names)
        nodes = [node_of(x) for x in results]
        return recorded.statements(nodes), [node.is_array for node in nodes], form


def _same(x: Any) -> Any:
    """Return what is equal for arguments, none of them tensors, for which a function makes the same program."""
    if isinstance(x, (tuple, list)):
        return type(x), tuple([_same(item) for item in x])
    if isinstance(x, dict):
        return type(x), tuple([(_same(name), _same(item)) for name, item in x.items()])
    if isinstance(x, (float, complex)):  # 0.0 and -0.0 are equal, and NaN is not
        return type(x), repr(x)
    try:
        hash(x)
    except TypeError:
        raise UnsupportedError(
            f"a function of fused(static=True) keeps a program for the value of each argument that is no tensor, and a "
            f"{type(x).__name__} has no hash; pass tensors as arguments of their own, or leave out static=True"
        ) from None
    return type(x), x


def _placed(x: Any, place: int) -> LazyTensor:
    """Return a lazy tensor for an argument of the type and the shape of a tensor."""
    node = node_of(x)
    return LazyTensor(replace(node, sources={name: Source(Argument(place)) for name in node.sources}))


def _at(results: Sequence[Any]) -> Callable[[Argument], Any]:
    return lambda argument: results[argument.place]


def _replaced(value: Any, cls: type[Any], change: Callable[[Any], Any]) -> Any:
    """Return a value with the objects of a class changed, in tuples, lists and dictionaries, too."""
    if isinstance(value, cls):
        return change(value)
    if isinstance(value, (tuple, list)):
        items = [_replaced(item, cls, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {name: _replaced(item, cls, change) for name, item in value.items()}
    return value


def _is_tensor(x: Any) -> bool:
    """Return whether an argument is recorded: a tensor or an array with axes, of weft, NumPy or another package."""
    if isinstance(x, (SparseTensor, np.ndarray)):
        return isinstance(x, SparseTensor) or bool(x.ndim)
    return not isinstance(x, (int, float, complex, str, tuple, list, dict, type(None))) and bool(
        getattr(x, "shape", ()) and operand_anywhere(x)
    )


@overload
def fused(function: Callable[P, T], /, *, static: bool = False) -> Callable[P, T]: ...
@overload
def fused(*, static: bool = False) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def fused(function: Any = None, /, *, static: bool = False) -> Any:
    """Return a function that computes all that it does to tensors together, when it returns.

    Parameters
    ----------
    function : callable
        A function of tensors, ndarrays or arrays of scipy.sparse, written as for NumPy. It gets lazy tensors (see
        :func:`lazy`) in their place. Those that it returns are computed, in tuples, lists and dictionaries, too.
    static : bool
        True to run the Python function once for arguments of certain types and shapes. It must not ask for values
        then; numbers and other arguments that are no tensors are a part of what is kept. At most
        ``config.plan_cache_size`` programs are kept, those that were used last.

    Returns
    -------
    callable
        The function. With lazy tensors for arguments it returns lazy tensors.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> @weft.fused
    ... def tfidf(A):
    ...     return np.log1p(A / A.sum(axis=1)[:, None] * 1e4)
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 2.0]], format="csr")
    >>> tfidf(A).todense().round(2)
    array([[0.  , 9.21],
           [8.52, 8.52]])
    """
    return partial(fused, static=static) if function is None else Fused(function, static)
