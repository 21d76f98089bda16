"""Sorting of coordinate lists: of one row's coordinates, and of n tuples by a permutation.

A short list is ranked: one vector comparison per element counts how many others are less, which is its place; there
is no branch to mispredict. A list that is dense in its range goes through a bitmap, any other one through a radix
sort over those bits in which its elements differ.
"""

from __future__ import annotations

from .snippet import Snippet

__all__ = ["SNIPPETS"]

_RANK = """\
typedef int32_t weft_lanes __attribute__((vector_size(32), aligned(4)));

/* Sort n <= 8 * width elements, given as key - low, by counting for each how many are less. */
#define WEFT_RANK(width) \\
  static inline void weft_rank_##width(const int32_t *key, int32_t *sorted, int32_t n) { \\
    weft_lanes keys[width], ranks[width]; \\
    int32_t place[8 * width]; \\
    for (int k = 0; k < width; k++) { \\
      __builtin_memcpy(&keys[k], key + 8 * k, sizeof(weft_lanes)); \\
      ranks[k] = (weft_lanes){0}; \\
    } \\
    for (int32_t j = 0; j < n; j++) { \\
      const int32_t pivot = key[j]; \\
      const weft_lanes pivots = {pivot, pivot, pivot, pivot, pivot, pivot, pivot, pivot}; \\
      for (int k = 0; k < width; k++) ranks[k] += pivots < keys[k]; \\
    } \\
    for (int k = 0; k < width; k++) { \\
      ranks[k] = -ranks[k]; \\
      __builtin_memcpy(place + 8 * k, &ranks[k], sizeof(weft_lanes)); \\
    } \\
    for (int32_t j = 0; j < n; j++) sorted[place[j]] = key[j]; \\
  }
WEFT_RANK(1)
WEFT_RANK(2)
WEFT_RANK(3)
WEFT_RANK(4)
WEFT_RANK(6)
WEFT_RANK(8)

/* Sort n <= 64 elements, key padded to 64; sorted must hold what is less than every key. */
static inline void weft_rank(const int32_t *key, int32_t *sorted, int32_t n) {
  if (n <= 8) weft_rank_1(key, sorted, n);
  else if (n <= 16) weft_rank_2(key, sorted, n);
  else if (n <= 24) weft_rank_3(key, sorted, n);
  else if (n <= 32) weft_rank_4(key, sorted, n);
  else if (n <= 48) weft_rank_6(key, sorted, n);
  else weft_rank_8(key, sorted, n);
}
"""

_SHORT = """\
/* Sort n <= 64 elements. */
static inline void weft_sort_short_@(@_t *list, int64_t n) {
  int32_t key[64], sorted[64];
  @_t low = list[0], high = list[0];
  for (int64_t i = 1; i < n; i++) {
    low = list[i] < low ? list[i] : low;
    high = list[i] > high ? list[i] : high;
  }
  if ((u@_t)high - (u@_t)low >= INT32_MAX) {
    for (int64_t i = 1; i < n; i++) {
      const @_t moved = list[i];
      int64_t j = i;
      for (; j > 0 && list[j - 1] > moved; j--) list[j] = list[j - 1];
      list[j] = moved;
    }
    return;
  }
  const int64_t padded = n <= 32 ? (n + 7) / 8 * 8 : (n + 15) / 16 * 16;
  for (int64_t i = 0; i < n; i++) key[i] = (int32_t)((u@_t)list[i] - (u@_t)low);
  for (int64_t i = n; i < padded; i++) key[i] = INT32_MAX;
  for (int64_t i = 0; i < n; i++) sorted[i] = -1;
  weft_rank(key, sorted, (int32_t)n);
  int32_t last = 0; /* equal keys share a place: the places after it, left at -1, repeat them */
  for (int64_t i = 0; i < n; i++) {
    last = sorted[i] > last ? sorted[i] : last;
    list[i] = (@_t)((u@_t)low + (u@_t)last);
  }
}
"""

