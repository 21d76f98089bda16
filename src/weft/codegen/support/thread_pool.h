/* Take the next iteration of a parallel loop. */
static inline int64_t weft_take(int64_t *next) { return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); }

/* Let a moment pass, in a loop that waits for another thread. */
static inline void weft_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/* A parallel loop. Each thread calls the body once, which takes iterations until none is left. */
typedef struct weft_region {
  int64_t (*body)(void *shared, int64_t *next, int64_t end); /* returns a status, 0 unless it failed */
  void *shared;                                              /* the variables that the threads share */
  int64_t next, end;                                         /* the iteration that is taken next, and the end */
  int64_t threads;                                           /* the largest number of threads */
  bool (*poll)(int64_t *watch);                              /* asks whether to stop; NULL if nobody may ask */
  int64_t *watch;
  int64_t status;                                            /* of the threads that help, combined by a bitwise or */
} weft_region;
