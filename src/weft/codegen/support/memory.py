"""Support functions of memory: scratch memory, prefetches, copies, flags, and counters that threads share."""

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
_FETCH = """\
/* Ask for memory that will be written soon. */
static inline void weft_fetch(const void *memory) { __builtin_prefetch(memory, 1); }
"""
_FETCH_TO_READ = """\
/* Ask for memory that will be read soon; it may be beyond the end of what there is. */
static inline void weft_fetch_to_read(const void *memory) { __builtin_prefetch(memory); }
"""
_SINGLE = """\
/* value, and compilers keep to the loop around it: they do not make one of vectors. */
static inline int64_t weft_single(int64_t value) {
  __asm__("" : "+r"(value));
  return value;
}
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
_IN_TURN = """\
extern int sched_yield(void);
/* How much those with lower numbers have added up to, to which number me, when it is its turn, adds n. */
static inline int64_t weft_in_turn(int64_t *turn, int64_t me, int64_t n, int64_t *watch) {
  for (int64_t waits = 0; __atomic_load_n(turn, __ATOMIC_ACQUIRE) != me; waits++) {
    if (waits <= 10000) continue;
    if (weft_poll(watch)) return 0; /* those before may have stopped, and never have their turn */
    sched_yield();
  }
  int64_t before = turn[1];
  turn[1] = before + n;
  __atomic_store_n(turn, me + 1, __ATOMIC_RELEASE);
  return before;
}
"""
_NEXT = """\
/* The first place from at on, and before end, where list is not 0 but 1; end where there is none. */
static inline int64_t weft_next_flag(const uint8_t *list, int64_t at, int64_t end) {
  const uint8_t *found = at < end ? __builtin_memchr(list + at, 1, (size_t)(end - at)) : NULL;
  return found ? found - list : end;
}
"""
_STREAM = """\
#ifdef __clang__
#define weft_store_past_caches(to, value) __builtin_nontemporal_store(value, to)
#elif defined(__AVX__)
#define weft_store_past_caches(to, value) __builtin_ia32_movntdq256(to, value)
#endif
/* Copy size bytes. Many go past the caches: what is written over there need not be read first. */
static inline void weft_stream(void *restrict to, const void *restrict from, int64_t size) {
  char *end = to;
  const char *next = from;
#ifdef weft_store_past_caches
  typedef long long block __attribute__((vector_size(32)));
  if (size >= 65536) {
    const int64_t before = -(intptr_t)end & 31;
    __builtin_memcpy(end, next, (size_t)before);
    end += before, next += before, size -= before;
    for (; size >= 32; end += 32, next += 32, size -= 32) {
      block value;
      __builtin_memcpy(&value, next, 32);
      weft_store_past_caches((block *)end, value);
    }
    __sync_synchronize();
  }
#endif
  __builtin_memcpy(end, next, (size_t)size);
}
"""
_MARK = """\
/* list[at] = value, where other threads may be storing the same. Only the first to come writes: others, reading, can
   share the cache line. */
static inline void weft_store_same_@(@_t *list, int64_t at, @_t value) {
  if (__atomic_load_n(list + at, __ATOMIC_RELAXED) != value) __atomic_store_n(list + at, value, __ATOMIC_RELAXED);
}
"""

SNIPPETS: dict[str, Snippet] = {
    "weft_alloc": Snippet(_ALLOC),
    "weft_free": Snippet(_FREE),
    "weft_fetch": Snippet(_FETCH),
    "weft_fetch_to_read": Snippet(_FETCH_TO_READ),
    "weft_single": Snippet(_SINGLE),
    "weft_thread": Snippet(_THREAD),
    "weft_in_turn": Snippet(_IN_TURN, ("weft_poll",)),
    "weft_next_flag": Snippet(_NEXT),
    "weft_stream": Snippet(_STREAM),
    **{f"weft_store_same_{ty}": Snippet(_MARK.replace("@", ty)) for ty in ("uint8", "int32", "int64")},
}
