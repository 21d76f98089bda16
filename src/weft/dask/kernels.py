"""Kernels of a statement for all workers of a cluster: compiled once, and sent."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
from distributed import WorkerPlugin

from ..runtime import loader
from .steps import Operand, Step, steps_of


class Kernels(WorkerPlugin):  # type: ignore[misc]  # the package has no types
    """Shared objects that each worker takes when it starts, if its machine is of the same kind."""

    def __init__(self, machine: str, objects: dict[str, loader.Compiled]) -> None:
        self.name = f"weft-kernels-{hash((machine, frozenset(objects)))}"
        self.machine = machine
        self.objects = objects

    def setup(self, worker: Any) -> None:
        """Take the shared objects."""
        if loader.machine() == self.machine:
            loader.adopt(self.objects)


def warm(client: Any, array: Any, /) -> int:
    """Compile the kernels of an array's statements once, and send them to all workers, also to those that come later.

    The client computes each statement on two chunks of each operand, which compiles what they need. Workers of the same
    system and level of instructions take the shared objects, and need neither a compiler nor a file system in common:
    ``WEFT_COMPILE=never`` works on them. Others compile for themselves.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    array : dask.array.Array
        A result of :func:`weft.dask.evaluate` or of another function of ``weft.dask``.

    Returns
    -------
    int
        The number of shared objects that were sent: those that this process has in use.

    Examples
    --------
    >>> import weft
    >>> from distributed import Client
    >>> X = weft.dask.from_tensor(weft.eye(1000, format="csr"))
    >>> gram = weft.dask.einsum("ij,ik->jk", X, X)
    >>> with Client() as client:  # doctest: +SKIP
    ...     print(weft.dask.warm(client, gram))
    4
    """
    samples: dict[str, tuple[Any, Any]] = {}
    for name, step in steps_of(array).items():
        samples[name] = _tried(step, [_sampled(operand, array, samples) for _, operand in step.operands])
    objects = loader.opened_objects()
    client.register_plugin(Kernels(loader.machine(), objects))
    return len(objects)


def _tried(step: Step, samples: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return what two tasks of a step make of two samples of each operand."""
    if not step.is_merge:
        first, last = (step.call(*chunks) for chunks in zip(*samples, strict=True))
        return first, last
    ((left, right),) = samples
    return step.call(left, right), step.call(right, left)


def _sampled(operand: Operand, array: Any, samples: dict[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return two chunks of an operand: those that were made of samples, or else its first and its last."""
    if operand.name not in samples:
        x = da.Array(array.dask, operand.name, operand.chunks, meta=operand.meta)
        places = [(0,) * x.ndim, tuple(n - 1 for n in x.numblocks)]
        first, last = dask.compute(*(x.blocks[place] if x.ndim else x for place in places))
        samples[operand.name] = first, last
    return samples[operand.name]
