/* Conversions between formats, as in Fig. 6 of the 2020 paper. */
#include <stdint.h>
#include <string.h>

/* Coordinates to csr: rows are counted, then every entry is appended to its row's segment. Those of a matrix stored by
   columns, read as rows, make the csc of it. */
void ref_coo_csr(int32_t m, int64_t n, const int32_t *restrict row, const int32_t *restrict col,
                 const double *restrict val, int32_t *restrict pos, int32_t *restrict crd, double *restrict out) {
  memset(pos, 0, ((size_t)m + 1) * sizeof(int32_t));
  for (int64_t p = 0; p < n; p++) pos[row[p] + 1]++;
  for (int32_t i = 0; i < m; i++) pos[i + 1] += pos[i];
  for (int64_t p = 0; p < n; p++) {
    const int32_t q = pos[row[p]]++;
    crd[q] = col[p];
    out[q] = val[p];
  }
  for (int32_t i = m; i > 0; i--) pos[i] = pos[i - 1];
  pos[0] = 0;
}

void ref_csr_csc(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                 const double *restrict val, int32_t *restrict t_pos, int32_t *restrict t_crd, double *restrict out) {
  memset(t_pos, 0, ((size_t)n + 1) * sizeof(int32_t));
  for (int32_t p = 0; p < pos[m]; p++) t_pos[crd[p] + 1]++;
  for (int32_t j = 0; j < n; j++) t_pos[j + 1] += t_pos[j];
  for (int32_t i = 0; i < m; i++) {
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      const int32_t q = t_pos[crd[p]]++;
      t_crd[q] = i;
      out[q] = val[p];
    }
  }
  for (int32_t j = n; j > 0; j--) t_pos[j] = t_pos[j - 1];
  t_pos[0] = 0;
}

/* The offsets that occur, in order, and the rank of each; rank has m + n - 1 elements, zeroed. */
static int32_t ranked(int32_t m, int32_t n, int32_t *restrict rank, int32_t *restrict offsets) {
  int32_t count = 0;
  for (int32_t k = 0; k < m + n - 1; k++) {
    if (rank[k]) {
      offsets[count] = k - m + 1;
      rank[k] = count++;
    }
  }
  return count;
}

int32_t ref_csr_dia_offsets(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                            int32_t *restrict rank, int32_t *restrict offsets) {
  for (int32_t i = 0; i < m; i++) {
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) rank[crd[p] - i + m - 1] = 1;
  }
  return ranked(m, n, rank, offsets);
}

void ref_csr_dia(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                 const double *restrict val, const int32_t *restrict rank, double *restrict out) {
  for (int32_t i = 0; i < m; i++) {
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
      const int32_t j = crd[p];
      out[(int64_t)rank[j - i + m - 1] * n + j] = val[p];
    }
  }
}

int32_t ref_csc_dia_offsets(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                            int32_t *restrict rank, int32_t *restrict offsets) {
  for (int32_t j = 0; j < n; j++) {
    for (int32_t p = pos[j]; p < pos[j + 1]; p++) rank[j - crd[p] + m - 1] = 1;
  }
  return ranked(m, n, rank, offsets);
}

void ref_csc_dia(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                 const double *restrict val, const int32_t *restrict rank, double *restrict out) {
  for (int32_t j = 0; j < n; j++) {
    for (int32_t p = pos[j]; p < pos[j + 1]; p++) out[(int64_t)rank[j - crd[p] + m - 1] * n + j] = val[p];
  }
}

int32_t ref_coo_dia_offsets(int32_t m, int32_t n, int64_t count, const int32_t *restrict row,
                            const int32_t *restrict col, int32_t *restrict rank, int32_t *restrict offsets) {
  for (int64_t p = 0; p < count; p++) rank[col[p] - row[p] + m - 1] = 1;
  return ranked(m, n, rank, offsets);
}

void ref_coo_dia(int32_t m, int32_t n, int64_t count, const int32_t *restrict row, const int32_t *restrict col,
                 const double *restrict val, const int32_t *restrict rank, double *restrict out) {
  for (int64_t p = 0; p < count; p++) out[(int64_t)rank[col[p] - row[p] + m - 1] * n + col[p]] = val[p];
}

