/* Runs CUDA text on a CPU: each thread of a block is a fiber. Barriers, exchanges and atomic operations switch between
   fibers in random order. An error is a text: barriers that some threads never reach, lanes that have ended. */
#undef _FORTIFY_SOURCE  /* which takes a jump to the stack of another fiber for an error */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <utility>
#define __device__
#define __global__
#define WEFT_KERNEL(NAME) static void NAME
#define WEFT_NAN __builtin_nan("")
#define WEFT_INFINITY __builtin_inf()

namespace emulated {
struct Place { unsigned x = 1, y = 1, z = 1; };
enum State { READY, WARP, BLOCK, DONE };
struct Fiber { ucontext_t start; jmp_buf at; bool begun; Place index; State state; unsigned mask; int turn; };
static const size_t STACK = 1 << 16;
/* No headers of containers, which take longer to compile than most kernels. */
static Fiber *fibers, **ready;
static char *stacks;
static unsigned count;
static Fiber *now;
static jmp_buf home;  /* jumps ask nothing of the system, and a switch of contexts keeps signals */
static Place block, grid, block_index;
static unsigned char slots[2][1024][8];
static void (*body)(const void *);
static const void *arguments_of_body;
static unsigned seed = 1;
static const char *error = nullptr;

static unsigned random() { return seed = seed * 1664525u + 1013904223u, seed >> 8; }

static void wait(State state, unsigned mask) {
  now->state = state;
  now->mask = mask;
  if (!_setjmp(now->at)) _longjmp(home, 1);
}

/* Let other threads run before an atomic operation, now and then. */
static void interrupt() {
  if (random() % 4 == 0) wait(READY, 0);
}

static void run() {
  body(arguments_of_body);
  now->state = DONE;
  _longjmp(home, 1);
}

static void resume(Fiber *fiber) {
  now = fiber;
  if (_setjmp(home)) return;
  if (fiber->begun) _longjmp(fiber->at, 1);
  fiber->begun = true;
  setcontext(&fiber->start);
}

/* Release barriers that all of their threads have reached. */
static void release() {
  unsigned waiting = 0, done = 0;
  for (unsigned t = 0; t < count; t++) waiting += fibers[t].state == BLOCK, done += fibers[t].state == DONE;
  if (waiting && waiting + done == count) {
    if (done) error = "some threads of a block never reach a barrier";
    for (unsigned t = 0; t < count; t++) if (fibers[t].state == BLOCK) fibers[t].state = READY;
  }
  for (unsigned t = 0; t < count; t++) {
    if (fibers[t].state != WARP) continue;
    const unsigned warp = t / 32 * 32, mask = fibers[t].mask;
    bool all = true;
    if (!(mask >> (t - warp) & 1)) error = "a thread is not in its own mask";
    for (unsigned k = 0; k < 32; k++) if (mask >> k & 1) {
      if (warp + k >= count || fibers[warp + k].state == DONE) { error = "a lane of a mask has ended"; return; }
      all = all && fibers[warp + k].state == WARP && fibers[warp + k].mask == mask;
    }
    if (all) for (unsigned k = 0; k < 32; k++) if (mask >> k & 1) fibers[warp + k].state = READY;
  }
}

static void resize(unsigned threads) {
  free(fibers), free(ready), free(stacks);
  fibers = (Fiber *)calloc(threads, sizeof(Fiber));
  ready = (Fiber **)malloc(threads * sizeof(Fiber *));
  stacks = (char *)malloc(threads * STACK);
  count = threads;
  for (unsigned t = 0; t < threads; t++) fibers[t].index = Place();
}

static const char *launch(unsigned blocks, unsigned threads, void (*f)(const void *), const void *arguments) {
  body = f;
  arguments_of_body = arguments;
  block.x = threads;
  grid.x = blocks;
  error = nullptr;
  if (count != threads) resize(threads);
  for (unsigned b = 0; b < blocks; b++) {
    block_index.x = b;
    for (unsigned t = 0; t < threads; t++) {
      Fiber &x = fibers[t];
      getcontext(&x.start);
      x.start.uc_stack.ss_sp = stacks + t * STACK;
      x.start.uc_stack.ss_size = STACK;
      makecontext(&x.start, run, 0);
      x.begun = false;
      x.index.x = t;
      x.state = READY;
      x.turn = 0;
    }
    for (;;) {
      unsigned some = 0;
      bool left = false;
      for (unsigned t = 0; t < count; t++) {
        if (fibers[t].state == READY) ready[some++] = &fibers[t];
        left = left || fibers[t].state != DONE;
      }
      if (!left) break;
      if (some == 0) {
        release();
        if (error) return error;
        bool any = false;
        for (unsigned t = 0; t < count; t++) any = any || fibers[t].state == READY;
        if (!any) return "threads wait for one another";
        continue;
      }
      for (unsigned k = some; k > 1; k--) std::swap(ready[k - 1], ready[random() % k]);
      for (unsigned k = 0; k < some; k++) resume(ready[k]);
    }
  }
  return nullptr;
}

/* Exchange values among the threads of a mask; ``from`` is the number of the lane whose value is returned. */
template <typename Value, typename From> static Value exchange(unsigned mask, Value value, From from) {
  static_assert(sizeof(Value) <= 8, "a value of one or two words");
  const unsigned t = now->index.x;
  const int turn = now->turn ^= 1;
  memcpy(slots[turn][t], &value, sizeof value);
  wait(WARP, mask);
  memcpy(&value, slots[turn][t / 32 * 32 + from(t % 32)], sizeof value);
  return value;
}

template <typename... Types, size_t... N>
static const char *call(void (*kernel)(Types...), unsigned blocks, unsigned threads, void *const *arguments,
                        std::index_sequence<N...>) {
  const auto all = [=] { kernel(*(Types *)arguments[N]...); };
  return launch(blocks, threads, [](const void *each) { (*static_cast<decltype(all) *>(each))(); }, &all);
}

template <typename... Types>
static const char *enter(void (*kernel)(Types...), unsigned blocks, unsigned threads, unsigned start,
                         void *const *arguments) {
  seed = start;
  return call(kernel, blocks, threads, arguments, std::index_sequence_for<Types...>());
}
}  // namespace emulated

