"""Elements chosen from several tensors: chains of ``where``.

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

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..operations.operands import storage_of
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .reductions import max, min
from .searching import where
from .unlisted_ufuncs import map

__all__ = ["choose", "select"]


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """The elements of the first of ``choicelist`` whose condition holds, ``default`` where none does.

    Raises
    ------
    ValueError
        When there are not as many conditions as choices, or none.
    TypeError
        When a condition is not of booleans.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    for k, condition in enumerate(condlist):
        if storage_of(condition).dtype != bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = where(condition, choice, found)
    return found


def choose(a: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> Any:
    """The element of ``choices[a[i]]`` at each place ``i``, all broadcast.

    Parameters
    ----------
    a : array_like of int
        Which is chosen.
    choices : sequence of array_like
        What from.
    out : ndarray or SparseTensor, optional
        Where to put the result.
    mode : {'raise', 'wrap', 'clip'}
        What indices beyond the last choice mean.

    Raises
    ------
    ValueError
        For indices that name no choice.
    """
    which = SparseTensor(storage_of(a))
    if which.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {which.dtype!r} to dtype('int64') according to the rule 'safe'")
    n = len(choices)
    if mode == "wrap":
        which = map(lambda index: index % n, which)
    elif mode == "clip":
        which = map(lambda index: np.clip(index, 0, n - 1), which)
    elif which.size and not (int(min(which)) >= 0 and int(max(which)) < n):
        raise ValueError("invalid entry in choice array")
    found = choices[-1]
    for k in range(n - 2, -1, -1):
        found = where(which == k, choices[k], found)
    if n == 1:
        found = where(which == 0, found, found)
    return found if out is None else write_out(found, out, "choose")
