/* Sorting of coordinate lists: of the coordinates of one row, and of n tuples by a permutation.

   A short list is sorted without branches that could be mispredicted: with AVX-512 by a network, else by rank, where
   vector comparisons count for each element how many others are less, which is its place. A list that is dense in its
   range is sorted by a bitmap. Any other list is sorted by a radix sort over the bits in which its elements differ. */

//: weft_rank
#ifdef __AVX2__
#define WEFT_LANES 8
#define WEFT_SAME(value) {value, value, value, value, value, value, value, value}
#else /* compilers split wider vectors into scalars */
#define WEFT_LANES 4
#define WEFT_SAME(value) {value, value, value, value}
#endif
typedef int32_t weft_lanes __attribute__((vector_size(4 * WEFT_LANES), aligned(4)));

/* Sort the numbers that n <= 8 * width keys carry by their keys: the place of each is the number of smaller keys. If
   ``shared`` is false, it is the first free place from there on, which holds a negative number. */
#define WEFT_RANK(width) \
  static inline void weft_rank_##width(const int32_t *key, int32_t *carried, int32_t *sorted, int32_t n, \
                                       bool shared) { \
    enum { VECTORS = 8 * width / WEFT_LANES }; \
    weft_lanes keys[VECTORS], ranks[VECTORS]; \
    int32_t place[8 * width]; \
    for (int k = 0; k < VECTORS; k++) { \
      __builtin_memcpy(&keys[k], key + WEFT_LANES * k, sizeof(weft_lanes)); \
      ranks[k] = (weft_lanes){0}; \
    } \
    for (int32_t j = 0; j < n; j++) { \
      const int32_t pivot = key[j]; \
      const weft_lanes pivots = WEFT_SAME(pivot); \
      for (int k = 0; k < VECTORS; k++) ranks[k] += pivots < keys[k]; \
    } \
    for (int k = 0; k < VECTORS; k++) { \
      ranks[k] = -ranks[k]; \
      __builtin_memcpy(place + WEFT_LANES * k, &ranks[k], sizeof(weft_lanes)); \
    } \
    for (int32_t j = 0; j < n; j++) { \
      int32_t at = place[j]; \
      while (!shared && sorted[at] >= 0) at++; \
      sorted[at] = carried[j]; \
    } \
  }
WEFT_RANK(1)
WEFT_RANK(2)
WEFT_RANK(3)
WEFT_RANK(4)
WEFT_RANK(6)
WEFT_RANK(8)

/* Sort the numbers that n <= 64 keys carry by their keys. If ``shared`` is true, equal keys share the place of the
   first of them, and the places after it stay as they are. Else the order is stable. */
static inline void weft_rank(int32_t *key, int32_t *carried, int32_t *sorted, int32_t n, bool shared) {
  const int32_t padded = n <= 32 ? (n + 7) / 8 * 8 : (n + 15) / 16 * 16;
  for (int32_t i = n; i < padded; i++) key[i] = INT32_MAX;
  if (n <= 8) weft_rank_1(key, carried, sorted, n, shared);
  else if (n <= 16) weft_rank_2(key, carried, sorted, n, shared);
  else if (n <= 24) weft_rank_3(key, carried, sorted, n, shared);
  else if (n <= 32) weft_rank_4(key, carried, sorted, n, shared);
  else if (n <= 48) weft_rank_6(key, carried, sorted, n, shared);
  else weft_rank_8(key, carried, sorted, n, shared);
}

//: weft_sort_lanes; needs weft_rank
#ifdef __AVX512F__
#include <immintrin.h>
/* Put the smaller one of lanes i and i ^ other of each vector into the lane whose number has no bit ``high``. */
static inline __attribute__((always_inline)) void weft_exchange(__m512i *v, int width, int other, int high) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i from = _mm512_xor_si512(lane, _mm512_set1_epi32(other));
  const __mmask16 upper = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(high));
  for (int k = 0; k < width; k++) {
    const __m512i moved = _mm512_permutexvar_epi32(from, v[k]);
    v[k] = _mm512_mask_max_epi32(_mm512_min_epi32(v[k], moved), upper, v[k], moved);
  }
}

