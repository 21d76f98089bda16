"""The compiled function that compares the coordinate tuples of a list with the ones before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from . import loader
from ._ffi import ffi

EXAMINER = "weft_tuple_order"


def steps(
    crds: Sequence[np.ndarray[Any, Any]], segments: np.ndarray[Any, Any] | None
) -> list[tuple[bool, bool]] | None:
    """Return for each prefix of the tuples whether some decrease, and whether some repeat; None if NumPy is to look.

    Tuples are not compared across the bounds of ``segments``. The second value only counts if the first is false.
    """
    arrays = crds if segments is None else (*crds, segments)
    examine = examiner()
    if examine is None or not all(a.dtype in (np.int32, np.int64) and a.flags.c_contiguous for a in arrays):
        return None
    facts = ffi.new("int64_t[]", 2 * len(crds))
    bounds = (0, ffi.NULL, 0) if segments is None else (len(segments), ffi.from_buffer(segments), segments.itemsize)
    lists = ffi.new("void *[]", [ffi.from_buffer(crd) for crd in crds])
    examine(len(crds[0]), len(crds), lists, ffi.new("int64_t[]", [c.itemsize for c in crds]), *bounds, facts)
    return [(bool(facts[2 * k]), bool(facts[2 * k + 1])) for k in range(len(crds))]


@lru_cache(maxsize=1)
def examiner() -> Callable[..., None] | None:
    """Return the function, with which weft is installed; None where it is not, since NumPy needs no compiler."""
    library = loader.at_hand(loader.support_function(EXAMINER))
    if library is None:
        return None
    signature = "void(*)(int64_t, int64_t, void **, int64_t *, int64_t, void *, int64_t, int64_t *)"
    return ffi.cast(signature, library.address(EXAMINER))  # type: ignore[no-any-return]
