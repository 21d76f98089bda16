"""Find out in which order coordinates stand, and whether some are there twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["chain_order", "segment_order"]

Array = np.ndarray[Any, Any]


def segment_order(pos: Array, crd: Array) -> tuple[bool, bool]:
    """Tell whether ``crd`` is ordered within the segments that ``pos`` bounds, and whether that shows it to be unique.

    Coordinates out of order are not searched for duplicates: ``unique`` is then False, which promises nothing.

    Examples
    --------
    >>> segment_order(np.array([0, 2, 4]), np.array([1, 2, 0, 0]))
    (True, False)
    """
    if len(crd) < 2:
        return True, True
    strict = crd[1:] > crd[:-1]
    if strict.all():
        return True, True
    starts = pos[1:-1]
    starts = starts[(starts > 0) & (starts < len(crd))] - 1
    strict[starts] = True
    if strict.all():
        return True, True
    weak = crd[1:] >= crd[:-1]
    weak[starts] = True
    return bool(weak.all()), False


def chain_order(crds: Sequence[Array], segments: Array | None = None) -> tuple[tuple[bool, bool], ...]:
    """Tell of each prefix of coordinate tuples whether it is in lexicographic order, and then without duplicates.

    Parameters
    ----------
    crds : sequence of ndarray
        One array of coordinates for each axis.
    segments : ndarray, optional
        Positions where a new segment begins; tuples are not compared across its bounds.

    Examples
    --------
    >>> chain_order((np.array([0, 0, 1]), np.array([2, 1, 0])))
    ((True, False), (False, False))
    """
    n = len(crds[0])
    if n < 2:
        return ((True, True),) * len(crds)
    equal: Array = np.ones(n - 1, dtype=bool)  # the tuples so far are equal to their predecessors
    if segments is not None:
        equal[segments[(segments > 0) & (segments < n)] - 1] = False
    found: list[tuple[bool, bool]] = []
    for crd in crds:
        if found and not found[-1][0]:
            found.append((False, False))
            continue
        ordered = not (equal & (crd[1:] < crd[:-1])).any()
        equal &= crd[1:] == crd[:-1]
        found.append((ordered, ordered and not equal.any()))
    return tuple(found)