/* Put the smaller numbers of two vectors into the first one. */
static inline __attribute__((always_inline)) void weft_part(__m512i *a, __m512i *b) {
  const __m512i less = _mm512_min_epi32(*a, *b);
  *b = _mm512_max_epi32(*a, *b);
  *a = less;
}

/* Sort n <= 16 * width numbers by a bitonic network: sorted runs become twice as long, until there is one. */
static inline __attribute__((always_inline)) void weft_network(int32_t *list, int32_t n, const int width) {
  const __m512i last = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const uint64_t held = UINT64_MAX >> (64 - n); /* a bit for each lane that holds one */
  __m512i v[4];
  for (int k = 0; k < width; k++) { /* lanes that are left over hold the largest number */
    v[k] = _mm512_mask_loadu_epi32(_mm512_set1_epi32(INT32_MAX), (__mmask16)(held >> 16 * k), list + 16 * k);
  }
  for (int run = 2; run <= 16; run *= 2) {
    weft_exchange(v, width, run - 1, run / 2);
    for (int by = run / 4; by > 0; by /= 2) weft_exchange(v, width, by, by);
  }
  for (int run = 2; run <= width; run *= 2) { /* runs of several vectors */
    for (int k = 0; k < width; k++) {
      if (k % run >= run / 2) continue;
      __m512i *mirrored = v + k / run * run + (run - 1 - k % run);
      *mirrored = _mm512_permutexvar_epi32(last, *mirrored);
      weft_part(v + k, mirrored);
    }
    for (int by = run / 4; by > 0; by /= 2) {
      for (int k = 0; k < width; k++) {
        if (k % (2 * by) < by) weft_part(v + k, v + k + by);
      }
    }
    for (int by = 8; by > 0; by /= 2) weft_exchange(v, width, by, by);
  }
  for (int k = 0; k < width; k++) _mm512_mask_storeu_epi32(list + 16 * k, (__mmask16)(held >> 16 * k), v[k]);
}
#endif

/* Sort a list of n <= 64 elements, ascending. */
static inline void weft_sort_lanes(int32_t *list, int32_t n) {
#ifdef __AVX512F__
  if (n <= 16) weft_network(list, n, 1);
  else if (n <= 32) weft_network(list, n, 2);
  else weft_network(list, n, 4);
#else
  int32_t key[64], sorted[64];
  bool equal = false;
  for (int32_t i = 0; i < n; i++) {
    key[i] = list[i];
    sorted[i] = INT32_MIN;
  }
  weft_rank(key, key, sorted, n, true);
  for (int32_t i = 0; i < n; i++) {
    equal |= sorted[i] == INT32_MIN;
    list[i] = sorted[i];
  }
  if (!equal) return;
  for (int32_t i = 1; i < n; i++) { /* a place without a key belongs to one that is equal to the one before */
    if (list[i] < list[i - 1]) list[i] = list[i - 1];
  }
#endif
}

//: weft_sort_short_int32; needs weft_sort_lanes
/* Sort a list of n <= 64 elements, ascending. */
static inline void weft_sort_short_int32(int32_t *list, int64_t n) { weft_sort_lanes(list, (int32_t)n); }

//: weft_sort_short_int64; needs weft_sort_lanes
/* Sort a list of n <= 64 elements, ascending. */
static inline void weft_sort_short_int64(int64_t *list, int64_t n) {
  int32_t key[64];
  int64_t low = list[0], high = list[0];
  for (int64_t i = 1; i < n; i++) {
    low = list[i] < low ? list[i] : low;
    high = list[i] > high ? list[i] : high;
  }
  if ((uint64_t)high - (uint64_t)low > UINT32_MAX) {
    for (int64_t i = 1; i < n; i++) {
      const int64_t moved = list[i];
      int64_t j = i;
      for (; j > 0 && list[j - 1] > moved; j--) list[j] = list[j - 1];
      list[j] = moved;
    }
    return;
  }
  for (int64_t i = 0; i < n; i++) key[i] = (int32_t)(list[i] - low + INT32_MIN);
  weft_sort_lanes(key, (int32_t)n);
  for (int64_t i = 0; i < n; i++) list[i] = low + (key[i] - (int64_t)INT32_MIN);
}

