"""Threads: how kernels reach the pool of threads, whose C is in ``thread_pool.c``.

The pool is a library of its own, since a process must have one pool for all kernels. Kernels call it through pointers,
which the loader sets. A kernel runs all iterations itself as long as its pointers are not set.
"""

from __future__ import annotations

from pathlib import Path

from .snippet import Snippet

_INTERFACE = Path(__file__).with_name("thread_pool.h").read_text(encoding="utf-8")
_NUMBER = """\
/* The function that knows the number of a thread. The loader sets the pointer when the process has several threads. */
int64_t (*weft_thread_number)(void);
/* Return the number of the calling thread in its parallel loop, from 0. */
static inline int64_t weft_thread(void) { return weft_thread_number == NULL ? 0 : weft_thread_number(); }
"""
_PARALLEL = """\
/* The function that runs a parallel loop on several threads. The pointer is set when the kernel is loaded. */
int64_t (*weft_run_region)(weft_region *region);
/* Run a parallel loop, and return the status of all threads. */
static inline int64_t weft_parallel(int64_t (*body)(void *, int64_t *, int64_t), void *shared, int64_t begin,
                                    int64_t end, int64_t threads, bool (*poll)(int64_t *), int64_t *watch) {
  weft_region region = {body, shared, begin, end, threads, poll, watch, 0};
  if (threads < 2 || end - begin < 2 || weft_run_region == NULL) return body(shared, &region.next, end);
  return weft_run_region(&region);
}
"""


def pool_text() -> str:
    """Return the C text of the pool, after the headers that every file includes."""
    return f"{_INTERFACE}\n{Path(__file__).with_name('thread_pool.c').read_text(encoding='utf-8')}"


SNIPPETS: dict[str, Snippet] = {
    "weft_thread": Snippet(_NUMBER),
    "weft_take": Snippet(_INTERFACE),
    "weft_parallel": Snippet(_PARALLEL, ("weft_take",)),
}