/* The most entries of a row; from csc by counting them, in count, which is zeroed again. */
int32_t ref_csr_ell_width(int32_t m, const int32_t *restrict pos) {
  int32_t width = 0;
  for (int32_t i = 0; i < m; i++) {
    const int32_t n = pos[i + 1] - pos[i];
    if (n > width) width = n;
  }
  return width;
}

void ref_csr_ell(int32_t m, const int32_t *restrict pos, const int32_t *restrict crd, const double *restrict val,
                 int32_t *restrict out_crd, double *restrict out) {
  for (int32_t i = 0; i < m; i++) {
    int64_t at = i;
    for (int32_t p = pos[i]; p < pos[i + 1]; p++, at += m) {
      out_crd[at] = crd[p];
      out[at] = val[p];
    }
  }
}

int32_t ref_csc_ell_width(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                          int32_t *restrict count) {
  int32_t width = 0;
  for (int32_t p = 0; p < pos[n]; p++) {
    const int32_t k = ++count[crd[p]];
    if (k > width) width = k;
  }
  memset(count, 0, (size_t)m * sizeof(int32_t));
  return width;
}

void ref_csc_ell(int32_t m, int32_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                 const double *restrict val, int32_t *restrict count, int32_t *restrict out_crd,
                 double *restrict out) {
  for (int32_t j = 0; j < n; j++) {
    for (int32_t p = pos[j]; p < pos[j + 1]; p++) {
      const int32_t i = crd[p];
      const int64_t at = (int64_t)count[i]++ * m + i;
      out_crd[at] = j;
      out[at] = val[p];
    }
  }
}

/* Coordinates in any order, some of them more than once, to diagonals; out is zeroed. */
void ref_coo_dia_sums(int32_t m, int32_t n, int64_t count, const int32_t *restrict row, const int32_t *restrict col,
                      const double *restrict val, const int32_t *restrict rank, double *restrict out) {
  for (int64_t p = 0; p < count; p++) out[(int64_t)rank[col[p] - row[p] + m - 1] * n + col[p]] += val[p];
}

/* Coordinates in any order, some of them more than once, to sorted rows, and how many slices these need: entries go to
   their rows as csr has them, which are sorted by insertion and summed, as they are short. pos has m + 1 elements, ends
   m. */
int32_t ref_coo_rows(int32_t m, int64_t count, const int32_t *restrict row, const int32_t *restrict col,
                     const double *restrict val, int32_t *restrict pos, int32_t *restrict ends, int32_t *restrict crd,
                     double *restrict out) {
  ref_coo_csr(m, count, row, col, val, pos, crd, out);
  int32_t width = 0;
  for (int32_t i = 0; i < m; i++) {
    const int32_t begin = pos[i];
    int32_t end = begin;
    for (int32_t p = begin; p < pos[i + 1]; p++) {
      const int32_t j = crd[p];
      const double value = out[p];
      int32_t q = end;
      while (q > begin && crd[q - 1] > j) q--;
      if (q > begin && crd[q - 1] == j) {
        out[q - 1] += value;
        continue;
      }
      for (int32_t r = end++; r > q; r--) {
        crd[r] = crd[r - 1];
        out[r] = out[r - 1];
      }
      crd[q] = j;
      out[q] = value;
    }
    ends[i] = end;
    if (end - begin > width) width = end - begin;
  }
  return width;
}

/* Rows that end before the next begins to slices of one entry a row, each slice filled whole. */
void ref_rows_ell(int32_t m, int32_t width, const int32_t *restrict pos, const int32_t *restrict ends,
                  const int32_t *restrict crd, const double *restrict val, int32_t *restrict out_crd,
                  double *restrict out) {
  for (int32_t k = 0; k < width; k++) {
    for (int32_t i = 0; i < m; i++) {
      const int32_t p = pos[i] + k;
      const int64_t at = (int64_t)k * m + i;
      out_crd[at] = p < ends[i] ? crd[p] : -1;
      out[at] = p < ends[i] ? val[p] : 0.0;
    }
  }
}
