/* Polls: the thread that called a kernel asks whether to stop, and all threads of the kernel follow the answer.

   A watch is an array of two int64: whether to stop, and the time at which the calling thread asks next. Each poll of
   that thread reads the clock. The thread asks every 50 ms, so that kernels that end sooner never ask. */

//: weft_stopped
/* Return whether the threads of this kernel have been told to stop. watch[0] is 1 then; watch[1] is the time, in
   nanoseconds, at which the calling thread asks next. */
static inline bool weft_stopped(const int64_t *watch) { return __atomic_load_n(watch, __ATOMIC_RELAXED) != 0; }

//: weft_poll; needs weft_stopped, weft_thread
#include <time.h>
/* The function that knows whether to stop, as for Ctrl-C: 1 to stop, 0 to go on, -1 if this thread is never stopped.
   The pointer is set when the kernel is loaded. */
int64_t (*weft_to_stop)(void);
/* Return whether to stop. Thread 0 asks every 50 ms, and tells the others through watch[0]. */
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

//: weft_strips; needs weft_poll
/* The loop for (int64_t i = from; i < to; i++), which polls every 65536 iterations. Once the kernel is told to stop,
   this loop ends, and later ones have no iterations: none of them reads what an earlier one left unfinished. */
#define WEFT_STRIPS(i, from, to, watch) \
  for (int64_t i##_next = (from), i##_end; \
       i##_next < (to) && !(i##_next > (from) ? weft_poll(watch) : weft_stopped(watch)); i##_next = i##_end) \
    for (int64_t i = (i##_end = (to) - i##_next > 65536 ? i##_next + 65536 : (to), i##_next); i < i##_end; i++)
