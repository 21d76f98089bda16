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

WEFT_KERNEL(weft_evaluate_1)(double *__restrict__ t_total) {
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
  if (team == 0) {
    double t = t_total[0];
    t = 0.0;
    t_total[0] = t;
  }
}
WEFT_EMULATED(weft_evaluate_1)

WEFT_KERNEL(weft_evaluate_2)(const int32_t *__restrict__ A2_pos, int64_t A1_dim,
    const double *__restrict__ A_vals, double *__restrict__ t_parts) {
  const int64_t lane = threadIdx.x % 32;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int64_t teams = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t share = team; share < 1024; share += teams) {
    double t_part = 0.0;
    double t_part_pA2_before = t_part;
    t_part = 0.0;
    for (int64_t pA2 = (int64_t)A2_pos[0] + ((int64_t)A2_pos[A1_dim] - (int64_t)A2_pos[0]) * share / 1024 + lane, pA2_end = (int64_t)A2_pos[0] + ((int64_t)A2_pos[A1_dim] - (int64_t)A2_pos[0]) * (share + 1) / 1024; pA2 < pA2_end; pA2 += 32) {
      t_part += A_vals[pA2];
    }
    t_part += weft_team_other_float64(t_part, 16, 32);
    t_part += weft_team_other_float64(t_part, 8, 32);
    t_part += weft_team_other_float64(t_part, 4, 32);
    t_part += weft_team_other_float64(t_part, 2, 32);
    t_part += weft_team_other_float64(t_part, 1, 32);
    t_part += t_part_pA2_before;
    if (lane == 0) {
      t_parts[share] = t_part;
    }
  }
}
WEFT_EMULATED(weft_evaluate_2)

WEFT_KERNEL(weft_evaluate_3)(double *__restrict__ t_total, const double *__restrict__ t_parts) {
  const int64_t lane = threadIdx.x % 32;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (team == 0) {
    double t = t_total[0];
    double t_q_before = t;
    t = 0.0;
    for (int64_t q = lane; q < 1024; q += 32) {
      t += t_parts[q];
    }
    t += weft_team_other_float64(t, 16, 32);
    t += weft_team_other_float64(t, 8, 32);
    t += weft_team_other_float64(t, 4, 32);
    t += weft_team_other_float64(t, 2, 32);
    t += weft_team_other_float64(t, 1, 32);
    t += t_q_before;
    t_total[0] = t;
  }
}
WEFT_EMULATED(weft_evaluate_3)

WEFT_KERNEL(weft_evaluate_4)(const double *__restrict__ t_total, double *__restrict__ s_vals) {
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
  if (team == 0) {
    double t = t_total[0];
    s_vals[0] = t;
  }
}
WEFT_EMULATED(weft_evaluate_4)

// Launch(kernel='weft_evaluate_1', teams=Size(over=(), share=1, times=(), factor=1), lanes=1, block=256, arguments=('t_total',))
// Launch(kernel='weft_evaluate_2', teams=Size(over=(), share=1, times=(), factor=1024), lanes=32, block=256, arguments=('A2_pos', 'A1_dim', 'A_vals', 't_parts'))
// Launch(kernel='weft_evaluate_3', teams=Size(over=(), share=1, times=(), factor=1), lanes=32, block=256, arguments=('t_total', 't_parts'))
// Launch(kernel='weft_evaluate_4', teams=Size(over=(), share=1, times=(), factor=1), lanes=1, block=256, arguments=('t_total', 's_vals'))
