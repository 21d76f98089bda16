/* Functions of kernels for a GPU, where threads of a team exchange values, and change shared places at the same time. */

//: weft_team_mask
/* Return the threads of a warp that are in the team of this thread, as bits. */
static inline unsigned weft_team_mask(int64_t lanes) {
  const unsigned all = lanes == 32 ? 0xffffffffu : (1u << (lanes % 32)) - 1u;
  return all << (threadIdx.x % 32 / (unsigned)lanes * (unsigned)lanes);
}

//: weft_team_sync; needs weft_team_mask
/* Wait for all threads of the team, whose stores are seen afterwards. */
static inline void weft_team_sync(int64_t lanes) { __syncwarp(weft_team_mask(lanes)); }

//: weft_team_other_TYPE for int32, int64, float32, float64; needs weft_team_mask
/* Return the value of the lane whose number differs in one bit. */
static inline TYPE_t weft_team_other_TYPE(TYPE_t value, int64_t bit, int64_t lanes) {
  return __shfl_xor_sync(weft_team_mask(lanes), value, (int)bit, (int)lanes);
}

//: weft_team_other_bool; needs weft_team_mask
static inline bool weft_team_other_bool(bool value, int64_t bit, int64_t lanes) {
  return __shfl_xor_sync(weft_team_mask(lanes), (int)value, (int)bit, (int)lanes) != 0;
}

//: weft_scatter_add_bool
static inline void weft_scatter_add_bool(bool *array, int64_t index, bool value) {
  if (value) array[index] = true;
}

//: weft_scatter_multiply_bool
static inline void weft_scatter_multiply_bool(bool *array, int64_t index, bool value) {
  if (!value) array[index] = false;
}

//: weft_scatter_maximum_bool
static inline void weft_scatter_maximum_bool(bool *array, int64_t index, bool value) {
  if (value) array[index] = true;
}

//: weft_scatter_minimum_bool
static inline void weft_scatter_minimum_bool(bool *array, int64_t index, bool value) {
  if (!value) array[index] = false;
}

//: weft_scatter_add_int32
static inline void weft_scatter_add_int32(int32_t *array, int64_t index, int32_t value) {
  atomicAdd((unsigned *)(array + index), (unsigned)value);
}

//: weft_scatter_add_int64
static inline void weft_scatter_add_int64(int64_t *array, int64_t index, int64_t value) {
  atomicAdd((unsigned long long *)(array + index), (unsigned long long)value);
}

//: weft_scatter_NAME_TYPE; needs weft_NAME_TYPE
// NAME is an operator for which neither order nor repetitions matter. WORD is an unsigned integer of the same size.
static inline void weft_scatter_NAME_TYPE(TYPE_t *array, int64_t index, TYPE_t value) {
  WORD *place = (WORD *)(array + index), seen = *(volatile WORD *)place, before;
  do {
    before = seen;
    TYPE_t old;
    memcpy(&old, &before, sizeof old);
    const TYPE_t one = weft_NAME_TYPE(old, value), other = weft_NAME_TYPE(value, old);
    WORD after, turned;
    memcpy(&after, &one, sizeof after);
    memcpy(&turned, &other, sizeof turned);
    if (turned < after) after = turned; /* of zeros of both signs, and of several NaN, always the same one */
    if (after == before) break;
    seen = atomicCAS(place, before, after);
  } while (seen != before);
}

//: weft_sum_range
// Sums whose bits depend on no order. A range is 0 for a sum of zeros, 1100 + the largest exponent for one of finite
// numbers, and more for one with infinities (5001 for positive ones, 5002 for negative ones) or NaN (5003).
/* Widen the range of a sum, so that it has a value. */
static inline void weft_sum_range(int32_t *ranges, int64_t index, double value) {
  if (value == 0) return;
  const int range = isnan(value) ? 5003 : isinf(value) ? (value > 0 ? 5001 : 5002) : 1100 + ilogb(value);
  if (range > *(volatile int32_t *)(ranges + index)) atomicMax(ranges + index, range);
}

//: weft_sum_add
// A value is cut into two digits of 31 bits, the first one below the largest exponent of the sum. 2^32 of them are
// added up in 64 bits without an overflow.
/* Add a value to a sum, after the range of the sum has all of its values. */
static inline void weft_sum_add(int32_t *ranges, int64_t *sums, int64_t index, double value) {
  const int range = *(volatile int32_t *)(ranges + index);
  if (range >= 5000) {
    if (range == 5002 && value > 0 && isinf(value)) atomicMax(ranges + index, 5003);
    return;
  }
  if (value == 0) return;
  const double scaled = ldexp(value, 1130 - range), first = trunc(scaled);
  unsigned long long *place = (unsigned long long *)(sums + 2 * index);
  atomicAdd(place, (unsigned long long)(long long)first);
  const long long second = (long long)ldexp(scaled - first, 31);
  if (second) atomicAdd(place + 1, (unsigned long long)second);
}

//: weft_sum_total
/* Return a sum after all of its values were added. */
static inline double weft_sum_total(const int32_t *ranges, const int64_t *sums, int64_t index) {
  const int range = ranges[index];
  if (range == 0) return 0;
  if (range >= 5000) return range == 5003 ? __builtin_nan("") : range == 5001 ? __builtin_inf() : -__builtin_inf();
  return ldexp((double)sums[2 * index] + ldexp((double)sums[2 * index + 1], -31), range - 1130);
}
