/* Arithmetic functions of complex numbers, by the formulas of NumPy where those of C give other results. */

//: weft_multiply_TYPE for complex64, complex128
static inline TYPE_t weft_multiply_TYPE(TYPE_t a, TYPE_t b) {
  const PART_t ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  return __builtin_complex(ar * br - ai * bi, ar * bi + ai * br);
}

//: weft_divide_TYPE for complex64, complex128
// Smith's algorithm, which scales by the larger part of the divisor and so avoids overflow.
static inline TYPE_t weft_divide_TYPE(TYPE_t a, TYPE_t b) {
  const PART_t ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  if (__builtin_fabs_F(br) >= __builtin_fabs_F(bi)) {
    if (br == 0 && bi == 0) return __builtin_complex(ar / __builtin_fabs_F(br), ai / __builtin_fabs_F(br));
    const PART_t ratio = bi / br, scale = 1 / (br + bi * ratio);
    return __builtin_complex((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);
  }
  const PART_t ratio = br / bi, scale = 1 / (bi + br * ratio);
  return __builtin_complex((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);
}

//: weft_reciprocal_TYPE for complex64, complex128
static inline TYPE_t weft_reciprocal_TYPE(TYPE_t a) {
  const PART_t re = __real__ a, im = __imag__ a;
  if (__builtin_fabs_F(im) <= __builtin_fabs_F(re)) {
    const PART_t ratio = im / re, scale = re + im * ratio;
    return __builtin_complex(1 / scale, -ratio / scale);
  }
  const PART_t ratio = re / im, scale = re * ratio + im;
  return __builtin_complex(ratio / scale, -1 / scale);
}

//: weft_sign_TYPE for complex64, complex128
static inline TYPE_t weft_sign_TYPE(TYPE_t a) {
  const PART_t re = __real__ a, im = __imag__ a, size = __builtin_hypot_F(re, im);
  if (size != size || (__builtin_isinf(re) && __builtin_isinf(im))) {
    const PART_t nan = __builtin_nan_F("");
    return __builtin_complex(nan, nan);
  }
  if (size == 0) return 0;
  const PART_t zero = 0, one = 1;
  if (__builtin_isinf(re)) return __builtin_complex(__builtin_copysign_F(one, re), zero);
  if (__builtin_isinf(im)) return __builtin_complex(zero, __builtin_copysign_F(one, im));
  return __builtin_complex(re / size, im / size);
}

//: weft_expm1_TYPE for complex64, complex128
static inline TYPE_t weft_expm1_TYPE(TYPE_t a) {
  const PART_t half = __builtin_sin_F(__imag__ a / 2), one = __builtin_exp_F(__real__ a);
  return __builtin_complex(
    __builtin_expm1_F(__real__ a) * __builtin_cos_F(__imag__ a) - 2 * half * half,
    one * __builtin_sin_F(__imag__ a));
}

//: weft_log1p_TYPE for complex64, complex128
static inline TYPE_t weft_log1p_TYPE(TYPE_t a) {
  const PART_t re = __real__ a + 1;
  return __builtin_complex(__builtin_log_F(__builtin_hypot_F(re, __imag__ a)), __builtin_atan2_F(__imag__ a, re));
}

//: weft_power_TYPE for complex64, complex128; needs weft_multiply_TYPE, weft_divide_TYPE
// As in NumPy, small integer exponents are computed by multiplications.
static inline TYPE_t weft_power_TYPE(TYPE_t a, TYPE_t b) {
  const PART_t br = __real__ b, bi = __imag__ b;
  if (br == 0 && bi == 0) return 1;
  if (__real__ a == 0 && __imag__ a == 0) {
    const PART_t nan = __builtin_nan_F("");
    return br > 0 ? 0 : __builtin_complex(nan, nan);
  }
  if (bi != 0 || br != __builtin_trunc_F(br) || br <= -100 || br >= 100) return __builtin_cpow_F(a, b);
  int64_t rest = br < 0 ? (int64_t)-br : (int64_t)br;
  TYPE_t result = 1, base = a;
  bool first = true;
  for (; rest; rest >>= 1) {
    if (rest & 1) {
      result = first ? base : weft_multiply_TYPE(result, base);
      first = false;
    }
    if (rest > 1) base = weft_multiply_TYPE(base, base);
  }
  return br < 0 ? weft_divide_TYPE(1, result) : result;
}
