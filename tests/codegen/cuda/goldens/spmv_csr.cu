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

/* Return the threads of a warp that are in the team of this thread, as bits. */
static __device__ inline unsigned weft_team_mask(int64_t lanes) {
  const unsigned all = lanes == 32 ? 0xffffffffu : (1u << (lanes % 32)) - 1u;
  return all << (threadIdx.x % 32 / (unsigned)lanes * (unsigned)lanes);
}

/* Return the value of the lane whose number differs in one bit. */
static __device__ inline double weft_team_other_float64(double value, int64_t bit, int64_t lanes) {
  return __shfl_xor_sync(weft_team_mask(lanes), value, (int)bit, (int)lanes);
}

WEFT_KERNEL(weft_evaluate_1)(int64_t A1_dim, const int32_t *__restrict__ A2_pos,
    const int32_t *__restrict__ A2_crd, const double *__restrict__ A_vals,
    const double *__restrict__ x_vals, double *__restrict__ y_vals) {
  const int64_t lane = threadIdx.x % 4;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 4;
  const int64_t teams = (int64_t)gridDim.x * (blockDim.x / 4);
  for (int64_t i = team; i < A1_dim; i += teams) {
    double t = 0.0;
    double t_pA2_before = t;
    t = 0.0;
    for (int64_t pA2 = (int64_t)A2_pos[i] + lane, pA2_end = (int64_t)A2_pos[i + 1]; pA2 < pA2_end; pA2 += 4) {
      int64_t j = (int64_t)A2_crd[pA2];
      t += A_vals[pA2] * x_vals[j];
    }
    t += weft_team_other_float64(t, 2, 4);
    t += weft_team_other_float64(t, 1, 4);
    t += t_pA2_before;
    if (lane == 0) {
      y_vals[i] = t;
    }
  }
}
WEFT_EMULATED(weft_evaluate_1)

// Launch(kernel='weft_evaluate_1', teams=Size(over=('A1_dim',), share=1, times=(), factor=1), lanes=4, block=256, arguments=('A1_dim', 'A2_pos', 'A2_crd', 'A_vals', 'x_vals', 'y_vals'))
