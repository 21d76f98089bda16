"""Polls: the thread that called a kernel asks whether to stop, and all threads of the kernel follow the answer.

A watch is an array of two int64: whether to stop, and the time at which the calling thread asks next. Each poll of that
thread reads the clock. The thread asks every 50 ms, so that kernels that end sooner never ask.
"""

from __future__ import annotations

from .snippet import Snippet

__all__ = ["SNIPPETS"]

_STOPPED = """\
/* Whether the threads of a kernel have been told to stop. */
static inline bool weft_stopped(const int64_t *watch) { return __atomic_load_n(watch, __ATOMIC_RELAXED) != 0; }
"""
_POLL = """\
#include <time.h>
/* 1 to stop, -1 where nothing will ever stop this thread, else 0; set when the kernel is loaded. */
int64_t (*weft_to_stop)(void);
/* Whether to stop, which the calling thread asks every 50 ms. */
static __attribute__((noinline, cold)) bool weft_poll(int64_t *watch) {
  enum { PERIOD = 50000000 };
  struct timespec clock;
  if (weft_stopped(watch)) return true;
  if (weft_thread() != 0 || clock_gettime(CLOCK_MONOTONIC, &clock) != 0) return false;
  const int64_t now = (int64_t)clock.tv_sec * 1000000000 + clock.tv_nsec;
  if (watch[1] == 0) watch[1] = now + PERIOD;
  if (now < watch[1]) return false;
  const int64_t answer = weft_to_stop == NULL ? -1 : weft_to_stop();
  watch[1] = answer < 0 ? INT64_MAX : now + PERIOD;
  if (answer > 0) __atomic_store_n(watch, 1, __ATOMIC_RELAXED);
  return answer > 0;
}
"""
_STRIPS = """\
/* A loop for (int64_t i = from; i < to; i++) that ends early when it is to stop, and has no iteration from then on:
   what it makes is whole, or used by no such loop. */
#define WEFT_STRIPS(i, from, to, watch) \\
  for (int64_t i##_next = (from), i##_end; \\
       i##_next < (to) && !(i##_next > (from) ? weft_poll(watch) : weft_stopped(watch)); i##_next = i##_end) \\
    for (int64_t i = (i##_end = (to) - i##_next > 65536 ? i##_next + 65536 : (to), i##_next); i < i##_end; i++)
"""

SNIPPETS: dict[str, Snippet] = {
    "weft_stopped": Snippet(_STOPPED),
    "weft_poll": Snippet(_POLL, ("weft_stopped", "weft_thread")),
    "weft_strips": Snippet(_STRIPS, ("weft_poll",)),
}