//: weft_sort_tiny_TYPE for int32, int64
/* Sort a list of n <= 4 elements by a sorting network. */
static inline void weft_sort_tiny_TYPE(TYPE_t *list, int64_t n) {
#define WEFT_EXCHANGE(a, b) { \
    const TYPE_t x = list[a], y = list[b]; \
    list[a] = x < y ? x : y; \
    list[b] = x < y ? y : x; \
  }
  if (n < 2) return;
  if (n == 2) {
    WEFT_EXCHANGE(0, 1)
  } else if (n == 3) {
    WEFT_EXCHANGE(0, 2)
    WEFT_EXCHANGE(0, 1)
    WEFT_EXCHANGE(1, 2)
  } else {
    WEFT_EXCHANGE(0, 2)
    WEFT_EXCHANGE(1, 3)
    WEFT_EXCHANGE(0, 1)
    WEFT_EXCHANGE(2, 3)
    WEFT_EXCHANGE(1, 2)
  }
#undef WEFT_EXCHANGE
}

//: weft_sort_long_TYPE for int32, int64; needs weft_strips
/* Sort a long list, ascending. scratch has room for n elements. */
static void weft_sort_long_TYPE(TYPE_t *list, int64_t n, TYPE_t *scratch, int64_t *watch) {
  TYPE_t low = list[0], high = list[0];
  uTYPE_t differ = 0;
  bool ordered = true;
  WEFT_STRIPS(i, 1, n, watch) {
    low = list[i] < low ? list[i] : low;
    high = list[i] > high ? list[i] : high;
    differ |= (uTYPE_t)list[i] ^ (uTYPE_t)list[0];
    ordered &= list[i - 1] <= list[i];
  }
  if (ordered || weft_stopped(watch)) return;
  const uTYPE_t range = (uTYPE_t)high - (uTYPE_t)low;
  if (range / 16 < (uTYPE_t)n) { /* a dense list without repeated elements is sorted by a bitmap */
    uint64_t *bitmap = (uint64_t *)(((uintptr_t)scratch + 7) & ~(uintptr_t)7);
    const int64_t words = (int64_t)(range / 64) + 1;
    if (words * 8 + 8 <= n * (int64_t)sizeof(TYPE_t)) {
      uint64_t repeated = 0;
      for (int64_t w = 0; w < words; w++) bitmap[w] = 0;
      WEFT_STRIPS(i, 0, n, watch) {
        const uTYPE_t at = (uTYPE_t)list[i] - (uTYPE_t)low;
        const uint64_t word = bitmap[at / 64], bit = UINT64_C(1) << at % 64;
        repeated |= word & bit;
        bitmap[at / 64] = word | bit;
      }
      if (repeated == 0) {
        TYPE_t *out = list;
        WEFT_STRIPS(w, 0, words, watch) {
          for (uint64_t word = bitmap[w]; word != 0; word &= word - 1) {
            *out++ = (TYPE_t)((uTYPE_t)low + (uTYPE_t)(w * 64 + __builtin_ctzll(word)));
          }
        }
        return;
      }
    }
  }
  /* Radix sort over the bits in which elements differ. The flipped sign bit puts negative elements first. */
  const uTYPE_t flip = (uTYPE_t)1 << (sizeof(TYPE_t) * 8 - 1);
  const int lowest = __builtin_ctzll(differ), bits = 64 - __builtin_clzll(differ) - lowest;
  const int most = n < 1024 ? 8 : n < 8192 ? 10 : 11;
  const int passes = (bits + most - 1) / most, width = (bits + passes - 1) / passes;
  const int64_t buckets = INT64_C(1) << width;
  TYPE_t *from = list, *to = scratch;
  uint32_t start[2048];
  for (int pass = 0; pass < passes; pass++) {
    const int shift = lowest + pass * width;
    for (int64_t b = 0; b < buckets; b++) start[b] = 0;
    WEFT_STRIPS(i, 0, n, watch) start[(((uTYPE_t)from[i] ^ flip) >> shift) & (uTYPE_t)(buckets - 1)]++;
    uint32_t sum = 0;
    for (int64_t b = 0; b < buckets; b++) {
      const uint32_t count = start[b];
      start[b] = sum;
      sum += count;
    }
    WEFT_STRIPS(i, 0, n, watch) {
      to[start[(((uTYPE_t)from[i] ^ flip) >> shift) & (uTYPE_t)(buckets - 1)]++] = from[i];
    }
    TYPE_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != list) __builtin_memcpy(list, from, (size_t)n * sizeof(TYPE_t));
}

