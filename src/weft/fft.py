"""Discrete Fourier transforms: NumPy's functions for tensors that store every element.

The transform of a sparse tensor is dense, so that ``A.todense()`` or ``A.asformat("dense")`` must be called first.
``fftshift`` and ``ifftshift`` only move entries, and take tensors of any format.

Examples
--------
>>> import weft
>>> x = weft.asarray([1.0, 0.0, 0.0, 0.0])
>>> weft.fft.fft(x).todense()
array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .interop.numpy_functions import of_dense_tensors
from .numpy_api.manipulation import roll
from .operations.axes import normalize_axis_tuple
from .operations.operands import storage_of
from .storage import Storage
from .tensor.devices import require_cpu
from .tensor.sparse_tensor import SparseTensor

_TRANSFORMS = (
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftn",
)  # fmt: skip
__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
__all__ += _TRANSFORMS

for _name in _TRANSFORMS:
    globals()[_name] = of_dense_tensors(getattr(np.fft, _name), 'A.asformat("dense"), or numpy.fft of A.todense()')


def fftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> SparseTensor:
    """Return the frequencies of the elements of :func:`weft.fft.fft`'s result.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, optional
        The distance between samples; frequencies are in cycles per unit of this distance.
    dtype : dtype, optional
        A dtype of real numbers; float64 by default.
    device : {"cpu", None}
        The device of the result.

    Examples
    --------
    >>> import weft
    >>> weft.fft.fftfreq(4, d=0.5).todense()
    array([ 0. ,  0.5, -1. , -0.5])
    """
    require_cpu(device)
    return SparseTensor(Storage.dense(np.fft.fftfreq(n, d).astype(dtype or np.float64)))


def rfftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> SparseTensor:
    """Return the frequencies of the elements of :func:`weft.fft.rfft`'s result.

    Parameters
    ----------
    n, d, dtype, device
        The arguments of :func:`fftfreq`.

    Examples
    --------
    >>> import weft
    >>> weft.fft.rfftfreq(4, d=0.5).todense()
    array([0. , 0.5, 1. ])
    """
    require_cpu(device)
    return SparseTensor(Storage.dense(np.fft.rfftfreq(n, d).astype(dtype or np.float64)))


def fftshift(x: Any, /, axes: int | tuple[int, ...] | None = None) -> SparseTensor:
    """Move the element of frequency 0 to the middle of axes.

    Parameters
    ----------
    x : array_like
        The tensor.
    axes : int or tuple of int, optional
        The axes; all by default.

    Examples
    --------
    >>> import weft
    >>> weft.fft.fftshift(weft.asarray([1, 0, 0, 0, 2], format="coo")).todense()
    array([0, 2, 1, 0, 0])
    """
    return _moved(x, axes, lambda size: size // 2)


def ifftshift(x: Any, /, axes: int | tuple[int, ...] | None = None) -> SparseTensor:
    """Undo :func:`weft.fft.fftshift`.

    Parameters
    ----------
    x : array_like
        The tensor.
    axes : int or tuple of int, optional
        The axes; all by default.

    Examples
    --------
    >>> import weft
    >>> weft.fft.ifftshift(weft.asarray([0, 2, 1, 0, 0], format="coo")).todense()
    array([1, 0, 0, 0, 2])
    """
    return _moved(x, axes, lambda size: -(size // 2))


def _moved(x: Any, axes: int | tuple[int, ...] | None, by: Callable[[int], int]) -> SparseTensor:
    shape = storage_of(x).shape
    chosen = normalize_axis_tuple(range(len(shape)) if axes is None else axes, len(shape))
    return roll(x, tuple(by(shape[axis]) for axis in chosen), axis=chosen)
