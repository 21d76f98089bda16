/* Arithmetic functions of integers that are more than a formula. They wrap around. */

//: weft_power_uint64 for uint64
// By squaring, on unsigned integers, whose products wrap around in all widths.
static inline uint64_t weft_power_uint64(uint64_t a, uint64_t b) {
  uint64_t result = 1, base = (uint64_t)a, rest = (uint64_t)b;
  while (rest) {
    if (rest & 1) result *= base;
    base *= base;
    rest >>= 1;
  }
  return result;
}

//: weft_gcd_uint64 for uint64
// Euclid's algorithm.
static inline uint64_t weft_gcd_uint64(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

//: weft_lcm_TYPE; needs weft_gcd_uint64
// SIZE_A and SIZE_B are the absolute values, as unsigned integers.
static inline TYPE_t weft_lcm_TYPE(TYPE_t a, TYPE_t b) {
  const uint64_t x = SIZE_A, y = SIZE_B, common = weft_gcd_uint64(x, y);
  return common ? (TYPE_t)(x / common * y) : 0;
}
