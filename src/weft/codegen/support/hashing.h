/* Hash tables of coordinates: open addressing, with a size that is a power of two. -1 marks an empty slot. */

//: weft_hash_slot
/* Return the slot of the hash table keys[0 .. mask] that holds key, or the empty slot where key belongs. The table must
   have an empty slot, which -1 marks. */
static inline int64_t weft_hash_slot(const int64_t *keys, int64_t mask, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
  while (keys[slot] != key && keys[slot] != -1) slot = (slot + 1) & mask;
  return slot;
}

//: weft_hash_size
/* Return the size of a hash table that n keys fill by half at most. */
static inline int64_t weft_hash_size(int64_t n) {
  int64_t size = 16;
  while (size < 2 * n) size *= 2;
  return size;
}

//: weft_hash_width
/* Return the number of slots of a hash table that n keys, perhaps none, fill by half at most. */
static inline int64_t weft_hash_width(int64_t n) {
  int64_t width = 1;
  while (width < 2 * n) width *= 2;
  return width;
}

//: weft_hash_find_TYPE for int32, int64
/* Return the position that holds coord in the hash table crd[begin .. begin + width), or -1. Empty slots hold -1. Four
   slots are read at a time: which of them holds it, or is the first empty one, is hard to predict. */
static inline int64_t weft_hash_find_TYPE(const TYPE_t *crd, int64_t begin, int64_t width, int64_t coord) {
  const int64_t mask = width - 1;
  int64_t slot = (int64_t)((uint64_t)coord * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
  for (int64_t tried = 0; tried < width; tried += 4) {
    const int64_t p1 = begin + slot, p2 = begin + ((slot + 1) & mask);
    const int64_t p3 = begin + ((slot + 2) & mask), p4 = begin + ((slot + 3) & mask);
    const int64_t held1 = crd[p1], held2 = crd[p2], held3 = crd[p3], held4 = crd[p4];
    int64_t p = -1;
    p = held4 == coord ? p4 : p;
    p = held3 == coord ? p3 : p;
    p = held2 == coord ? p2 : p;
    p = held1 == coord ? p1 : p;
    if (p >= 0 || (held1 | held2 | held3 | held4) < 0) return p;
    slot = (slot + 4) & mask;
  }
  return -1;
}

//: weft_hash_free_TYPE for int32, int64
/* Return the first empty position for key in the hash table crd[begin .. begin + width), which must have one. */
static inline int64_t weft_hash_free_TYPE(const TYPE_t *crd, int64_t begin, int64_t width, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  while (crd[begin + slot] != -1) slot = (slot + 1) & (width - 1);
  return begin + slot;
}

//: weft_hash_place_TYPE for int32, int64
/* Return the position that holds key in the hash table crd[begin .. begin + width), or the empty one where key
   belongs. */
static inline int64_t weft_hash_place_TYPE(const TYPE_t *crd, int64_t begin, int64_t width, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  while (crd[begin + slot] != key && crd[begin + slot] != -1) slot = (slot + 1) & (width - 1);
  return begin + slot;
}

//: weft_hash_find_ARITY_TYPE
// One table over the coordinates of ARITY levels. ARRAYS are the parameters crd1, crd2 and so on, COORDINATES are i1, i2
// and so on, and SAME is the condition that the slot holds these coordinates.
/* Return the position of a whole coordinate in a hash table with an array for each level, or -1. Empty slots hold -1. */
static inline int64_t weft_hash_find_ARITY_TYPE(ARRAYS, int64_t begin, int64_t width,
    int64_t key, COORDINATES) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  for (int64_t tried = 0; tried < width && crd1[begin + slot] != -1; tried++) {
    if (SAME) return begin + slot;
    slot = (slot + 1) & (width - 1);
  }
  return -1;
}

//: weft_hash_place_ARITY_TYPE
/* Return the position of a whole coordinate in a hash table, or the empty one where it belongs. Empty slots hold -1. */
static inline int64_t weft_hash_place_ARITY_TYPE(ARRAYS, int64_t begin, int64_t width,
    int64_t key, COORDINATES) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  while (crd1[begin + slot] != -1 && !(SAME)) slot = (slot + 1) & (width - 1);
  return begin + slot;
}
