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

WEFT_KERNEL(weft_evaluate_1)(int64_t A1_dim, int64_t X2_dim, const int32_t *__restrict__ A2_pos,
    const int32_t *__restrict__ A2_crd, const double *__restrict__ A_vals,
    const double *__restrict__ X_vals, int64_t Y2_dim, double *__restrict__ Y_vals) {
  const int64_t lane = threadIdx.x % 32;
  const int64_t team = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int64_t teams = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t i = team; i < A1_dim; i += teams) {
    for (int64_t l_strip = 0; l_strip < X2_dim / 128; l_strip++) {
      int64_t l_low = l_strip * 128;
      double w_vals[4];
#pragma unroll
      for (int64_t q_slot = 0; q_slot < 4; q_slot++) {
        int64_t q = q_slot * 32 + lane;
        w_vals[q_slot] = 0.0;
      }
      for (int64_t pA2 = (int64_t)A2_pos[i], pA2_end = (int64_t)A2_pos[i + 1]; pA2 < pA2_end; pA2++) {
        int64_t j = (int64_t)A2_crd[pA2];
        int64_t l_from = l_low;
#pragma unroll
        for (int64_t l_inside_slot = 0; l_inside_slot < 4; l_inside_slot++) {
          int64_t l_inside = l_inside_slot * 32 + lane;
          int64_t l = l_from + l_inside;
          int64_t pX2 = j * X2_dim + l;
          w_vals[l_inside_slot] += A_vals[pA2] * X_vals[pX2];
        }
      }
      int64_t l_from_1 = l_low;
#pragma unroll
      for (int64_t l_inside_1_slot = 0; l_inside_1_slot < 4; l_inside_1_slot++) {
        int64_t l_inside_1 = l_inside_1_slot * 32 + lane;
        int64_t l_1 = l_from_1 + l_inside_1;
        int64_t pY2 = i * Y2_dim + l_1;
        Y_vals[pY2] = w_vals[l_inside_1_slot];
      }
    }
    int64_t l_next = X2_dim / 128 * 128;
    for (int64_t l_strip_1 = 0; l_strip_1 < (X2_dim - l_next + 31) / 32; l_strip_1++) {
      int64_t l_low_1 = l_next + l_strip_1 * 32;
      double w_vals[4];
#pragma unroll
      for (int64_t q_1_slot = 0; q_1_slot < 1; q_1_slot++) {
        int64_t q_1 = q_1_slot * 32 + lane;
        w_vals[q_1_slot] = 0.0;
      }
      for (int64_t pA2_1 = (int64_t)A2_pos[i], pA2_1_end = (int64_t)A2_pos[i + 1]; pA2_1 < pA2_1_end; pA2_1++) {
        int64_t j_1 = (int64_t)A2_crd[pA2_1];
        int64_t l_from_2 = l_low_1;
#pragma unroll
        for (int64_t l_inside_2_slot = 0; l_inside_2_slot < 1; l_inside_2_slot++) {
          int64_t l_inside_2 = l_inside_2_slot * 32 + lane;
          if (l_inside_2 < (32 < X2_dim - l_low_1 ? 32 : X2_dim - l_low_1)) {
            int64_t l_2 = l_from_2 + l_inside_2;
            int64_t pX2_1 = j_1 * X2_dim + l_2;
            w_vals[l_inside_2_slot] += A_vals[pA2_1] * X_vals[pX2_1];
          }
        }
      }
      int64_t l_from_3 = l_low_1;
#pragma unroll
      for (int64_t l_inside_3_slot = 0; l_inside_3_slot < 1; l_inside_3_slot++) {
        int64_t l_inside_3 = l_inside_3_slot * 32 + lane;
        if (l_inside_3 < (32 < X2_dim - l_low_1 ? 32 : X2_dim - l_low_1)) {
          int64_t l_3 = l_from_3 + l_inside_3;
          int64_t pY2_1 = i * Y2_dim + l_3;
          Y_vals[pY2_1] = w_vals[l_inside_3_slot];
        }
      }
    }
  }
}
WEFT_EMULATED(weft_evaluate_1)

// Launch(kernel='weft_evaluate_1', teams=Size(over=('A1_dim',), share=1, times=(), factor=1), lanes=32, block=256, arguments=('A1_dim', 'X2_dim', 'A2_pos', 'A2_crd', 'A_vals', 'X_vals', 'Y2_dim', 'Y_vals'))