_TINY = """\
/* Sort n <= 4 elements by a network of exchanges. */
static inline void weft_sort_tiny_@(@_t *list, int64_t n) {
#define WEFT_EXCHANGE(a, b) { \\
    const @_t x = list[a], y = list[b]; \\
    list[a] = x < y ? x : y; \\
    list[b] = x < y ? y : x; \\
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
"""

_LONG = """\
/* Sort more than a few elements; scratch holds n. */
static void weft_sort_long_@(@_t *list, int64_t n, @_t *scratch) {
  @_t low = list[0], high = list[0];
  u@_t differ = 0;
  bool ordered = true;
  for (int64_t i = 1; i < n; i++) {
    low = list[i] < low ? list[i] : low;
    high = list[i] > high ? list[i] : high;
    differ |= (u@_t)list[i] ^ (u@_t)list[0];
    ordered &= list[i - 1] <= list[i];
  }
  if (ordered) return;
  const u@_t range = (u@_t)high - (u@_t)low;
  if (range / 64 < (u@_t)n / (64 / sizeof(@_t))) { /* dense: through a bitmap, when no element repeats */
    uint64_t *bitmap = (uint64_t *)(((uintptr_t)scratch + 7) & ~(uintptr_t)7);
    const int64_t words = (int64_t)(range / 64) + 1;
    if (words * 8 + 8 <= n * (int64_t)sizeof(@_t)) {
      int64_t distinct = 0;
      for (int64_t w = 0; w < words; w++) bitmap[w] = 0;
      for (int64_t i = 0; i < n; i++) {
        const u@_t at = (u@_t)list[i] - (u@_t)low;
        bitmap[at / 64] |= UINT64_C(1) << at % 64;
      }
      for (int64_t w = 0; w < words; w++) distinct += __builtin_popcountll(bitmap[w]);
      if (distinct == n) {
        @_t *out = list;
        for (int64_t w = 0; w < words; w++) {
          for (uint64_t word = bitmap[w]; word != 0; word &= word - 1) {
            *out++ = (@_t)((u@_t)low + (u@_t)(w * 64 + __builtin_ctzll(word)));
          }
        }
        return;
      }
    }
  }
  /* Radix sort over the bits that differ. Flipping the sign bit puts negative elements first. */
  const u@_t flip = (u@_t)1 << (sizeof(@_t) * 8 - 1);
  const int lowest = __builtin_ctzll(differ), bits = 64 - __builtin_clzll(differ) - lowest;
  const int most = n < 1024 ? 8 : n < 8192 ? 10 : 11;
  const int passes = (bits + most - 1) / most, width = (bits + passes - 1) / passes;
  const int64_t buckets = INT64_C(1) << width;
  @_t *from = list, *to = scratch;
  uint32_t start[2048];
  for (int pass = 0; pass < passes; pass++) {
    const int shift = lowest + pass * width;
    for (int64_t b = 0; b < buckets; b++) start[b] = 0;
    for (int64_t i = 0; i < n; i++) start[(((u@_t)from[i] ^ flip) >> shift) & (u@_t)(buckets - 1)]++;
    uint32_t sum = 0;
    for (int64_t b = 0; b < buckets; b++) {
      const uint32_t count = start[b];
      start[b] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
      to[start[(((u@_t)from[i] ^ flip) >> shift) & (u@_t)(buckets - 1)]++] = from[i];
    }
    @_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != list) __builtin_memcpy(list, from, (size_t)n * sizeof(@_t));
}
"""

_SORT = """\
/* Sort the list ascending; scratch holds n elements. */
static inline void weft_sort_@(@_t *list, int64_t n, @_t *scratch) {
  if (n <= 4) weft_sort_tiny_@(list, n);
  else if (n <= 64) weft_sort_short_@(list, n);
  else weft_sort_long_@(list, n, scratch);
}
"""

