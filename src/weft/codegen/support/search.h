/* Search of a coordinate in a segment, binary if it is sorted and else linear, and tests of coordinates: whether they
   are scattered, and in which order they are. */

//: weft_lower_bound_TYPE for int32, int64
/* Return the first position in [begin, end) of an ascending list whose element is not less than value, or end. */
static inline int64_t weft_lower_bound_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t value) {
  const TYPE_t *base = list + begin;
  int64_t n = end - begin;
  if (n <= 0) return end;
  while (n > 1) {
    const int64_t half = n / 2;
    base = base[half - 1] < value ? base + half : base;
    n -= half;
  }
  return base - list + (*base < value);
}

//: weft_search_TYPE for int32, int64; needs weft_lower_bound_TYPE
/* Return the first position in [begin, end) of an ascending list that holds value, or -1. */
static inline int64_t weft_search_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t value) {
  const int64_t at = weft_lower_bound_TYPE(list, begin, end, value);
  return at < end && list[at] == value ? at : -1;
}

//: weft_sampled_TYPE for int32, int64
/* Do the coordinates in list[begin .. end), more than 32, reach elements, of some bytes each, that are scattered over
   more memory than caches hold? The test samples the list: it holds if the samples span more than 1 MiB, and if most of
   them are far from all of the 32 coordinates before them. */
static inline bool weft_sampled_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t bytes) {
  enum { SAMPLES = 32, RECENT = 32, NEAR_BYTES = 256, CACHED_BYTES = 1 << 20 };
  const TYPE_t *here = list + begin + RECENT;
  const int64_t step = (end - begin - RECENT) / SAMPLES;
  int64_t low = here[0], high = low, scattered = 0;
  for (int64_t sample = 0; sample < SAMPLES; sample++) {
    low = here[sample * step] < low ? here[sample * step] : low;
    high = here[sample * step] > high ? here[sample * step] : high;
  }
  if ((high - low) * bytes <= CACHED_BYTES) return false;
  for (int64_t sample = 0; sample < SAMPLES; sample++, here += step) {
    bool far = true;
    for (int64_t back = 1; back <= RECENT; back++) {
      const int64_t apart = *here > here[-back] ? (int64_t)*here - here[-back] : (int64_t)here[-back] - *here;
      far = far && apart * bytes > NEAR_BYTES;
    }
    scattered += far;
  }
  return scattered > SAMPLES / 2;
}

//: weft_scattered_TYPE for int32, int64; needs weft_sampled_TYPE
/* Heuristic: do the coordinates in list[begin .. end) reach elements, of some bytes each, for which prefetches pay? */
static inline bool weft_scattered_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t bytes) {
  enum { FEW = 1 << 16 };
  return end - begin >= FEW && bytes > 0 && weft_sampled_TYPE(list, begin, end, bytes);
}

//: weft_scattered_rows_TYPE for int32, int64; needs weft_sampled_TYPE
/* Do the coordinates in list[begin .. end) reach rows, of some bytes each, for which prefetches pay? Rows must be long,
   and span four times the memory of elements for which these pay. A share of a thread has few of them. */
static inline bool weft_scattered_rows_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t bytes) {
  enum { FEW = 1 << 12, LONG = 128 };
  return end - begin >= FEW && bytes >= LONG && weft_sampled_TYPE(list, begin, end, bytes / 4);
}

//: weft_find_TYPE for int32, int64
/* Return the first position in [begin, end) of an unsorted list that holds value, or -1. */
static inline int64_t weft_find_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t value) {
  for (int64_t at = begin; at < end; at++) {
    if (list[at] == value) return at;
  }
  return -1;
}

//: weft_tuple_order; shared
// The masks have the width of int32 for both types, since compilers vectorise no loop over bool and wider elements.
enum { WEFT_TUPLE_BLOCK = 4096 };

/* Compare count elements from list[first] on with the one before each, where the tuples so far are not apart. */
#define WEFT_STEPS(name, type) \
  static void name(const type *restrict list, int64_t first, int64_t count, int32_t *restrict apart, int64_t *facts) { \
    const type *restrict after = list + first, *restrict before = list + first - 1; \
    int32_t falls = 0, joined = 0; \
    for (int64_t b = first == 0; b < count; b++) { \
      falls |= -(after[b] < before[b]) & ~apart[b]; \
      apart[b] |= -(before[b] < after[b]); \
      joined |= ~apart[b]; \
    } \
    facts[0] |= falls != 0; \
    facts[1] |= joined != 0; \
  }
WEFT_STEPS(weft_steps_int32, int32_t)
WEFT_STEPS(weft_steps_int64, int64_t)

/* Mark the tuples of a block that begin a segment. Returns the first segment that begins after the block. */
#define WEFT_STARTS(name, type) \
  static int64_t name(const type *bounds, int64_t segments, int64_t segment, int64_t first, int64_t count, \
                      int32_t *apart) { \
    for (; segment < segments && bounds[segment] < first + count; segment++) { \
      if (bounds[segment] >= first) apart[bounds[segment] - first] = -1; \
    } \
    return segment; \
  }
WEFT_STARTS(weft_starts_int32, int32_t)
WEFT_STARTS(weft_starts_int64, int64_t)

/* Examine the order of n tuples: coordinate k of tuple i is element i of list k, an int32 or int64 array (widths[k] is 4
   or 8). Tuples of different segments, which begin at ``bounds``, are not compared. For each k, facts[2 * k] is set to 1
   if the first k + 1 coordinates are not in lexicographic order, and else facts[2 * k + 1] to 1 if some are equal. */
static void weft_tuple_order(int64_t n, int64_t order, const void *const *lists, const int64_t *widths,
                             int64_t segments, const void *bounds, int64_t width, int64_t *facts) {
  int32_t apart[WEFT_TUPLE_BLOCK]; /* -1 where the tuple so far is larger than the one before, or begins a segment */
  int64_t segment = 0;
  for (int64_t k = 0; k < 2 * order; k++) facts[k] = 0;
  for (int64_t first = 0; first < n; first += WEFT_TUPLE_BLOCK) {
    const int64_t count = n - first < WEFT_TUPLE_BLOCK ? n - first : WEFT_TUPLE_BLOCK;
    for (int64_t b = 0; b < count; b++) apart[b] = 0;
    if (width == 4) segment = weft_starts_int32((const int32_t *)bounds, segments, segment, first, count, apart);
    else segment = weft_starts_int64((const int64_t *)bounds, segments, segment, first, count, apart);
    for (int64_t k = 0; k < order; k++) {
      if (widths[k] == 4) weft_steps_int32((const int32_t *)lists[k], first, count, apart, facts + 2 * k);
      else weft_steps_int64((const int64_t *)lists[k], first, count, apart, facts + 2 * k);
    }
  }
  for (int64_t k = 1; k < order; k++) facts[2 * k] |= facts[2 * k - 2];
}
