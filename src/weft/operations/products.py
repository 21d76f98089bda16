"""Matrix product, by the rules of ``numpy.matmul``: planned once for each combination of types, then run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import execution
from ..errors import ShapeError
from ..execution.plan_cache import kept
from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Assignment, Reduce
from ..storage import Storage
from .elementwise import plan_operation, without_axis
from .operands import describe
from .shapes import broadcast_shapes

if TYPE_CHECKING:
    from ..variant import Variant


def plan_matmul(left: Storage, right: Storage, dense: bool) -> tuple[execution.Plan, tuple[Storage, Storage]]:
    """Return the plan of ``left @ right``, and the operands with which to run it."""
    a, b = left.shape, right.shape
    if not a or not b:
        raise ShapeError(f"matmul: an operand has no axes: {describe(left)} @ {describe(right)}; use * for scalars")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ShapeError(f"matmul: the inner sizes differ: {describe(left)} @ {describe(right)}")
    # All axes before the last two are batch axes, which broadcast.
    batch_a, batch_b = a[:-2], b[:-2]
    try:
        batch = broadcast_shapes(batch_a, batch_b)
    except ValueError:
        raise ShapeError(f"matmul: the batches do not broadcast: {describe(left)} @ {describe(right)}") from None
    left, first = _batched("A", left, batch, ("i", "k")[-len(a) :])
    right, second = _batched("B", right, batch, ("k", "j") if len(b) > 1 else ("k",))
    # C(b0,...,i,j) = sum(k, A(b0,...,i,k)*B(b0,...,k,j)); a vector has neither i nor j.
    target = (*(f"b{axis}" for axis in range(len(batch))), *("i",) * (len(a) > 1), *("j",) * (len(b) > 1))
    variant = execution.variant_for((left, right))
    # Of vectors and matrices beside an array the result is one, however long its axes are.
    dense = dense and max(len(a), len(b)) < 3
    return _product_plan(first, second, target, (left.type, right.type), dense, variant), (left, right)


@kept
def _product_plan(
    first: Access,
    second: Access,
    target: tuple[str, ...],
    types: tuple[TensorType, TensorType],
    dense: bool,
    variant: Variant | None,
) -> execution.Plan:
    # Batch axes of size 1 that could not be left out have variables of their own, which are summed.
    extra = [i for access in (first, second) for i in access.indices if i not in (*target, "k")]
    value = Reduce("add", ("k", *extra), Apply("multiply", (first, second)))
    assignment = Assignment(Access("C", target), value)
    format = execution.dense_format(assignment, dict(zip("AB", types, strict=True))) if dense else None
    return plan_operation(assignment, types, format, variant=variant)


def _batched(name: str, storage: Storage, batch: tuple[int, ...], variables: tuple[str, ...]) -> tuple[Storage, Access]:
    """Return an operand, and its access in a product with batch axes.

    Batch axes align from the right. An axis of size 1 that stretches is dropped if possible, and else summed over.
    """
    count = len(storage.shape) - len(variables)
    names = [f"b{axis + len(batch) - count}" for axis in range(count)]
    for axis in reversed(range(count)):
        if storage.shape[axis] != batch[axis + len(batch) - count]:
            smaller = without_axis(storage, axis)
            if smaller is None:
                names[axis] = f"one_{name.lower()}{axis}"  # summed over; differs from the names of batch axes
            else:
                storage = smaller
                del names[axis]
    return storage, Access(name, (*names, *variables))
