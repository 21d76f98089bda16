"""Reports on the kernels that a call of a function or a method runs, for ``weft.explain(np.add, A, B)``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import execution
from ..operations.operands import StorageHolder, storage_anywhere
from ..storage import Storage
from .compiled_kernel import stage_texts, titled


def explain_call(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    stages: bool | str | Iterable[str],
) -> str:
    """Call a function, and report the kernels that it runs in their order, each once."""
    with execution.watched() as runs:
        function(*arguments, **named)
    if not runs:
        return "no kernel runs: the result is made of arrays that are there"
    first = dict(reversed(runs))  # the operands of the first run of each
    kernels = dict.fromkeys(kernel for kernel, _ in runs)
    if stages:
        texts = [titled(stage_texts(kernel, stages)) for kernel in kernels]
    else:
        tensors = [*arguments, *named.values(), getattr(function, "__self__", None)]
        held = [storage_anywhere(each) for each in tensors if isinstance(each, StorageHolder)]
        texts = ["\n".join(_lines(kernel, first[kernel], held)) for kernel in kernels]
    return "\n\n".join(texts)


def _lines(kernel: execution.Kernel, storages: Sequence[Storage], tensors: Sequence[Storage]) -> Iterator[str]:
    """Yield the lines on a kernel that ran, and say of which tensors it read the stored values alone."""
    facts, types = kernel.facts, [storage.type for storage in storages]
    if facts.variant.conversion:
        yield f"the conversion of {types[0].format} {types[0].dtype} to {kernel.type.format} {kernel.type.dtype}"
        return
    yield facts.text
    yield execution.formats_line({facts.target.tensor: kernel.type, **dict(zip(kernel.operands, types, strict=True))})
    for name, storage in zip(kernel.operands, storages, strict=True):
        for tensor in tensors:
            if storage.vals is tensor.vals and storage.shape != tensor.shape:
                yield f"{name} has the stored values of the tensor of shape {tensor.shape} in {tensor.format}"
                break
    yield kernel.summary(storages=storages)
    if kernel.origins:
        yield execution.compiled_line(kernel.origins)