#ifndef WEFT_PREFIX
#define WEFT_PREFIX emulate_
#endif
#define WEFT_JOINED(PREFIX, NAME) PREFIX##NAME
#define WEFT_JOIN(PREFIX, NAME) WEFT_JOINED(PREFIX, NAME)
#define WEFT_EMULATED(NAME)                                                                              \
  extern "C" const char *WEFT_JOIN(WEFT_PREFIX, NAME)(unsigned blocks, unsigned threads, unsigned start, \
                                                      void *const *arguments) {                         \
    return emulated::enter(NAME, blocks, threads, start, arguments);                                    \
  }
#define threadIdx (emulated::now->index)
#define blockIdx (emulated::block_index)
#define blockDim (emulated::block)
#define gridDim (emulated::grid)
static inline void __syncthreads() { emulated::wait(emulated::BLOCK, 0); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { emulated::wait(emulated::WARP, mask); }
template <typename Value> static inline Value __shfl_xor_sync(unsigned mask, Value value, int bit, int width = 32) {
  return emulated::exchange(mask, value, [=](int lane) { return (lane ^ bit) / width == lane / width ? lane ^ bit : lane; });
}
template <typename Value> static inline Value __shfl_down_sync(unsigned mask, Value value, int by, int width = 32) {
  return emulated::exchange(mask, value, [=](int lane) { return lane % width + by < width ? lane + by : lane; });
}
template <typename Value> static inline Value atomicAdd(Value *place, Value value) {
  emulated::interrupt();
  const Value old = *place;
  *place = old + value;
  return old;
}
template <typename Value> static inline Value atomicMax(Value *place, Value value) {
  emulated::interrupt();
  const Value old = *place;
  if (value > old) *place = value;
  return old;
}
template <typename Value> static inline Value atomicCAS(Value *place, Value before, Value after) {
  emulated::interrupt();
  const Value old = *place;
  if (old == before) *place = after;
  return old;
}
