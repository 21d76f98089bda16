"""Search of a coordinate in a segment, binary if it is sorted and else linear, and a test for scattered coordinates."""

from __future__ import annotations

from .snippet import Snippet

__all__ = ["SNIPPETS"]

_LOWER_BOUND = """\
/* The first position in [begin, end) of the ascending list whose value is not less than value; end if none. */
static inline int64_t weft_lower_bound_@(const @_t *list, int64_t begin, int64_t end, int64_t value) {
  const @_t *base = list + begin;
  int64_t n = end - begin;
  if (n <= 0) return end;
  while (n > 1) {
    const int64_t half = n / 2;
    base = base[half - 1] < value ? base + half : base;
    n -= half;
  }
  return base - list + (*base < value);
}
"""
_SEARCH = """\
/* The first position in [begin, end) of the ascending list that holds value; -1 if none. */
static inline int64_t weft_search_@(const @_t *list, int64_t begin, int64_t end, int64_t value) {
  const int64_t at = weft_lower_bound_@(list, begin, end, value);
  return at < end && list[at] == value ? at : -1;
}
"""

_FIND = """\
/* The first position in [begin, end) of the list, in any order, that holds value; -1 if none. */
static inline int64_t weft_find_@(const @_t *list, int64_t begin, int64_t end, int64_t value) {
  for (int64_t at = begin; at < end; at++) {
    if (list[at] == value) return at;
  }
  return -1;
}
"""
_SCATTERED = """\
/* Whether coordinates lead all over an array of which each has some bytes: of those looked at, not all lead to a part
   that caches hold, and most lead nowhere near where one of the few before them does. */
static inline bool weft_scattered_@(const @_t *list, int64_t begin, int64_t end, int64_t bytes) {
  enum { looks = 32, few = 32, near = 256, cached = 1 << 20 };
  if (end - begin < 1 << 16 || bytes <= 0) return false;
  const @_t *here = list + begin + few;
  const int64_t step = (end - begin - few) / looks;
  int64_t least = here[0], most = least, anew = 0;
  for (int64_t look = 0; look < looks; look++) {
    least = here[look * step] < least ? here[look * step] : least;
    most = here[look * step] > most ? here[look * step] : most;
  }
  if ((most - least) * bytes <= cached) return false;
  for (int64_t look = 0; look < looks; look++, here += step) {
    bool far = true;
    for (int64_t back = 1; back <= few; back++) {
      const int64_t apart = *here > here[-back] ? (int64_t)*here - here[-back] : (int64_t)here[-back] - *here;
      far = far && apart * bytes > near;
    }
    anew += far;
  }
  return anew > looks / 2;
}
"""

SNIPPETS: dict[str, Snippet] = {}
for _ty in ("int32", "int64"):
    SNIPPETS[f"weft_lower_bound_{_ty}"] = Snippet(_LOWER_BOUND.replace("@", _ty))
    SNIPPETS[f"weft_search_{_ty}"] = Snippet(_SEARCH.replace("@", _ty), (f"weft_lower_bound_{_ty}",))
    SNIPPETS[f"weft_scattered_{_ty}"] = Snippet(_SCATTERED.replace("@", _ty))
    SNIPPETS[f"weft_find_{_ty}"] = Snippet(_FIND.replace("@", _ty))
