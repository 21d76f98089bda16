#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weft_tensor {
  const int64_t *dimensions;  /* logical dimensions, in the order of the tensor's axes */
  void *const *arrays;        /* level arrays in storage order: level 1's, then level 2's, ... */
  void *vals;                 /* values */
} weft_tensor;

static inline double weft_fma_float64(double a, double b, double c) {
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/* Whether the threads of a kernel have been told to stop. */
static inline bool weft_stopped(const int64_t *watch) { return __atomic_load_n(watch, __ATOMIC_RELAXED) != 0; }

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

static int64_t weft_spmv_loops(double *restrict y_vals, int64_t B1_dim,
    const int32_t *restrict B2_pos, const int32_t *restrict B2_crd, const double *restrict B_vals,
    const double *restrict x_vals) {
  int64_t weft_status = 0;
  int64_t watch[2];
  watch[0] = 0;
  watch[1] = 0;
  int64_t budget = 65536;
  for (int64_t i = 0; i < B1_dim; i++) {
    double t = 0.0;
    budget -= (int64_t)B2_pos[i + 1] - (int64_t)B2_pos[i];
#pragma omp simd reduction(+:t)
    for (int64_t pB2 = (int64_t)B2_pos[i]; pB2 < (int64_t)B2_pos[i + 1]; pB2++) {
      int64_t j = (int64_t)B2_crd[pB2];
      t = weft_fma_float64(B_vals[pB2], x_vals[j], t);
    }
    y_vals[i] = t;
    budget--;
    if (budget < 0) {
      budget = 65536;
      if (weft_poll(watch)) {
        weft_status = 4;
        goto done;
      }
    }
  }
done:;
  return weft_status;
}

int64_t weft_spmv(weft_tensor *y, weft_tensor *B, weft_tensor *x, int64_t *counts, int64_t threads) {
  (void)counts;
  (void)threads;
  return weft_spmv_loops((double *)y->vals, B->dimensions[0], (const int32_t *)B->arrays[0],
      (const int32_t *)B->arrays[1], (const double *)B->vals, (const double *)x->vals);
}
