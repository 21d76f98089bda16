"""Index notation in programs of PyTorch: an operator with a derivative, for ``backward`` and ``torch.compile``.

Kernels run on the CPU, and read the memory of PyTorch's tensors. Structures of sparse tensors are constant.

Examples
--------
>>> import torch, weft
>>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
>>> x = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
>>> y = weft.torch.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x)
>>> y.square().sum().backward()
>>> x.grad
tensor([8., 6.], dtype=torch.float64)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from importlib.util import find_spec
from typing import Any

import numpy as np

from .doors import optional
from .formats import FormatLike
from .interop.frameworks import Statement, statement_of
from .interop.frameworks import with_values as tensor_with_values
from .tracebacks import ends_at_caller

__all__ = ["evaluate", "with_values"]

statements: list[Statement] = []
"""Statements by their numbers, which programs of PyTorch hold."""
_numbers: dict[Statement, int] = {}


@ends_at_caller
def evaluate(text: str, /, *, format: FormatLike | None = None, **operands: Any) -> Any:
    """Compute an expression in tensor index notation, with a derivative for PyTorch.

    Parameters
    ----------
    text : str
        The expression, as :func:`weft.evaluate` takes it.
    format : str or Format, optional
        The format of the result; by default it is inferred from the operands.
    **operands : array_like
        Tensors of PyTorch on the CPU, arrays of NumPy, numbers, and weft's tensors, by their names. :func:`with_values`
        makes one of these with values to differentiate by.

    Returns
    -------
    torch.Tensor or SparseTensor
        A ``SparseTensor``, whose values are a tensor of PyTorch, where the result of :func:`weft.evaluate` is sparse.

    See Also
    --------
    weft.vjp : gradients without PyTorch

    Examples
    --------
    >>> import torch, weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> values, x = torch.tensor(A.data, requires_grad=True), torch.tensor([1.0, 10.0])
    >>> B = weft.torch.with_values(A, values)
    >>> weft.torch.evaluate("s = square(B(i,j))*x(j)", B=B, x=x).backward()
    >>> values.grad
    tensor([20.,  4.], dtype=torch.float64)
    """
    return _evaluate(text, operands if format is None else {**operands, "format": format})


def _registered() -> tuple[Any, Any]:
    """Register the operator and its derivative in PyTorch; return what ``torch.compile`` takes as functions."""
    import torch
    from torch._dynamo import nonstrict_trace

    def opaque(function: Callable[..., Any]) -> Any:
        """Return a function that ``torch.compile`` calls with tensors of shapes alone, and does not look into."""
        return nonstrict_trace(torch.compiler.disable(function))

    def numpy(tensor: Any) -> Any:
        return tensor.detach().resolve_conj().resolve_neg().numpy()

    def apart(result: Any, arrays: Any) -> Any:
        """Return an array as a tensor that shares no memory with operands, which PyTorch does not allow."""
        shares = any(np.may_share_memory(result, array) for array in arrays)
        return torch.from_numpy(np.array(result) if shares else np.asarray(result))

    def write_values(number: int, tensors: Any) -> Any:
        statement, arrays = statements[number], list(map(numpy, tensors))
        return apart(statement.values(statement.result(tensors).structure, arrays), arrays)

    def write_gradients(number: int, wrt: Any, tensors: Any, cotangent: Any) -> Any:
        statement, arrays = statements[number], list(map(numpy, (*tensors, cotangent)))
        gradients = statement.gradients(statement.result(tensors).structure, wrt, arrays[:-1], arrays[-1])
        return [apart(each, arrays) for each in gradients]

    def values_alike(number: int, tensors: Any) -> Any:
        result = statements[number].result(tensors)
        return tensors[0].new_empty(result.shape, dtype=getattr(torch, result.dtype.name))

    def gradients_alike(number: int, wrt: Any, tensors: Any, cotangent: Any) -> Any:
        return [torch.empty_like(tensors[n], memory_format=torch.contiguous_format) for n in wrt]

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.number, tensors = inputs
        ctx.save_for_backward(*tensors)

    def backward(ctx: Any, cotangent: Any) -> Any:
        tensors = ctx.saved_tensors
        wrt = [n for n, needed in enumerate(ctx.needs_input_grad[1]) if needed]
        by_operand = dict(zip(wrt, gradients(ctx.number, wrt, tensors, cotangent), strict=True))
        return None, [by_operand.get(n) for n in range(len(tensors))]

    operator = partial(torch.library.custom_op, mutates_args=())
    values = operator("weft::evaluate", write_values, schema="(int number, Tensor[] tensors) -> Tensor")
    values.register_fake(values_alike)
    values.register_autograd(backward, setup_context=keep)
    schema = "(int number, int[] wrt, Tensor[] tensors, Tensor cotangent) -> Tensor[]"
    gradients = operator("weft::gradients", write_gradients, schema=schema)
    gradients.register_fake(gradients_alike)

    def evaluate(text: str, operands: dict[str, Any]) -> Any:
        operands = dict(operands)
        statement, arrays = statement_of(text, operands.pop("format", None), operands)
        number = _numbers.setdefault(statement, len(statements))
        if number == len(statements):
            statements.append(statement)
        is_number = [isinstance(array, (bool, int, float, complex)) for array in arrays]
        tensors = [array if n else torch.as_tensor(array) for n, array in zip(is_number, arrays, strict=True)]
        common = reduce(
            torch.promote_types, [x.dtype for n, x in zip(is_number, tensors, strict=True) if not n], torch.bool
        )
        whole = torch.empty((1,), dtype=common)  # numbers of Python take the dtype of what is beside them
        tensors = [
            x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.result_type(whole, x)) for x in tensors
        ]
        structure = statement.result(tensors).structure
        result = values(number, tensors)
        return result if structure is None else structure.tensor(result)

    return opaque(evaluate), opaque(tensor_with_values)


def _missing(*arguments: Any) -> Any:
    with optional("weft.torch needs PyTorch", "torch"):
        import torch as torch


_evaluate, with_values = _registered() if find_spec("torch") else (_missing, tensor_with_values)
