/* Kernels over 3rd-order tensors whose three levels are compressed (csf). */
#include <stdint.h>
#include <string.h>
#include "reference.h"

void ref_ttv(const int32_t *restrict pos1, const int32_t *restrict crd1, const int32_t *restrict pos2,
             const int32_t *restrict crd2, const int32_t *restrict pos3, const int32_t *restrict crd3,
             const double *restrict val, const double *restrict c, int32_t *restrict out_pos1,
             int32_t *restrict out_crd1, int32_t *restrict out_pos2, int32_t *restrict out_crd2,
             double *restrict out) {
  out_pos1[0] = 0;
  out_pos1[1] = pos1[1];
  out_pos2[0] = 0;
  for (int32_t pi = pos1[0]; pi < pos1[1]; pi++) {
    out_crd1[pi] = crd1[pi];
    for (int32_t pj = pos2[pi]; pj < pos2[pi + 1]; pj++) {
      double sum = 0;
      for (int32_t pk = pos3[pj]; pk < pos3[pj + 1]; pk++) {
        sum += val[pk] * c[crd3[pk]];
      }
      out_crd2[pj] = crd2[pj];
      out[pj] = sum;
    }
    out_pos2[pi + 1] = pos2[pi + 1];
  }
}

void ref_ttm(int32_t k, const int32_t *restrict pos1, const int32_t *restrict crd1, const int32_t *restrict pos2,
             const int32_t *restrict crd2, const int32_t *restrict pos3, const int32_t *restrict crd3,
             const double *restrict val, const double *restrict c, int32_t *restrict out_pos1,
             int32_t *restrict out_crd1, int32_t *restrict out_pos2, int32_t *restrict out_crd2,
             double *restrict out) {
  out_pos1[0] = 0;
  out_pos1[1] = pos1[1];
  out_pos2[0] = 0;
  for (int32_t pi = pos1[0]; pi < pos1[1]; pi++) {
    out_crd1[pi] = crd1[pi];
    for (int32_t pj = pos2[pi]; pj < pos2[pi + 1]; pj++) {
      double *restrict row = out + (int64_t)pj * k;
      memset(row, 0, (size_t)k * sizeof(double));
      for (int32_t pl = pos3[pj]; pl < pos3[pj + 1]; pl++) {
        const double v = val[pl];
        const double *restrict from = c + (int64_t)crd3[pl] * k;
        for (int32_t t = 0; t < k; t++) {
          row[t] += v * from[t];
        }
      }
      out_crd2[pj] = crd2[pj];
    }
    out_pos2[pi + 1] = pos2[pi + 1];
  }
}

/* The row of c is applied once a fiber, not once a nonzero, as SPLATT does. */
void ref_mttkrp(int32_t m, int32_t r, const int32_t *restrict pos1, const int32_t *restrict crd1,
                const int32_t *restrict pos2, const int32_t *restrict crd2, const int32_t *restrict pos3,
                const int32_t *restrict crd3, const double *restrict val, const double *restrict c,
                const double *restrict d, double *restrict workspace, double *restrict out) {
  memset(out, 0, (size_t)m * (size_t)r * sizeof(double));
  for (int32_t pi = pos1[0]; pi < pos1[1]; pi++) {
    double *restrict row = out + (int64_t)crd1[pi] * r;
    for (int32_t pk = pos2[pi]; pk < pos2[pi + 1]; pk++) {
      memset(workspace, 0, (size_t)r * sizeof(double));
      for (int32_t pl = pos3[pk]; pl < pos3[pk + 1]; pl++) {
        const double v = val[pl];
        const double *restrict dl = d + (int64_t)crd3[pl] * r;
        for (int32_t t = 0; t < r; t++) {
          workspace[t] += v * dl[t];
        }
      }
      const double *restrict ck = c + (int64_t)crd2[pk] * r;
      for (int32_t t = 0; t < r; t++) {
        row[t] += workspace[t] * ck[t];
      }
    }
  }
}

double ref_innerprod(const int32_t *restrict b_pos1, const int32_t *restrict b_crd1, const int32_t *restrict b_pos2,
                     const int32_t *restrict b_crd2, const int32_t *restrict b_pos3, const int32_t *restrict b_crd3,
                     const double *restrict b, const int32_t *restrict c_pos1, const int32_t *restrict c_crd1,
                     const int32_t *restrict c_pos2, const int32_t *restrict c_crd2, const int32_t *restrict c_pos3,
                     const int32_t *restrict c_crd3, const double *restrict c) {
  double sum = 0;
  int32_t bi = b_pos1[0], ci = c_pos1[0];
  while (bi < b_pos1[1] && ci < c_pos1[1]) {
    const int32_t ib = b_crd1[bi], ic = c_crd1[ci];
    if (ib == ic) {
      int32_t bj = b_pos2[bi], cj = c_pos2[ci];
      while (bj < b_pos2[bi + 1] && cj < c_pos2[ci + 1]) {
        const int32_t jb = b_crd2[bj], jc = c_crd2[cj];
        if (jb == jc) {
          int32_t bk = b_pos3[bj], ck = c_pos3[cj];
          const int32_t be = b_pos3[bj + 1], ce = c_pos3[cj + 1];
          while (bk < be && ck < ce) {
            const int32_t kb = b_crd3[bk], kc = c_crd3[ck];
            if (kb == kc) {
              sum += b[bk] * c[ck];
            }
            bk += kb <= kc;
            ck += kc <= kb;
          }
        }
        bj += jb <= jc;
        cj += jc <= jb;
      }
    }
    bi += ib <= ic;
    ci += ic <= ib;
  }
  return sum;
}