//: weft_sort_keys; needs weft_strips
/* Make one stable pass of a radix sort, over the bits [shift, shift + width) of the keys. */
static void weft_radix_pass(const uint64_t *from, uint64_t *to, int64_t n, int shift, int width, int64_t *watch) {
  const uint64_t mask = (UINT64_C(1) << width) - 1;
  int64_t start[2048] = {0}, sum = 0;
  WEFT_STRIPS(i, 0, n, watch) start[from[i] >> shift & mask]++;
  for (uint64_t b = 0; b <= mask; b++) {
    const int64_t count = start[b];
    start[b] = sum;
    sum += count;
  }
  WEFT_STRIPS(i, 0, n, watch) to[start[from[i] >> shift & mask]++] = from[i];
}

/* Sort distinct keys whose lowest bits are sorted already. Returns the array in which the sorted keys are. */
static uint64_t *weft_sort_keys(uint64_t *keys, uint64_t *spare, int64_t n, int lowest, int64_t *watch) {
  uint64_t differ = 0;
  WEFT_STRIPS(i, 1, n, watch) differ |= keys[i] ^ keys[0];
  differ = lowest < 64 ? differ >> lowest << lowest : 0;
  while (differ != 0 && !weft_stopped(watch)) {
    const int shift = __builtin_ctzll(differ), bits = 64 - __builtin_clzll(differ) - shift;
    const int most = n < 65536 ? 8 : 11, passes = (bits + most - 1) / most, width = (bits + passes - 1) / passes;
    weft_radix_pass(keys, spare, n, shift, width, watch);
    uint64_t *swap = keys;
    keys = spare;
    spare = swap;
    differ = shift + width < 64 ? differ >> (shift + width) << (shift + width) : 0;
  }
  return keys;
}

//: weft_order_int32; needs weft_rank, weft_sort_keys; shared
/* Make the permutation that sorts a list, ascending and stably. keys and spare have room for n numbers. */
static inline void weft_order_int32(const int32_t *list, int64_t n, int32_t *order, int64_t *keys, int64_t *spare,
                                    int64_t *watch) {
  int64_t falls = 0;
  for (int64_t i = 1; i < n; i++) falls += list[i - 1] > list[i];
  if (falls == 0 || falls == n - 1) { /* ascending or descending already */
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)(falls == 0 ? i : n - 1 - i);
    return;
  }
  if (n <= 64) {
    int32_t key[64], place[64];
    for (int32_t i = 0; i < n; i++) {
      key[i] = list[i];
      place[i] = i;
      order[i] = -1;
    }
    weft_rank(key, place, order, (int32_t)n, false);
    return;
  }
  WEFT_STRIPS(i, 0, n, watch) keys[i] = (int64_t)list[i] << 32 | i;
  const uint64_t *found = weft_sort_keys((uint64_t *)keys, (uint64_t *)spare, n, 32, watch);
  WEFT_STRIPS(i, 0, n, watch) order[i] = (int32_t)found[i];
}

//: weft_sort_many_TYPE for int32, int64; needs weft_sort_short_TYPE, weft_sort_long_TYPE; shared
/* Sort a list of more than 4 elements, ascending. scratch has room for n elements. */
static void weft_sort_many_TYPE(TYPE_t *list, int64_t n, TYPE_t *scratch, int64_t *watch) {
  if (n <= 64) weft_sort_short_TYPE(list, n);
  else weft_sort_long_TYPE(list, n, scratch, watch);
}

//: weft_sort_TYPE for int32, int64; needs weft_sort_tiny_TYPE, weft_sort_many_TYPE
/* Sort a list, ascending. scratch has room for n elements. Once the kernel is told to stop, the list is
   not valid. */
