/* Scratch memory, prefetches, copies, flags, and counters that threads share. */

//: weft_alloc
/* Allocate count elements of scratch memory. Returns NULL on failure; release the memory with weft_free. */
static inline void *weft_alloc(int64_t count, size_t element, bool zero) {
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  if (bytes == 0) bytes = 1;
  return zero ? __builtin_calloc(bytes, 1) : __builtin_malloc(bytes);
}

//: weft_free
/* Release memory of weft_alloc; NULL is allowed. */
static inline void weft_free(void *memory) { __builtin_free(memory); }

//: weft_prefetch_write
/* Prefetch memory that will be written soon. */
static inline void weft_prefetch_write(const void *memory) { __builtin_prefetch(memory, 1); }

//: weft_prefetch_read
/* Prefetch memory that will be read soon. The address may be beyond the end of an array. */
static inline void weft_prefetch_read(const void *memory) { __builtin_prefetch(memory); }

//: weft_prefetch_row
/* Prefetch the first KiB of a row, of some bytes, that will be read soon. */
static inline void weft_prefetch_row(const void *row, int64_t bytes) {
  enum { LINE = 64, MOST = 1024 };
  const char *at = (const char *)row - ((uintptr_t)row & (LINE - 1));
  const char *const end = (const char *)row + (bytes < MOST ? bytes : MOST);
  for (; at < end; at += LINE) __builtin_prefetch(at);
}

//: weft_unvectorized
/* Return value. The empty assembly keeps compilers from vectorizing the loop around the call. */
static inline int64_t weft_unvectorized(int64_t value) {
  __asm__("" : "+r"(value));
  return value;
}

//: weft_begin_part; needs weft_thread
/* Decide where a thread appends a part of a result: in its place if all parts before it have been handed in, else to a
   free buffer of the thread, of which each has count, else to memory of its own. A row of a part has a state (0; 1: it was
   handed in; 2: all parts before it were), n sizes, three numbers, n positions in the result, and n in the memory that
   it is appended to; then the number of its buffer, -1 if it is in its place, -2 if it is in memory of its own. totals
   are the positions of the next part, lengths those of a buffer. */
static inline void weft_begin_part(int64_t *part, const int64_t *totals, const int64_t *lengths, int64_t n,
                                   int64_t *taken, int64_t count) {
  int64_t *positions = part + 4 + n, *buffer = positions + 2 * n;
  if (__atomic_load_n(part, __ATOMIC_ACQUIRE) == 2) {
    for (int64_t k = 0; k < n; k++) positions[k] = totals[k];
    *buffer = -1;
    return;
  }
  for (int64_t at = weft_thread() * count, end = at + count; at < end; at++) {
    if (__atomic_load_n(taken + at, __ATOMIC_ACQUIRE)) continue;
    __atomic_store_n(taken + at, 1, __ATOMIC_RELAXED);
    for (int64_t k = 0; k < n; k++) positions[n + k] = lengths[k] * at;
    *buffer = at;
    return;
  }
}

//: weft_give_buffer
/* Free a buffer, from which a part has been copied. */
static inline void weft_give_buffer(int64_t *taken, int64_t buffer) {
  if (buffer >= 0) __atomic_store_n(taken + buffer, 0, __ATOMIC_RELEASE);
}

//: weft_hand_in
/* Hand in the part of a result that chunk me has appended. A part is placed by whoever hands in the last part before it, so
   that no thread waits: mine becomes the interval of the parts that the caller is to place now, which may be empty. */
static inline void weft_hand_in(int64_t *parts, int64_t width, int64_t count, int64_t me, int64_t *totals, int64_t n,
                                int64_t *mine) {
  int64_t *part = parts + me * width;
  mine[0] = mine[1] = me;
  if (__atomic_exchange_n(part, 1, __ATOMIC_ACQ_REL) != 2) return;
  do {
    for (int64_t k = 0; k < n; k++) {
      part[4 + n + k] = totals[k];
      totals[k] += part[1 + k];
    }
    part += width;
  } while (++mine[1] < count && __atomic_exchange_n(part, 2, __ATOMIC_ACQ_REL) == 1);
}

//: weft_next_flag
/* Return the first index in [at, end) at which the list of flags holds 1, or end. */
static inline int64_t weft_next_flag(const uint8_t *list, int64_t at, int64_t end) {
  const uint8_t *found = at < end ? __builtin_memchr(list + at, 1, (size_t)(end - at)) : NULL;
  return found ? found - list : end;
}

//: weft_pack_bits_TYPE for int32, int64
/* Pack n flags, each 0 or 1, into words of 32 bits, each of which is followed by the number of bits before it. */
static inline int64_t weft_pack_bits_TYPE(const uint8_t *flags, int64_t n, TYPE_t *bits) {
  int64_t before = 0;
  for (int64_t first = 0; first == 0 || first < n; first += 32, bits += 2) {
    uint32_t word = 0;
    for (int64_t bit = 0; bit < 32 && first + bit < n; bit++) word |= (uint32_t)flags[first + bit] << bit;
    bits[0] = (TYPE_t)(int32_t)word;
    bits[1] = (TYPE_t)before;
    before += __builtin_popcount(word);
  }
  return before;
}

//: weft_find_bit_TYPE for int32, int64
/* Return the position, counted from first, of the bit of one of n coordinates among all that are set, or -1 if it is
   not set. */
static inline int64_t weft_find_bit_TYPE(const TYPE_t *bits, int64_t first, int64_t coord, int64_t n) {
  if ((uint64_t)coord >= (uint64_t)n) return -1;
  const TYPE_t *at = bits + (coord >> 5) * 2;
  const uint32_t word = (uint32_t)at[0], bit = UINT32_C(1) << (coord & 31);
  return word & bit ? first + at[1] + __builtin_popcount(word & (bit - 1)) : -1;
}

//: weft_stream
#ifdef __clang__
#define weft_store_past_caches(to, value) __builtin_nontemporal_store(value, to)
#elif defined(__AVX__)
#define weft_store_past_caches(to, value) __builtin_ia32_movntdq256(to, value)
#endif
/* Copy size bytes. Large copies bypass the caches, so that the old contents need not be read before they are
   overwritten. */
static inline void weft_stream(void *restrict to, const void *restrict from, int64_t size) {
  char *end = to;
  const char *next = from;
#ifdef weft_store_past_caches
  typedef long long block __attribute__((vector_size(32)));
  if (size >= 65536) {
    const int64_t before = -(intptr_t)end & 31;
    __builtin_memcpy(end, next, (size_t)before);
    end += before, next += before, size -= before;
    for (; size >= 32; end += 32, next += 32, size -= 32) {
      block value;
      __builtin_memcpy(&value, next, 32);
      weft_store_past_caches((block *)end, value);
    }
    __sync_synchronize();
  }
#endif
  __builtin_memcpy(end, next, (size_t)size);
}

//: weft_store_same_TYPE for uint8, int32, int64
/* Set list[at] = value, while other threads may store the same value. A thread that finds the value there does not
   write, so that threads can share the cache line. */
static inline void weft_store_same_TYPE(TYPE_t *list, int64_t at, TYPE_t value) {
  if (__atomic_load_n(list + at, __ATOMIC_RELAXED) != value) __atomic_store_n(list + at, value, __ATOMIC_RELAXED);
}
