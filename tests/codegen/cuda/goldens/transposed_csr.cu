#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define WEFT_KERNEL(NAME) extern "C" __global__ void __launch_bounds__(256) NAME
#define WEFT_EMULATED(NAME)
#define WEFT_NAN __longlong_as_double(0x7ff8000000000000ll)
#define WEFT_INFINITY __longlong_as_double(0x7ff0000000000000ll)
#endif

/* Widen the range of a sum, so that it has a value. */
static __device__ inline void weft_sum_range(int32_t *ranges, int64_t index, double value) {
  if (value == 0) return;
  const int range = isnan(value) ? 5003 : isinf(value) ? (value > 0 ? 5001 : 5002) : 1100 + ilogb(value);
  if (range > *(volatile int32_t *)(ranges + index)) atomicMax(ranges + index, range);
}

/* Add a value to a sum, after the range of the sum has all of its values. */
static __device__ inline void weft_sum_add(int32_t *ranges, int64_t *sums, int64_t index, double value) {
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

/* Return a sum after all of its values were added. */
static __device__ inline double weft_sum_total(const int32_t *ranges, const int64_t *sums, int64_t index) {
  const int range = ranges[index];
  if (range == 0) return 0;
  if (range >= 5000) return range == 5003 ? WEFT_NAN : range == 5001 ? WEFT_INFINITY : -WEFT_INFINITY;
  return ldexp((double)sums[2 * index] + ldexp((double)sums[2 * index + 1], -31), range - 1130);
}

WEFT_KERNEL(weft_evaluate_1)(int64_t y1_dim, double *__restrict__ y_vals) {
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
  const int64_t teams = (int64_t)gridDim.x * blockDim.x;
  for (int64_t qy = team; qy < y1_dim; qy += teams) {
    y_vals[qy] = 0.0;
  }
}
WEFT_EMULATED(weft_evaluate_1)

WEFT_KERNEL(weft_evaluate_2)(int64_t x1_dim, const int32_t *__restrict__ A2_pos,
    const int32_t *__restrict__ A2_crd, int32_t *__restrict__ y_vals_range,
    const double *__restrict__ x_vals, const double *__restrict__ A_vals) {
  const int64_t lane = threadIdx.x % 4;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 4;
  const int64_t teams = (int64_t)gridDim.x * (blockDim.x / 4);
  for (int64_t i = team; i < x1_dim; i += teams) {
    for (int64_t pA2 = (int64_t)A2_pos[i] + lane, pA2_end = (int64_t)A2_pos[i + 1]; pA2 < pA2_end; pA2 += 4) {
      int64_t j = (int64_t)A2_crd[pA2];
      weft_sum_range(y_vals_range, j, x_vals[i] * A_vals[pA2]);
    }
  }
}
WEFT_EMULATED(weft_evaluate_2)

WEFT_KERNEL(weft_evaluate_3)(int64_t x1_dim, const int32_t *__restrict__ A2_pos,
    const int32_t *__restrict__ A2_crd, int32_t *__restrict__ y_vals_range,
    int64_t *__restrict__ y_vals_sums, const double *__restrict__ x_vals,
    const double *__restrict__ A_vals) {
  const int64_t lane = threadIdx.x % 4;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 4;
  const int64_t teams = (int64_t)gridDim.x * (blockDim.x / 4);
  for (int64_t i = team; i < x1_dim; i += teams) {
    for (int64_t pA2 = (int64_t)A2_pos[i] + lane, pA2_end = (int64_t)A2_pos[i + 1]; pA2 < pA2_end; pA2 += 4) {
      int64_t j = (int64_t)A2_crd[pA2];
      weft_sum_add(y_vals_range, y_vals_sums, j, x_vals[i] * A_vals[pA2]);
    }
  }
}
WEFT_EMULATED(weft_evaluate_3)

WEFT_KERNEL(weft_evaluate_4)(int64_t y_vals_length, double *__restrict__ y_vals,
    const int32_t *__restrict__ y_vals_range, const int64_t *__restrict__ y_vals_sums) {
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
  const int64_t teams = (int64_t)gridDim.x * blockDim.x;
  for (int64_t q = team; q < y_vals_length; q += teams) {
    y_vals[q] += weft_sum_total(y_vals_range, y_vals_sums, q);
  }
}
WEFT_EMULATED(weft_evaluate_4)

// Launch(kernel='weft_evaluate_1', teams=Size(over=('y1_dim',), share=1, times=(), factor=1), lanes=1, block=256, arguments=('y1_dim', 'y_vals'))
// Fill(array='y_vals_range', value=False)
// Fill(array='y_vals_sums', value=False)
// Launch(kernel='weft_evaluate_2', teams=Size(over=('x1_dim',), share=1, times=(), factor=1), lanes=4, block=256, arguments=('x1_dim', 'A2_pos', 'A2_crd', 'y_vals_range', 'x_vals', 'A_vals'))
// Launch(kernel='weft_evaluate_3', teams=Size(over=('x1_dim',), share=1, times=(), factor=1), lanes=4, block=256, arguments=('x1_dim', 'A2_pos', 'A2_crd', 'y_vals_range', 'y_vals_sums', 'x_vals', 'A_vals'))
// Launch(kernel='weft_evaluate_4', teams=Size(over=('y_vals_length',), share=1, times=(), factor=1), lanes=1, block=256, arguments=('y_vals_length', 'y_vals', 'y_vals_range', 'y_vals_sums'))
