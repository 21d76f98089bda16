"""Elements selected from several tensors by chains of ``where``.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0, 1, 2], [0, 0, 3]], format="csr")
>>> weft.select([A > 2, A > 0], [A, -A]).todense()
array([[ 0, -1, -2],
       [ 0,  0,  3]])
>>> weft.choose(A, [A, A + 10, A + 20, A + 30]).todense()
array([[ 0, 11, 22],
       [ 0,  0, 33]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..operations.operands import storage_of
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .reductions import max, min
from .searching import where
from .unlisted_ufuncs import map


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> SparseTensor | Any:
    """Return elements of the first choice whose condition holds.

    Parameters
    ----------
    condlist : sequence of array_like of bool
        The conditions.
    choicelist : sequence of array_like
        One tensor for each condition.
    default : scalar or array_like
        The elements where no condition holds.

    Returns
    -------
    SparseTensor or NumPy scalar
        The selected elements. The operands are broadcast.

    Raises
    ------
    ValueError
        If there are no conditions, or not as many conditions as choices.
    TypeError
        If a condition is not of booleans.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, -1.0], format="coo")
    >>> weft.select([x > 0, x < 0], [x, -2.0]).todense()
    array([ 0.,  3., -2.])
    """
    if not (hasattr(condlist, "__len__") and hasattr(choicelist, "__len__")):
        raise TypeError(f"conditions and choices are sequences of tensors, not {condlist!r} and {choicelist!r}")
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    for k, condition in enumerate(condlist):
        if storage_of(condition).dtype != bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    result = default
    # The first condition is applied last, so that it overrides the others.
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(condition, choice, result)
    return result


def choose(a: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> SparseTensor | Any:
    """Return for each index in ``a`` the element of that choice.

    Parameters
    ----------
    a : array_like of int
        The numbers of the choices.
    choices : sequence of array_like
        The tensors, which broadcast with ``a``.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    mode : {'raise', 'wrap', 'clip'}
        The treatment of numbers without a choice.

    Returns
    -------
    SparseTensor or ndarray
        The chosen elements, or ``out``.

    Raises
    ------
    ValueError
        If a number has no choice and ``mode`` is 'raise', and if there are no choices.
    TypeError
        If ``a`` is neither of integers nor of booleans, and if the choices are no sequence.

    Examples
    --------
    >>> import weft
    >>> which = weft.asarray([0, 1, 0], format="coo")
    >>> weft.choose(which, [[1, 2, 3], [10, 20, 30]]).todense()
    array([ 1, 20,  3])
    """
    which = SparseTensor(storage_of(a))
    if which.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {which.dtype!r} to dtype('int64') according to the rule 'safe'")
    if isinstance(choices, Mapping | str) or not hasattr(choices, "__len__"):
        raise TypeError(f"choices are a sequence of tensors, one for each number, not {choices!r}")
    n = len(choices)
    if not n:
        raise ValueError("there are no choices to choose from; give at least one")
    if mode == "wrap":
        which = map(lambda index: index % n, which)
    elif mode == "clip":
        which = map(lambda index: np.clip(index, 0, n - 1), which)
    elif which.size and not (int(min(which)) >= 0 and int(max(which)) < n):
        raise ValueError("invalid entry in choice array")
    # A chain of ``where``: choice k is taken at the elements that are k, the last choice at all that remain.
    result = choices[-1]
    for k in range(n - 2, -1, -1):
        result = where(which == k, choices[k], result)
    # One choice is not broadcast by the loop above.
    if n == 1:
        result = where(which == 0, result, result)
    return result if out is None else write_out(result, out, "choose")
