#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weft_tensor {
  const int64_t *dimensions;  /* logical dimensions, in the order of the tensor's axes */
  void *const *arrays;        /* level arrays in storage order: level 1's, then level 2's, ... */
  void *vals;                 /* values */
} weft_tensor;

static int64_t weft_spmv_loops(double *restrict y_vals, int64_t B1_dim,
    const int32_t *restrict B2_pos, const int32_t *restrict B2_crd, const double *restrict B_vals,
    const double *restrict x_vals) {
  for (int64_t i = 0; i < B1_dim; i++) {
    double t = 0.0;
#pragma omp simd reduction(+:t)
    for (int64_t pB2 = (int64_t)B2_pos[i]; pB2 < (int64_t)B2_pos[i + 1]; pB2++) {
      int64_t j = (int64_t)B2_crd[pB2];
      t += B_vals[pB2] * x_vals[j];
    }
    y_vals[i] = t;
  }
  return 0;
}

int64_t weft_spmv(weft_tensor *y, weft_tensor *B, weft_tensor *x, int64_t *counts, int64_t threads) {
  (void)counts;
  (void)threads;
  return weft_spmv_loops((double *)y->vals, B->dimensions[0], (const int32_t *)B->arrays[0],
      (const int32_t *)B->arrays[1], (const double *)B->vals, (const double *)x->vals);
}
