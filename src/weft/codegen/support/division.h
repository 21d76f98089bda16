/* Division by an integer as a multiplication by its reciprocal. */

//: weft_digits
/* Return the least l with d <= 2^l. */
static inline int weft_digits(int64_t d) { return d > 1 ? 64 - __builtin_clzll((uint64_t)d - 1) : 0; }

//: weft_reciprocal; needs weft_digits
// With 2^(l-1) < d <= 2^l the reciprocal m is 2^(63+l) / d rounded up, which has 64 bits: n * m / 2^(63+l) is
// n / d + n * e / (d * 2^(63+l)) for some e < d <= 2^l, and the rest too small to reach the next integer if n < 2^63.
/* Return the factor by which weft_quotient multiplies to divide by d, or by 1 if d is less than 1. */
static inline uint64_t weft_reciprocal(int64_t d) {
  if (d <= 1) return (uint64_t)1 << 63;
  const unsigned __int128 one = (unsigned __int128)1 << (63 + weft_digits(d));
  return (uint64_t)((one - 1) / (uint64_t)d + 1);
}

//: weft_quotient; needs weft_digits
/* Return n / d, rounded towards 0. by is weft_reciprocal(d). */
static inline int64_t weft_quotient(int64_t n, int64_t d, uint64_t by) {
  const uint64_t sign = (uint64_t)(n >> 63), size = ((uint64_t)n ^ sign) - sign;
  const uint64_t high = (uint64_t)(((unsigned __int128)(2 * size) * by) >> 64);
  return (int64_t)(((high >> weft_digits(d)) ^ sign) - sign);
}

//: weft_remainder; needs weft_quotient
/* Return n - n / d * d. by is weft_reciprocal(d). */
static inline int64_t weft_remainder(int64_t n, int64_t d, uint64_t by) {
  return n - weft_quotient(n, d, by) * (d > 1 ? d : 1);
}
