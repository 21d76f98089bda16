#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor stores its coordinates level by level. Below, A2_pos and A2_crd are arrays of level 2 of A: the children of
   position p of level 1 are the positions from A2_pos[p] up to A2_pos[p + 1], whose coordinates are in A2_crd. pA2 is a
   position of level 2, A_vals are the values, and A2_dim is the size of axis 2. */
typedef struct weft_tensor {
  const int64_t *dimensions;  /* sizes of the axes */
  void *const *arrays;        /* arrays of the levels: those of level 1, then those of level 2, ... */
  void *vals;                 /* values */
} weft_tensor;

/* Allocate count elements of scratch memory. Returns NULL on failure; release the memory with weft_free. */
static inline void *weft_alloc(int64_t count, size_t element, bool zero) {
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  if (bytes == 0) bytes = 1;
  return zero ? __builtin_calloc(bytes, 1) : __builtin_malloc(bytes);
}

/* Release memory of weft_alloc; NULL is allowed. */
static inline void weft_free(void *memory) { __builtin_free(memory); }

/* Take the next iteration of a parallel loop. */
static inline int64_t weft_take(int64_t *next) { return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); }

/* Let a moment pass, in a loop that waits for another thread. */
static inline void weft_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/* A parallel loop. Each thread calls the body once, which takes iterations until none is left. */
typedef struct weft_region {
  int64_t (*body)(void *shared, int64_t *next, int64_t end); /* returns a status, 0 unless it failed */
  void *shared;                                              /* the variables that the threads share */
  int64_t next, end;                                         /* the iteration that is taken next, and the end */
  int64_t threads;                                           /* the largest number of threads */
  bool (*poll)(int64_t *watch);                              /* asks whether to stop; NULL if nobody may ask */
  int64_t *watch;
  int64_t status;                                            /* of the threads that help, combined by a bitwise or */
} weft_region;

/* Return whether the threads of this kernel have been told to stop. watch[0] is 1 then; watch[1] is the time, in
   nanoseconds, at which the calling thread asks next. */
static inline bool weft_stopped(const int64_t *watch) { return __atomic_load_n(watch, __ATOMIC_RELAXED) != 0; }

/* The function that knows the number of a thread. The loader sets the pointer when the process has several threads. */
int64_t (*weft_thread_number)(void);
/* Return the number of the calling thread in its parallel loop, from 0. */
static inline int64_t weft_thread(void) { return weft_thread_number == NULL ? 0 : weft_thread_number(); }

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

/* The function that runs a parallel loop on several threads. The pointer is set when the kernel is loaded. */
int64_t (*weft_run_region)(weft_region *region);
/* Run a parallel loop, and return the status of all threads. */
static inline int64_t weft_parallel(int64_t (*body)(void *, int64_t *, int64_t), void *shared, int64_t begin,
                                    int64_t end, int64_t threads, bool (*poll)(int64_t *), int64_t *watch) {
  weft_region region = {body, shared, begin, end, threads, poll, watch, 0};
  if (threads < 2 || end - begin < 2 || weft_run_region == NULL) return body(shared, &region.next, end);
  return weft_run_region(&region);
}

/* One iteration of the loop that threads share. */
static __attribute__((noinline)) int64_t weft_row_sums_chunk1(int64_t *watch, int64_t A2_dim,
    double *restrict w, const double *restrict A_vals, int64_t i, double *restrict y_vals) {
  int64_t weft_status = 0;
  if (weft_stopped(watch)) {
    weft_status = 4;
    goto done;
  }
  int64_t j_next = 0;
  while (j_next < A2_dim) {
    int64_t j_end = A2_dim - j_next > 65536 ? j_next + 65536 : A2_dim;
    for (int64_t j = j_next; j < j_end; j++) {
      w[j] = A_vals[i * A2_dim + j];
    }
    j_next = j_end;
    if (j_next < A2_dim) {
      if (weft_poll(watch)) {
        weft_status = 4;
        goto done;
      }
    }
  }
  double total = 0.0;
  int64_t j_next_ = 0;
  while (j_next_ < A2_dim) {
    int64_t j_end_ = A2_dim - j_next_ > 65536 ? j_next_ + 65536 : A2_dim;
#pragma omp simd reduction(+:total)
    for (int64_t j = j_next_; j < j_end_; j++) {
      total += w[j];
    }
    j_next_ = j_end_;
    if (j_next_ < A2_dim) {
      if (weft_poll(watch)) {
        weft_status = 4;
        goto done;
      }
    }
  }
  y_vals[i] = total;
done:;
  return weft_status;
}

/* The share of one thread. */
static int64_t weft_row_sums_thread1(int64_t *weft_next, int64_t weft_end, int64_t y1_dim,
    int64_t A2_dim, int64_t *watch, const double *restrict A_vals, double *restrict y_vals) {
  int64_t weft_status = 0;
  double *restrict w = NULL;
  int64_t grow = y1_dim;
  w = (double *)weft_alloc(A2_dim * 1 * grow, sizeof(double), true);
  if (w == NULL) {
    weft_status = 1;
    goto ready;
  }
ready:;
  for (int64_t i; weft_status == 0 && (i = weft_take(weft_next)) < weft_end;) {
    weft_status = weft_row_sums_chunk1(watch, A2_dim, w, A_vals, i, y_vals);
  }
  if (weft_status == 0) {
    weft_free(w);
    w = NULL;
  }
  weft_free(w);
  return weft_status;
}

struct weft_row_sums_shared1 {
  int64_t y1_dim;
  int64_t A2_dim;
  int64_t *watch;
  const double *A_vals;
  double *y_vals;
};
static int64_t weft_row_sums_enter1(void *weft_shared, int64_t *weft_next, int64_t weft_end) {
  const struct weft_row_sums_shared1 *weft_all = weft_shared;
  return weft_row_sums_thread1(weft_next, weft_end, weft_all->y1_dim, weft_all->A2_dim,
      weft_all->watch, weft_all->A_vals, weft_all->y_vals);
}

/* The loops, on the arrays of the tensors. */
static int64_t weft_row_sums_loops(int64_t y1_dim, double *restrict y_vals, int64_t A1_dim,
    int64_t A2_dim, const double *restrict A_vals, int64_t threads) {
  int64_t weft_status = 0;
  int64_t watch[2];
  watch[0] = 0;
  watch[1] = 0;
  struct weft_row_sums_shared1 weft_shared1 = {y1_dim, A2_dim, watch, A_vals, y_vals};
  weft_status |= weft_parallel(weft_row_sums_enter1, &weft_shared1, 0, A1_dim, threads, weft_poll,
      watch);
  return weft_status;
}

/* Returns 0; 1 if there is no memory; 4 if told to stop. */
int64_t weft_row_sums(weft_tensor *y, weft_tensor *A, int64_t *counts, int64_t threads) {
  (void)counts;
  return weft_row_sums_loops(y->dimensions[0], (double *)y->vals, A->dimensions[0],
      A->dimensions[1], (const double *)A->vals, threads);
}
