/* Products of a csr matrix with dense operands, and a read of memory. */
#include <stdint.h>
#include <string.h>
#include "reference.h"

uint64_t ref_read(int64_t n, const uint64_t *restrict words) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += words[i]; /* integers, so that compilers vectorise it */
  return sum;
}

void ref_spmv(int32_t m, const int32_t *restrict pos, const int32_t *restrict crd, const double *restrict val,
              const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < m; i++) {
    double sum = 0;
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      sum += val[p] * x[crd[p]];
    }
    y[i] = sum;
  }
}

void ref_residual(int32_t m, const int32_t *restrict pos, const int32_t *restrict crd, const double *restrict val,
                  const double *restrict x, const double *restrict b, double *restrict y) {
  for (int32_t i = 0; i < m; i++) {
    double sum = 0;
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      sum += val[p] * x[crd[p]];
    }
    y[i] = b[i] - sum;
  }
}

void ref_mattransmul(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                     const double *restrict val, double alpha, const double *restrict x, double beta,
                     const double *restrict z, double *restrict y) {
  for (int32_t j = 0; j < n; j++) {
    y[j] = beta * z[j];
  }
  for (int32_t i = 0; i < m; i++) {
    const double xi = alpha * x[i];
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      y[crd[p]] += val[p] * xi;
    }
  }
}

void ref_spmm(int32_t m, int32_t k, const int32_t *restrict pos, const int32_t *restrict crd,
              const double *restrict val, const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < m; i++) {
    double *restrict row = y + (int64_t)i * k;
    memset(row, 0, (size_t)k * sizeof(double));
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      const double v = val[p];
      const double *restrict from = x + (int64_t)crd[p] * k;
      for (int32_t j = 0; j < k; j++) {
        row[j] += v * from[j];
      }
    }
  }
}

void ref_sddmm(int32_t m, int32_t k, const int32_t *restrict pos, const int32_t *restrict crd,
               const double *restrict val, const double *restrict c, const double *restrict d,
               int32_t *restrict out_pos, int32_t *restrict out_crd, double *restrict out) {
  out_pos[0] = 0;
  for (int32_t i = 0; i < m; i++) {
    const double *restrict ci = c + (int64_t)i * k;
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      const double *restrict dj = d + (int64_t)crd[p] * k;
      double sum = 0;
      for (int32_t l = 0; l < k; l++) {
        sum += ci[l] * dj[l];
      }
      out_crd[p] = crd[p];
      out[p] = val[p] * sum;
    }
    out_pos[i + 1] = pos[i + 1];
  }
}
