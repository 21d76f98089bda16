"""Scratch memory."""

from __future__ import annotations

from .snippet import Snippet

__all__ = ["SNIPPETS"]

_ALLOC = """\
/* count elements of scratch memory, or NULL; release it with weft_free. */
static inline void *weft_alloc(int64_t count, size_t element, bool zero) {
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  if (bytes == 0) bytes = 1;
  return zero ? __builtin_calloc(bytes, 1) : __builtin_malloc(bytes);
}
"""
_FREE = """\
static inline void weft_free(void *memory) { __builtin_free(memory); }
"""
_THREAD = """\
#ifdef _OPENMP
extern int omp_get_thread_num(void);
#endif
/* The number of the calling thread in its parallel region, from 0. */
static inline int64_t weft_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}
"""

SNIPPETS: dict[str, Snippet] = {
    "weft_alloc": Snippet(_ALLOC),
    "weft_free": Snippet(_FREE),
    "weft_thread": Snippet(_THREAD),
}
