"""Search of a coordinate in a segment: binary in a sorted one, linear in any other."""

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

SNIPPETS: dict[str, Snippet] = {}
for _ty in ("int32", "int64"):
    SNIPPETS[f"weft_lower_bound_{_ty}"] = Snippet(_LOWER_BOUND.replace("@", _ty))
    SNIPPETS[f"weft_search_{_ty}"] = Snippet(_SEARCH.replace("@", _ty), (f"weft_lower_bound_{_ty}",))
    SNIPPETS[f"weft_find_{_ty}"] = Snippet(_FIND.replace("@", _ty))
