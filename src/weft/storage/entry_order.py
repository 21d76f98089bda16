"""Order of coordinates in arrays, and duplicates among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import config
from ..doors import Door

if TYPE_CHECKING:
    from ..runtime import tuple_order
else:
    tuple_order = Door("weft.runtime.tuple_order")

Array = np.ndarray[Any, Any]
Promises = tuple[tuple[bool, bool], ...]

_LONG = 1 << 14  # the number of tuples from which on NumPy's temporary arrays cost more than the call of compiled code


def segment_order(pos: Array, crd: Array) -> tuple[bool, bool]:
    """Return whether ``crd`` is ordered within the segments that ``pos`` bounds, and whether it is known to be unique.

    Duplicates are looked for in ordered coordinates only. For unordered coordinates the second value is False, which
    promises nothing.

    Examples
    --------
    >>> segment_order(np.array([0, 2, 4]), np.array([1, 2, 0, 0]))
    (True, False)
    """
    n = len(crd)
    if n < 2:
        return True, True
    promises = _compiled_order((crd,), pos) if n >= _LONG else None
    if promises is not None:
        return promises[0]
    # Whether each coordinate is larger than the one before it. A segment may begin with any coordinate.
    larger = np.ones(n + 1, bool)
    np.greater(crd[1:], crd[:-1], out=larger[1:n])
    larger[pos] = True
    if larger.all():
        return True, True
    np.greater_equal(crd[1:], crd[:-1], out=larger[1:n])
    larger[pos] = True
    return bool(larger.all()), False


def chain_order(crds: Sequence[Array], segments: Array | None = None) -> Promises:
    """Return for each prefix of the coordinate tuples whether it is ordered, and whether it has no duplicates, too.

    The order is lexicographic, and tuples are not compared across the bounds of ``segments``. Unordered prefixes are
    not searched for duplicates.

    Examples
    --------
    >>> chain_order((np.array([0, 0, 1]), np.array([2, 1, 0])))
    ((True, False), (False, False))
    """
    n = len(crds[0]) if crds else 0
    if n < 2:
        return ((True, True),) * len(crds)
    if len(crds) == 1 and segments is not None:
        return (segment_order(segments, crds[0]),)
    compiled = _compiled_order(crds, segments) if n >= _LONG else None
    if compiled is not None:
        return compiled
    separate: Array = np.zeros(
        n - 1, dtype=bool
    )  # the tuples so far are larger than those before, or in other segments
    if segments is not None and len(segments) > 2:
        separate[segments[(segments > 0) & (segments < n)] - 1] = True
    promises: list[tuple[bool, bool]] = []
    for crd in crds:
        # If a prefix is out of order, so is every longer prefix; if it is unique, so is every longer one.
        if promises and (promises[-1][1] or not promises[-1][0]):
            promises.append(promises[-1])
            continue
        larger = np.greater(crd[1:], crd[:-1])
        larger |= separate
        if larger.all():
            promises.append((True, True))
            continue
        # Tuples are out of order if the coordinates before are equal and the next coordinate decreases.
        smaller = np.less(crd[1:], crd[:-1])
        promises.append((not np.greater(smaller, separate, out=smaller).any(), False))
        separate = larger
    return tuple(promises)


def _compiled_order(crds: Sequence[Array], segments: Array | None) -> Promises | None:
    """Return what ``chain_order`` returns, by one pass of compiled code; None if it cannot serve."""
    if "compiled-order" in config.disable:
        return None
    steps = tuple_order.steps(crds, segments)
    return None if steps is None else tuple([(not falls, not (falls or repeats)) for falls, repeats in steps])
