#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weft_tensor {
  const int64_t *dimensions;  /* logical dimensions, in the order of the tensor's axes */
  void *const *arrays;        /* level arrays in storage order: level 1's, then level 2's, ... */
  void *vals;                 /* values */
} weft_tensor;

/* count elements of scratch memory, or NULL; release it with weft_free. */
static inline void *weft_alloc(int64_t count, size_t element, bool zero) {
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  if (bytes == 0) bytes = 1;
  return zero ? __builtin_calloc(bytes, 1) : __builtin_malloc(bytes);
}

static inline void weft_free(void *memory) { __builtin_free(memory); }

static __attribute__((noinline)) void weft_row_sums_chunk1(int64_t A2_dim, double *restrict w,
    const double *restrict A_vals, int64_t i, double *restrict y_vals) {
  for (int64_t j = 0; j < A2_dim; j++) {
    w[j] = A_vals[i * A2_dim + j];
  }
  double total = 0.0;
#pragma omp simd reduction(+:total)
  for (int64_t j = 0; j < A2_dim; j++) {
    total += w[j];
  }
  y_vals[i] = total;
}

static int64_t weft_row_sums_thread1(int64_t y1_dim, int64_t A2_dim, int64_t A1_dim,
    const double *restrict A_vals, double *restrict y_vals) {
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
    weft_row_sums_chunk1(A2_dim, w, A_vals, i, y_vals);
  }
  if (weft_status == 0) {
    weft_free(w);
    w = NULL;
  }
  weft_free(w);
  return weft_status;
}

static int64_t weft_row_sums_loops(int64_t y1_dim, double *restrict y_vals, int64_t A1_dim,
    int64_t A2_dim, const double *restrict A_vals, int64_t threads) {
  int64_t weft_status = 0;
#pragma omp parallel num_threads((int)threads) if(threads > 1) reduction(|:weft_status)
  weft_status |= weft_row_sums_thread1(y1_dim, A2_dim, A1_dim, A_vals, y_vals);
  return weft_status;
}

int64_t weft_row_sums(weft_tensor *y, weft_tensor *A, int64_t *counts, int64_t threads) {
  (void)counts;
  return weft_row_sums_loops(y->dimensions[0], (double *)y->vals, A->dimensions[0],
      A->dimensions[1], (const double *)A->vals, threads);
}
