/* Arithmetic functions of real floating-point numbers that are more than a formula, as in NumPy. */

//: weft_scalar_power_TYPE for float32, float64
// Exponents whose powers take few multiplications, within two units in the last place of the power. As in NumPy, an
// exponent of one half gives square roots, also those of -0.0 and of -infinity.
static inline TYPE_t weft_scalar_power_TYPE(TYPE_t a, TYPE_t b) {
  if (b == 2) return a * a;
  if (b == (float)0.5) return __builtin_sqrt_F(a);
  if (b == 3) return a * a * a;
  if (b == 4) return (a * a) * (a * a);
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  return __builtin_pow_F(a, b);
}

//: weft_floor_divide_TYPE for float32, float64
// The quotient is rounded down from the exact remainder, as in NumPy and Python.
static inline TYPE_t weft_floor_divide_TYPE(TYPE_t a, TYPE_t b) {
  if (b == 0) return a / b;
  const TYPE_t rest = __builtin_fmod_F(a, b);
  TYPE_t quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return __builtin_copysign_F(0, a / b);
  const TYPE_t down = __builtin_floor_F(quotient);
  return quotient - down > (TYPE_t)0.5 ? down + 1 : down;
}

//: weft_remainder_TYPE for float32, float64
static inline TYPE_t weft_remainder_TYPE(TYPE_t a, TYPE_t b) {
  const TYPE_t rest = __builtin_fmod_F(a, b);
  if (b == 0) return rest;
  if (rest == 0) return __builtin_copysign_F(0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

//: weft_NAME_TYPE
// logaddexp and logaddexp2. LOG_2 is the logarithm of 2, and LOG_1_P and LOG_1_P_OTHER that of 1 plus the exponential of
// -difference and of difference, which is of a number that is not positive, so that it does not overflow.
static inline TYPE_t weft_NAME_TYPE(TYPE_t a, TYPE_t b) {
  if (a == b) return a + LOG_2;
  const TYPE_t difference = a - b;
  if (difference > 0) return a + LOG_1_P;
  return difference <= 0 ? b + LOG_1_P_OTHER : difference;
}
