"""Tensor ABI: what generated C and its callers agree on.

``docs/development/architecture.md`` explains the fields of ``weft_tensor``. ``codegen/symbols.py`` has the C names of
kernels and of their parameters.
"""

from __future__ import annotations

import hashlib

VERSION = "5"
"""Version of the interface between Python and generated C. Kernels of another version are not found."""

OK = 0
OUT_OF_MEMORY = 1
FULL = 2  # a hash table has no room left for the next entry
INTERRUPTED = 4  # the codes of threads are combined by a bitwise or
FORKED = 8  # the handler of a signal forked this process in the middle of a parallel loop

ASK = "weft_to_stop"
"""Name of a pointer that libraries export and the loader sets: it points to a function that asks whether to stop."""

STRUCT = """\
/* A tensor stores its coordinates level by level. Below, A2_pos and A2_crd are arrays of level 2 of A: the children of
   position p of level 1 are the positions from A2_pos[p] up to A2_pos[p + 1], whose coordinates are in A2_crd. pA2 is a
   position of level 2, A_vals are the values, and A2_dim is the size of axis 2. */
typedef struct weft_tensor {
  const int64_t *dimensions;  /* sizes of the axes */
  void *const *arrays;        /* arrays of the levels: those of level 1, then those of level 2, ... */
  void *vals;                 /* values */
} weft_tensor;
"""

POINTERS = {"weft_run_region": "weft_pool_run", "weft_thread_number": "weft_pool_number"}
"""Names of pointers that libraries of kernels export, each with the function of the pool that it points to."""

CHUNKS_PER_THREAD = 16
"""Number of parts of an outermost loop for each thread that shares it."""

READY, IN_PLACE, IN_OWN_MEMORY = 2, -1, -2
"""State of a part of a result before which all parts are complete, and what parts have that are in no buffer."""


def part_width(chains: int) -> int:
    """Return the length of the row of a part, which ``weft_begin_part`` describes."""
    return 5 + 3 * chains


def signature(arity: int) -> str:
    """Return the C type of a pointer to a kernel, as ``cast`` of cffi takes it."""
    return f"int64_t (*)({'weft_tensor *, ' * arity}int64_t *, int64_t)"


def digest(text: str) -> str:
    """Return a hash of a C text and of ``VERSION``."""
    return hashlib.sha256(f"{VERSION}:{text}".encode()).hexdigest()


def suffix(digest: str) -> str:
    """Return the suffix of the names of a kernel's functions in a library of many kernels.

    Examples
    --------
    >>> len(suffix(digest("int64_t weft_evaluate(void);")))
    18
    """
    return f"_k{digest[:16]}"
