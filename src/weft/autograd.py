"""Index notation in functions that the package ``autograd`` differentiates.

Examples
--------
>>> import autograd, weft
>>> import autograd.numpy as np
>>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
>>> def loss(x):
...     return np.sum(weft.autograd.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x) ** 2)
>>> autograd.grad(loss)(np.array([1.0, 3.0]))
array([8., 6.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .doors import optional
from .errors import UnsupportedError
from .formats import FormatLike
from .interop.frameworks import Statement, Structure, statement_of, with_values
from .tracebacks import ends_at_caller

with optional("weft.autograd needs autograd", "autograd"):
    from autograd.extend import Box, defvjp_argnums, primitive
    from autograd.tracer import getval

__all__ = ["evaluate", "with_values"]


@ends_at_caller
def evaluate(text: str, /, *, format: FormatLike | None = None, **operands: Any) -> Any:
    """Compute an expression in tensor index notation, with a derivative for ``autograd``.

    Parameters
    ----------
    text : str
        The expression, as :func:`weft.evaluate` takes it.
    format : str or Format, optional
        The format of the result; by default it is inferred from the operands.
    **operands : array_like
        Arrays, numbers and tensors by their names. :func:`with_values` makes a tensor with values to differentiate by.

    Returns
    -------
    ndarray, NumPy scalar or SparseTensor
        A tensor, whose values ``autograd`` traces, where the result of :func:`weft.evaluate` is sparse; else an array.

    See Also
    --------
    weft.vjp : gradients without ``autograd``

    Examples
    --------
    >>> import autograd, weft
    >>> import numpy as np
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> x = np.array([1.0, 10.0])
    >>> def loss(values):
    ...     B = weft.autograd.with_values(A, values)
    ...     return weft.autograd.evaluate("s = square(B(i,j))*x(j)", B=B, x=x)
    >>> autograd.grad(loss)(A.data)
    array([20.,  4.])
    """
    statement, arrays = statement_of(text, format, operands)
    known = list(map(getval, arrays))
    common = np.result_type(*known)  # of numbers of Python, too, whose dtypes are those of what is beside them
    structure = statement.result([np.asarray(x, None if hasattr(x, "dtype") else common) for x in known]).structure
    values = _values(statement, structure, *arrays)
    return values if structure is None else structure.tensor(values)


@primitive  # type: ignore[untyped-decorator]
def _values(statement: Statement, structure: Structure | None, *arrays: Any) -> Any:
    return statement.values(structure, arrays)[()]


def _pullback(argnums: Sequence[int], value: Any, arguments: Any, keywords: Any) -> Callable[[Any], Any]:
    statement, structure, *arrays = arguments

    def pull(cotangent: Any) -> Any:
        if any(isinstance(each, Box) for each in (cotangent, *arrays)):
            raise UnsupportedError(
                f"autograd has the first derivatives alone; weft.derivative writes more\n  {statement.text}"
            )
        # The gradients of complex numbers are the conjugates of weft's.
        gradients = statement.gradients(structure, [n - 2 for n in argnums], arrays, np.conj(cotangent))
        return tuple(map(np.conj, gradients))

    return pull


defvjp_argnums(_values, _pullback)
