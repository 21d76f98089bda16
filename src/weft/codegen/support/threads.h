/* How kernels reach the pool of threads, whose C is in thread_pool.c.

   The pool is a library of its own, since a process must have one pool for all kernels. Kernels call it through
   pointers, which the loader sets. A kernel runs all iterations itself as long as its pointers are not set. */

//: weft_thread
/* The function that knows the number of a thread. The loader sets the pointer when the process has several threads. */
int64_t (*weft_thread_number)(void);
/* Return the number of the calling thread in its parallel loop, from 0. */
static inline int64_t weft_thread(void) { return weft_thread_number == NULL ? 0 : weft_thread_number(); }

//: weft_take
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

//: weft_parallel; needs weft_take
/* The function that runs a parallel loop on several threads. The pointer is set when the kernel is loaded. */
int64_t (*weft_run_region)(weft_region *region);
/* Run a parallel loop, and return the status of all threads. */
static inline int64_t weft_parallel(int64_t (*body)(void *, int64_t *, int64_t), void *shared, int64_t begin,
                                    int64_t end, int64_t threads, bool (*poll)(int64_t *), int64_t *watch) {
  weft_region region = {body, shared, begin, end, threads, poll, watch, 0};
  if (threads < 2 || end - begin < 2 || weft_run_region == NULL) return body(shared, &region.next, end);
  return weft_run_region(&region);
}