static inline void weft_sort_TYPE(TYPE_t *list, int64_t n, TYPE_t *scratch, int64_t *watch) {
  if (n <= 4) weft_sort_tiny_TYPE(list, n);
  else weft_sort_many_TYPE(list, n, scratch, watch);
}

//: weft_sort_tuples; needs weft_alloc, weft_free, weft_sort_keys
static inline int weft_bits(uint64_t most) {
  return most == 0 ? 0 : 64 - __builtin_clzll(most);
}

/* Add bits [low, low + bits) of the elements of a list to the keys, at bit ``at``. If places are given, key i gets
   those of element places[i]. */
#define WEFT_JOIN(name, type) \
  static void name(uint64_t *keys, const type *list, const int64_t *places, int64_t n, int low, int bits, int at, \
                   int64_t *watch) { \
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX; \
    if (places == NULL) { \
      WEFT_STRIPS(i, 0, n, watch) keys[i] |= ((uint64_t)list[i] >> low & mask) << at; \
    } else { \
      WEFT_STRIPS(i, 0, n, watch) keys[i] |= ((uint64_t)list[places[i]] >> low & mask) << at; \
    } \
  }
WEFT_JOIN(weft_join_int32, int32_t)
WEFT_JOIN(weft_join_int64, int64_t)

static void weft_join(uint64_t *keys, const void *list, int64_t width, int64_t first, const int64_t *places, int64_t n,
                      int low, int bits, int at, int64_t *watch) {
  if (width == 4) weft_join_int32(keys, (const int32_t *)list + first, places, n, low, bits, at, watch);
  else weft_join_int64(keys, (const int64_t *)list + first, places, n, low, bits, at, watch);
}

/* Store the elements of a list in the order of the places. If keys are given, they hold the elements at bit ``at``. */
#define WEFT_TAKE(name, type) \
  static void name(type *sorted, const type *list, const int64_t *places, int64_t n, const uint64_t *keys, int at, \
                   int bits, int64_t *watch) { \
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX; \
    if (keys == NULL) { \
      WEFT_STRIPS(i, 0, n, watch) sorted[i] = list[places[i]]; \
    } else { \
      WEFT_STRIPS(i, 0, n, watch) sorted[i] = bits == 0 ? 0 : (type)(keys[i] >> at & mask); \
    } \
  }
WEFT_TAKE(weft_take_int32, int32_t)
WEFT_TAKE(weft_take_int64, int64_t)

static inline int64_t weft_coordinate(const void *list, int64_t width, int64_t at) {
  return width == 4 ? ((const int32_t *)list)[at] : ((const int64_t *)list)[at];
}

/* Return whether n tuples are in order; the parameters are those of weft_sort_tuples. */
static bool weft_in_order(int64_t n, int64_t order, const void *const *lists, const int64_t *widths,
                          const int64_t *dimensions, int64_t *watch) {
  int bits = 0;
  for (int64_t k = 0; k < order; k++) bits += weft_bits((uint64_t)dimensions[k] - 1);
  if (bits <= 64) { /* whole tuples fit into keys, which are compared some hundreds at a time */
    enum { BLOCK = 512 };
    uint64_t keys[BLOCK + 1] = {0}, disorder = 0;
    for (int64_t i = 0; i < n && disorder == 0; i += BLOCK) {
      if (i % 65536 == 0 && weft_poll(watch)) return false;
      const int64_t count = n - i < BLOCK ? n - i : BLOCK;
      int at = 0;
      for (int64_t b = 1; b <= count; b++) keys[b] = 0;
      for (int64_t k = order - 1; k >= 0; k--) {
        const int own = weft_bits((uint64_t)dimensions[k] - 1);
        if (own > 0) weft_join(keys + 1, lists[k], widths[k], i, NULL, count, 0, own, at, watch);
        at += own;
      }
      for (int64_t b = 0; b < count; b++) disorder |= keys[b] > keys[b + 1];
      keys[0] = keys[count];
    }
    return disorder == 0;
  }
  WEFT_STRIPS(i, 1, n, watch) {
    for (int64_t k = 0; k < order; k++) {
      const int64_t before = weft_coordinate(lists[k], widths[k], i - 1);
      const int64_t after = weft_coordinate(lists[k], widths[k], i);
      if (before > after) return false;
      if (before < after) break;
    }
  }
  return !weft_stopped(watch);
}

