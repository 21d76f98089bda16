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

/* The loops, on the arrays of the tensors. */
static int64_t weft_spmv_loops(double *restrict y_vals, int64_t B1_dim,
    const int32_t *restrict B2_pos, const int32_t *restrict B2_crd, const double *restrict B_vals,
    const double *restrict x_vals) {
  int64_t weft_status = 0;
  int64_t watch[2];
  watch[0] = 0;
  watch[1] = 0;
  int64_t until_poll = 65536;
  for (int64_t i = 0; i < B1_dim; i++) {
    double t = 0.0;
    until_poll -= (int64_t)B2_pos[i + 1] - (int64_t)B2_pos[i];
    double t1 = 0.0;
    double t2 = 0.0;
    double t3 = 0.0;
    int64_t pB2_rest = (int64_t)B2_pos[i + 1] - ((int64_t)B2_pos[i + 1] - (int64_t)B2_pos[i]) % 8;
    for (int64_t pB2 = (int64_t)B2_pos[i]; pB2 < pB2_rest; pB2 += 8) {
      int64_t j = (int64_t)B2_crd[pB2];
      t += B_vals[pB2] * x_vals[j];
      int64_t j1_ = (int64_t)B2_crd[pB2 + 1];
      t1 += B_vals[pB2 + 1] * x_vals[j1_];
      int64_t j2 = (int64_t)B2_crd[pB2 + 2];
      t2 += B_vals[pB2 + 2] * x_vals[j2];
      int64_t j3 = (int64_t)B2_crd[pB2 + 3];
      t3 += B_vals[pB2 + 3] * x_vals[j3];
      int64_t j4 = (int64_t)B2_crd[pB2 + 4];
      t += B_vals[pB2 + 4] * x_vals[j4];
      int64_t j5 = (int64_t)B2_crd[pB2 + 5];
      t1 += B_vals[pB2 + 5] * x_vals[j5];
      int64_t j6 = (int64_t)B2_crd[pB2 + 6];
      t2 += B_vals[pB2 + 6] * x_vals[j6];
      int64_t j7 = (int64_t)B2_crd[pB2 + 7];
      t3 += B_vals[pB2 + 7] * x_vals[j7];
    }
    for (int64_t pB2 = pB2_rest, pB2_end = (int64_t)B2_pos[i + 1]; pB2 < pB2_end; pB2++) {
      int64_t j = (int64_t)B2_crd[pB2];
      t += B_vals[pB2] * x_vals[j];
    }
    t = t + t1 + (t2 + t3);
    y_vals[i] = t;
    until_poll--;
    if (until_poll < 0) {
      until_poll = 65536;
      if (weft_poll(watch)) {
        weft_status = 4;
        goto done;
      }
    }
  }
done:;
  return weft_status;
}

/* Returns 0; 1 if there is no memory; 4 if told to stop. */
int64_t weft_spmv(weft_tensor *y, weft_tensor *B, weft_tensor *x, int64_t *counts, int64_t threads) {
  (void)counts;
  (void)threads;
  return weft_spmv_loops((double *)y->vals, B->dimensions[0], (const int32_t *)B->arrays[0],
      (const int32_t *)B->arrays[1], (const double *)B->vals, (const double *)x->vals);
}