_PERMUTATION = """\
static inline int64_t weft_coordinate(const void *list, int64_t width, int64_t at) {
  return width == 4 ? ((const int32_t *)list)[at] : ((const int64_t *)list)[at];
}

/* One stable pass over the bits [shift, shift + 11) of the keys, which go along with the permutation. */
static void weft_radix_pass(const uint64_t *key, const int64_t *from, uint64_t *key_to, int64_t *to, int64_t n,
                            int shift) {
  int64_t start[2048] = {0}, sum = 0;
  for (int64_t i = 0; i < n; i++) start[key[i] >> shift & 2047]++;
  for (int b = 0; b < 2048; b++) {
    const int64_t count = start[b];
    start[b] = sum;
    sum += count;
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t place = start[key[i] >> shift & 2047]++;
    key_to[place] = key[i];
    to[place] = from[i];
  }
}

/* Sort n tuples by their coordinates, lexicographically and stably. Coordinate k of tuple i is element i of list k,
   an int32 or int64 array as widths[k] is 4 or 8, in [0, dimensions[k]). Returns 0 and the permutation that sorts
   them; or -1, leaving the permutation alone, when they are in order; or 1 when there is no memory. */
static int64_t weft_sort_permutation(int64_t n, int64_t order, const void *const *lists, const int64_t *widths,
                                     const int64_t *dimensions, int64_t *permutation) {
  bool ordered = true;
  for (int64_t i = 1; i < n && ordered; i++) {
    for (int64_t k = 0; k < order; k++) {
      const int64_t before = weft_coordinate(lists[k], widths[k], i - 1);
      const int64_t after = weft_coordinate(lists[k], widths[k], i);
      if (before != after) {
        ordered = before < after;
        break;
      }
    }
  }
  if (ordered) return -1;
  uint64_t *key = (uint64_t *)weft_alloc(n, sizeof(uint64_t), false);
  uint64_t *key_to = (uint64_t *)weft_alloc(n, sizeof(uint64_t), false);
  int64_t *to = (int64_t *)weft_alloc(n, sizeof(int64_t), false);
  if (key == NULL || key_to == NULL || to == NULL) {
    weft_free(key);
    weft_free(key_to);
    weft_free(to);
    return 1;
  }
  int64_t *from = permutation;
  for (int64_t i = 0; i < n; i++) from[i] = i;
  /* Coordinates are joined into 63-bit keys, as many as fit, from the last one on. */
  for (int64_t last = order; last > 0;) {
    int64_t first = last, size = 1, joined;
    while (first > 0 && !__builtin_mul_overflow(size, dimensions[first - 1], &joined)) {
      size = joined;
      first--;
    }
    if (first == last) first--;
    for (int64_t i = 0; i < n; i++) {
      uint64_t joint = 0;
      for (int64_t k = first; k < last; k++) {
        joint = joint * (uint64_t)dimensions[k] + (uint64_t)weft_coordinate(lists[k], widths[k], from[i]);
      }
      key[i] = joint;
    }
    uint64_t differ = 0;
    for (int64_t i = 1; i < n; i++) differ |= key[i] ^ key[0];
    for (int shift = 0; shift < 64; shift += 11) {
      if ((differ >> shift & 2047) == 0) continue;
      weft_radix_pass(key, from, key_to, to, n, shift);
      uint64_t *key_swap = key;
      key = key_to;
      key_to = key_swap;
      int64_t *swap = from;
      from = to;
      to = swap;
    }
    last = first;
  }
  if (from != permutation) {
    __builtin_memcpy(permutation, from, (size_t)n * sizeof(int64_t));
    to = from;
  }
  weft_free(key);
  weft_free(key_to);
  weft_free(to);
  return 0;
}
"""

SNIPPETS: dict[str, Snippet] = {
    "weft_rank": Snippet(_RANK),
    "weft_sort_permutation": Snippet(_PERMUTATION, ("weft_alloc", "weft_free")),
}
for _ty in ("int32", "int64"):
    SNIPPETS[f"weft_sort_short_{_ty}"] = Snippet(_SHORT.replace("@", _ty), ("weft_rank",))
    SNIPPETS[f"weft_sort_long_{_ty}"] = Snippet(_LONG.replace("@", _ty))
    SNIPPETS[f"weft_sort_tiny_{_ty}"] = Snippet(_TINY.replace("@", _ty))
    SNIPPETS[f"weft_sort_{_ty}"] = Snippet(
        _SORT.replace("@", _ty), tuple(f"weft_sort_{size}_{_ty}" for size in ("tiny", "short", "long"))
    )