/* Sort n tuples by their coordinates, lexicographically and stably. Coordinate k of tuple i is element i of list k, an
   int32 or int64 array (widths[k] is 4 or 8), and lies in [0, dimensions[k]). Returns
     0 with the permutation that sorts the tuples, and with the sorted lists for which ``sorted`` has an array;
    -1 if the tuples are in order already, and nothing was written;
     1 if there is no memory;
     4 if the kernel was told to stop, and the results are not valid. */
static int64_t weft_sort_tuples(int64_t n, int64_t order, const void *const *lists, const int64_t *widths,
                                const int64_t *dimensions, int64_t *permutation, void *const *sorted) {
  int64_t watch[2] = {0};
  if (weft_in_order(n, order, lists, widths, dimensions, watch)) return -1;
  uint64_t *keys = (uint64_t *)weft_alloc(n, sizeof(uint64_t), false);
  uint64_t *spare = (uint64_t *)weft_alloc(n, sizeof(uint64_t), false);
  int64_t *places = NULL; /* the permutation that sorts the coordinates of earlier keys */
  if (keys == NULL || spare == NULL) {
    weft_free(keys);
    weft_free(spare);
    return 1;
  }
  /* The lowest bits of a key hold the place of its tuple. Above them are as many coordinates as fit, the last ones
     lowest; a coordinate that does not fit is cut. The coordinates that are left go into another key, which is sorted
     after this one, from the places where this sort has put the tuples. */
  const int here = weft_bits((uint64_t)n - 1);
  const uint64_t mask = (UINT64_C(1) << here) - 1;
  int64_t k = order - 1;
  int low = 0; /* the bits of coordinate k that are sorted already */
  while (k >= 0 && !weft_stopped(watch)) {
    const bool first = places == NULL;
    int at = here, same = here;
    WEFT_STRIPS(i, 0, n, watch) keys[i] = (uint64_t)i;
    while (k >= 0 && at < 64) {
      const int bits = weft_bits((uint64_t)dimensions[k] - 1) - low, taken = bits < 64 - at ? bits : 64 - at;
      if (taken > 0) {
        weft_join(keys, lists[k], widths[k], 0, places, n, low, taken, at, watch);
        if (same == at) { /* coordinates that are in order already need no pass, since sorts are stable */
          const uint64_t below = at + taken < 64 ? (UINT64_C(1) << (at + taken)) - 1 : UINT64_MAX;
          int64_t i = 1;
          while (i < n && (keys[i - 1] & below) < (keys[i] & below)) i++;
          if (i >= n) same = at + taken;
        }
        at += taken;
      }
      if (taken < bits) {
        low += taken;
        break;
      }
      low = 0;
      k--;
    }
    uint64_t *found = weft_sort_keys(keys, spare, n, same, watch);
    if (found != keys) {
      spare = keys;
      keys = found;
    }
    WEFT_STRIPS(i, 0, n, watch) permutation[i] = first ? (int64_t)(keys[i] & mask) : places[keys[i] & mask];
    if (k < 0) {
      int bit = here;
      for (int64_t j = order - 1; j >= 0; j--) {
        const int bits = weft_bits((uint64_t)dimensions[j] - 1);
        const uint64_t *held = first ? keys : NULL;
        if (sorted[j] != NULL) {
          if (widths[j] == 4) {
            weft_take_int32((int32_t *)sorted[j], (const int32_t *)lists[j], permutation, n, held, bit, bits, watch);
          } else {
            weft_take_int64((int64_t *)sorted[j], (const int64_t *)lists[j], permutation, n, held, bit, bits, watch);
          }
        }
        bit += bits;
      }
      break;
    }
    if (first) places = (int64_t *)weft_alloc(n, sizeof(int64_t), false);
    if (places == NULL) {
      weft_free(keys);
      weft_free(spare);
      return 1;
    }
    WEFT_STRIPS(i, 0, n, watch) places[i] = permutation[i];
  }
  weft_free(keys);
  weft_free(spare);
  weft_free(places);
  return weft_stopped(watch) ? 4 : 0;
}
