/* Products of a matrix and a vector in the formats other than csr. */
#include <stdint.h>
#include "reference.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define TILE 2048

void ref_spmv_coo(int32_t m, int64_t n, const int32_t *restrict row, const int32_t *restrict col,
                  const double *restrict val, const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < m; i++) {
    y[i] = 0;
  }
  for (int64_t p = 0; p < n; p++) {
    y[row[p]] += val[p] * x[col[p]];
  }
}

void ref_spmv_dia(int32_t m, int32_t n, int32_t diagonals, int32_t width, const int32_t *restrict offsets,
                  const double *restrict val, const double *restrict x, double *restrict y) {
  for (int64_t lo = 0; lo < m; lo += TILE) {
    const int64_t hi = MIN(lo + TILE, m);
    for (int64_t i = lo; i < hi; i++) {
      y[i] = 0;
    }
    for (int32_t k = 0; k < diagonals; k++) {
      const int64_t d = offsets[k], end = MIN(MIN(n, width), hi + d);
      for (int64_t j = MAX(MAX(0, d), lo + d); j < end; j++) {
        y[j - d] += val[(int64_t)k * width + j] * x[j];
      }
    }
  }
}

void ref_spmv_ell(int32_t m, int32_t width, const int32_t *restrict col, const double *restrict val,
                  const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < m; i++) {
    double sum = 0;
    for (int64_t k = 0; k < width; k++) {
      const int32_t j = col[k * m + i];
      if (j >= 0) {
        sum += val[k * m + i] * x[j];
      }
    }
    y[i] = sum;
  }
}

void ref_spmv_bsr3(int32_t rows, const int32_t *restrict pos, const int32_t *restrict crd,
                   const double *restrict val, const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < rows; i++) {
    double a = 0, b = 0, c = 0;
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      const double *v = val + (int64_t)p * 9, *u = x + (int64_t)crd[p] * 3;
      a += v[0] * u[0] + v[1] * u[1] + v[2] * u[2];
      b += v[3] * u[0] + v[4] * u[1] + v[5] * u[2];
      c += v[6] * u[0] + v[7] * u[1] + v[8] * u[2];
    }
    y[i * 3] = a;
    y[i * 3 + 1] = b;
    y[i * 3 + 2] = c;
  }
}
