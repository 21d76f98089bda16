"""Functions of NumPy that need every element: they take tensors that store every element, and refuse others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..storage import Storage
from ..tensor import SparseTensor
from ..tensor.results import change_values
from .wrapped_examples import with_example


def of_dense_tensors(function: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """Return a function of NumPy that takes tensors that store every element, and returns dense tensors."""
    place = f"{function.__module__.removeprefix('numpy.').removeprefix('numpy')}.{function.__name__}".lstrip(".")

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        # Only the first tensor must store every element. Those after it are right-hand sides, which may be sparse,
        # since their solutions are dense anyway.
        x = next(_tensors((*args, *kwargs.values())), None)
        if x is not None and not (x.layout.is_dense or x.nnz == x.size):
            raise UnsupportedError(f"{place} needs every element of {x!r}, which is sparse; use {instead}")
        given = [_array(x) for x in args]
        return change_values(function(*given, **{key: _array(x) for key, x in kwargs.items()}), _as_tensor)

    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    run.__module__ = __name__
    text = (
        f"{summary}\n\nThis is :func:`numpy.{place}` for tensors that store every element.\n\nRaises\n------\n"
        f"UnsupportedError\n    For other tensors: use {instead}."
    )
    run.__doc__ = with_example(place, text)
    return run


def _tensors(given: Any) -> Iterator[SparseTensor]:
    for x in given:
        if isinstance(x, SparseTensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)


def _array(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [*map(_array, x)] if isinstance(x, list) else tuple(map(_array, x))
    return x.todense() if isinstance(x, SparseTensor) else x


def _as_tensor(found: Any) -> Any:
    return SparseTensor(Storage.dense(found)) if isinstance(found, np.ndarray) and found.ndim else found
