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

/* Return whether the threads of this kernel have been told to stop. watch[0] is 1 then; watch[1] is the time, in
   nanoseconds, at which the calling thread asks next. */
static inline bool weft_stopped(const int64_t *watch) { return __atomic_load_n(watch, __ATOMIC_RELAXED) != 0; }

#ifdef _OPENMP
extern int omp_get_thread_num(void);
#endif
/* Return the number of the calling thread in its parallel region, from 0. */
static inline int64_t weft_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

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
static int64_t weft_row_sums_thread1(int64_t y1_dim, int64_t A2_dim, int64_t A1_dim,
    int64_t *watch, const double *restrict A_vals, double *restrict y_vals) {
  int64_t weft_status = 0;
  double *restrict w = NULL;
  int64_t grow = y1_dim;
  w = (double *)weft_alloc(A2_dim * 1 * grow, sizeof(double), true);
  if (w == NULL) {
    weft_status = 1;
    goto ready;
  }
ready:;
#pragma omp for schedule(static)
  for (int64_t i = 0; i < A1_dim; i++) {
    if (weft_status != 0) continue;
    weft_status = weft_row_sums_chunk1(watch, A2_dim, w, A_vals, i, y_vals);
  }
  if (weft_status == 0) {
    weft_free(w);
    w = NULL;
  }
  weft_free(w);
  return weft_status;
}

/* The loops, on the arrays of the tensors. */
static int64_t weft_row_sums_loops(int64_t y1_dim, double *restrict y_vals, int64_t A1_dim,
    int64_t A2_dim, const double *restrict A_vals, int64_t threads) {
  int64_t weft_status = 0;
  int64_t watch[2];
  watch[0] = 0;
  watch[1] = 0;
#pragma omp parallel num_threads((int)threads) if(threads > 1) reduction(|:weft_status)
  weft_status |= weft_row_sums_thread1(y1_dim, A2_dim, A1_dim, watch, A_vals, y_vals);
  return weft_status;
}

/* Returns 0; 1 if there is no memory; 4 if told to stop. */
int64_t weft_row_sums(weft_tensor *y, weft_tensor *A, int64_t *counts, int64_t threads) {
  (void)counts;
  return weft_row_sums_loops(y->dimensions[0], (double *)y->vals, A->dimensions[0],
      A->dimensions[1], (const double *)A->vals, threads);
}
