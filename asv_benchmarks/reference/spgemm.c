/* Gustavson's product of csr matrices: count each row, then accumulate in a dense row and sort its coordinates. */
#include <stdint.h>
#include <stdlib.h>
#include "reference.h"

static void sort(int32_t *a, int32_t n) {
  while (n > 24) { /* quicksort with the median of three, the smaller part first */
    int32_t mid = n / 2, last = n - 1, t;
    if (a[mid] < a[0]) { t = a[mid]; a[mid] = a[0]; a[0] = t; }
    if (a[last] < a[0]) { t = a[last]; a[last] = a[0]; a[0] = t; }
    if (a[last] < a[mid]) { t = a[last]; a[last] = a[mid]; a[mid] = t; }
    const int32_t pivot = a[mid];
    int32_t lo = 0, hi = last;
    while (lo <= hi) {
      while (a[lo] < pivot) lo++;
      while (a[hi] > pivot) hi--;
      if (lo <= hi) { t = a[lo]; a[lo++] = a[hi]; a[hi--] = t; }
    }
    if (hi + 1 < n - lo) {
      sort(a, hi + 1);
      a += lo;
      n -= lo;
    } else {
      sort(a + lo, n - lo);
      n = hi + 1;
    }
  }
  for (int32_t i = 1; i < n; i++) {
    const int32_t x = a[i];
    int32_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

int64_t ref_spgemm_count(int32_t m, int32_t n, const int32_t *restrict a_pos, const int32_t *restrict a_crd,
                         const int32_t *restrict b_pos, const int32_t *restrict b_crd, int32_t *restrict pos) {
  int32_t *seen = calloc((size_t)n + 1, sizeof(int32_t)); /* the last row that met a column, from 1 */
  if (!seen) return -1;
  int64_t total = 0;
  pos[0] = 0;
  for (int32_t i = 0; i < m; i++) {
    for (int32_t p = a_pos[i]; p < a_pos[i + 1]; p++) {
      const int32_t k = a_crd[p];
      for (int32_t q = b_pos[k]; q < b_pos[k + 1]; q++) {
        const int32_t j = b_crd[q];
        if (seen[j] != i + 1) {
          seen[j] = i + 1;
          total++;
        }
      }
    }
    pos[i + 1] = (int32_t)total;
  }
  free(seen);
  return total;
}

int64_t ref_spgemm_fill(int32_t m, int32_t n, const int32_t *restrict a_pos, const int32_t *restrict a_crd,
                        const double *restrict a, const int32_t *restrict b_pos, const int32_t *restrict b_crd,
                        const double *restrict b, const int32_t *restrict pos, int32_t *restrict crd,
                        double *restrict val) {
  double *sum = calloc((size_t)n + 1, sizeof(double));
  int32_t *seen = calloc((size_t)n + 1, sizeof(int32_t));
  if (!sum || !seen) {
    free(sum);
    free(seen);
    return -1;
  }
  for (int32_t i = 0; i < m; i++) {
    int32_t *row = crd + pos[i];
    int32_t count = 0;
    for (int32_t p = a_pos[i]; p < a_pos[i + 1]; p++) {
      const int32_t k = a_crd[p];
      const double v = a[p];
      for (int32_t q = b_pos[k]; q < b_pos[k + 1]; q++) {
        const int32_t j = b_crd[q];
        if (seen[j] != i + 1) {
          seen[j] = i + 1;
          row[count++] = j;
          sum[j] = v * b[q];
        } else {
          sum[j] += v * b[q];
        }
      }
    }
    sort(row, count);
    for (int32_t t = 0; t < count; t++) {
      val[pos[i] + t] = sum[row[t]];
    }
  }
  free(sum);
  free(seen);
  return pos[m];
}
