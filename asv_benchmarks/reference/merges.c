/* Sums of csr matrices by merging rows; the arrays of the result hold the sum of the operands' lengths. */
#include <stdint.h>
#include "reference.h"

/* Zeros are left out, as the operators of SciPy and of weft do. */
int64_t ref_add(int32_t m, const int32_t *restrict a_pos, const int32_t *restrict a_crd, const double *restrict a,
                const int32_t *restrict b_pos, const int32_t *restrict b_crd, const double *restrict b,
                int32_t *restrict pos, int32_t *restrict crd, double *restrict val) {
  int32_t q = 0;
  pos[0] = 0;
  for (int32_t i = 0; i < m; i++) {
    int32_t pa = a_pos[i], pb = b_pos[i];
    const int32_t ea = a_pos[i + 1], eb = b_pos[i + 1];
    while (pa < ea && pb < eb) {
      const int32_t ja = a_crd[pa], jb = b_crd[pb];
      if (ja == jb) {
        const double sum = a[pa++] + b[pb++];
        if (sum != 0) {
          crd[q] = ja;
          val[q++] = sum;
        }
      } else if (ja < jb) {
        if (a[pa] != 0) {
          crd[q] = ja;
          val[q++] = a[pa];
        }
        pa++;
      } else {
        if (b[pb] != 0) {
          crd[q] = jb;
          val[q++] = b[pb];
        }
        pb++;
      }
    }
    for (; pa < ea; pa++) {
      if (a[pa] != 0) {
        crd[q] = a_crd[pa];
        val[q++] = a[pa];
      }
    }
    for (; pb < eb; pb++) {
      if (b[pb] != 0) {
        crd[q] = b_crd[pb];
        val[q++] = b[pb];
      }
    }
    pos[i + 1] = q;
  }
  return q;
}

int64_t ref_plus3(int32_t m, const int32_t *restrict a_pos, const int32_t *restrict a_crd, const double *restrict a,
                  const int32_t *restrict b_pos, const int32_t *restrict b_crd, const double *restrict b,
                  const int32_t *restrict c_pos, const int32_t *restrict c_crd, const double *restrict c,
                  int32_t *restrict pos, int32_t *restrict crd, double *restrict val) {
  int32_t q = 0;
  pos[0] = 0;
  for (int32_t i = 0; i < m; i++) {
    int32_t pa = a_pos[i], pb = b_pos[i], pc = c_pos[i];
    const int32_t ea = a_pos[i + 1], eb = b_pos[i + 1], ec = c_pos[i + 1];
    while (pa < ea || pb < eb || pc < ec) {
      const int32_t ja = pa < ea ? a_crd[pa] : INT32_MAX;
      const int32_t jb = pb < eb ? b_crd[pb] : INT32_MAX;
      const int32_t jc = pc < ec ? c_crd[pc] : INT32_MAX;
      int32_t j = ja < jb ? ja : jb;
      j = jc < j ? jc : j;
      double sum = 0;
      if (ja == j) {
        sum += a[pa++];
      }
      if (jb == j) {
        sum += b[pb++];
      }
      if (jc == j) {
        sum += c[pc++];
      }
      crd[q] = j;
      val[q++] = sum;
    }
    pos[i + 1] = q;
  }
  return q;
}
