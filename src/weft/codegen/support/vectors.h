/* Mathematical functions of many elements at a time, by the vector functions of the C library. */

//: weft_vectors
#if defined __AVX2__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__
#if __GLIBC_PREREQ(2, 35)
#ifdef __AVX512F__
#define WEFT_VECTOR_BYTES 64
#define WEFT_VECTOR_FUNCTION(avx2, avx512) avx512
#else
#define WEFT_VECTOR_BYTES 32
#define WEFT_VECTOR_FUNCTION(avx2, avx512) avx2
#endif
#endif
#endif

//: weft_each_NAME_TYPE; needs weft_vectors, weft_NAME_TYPE
// NAME is that of the function of one element. VECTORS are the types of its operands, LOAD and FILL statements that
// load them, and AVX2 and AVX512 the vector functions, which exist under the CONDITION. The elements that are left over
// fill a vector with ones, so that all are computed by the vector function.
/* Set y[i] = weft_NAME_TYPE(ELEMENTS) for i < n. y may be a. */
static void weft_each_NAME_TYPE(PARAMETERS, TYPE_t *y, int64_t n) {
#if CONDITION
  typedef TYPE_t vector __attribute__((vector_size(WEFT_VECTOR_BYTES)));
  extern vector WEFT_VECTOR_FUNCTION(AVX2, AVX512)(VECTORS);
  enum { LANES = WEFT_VECTOR_BYTES / sizeof(TYPE_t) };
  int64_t i = 0;
  vector OPERANDS;
  for (; i + LANES <= n; i += LANES) {
    LOAD
    const vector found = WEFT_VECTOR_FUNCTION(AVX2, AVX512)(OPERANDS);
    __builtin_memcpy(y + i, &found, sizeof found);
  }
  if (i < n) { /* the last vector is filled up with ones */
    for (int64_t l = 0; l < LANES; l++) {
      FILL
    }
    const vector found = WEFT_VECTOR_FUNCTION(AVX2, AVX512)(OPERANDS);
    for (int64_t l = 0; l < n - i; l++) y[i + l] = found[l];
  }
#else
  for (int64_t i = 0; i < n; i++) y[i] = weft_NAME_TYPE(ELEMENTS);
#endif
}

//: weft_each_scalar_power_TYPE for float64, float32; needs weft_each_power_TYPE, weft_scalar_power_TYPE
// All of b is one exponent. Each loop is written apart, so that vector instructions compute it.
static void weft_each_scalar_power_TYPE(const TYPE_t *a, const TYPE_t *b, TYPE_t *y, int64_t n) {
  const TYPE_t by = n > 0 ? b[0] : 1;
#define WEFT_EACH(exponent) \
  if (by == exponent) { \
    for (int64_t i = 0; i < n; i++) y[i] = weft_scalar_power_TYPE(a[i], exponent); \
    return; \
  }
  WEFT_EACH(0.5f)
  WEFT_EACH(3)
  WEFT_EACH(4)
  WEFT_EACH(1)
  WEFT_EACH(-1)
#undef WEFT_EACH
  weft_each_power_TYPE(a, b, y, n);
}
