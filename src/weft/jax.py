"""Index notation in programs of JAX: ``jit``, ``grad`` and ``vmap`` of them take it as any function of JAX.

Kernels run on the CPU, and read and write the memory of JAX's arrays. Importing the module makes tensors pytrees: the
values are the leaf, and the structure is constant.

Examples
--------
>>> import jax, weft.jax
>>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
>>> def loss(A, x):
...     return weft.jax.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x).sum()
>>> by_A, by_x = jax.jit(jax.grad(loss, (0, 1)))(A, jax.numpy.arange(2.0))
>>> by_A.data, by_x
(array([1., 0.], dtype=float32), Array([2., 1.], dtype=float32))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .doors import optional
from .formats import FormatLike
from .interop.frameworks import Statement, Structure, statement_of, with_values
from .operations.operands import storage_of
from .tensor import SparseTensor
from .tracebacks import ends_at_caller

with optional("weft.jax needs JAX", "jax"):
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
    from jax.experimental.buffer_callback import buffer_callback

__all__ = ["evaluate", "with_values"]


@ends_at_caller
def evaluate(text: str, /, *, format: FormatLike | None = None, **operands: Any) -> Any:
    """Compute an expression in tensor index notation, with a derivative for JAX.

    Parameters
    ----------
    text : str
        The expression, as :func:`weft.evaluate` takes it.
    format : str or Format, optional
        The format of the result; by default it is inferred from the operands.
    **operands : array_like
        Arrays and numbers of JAX and NumPy, and tensors, by their names.

    Returns
    -------
    jax.Array or SparseTensor
        A tensor, whose values are JAX's, where the result of :func:`weft.evaluate` is sparse, and else an array. Its
        dtype is that of :func:`weft.evaluate`, or with 32 bits where JAX has these alone.

    See Also
    --------
    weft.vjp : gradients without JAX

    Examples
    --------
    >>> import jax, weft.jax
    >>> A = weft.random((4, 3), density=0.5, format="csr", rng=0)
    >>> @jax.jit
    ... def loss(x):
    ...     return jax.numpy.sum(weft.jax.evaluate("y(i) = A(i,j)*x(j)", A=A, x=x) ** 2)
    >>> jax.grad(loss)(jax.numpy.ones(3)).shape
    (3,)
    """
    statement, arrays = statement_of(text, format, operands)
    arrays = [jnp.asarray(array) for array in arrays]
    common = jnp.result_type(*arrays)  # of numbers of Python, too, whose dtypes are those of what is beside them
    arrays = [array.astype(common) if array.weak_type else array for array in arrays]
    structure = statement.result(arrays).structure
    values = _values(statement, *arrays)
    return values if structure is None else structure.tensor(values)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _values(statement: Statement, *arrays: Any) -> Any:
    result = statement.result(arrays)
    shape = jax.ShapeDtypeStruct(result.shape, jax.dtypes.canonicalize_dtype(result.dtype))
    return buffer_callback(_writer(statement, result.structure), shape, vmap_method="sequential")(*arrays)


def _forward(statement: Statement, *primals: Any) -> tuple[Any, Any]:
    arrays = tuple([primal.value for primal in primals])
    # Trees without leaves, which are constants: None for operands that nothing differentiates by.
    wanted = tuple([() if p.perturbed and jnp.issubdtype(p.value.dtype, jnp.inexact) else None for p in primals])
    statement.require_gradients([n for n, each in enumerate(wanted) if each is not None])
    return _values(statement, *arrays), (arrays, wanted)


def _backward(statement: Statement, kept: Any, cotangent: Any) -> tuple[Any, ...]:
    arrays, wanted = kept
    wrt = tuple([n for n, each in enumerate(wanted) if each is not None])
    if not wrt or isinstance(cotangent, SymbolicZero):
        return (None,) * len(arrays)
    structure = statement.result(arrays).structure
    shapes = [jax.ShapeDtypeStruct(arrays[n].shape, arrays[n].dtype) for n in wrt]
    gradients = buffer_callback(_writer(statement, structure, wrt), shapes, vmap_method="sequential")(
        cotangent, *arrays
    )
    by_operand = dict(zip(wrt, gradients, strict=True))
    return tuple([by_operand.get(n) for n in range(len(arrays))])


_values.defvjp(_forward, _backward, symbolic_zeros=True)


@lru_cache(maxsize=64)  # JAX compiles the same program once, of the same function alone
def _writer(
    statement: Statement, structure: Structure | None, wrt: tuple[int, ...] | None = None
) -> Callable[..., None]:
    """Return the function that writes values, or the gradients of some operands, into buffers of JAX."""

    def write_values(context: Any, out: Any, *buffers: Any) -> None:
        np.asarray(out)[...] = statement.values(structure, [np.asarray(buffer) for buffer in buffers])

    def write_gradients(context: Any, out: Sequence[Any], cotangent: Any, *buffers: Any) -> None:
        assert wrt is not None
        arrays = [np.asarray(buffer) for buffer in buffers]
        # JAX's gradients of complex numbers are the conjugates of weft's.
        gradients = statement.gradients(structure, wrt, arrays, np.conj(np.asarray(cotangent)))
        for buffer, gradient in zip(out, gradients, strict=True):
            np.conj(gradient, out=np.asarray(buffer))

    return write_values if wrt is None else write_gradients


def _leaves(tensor: SparseTensor) -> tuple[tuple[Any], Structure]:
    storage = storage_of(tensor)
    return (storage.vals,), Structure(storage)


def _tensor(structure: Structure, leaves: Sequence[Any]) -> SparseTensor:
    """Return a tensor of its leaf: with NumPy's values, if these are known."""
    (values,) = leaves
    is_known = isinstance(values, jax.Array) and not isinstance(values, jax.core.Tracer)
    return structure.tensor(np.asarray(values) if is_known else values)


jax.tree_util.register_pytree_node(SparseTensor, _leaves, _tensor)
