/* Search of a coordinate in a segment, binary if it is sorted and else linear, and a test for scattered coordinates. */

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

//: weft_scattered_TYPE for int32, int64
/* Heuristic: do the coordinates in list[begin .. end) reach elements, of some bytes each, that are scattered over more
   memory than caches hold? If so, prefetching these elements pays. The test samples the list: it holds if the samples
   span more than 1 MiB, and if most of them are far from all of the 32 coordinates before them. */
static inline bool weft_scattered_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t bytes) {
  enum { SAMPLES = 32, RECENT = 32, NEAR_BYTES = 256, CACHED_BYTES = 1 << 20 };
  if (end - begin < 1 << 16 || bytes <= 0) return false;
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

//: weft_find_TYPE for int32, int64
/* Return the first position in [begin, end) of an unsorted list that holds value, or -1. */
static inline int64_t weft_find_TYPE(const TYPE_t *list, int64_t begin, int64_t end, int64_t value) {
  for (int64_t at = begin; at < end; at++) {
    if (list[at] == value) return at;
  }
  return -1;
}
