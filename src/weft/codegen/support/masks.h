/* Loops in which loaded numbers decide what else is loaded, as marks of padding do. */

//: weft_rolled
/* Before a loop of few iterations that reads an element only if another one says so: GCC 12 unrolls such a loop and
   vectorizes the one around it with masks of AVX-512 for the wrong elements. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define WEFT_ROLLED _Pragma("GCC unroll 1")
#else
#define WEFT_ROLLED
#endif
