/* Hand-written kernels of the papers' algorithms: int32 indices, double values, rows in order, coordinates sorted.
   Whoever calls allocates. This header is also what cffi reads, so it holds prototypes and nothing else. */

uint64_t ref_read(int64_t n, const uint64_t *words);
void ref_spmv(int32_t m, const int32_t *pos, const int32_t *crd, const double *val, const double *x, double *y);
void ref_residual(int32_t m, const int32_t *pos, const int32_t *crd, const double *val, const double *x,
                  const double *b, double *y);
void ref_mattransmul(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, const double *val, double alpha,
                     const double *x, double beta, const double *z, double *y);
void ref_spmm(int32_t m, int32_t k, const int32_t *pos, const int32_t *crd, const double *val, const double *x,
              double *y);
void ref_sddmm(int32_t m, int32_t k, const int32_t *pos, const int32_t *crd, const double *val, const double *c,
               const double *d, int32_t *out_pos, int32_t *out_crd, double *out);

void ref_spmv_coo(int32_t m, int64_t n, const int32_t *row, const int32_t *col, const double *val, const double *x,
                  double *y);
void ref_spmv_dia(int32_t m, int32_t n, int32_t diagonals, int32_t width, const int32_t *offsets, const double *val,
                  const double *x, double *y);
void ref_spmv_ell(int32_t m, int32_t width, const int32_t *col, const double *val, const double *x, double *y);
void ref_spmv_bsr3(int32_t rows, const int32_t *pos, const int32_t *crd, const double *val, const double *x,
                   double *y);

int64_t ref_add(int32_t m, const int32_t *a_pos, const int32_t *a_crd, const double *a, const int32_t *b_pos,
                const int32_t *b_crd, const double *b, int32_t *pos, int32_t *crd, double *val);
int64_t ref_plus3(int32_t m, const int32_t *a_pos, const int32_t *a_crd, const double *a, const int32_t *b_pos,
                  const int32_t *b_crd, const double *b, const int32_t *c_pos, const int32_t *c_crd, const double *c,
                  int32_t *pos, int32_t *crd, double *val);

int64_t ref_spgemm_count(int32_t m, int32_t n, const int32_t *a_pos, const int32_t *a_crd, const int32_t *b_pos,
                         const int32_t *b_crd, int32_t *pos);
int64_t ref_spgemm_fill(int32_t m, int32_t n, const int32_t *a_pos, const int32_t *a_crd, const double *a,
                        const int32_t *b_pos, const int32_t *b_crd, const double *b, const int32_t *pos,
                        int32_t *crd, double *val);

void ref_ttv(const int32_t *pos1, const int32_t *crd1, const int32_t *pos2, const int32_t *crd2, const int32_t *pos3,
             const int32_t *crd3, const double *val, const double *c, int32_t *out_pos1, int32_t *out_crd1,
             int32_t *out_pos2, int32_t *out_crd2, double *out);
void ref_ttm(int32_t k, const int32_t *pos1, const int32_t *crd1, const int32_t *pos2, const int32_t *crd2,
             const int32_t *pos3, const int32_t *crd3, const double *val, const double *c, int32_t *out_pos1,
             int32_t *out_crd1, int32_t *out_pos2, int32_t *out_crd2, double *out);
void ref_mttkrp(int32_t m, int32_t r, const int32_t *pos1, const int32_t *crd1, const int32_t *pos2,
                const int32_t *crd2, const int32_t *pos3, const int32_t *crd3, const double *val, const double *c,
                const double *d, double *workspace, double *out);
double ref_innerprod(const int32_t *b_pos1, const int32_t *b_crd1, const int32_t *b_pos2, const int32_t *b_crd2,
                     const int32_t *b_pos3, const int32_t *b_crd3, const double *b, const int32_t *c_pos1,
                     const int32_t *c_crd1, const int32_t *c_pos2, const int32_t *c_crd2, const int32_t *c_pos3,
                     const int32_t *c_crd3, const double *c);

void ref_coo_csr(int32_t m, int64_t n, const int32_t *row, const int32_t *col, const double *val, int32_t *pos, int32_t
                 *crd, double *out);
void ref_csr_csc(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, const double *val, int32_t *t_pos,
                 int32_t *t_crd, double *out);
int32_t ref_csr_dia_offsets(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, int32_t *rank, int32_t
                            *offsets);
void ref_csr_dia(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, const double *val, const int32_t *rank,
                 double *out);
int32_t ref_csc_dia_offsets(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, int32_t *rank, int32_t
                            *offsets);
void ref_csc_dia(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, const double *val, const int32_t *rank,
                 double *out);
int32_t ref_coo_dia_offsets(int32_t m, int32_t n, int64_t count, const int32_t *row, const int32_t *col, int32_t *rank,
                            int32_t *offsets);
void ref_coo_dia(int32_t m, int32_t n, int64_t count, const int32_t *row, const int32_t *col, const double *val, const
                 int32_t *rank, double *out);
int32_t ref_csr_ell_width(int32_t m, const int32_t *pos);
void ref_csr_ell(int32_t m, const int32_t *pos, const int32_t *crd, const double *val, int32_t *out_crd, double *out);
int32_t ref_csc_ell_width(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, int32_t *count);
void ref_csc_ell(int32_t m, int32_t n, const int32_t *pos, const int32_t *crd, const double *val, int32_t *count,
                 int32_t *out_crd, double *out);
void ref_coo_dia_sums(int32_t m, int32_t n, int64_t count, const int32_t *row, const int32_t *col, const double *val,
                      const int32_t *rank, double *out);
int32_t ref_coo_rows(int32_t m, int64_t count, const int32_t *row, const int32_t *col, const double *val, int32_t *pos,
                     int32_t *ends, int32_t *crd, double *out);
void ref_rows_ell(int32_t m, int32_t width, const int32_t *pos, const int32_t *ends, const int32_t *crd, const double
                  *val, int32_t *out_crd, double *out);
