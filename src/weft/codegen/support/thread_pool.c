/* A pool of threads, of which a process has one.

   The thread that calls a kernel opens a region, wakes one or two workers, and takes iterations until none is left.
   Workers that wake take iterations, too, and wake others. A region ends when all iterations that were taken are done,
   not when all workers have arrived: one that gets no core takes no iteration, and nobody waits for it.

   Regions have seats, which are never freed: workers may look at a seat at any time. All that decides who may enter
   and who must be waited for is in one word of the seat. The region itself lives on the stack of its caller, who waits
   until no worker is inside. No lock is held anywhere, so that nobody waits for a thread that was suspended with one. */

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
  SEATS = 16,           /* regions at the same time; callers of more run theirs alone */
  SPINS = 400,          /* looks at a word before a thread sleeps, some 10 microseconds */
  LINGER = 200000,      /* nanoseconds for which a worker that has helped waits for the next region before it sleeps */
  PATIENCE = 50000000,  /* nanoseconds between two questions whether to stop */
  INTERRUPTED = 4,      /* status of a region whose caller was told to stop while it waited */
  FORKED = 8,           /* status of a region in a child that was forked in the middle of it */

  /* The state of a seat. A place is the right of one worker to enter; its number is that of the thread in the region. */
  INSIDE = 1,           /* one worker inside */
  INSIDES = 0x3fff,
  PLACE = 0x4000,       /* one place */
  PLACES = 0xfffc000,
  WAITING = 1 << 28,    /* the caller sleeps until no worker is inside */
  OPEN = 1 << 29,       /* there may be iterations left */
  TAKEN = 1 << 30,      /* the seat has a caller */
};

typedef struct seat {
  uint32_t state;
  int32_t threads;
  weft_region *region;
  pthread_t caller;
} __attribute__((aligned(64))) seat;

static seat seats[SEATS];
static uint32_t epoch;    /* changes when there is work; workers sleep while it does not */
static uint32_t sleepers; /* workers that sleep, or are about to */
static int32_t active;    /* callers and workers inside regions */
static int32_t workers, most_workers = PLACES / PLACE;
static bool making;       /* a thread makes workers */
static uint32_t forks;    /* how often the process was forked, counted in the child */
static _Thread_local int64_t number;

#if defined(__linux__) && !defined(WEFT_NO_FUTEX)
#include <linux/futex.h>
#include <sys/syscall.h>

/* Sleep while a word has a value, for at most so many nanoseconds unless 0. May return earlier. */
static void sleep_while(uint32_t *word, uint32_t value, long most) {
  const struct timespec limit = {0, most};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, most > 0 ? &limit : NULL, NULL, 0);
}

/* Wake so many threads that sleep on a word. */
static void wake(uint32_t *word, int count) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0); }

static void renew_sleep(void) {}
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER, work_done = PTHREAD_COND_INITIALIZER;

static void sleep_while(uint32_t *word, uint32_t value, long most) {
  pthread_cond_t *changed = word == &epoch ? &work_came : &work_done;
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += most;
  limit.tv_sec += limit.tv_nsec / 1000000000;
  limit.tv_nsec %= 1000000000;
  pthread_mutex_lock(&lock);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
    if (most > 0) {
      pthread_cond_timedwait(changed, &lock, &limit);
    } else {
      pthread_cond_wait(changed, &lock);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void wake(uint32_t *word, int count) {
  pthread_mutex_lock(&lock); /* whoever has seen the old value sleeps by now */
  pthread_mutex_unlock(&lock);
  if (word != &epoch) pthread_cond_broadcast(&work_done);
  for (; word == &epoch && count > 0; count--) pthread_cond_signal(&work_came);
}

static void renew_sleep(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  work_came = work_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}
#endif

/* Wake up to count workers, if any sleep. */
static void rouse(int64_t count) {
  if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST) > 0) wake(&epoch, count < 2 ? 1 : 2);
}

static void close_seat(seat *s) { __atomic_fetch_and(&s->state, ~(uint32_t)OPEN, __ATOMIC_RELAXED); }

/* Enter the region of a seat if it has a place. Returns the number of the place, or 0. */
static int64_t enter(seat *s) {
  uint32_t state = __atomic_load_n(&s->state, __ATOMIC_RELAXED);
  do {
    if ((state & OPEN) == 0 || (state & PLACES) == 0) return 0;
    /* With as many threads at work as the region may have, another one would only take their cores. */
    if (__atomic_load_n(&active, __ATOMIC_RELAXED) >= __atomic_load_n(&s->threads, __ATOMIC_RELAXED)) return 0;
  } while (!__atomic_compare_exchange_n(&s->state, &state, state - PLACE + INSIDE, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
  return (state & PLACES) / PLACE;
}

/* Take iterations of an open region. Returns whether there was one. */
static bool help(void) {
  for (seat *s = seats; s < seats + SEATS; s++) {
    const int64_t place = enter(s);
    if (place == 0) continue;
    weft_region *region = s->region; /* stays until this worker has left */
    int64_t status = 0;
    __atomic_fetch_add(&active, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&region->next, __ATOMIC_RELAXED) < region->end) {
      if (place > 1) rouse(place - 1);
      number = place;
      status = region->body(region->shared, &region->next, region->end);
    }
    if (status != 0) __atomic_fetch_or(&region->status, status, __ATOMIC_RELAXED);
    close_seat(s); /* a body returns when no iteration is left, or when it has failed */
    __atomic_fetch_sub(&active, 1, __ATOMIC_RELAXED);
    const uint32_t state = __atomic_fetch_sub(&s->state, INSIDE, __ATOMIC_RELEASE);
    if ((state & INSIDES) == INSIDE && (state & WAITING) != 0) wake(&s->state, INT_MAX);
    return true;
  }
  return false;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Look at the epoch for a moment. Returns whether it has changed. */
static bool changes(uint32_t seen, bool linger) {
  const int64_t begin = nanoseconds();
  do {
    for (int spins = 0; spins < SPINS; spins++, weft_pause()) {
      if (__atomic_load_n(&epoch, __ATOMIC_RELAXED) != seen) return true;
    }
  } while (linger && nanoseconds() - begin < LINGER);
  return false;
}

/* Sleeping and waking takes longer than the time between two kernels often is. A worker that came in time lingers; one
   that came too late does not, since it would take the core from those for which it had waited. */
static void *work(void *unused) {
  (void)unused;
  for (bool in_time = false;;) {
    const uint32_t seen = __atomic_load_n(&epoch, __ATOMIC_SEQ_CST);
    if (help()) {
      in_time = true;
      continue;
    }
    if (changes(seen, in_time)) continue;
    in_time = false;
    __atomic_fetch_add(&sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&epoch, __ATOMIC_SEQ_CST) == seen) sleep_while(&epoch, seen, 0);
    __atomic_fetch_sub(&sleepers, 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

/* A child has the memory of its parent, and only the thread that forked. If that was in the middle of a region, since the
   handler of a signal forked, then nobody finishes what workers had begun: the region is told to stop. */
static void begin_anew(void) {
  for (seat *s = seats; s < seats + SEATS; s++) {
    if ((s->state & TAKEN) != 0 && pthread_equal(s->caller, pthread_self()) && s->region->watch != NULL) {
      __atomic_store_n(s->region->watch, 1, __ATOMIC_RELAXED);
    }
    s->state = 0;
  }
  sleepers = 0;
  active = workers = 0;
  most_workers = PLACES / PLACE;
  making = false;
  forks++;
  renew_sleep();
}

/* Make workers until there are so many. */
static void make_workers(int64_t count) {
  static bool prepared;
  if (__atomic_load_n(&workers, __ATOMIC_RELAXED) >= count || __atomic_exchange_n(&making, true, __ATOMIC_ACQUIRE)) {
    return;
  }
  if (!prepared) prepared = pthread_atfork(NULL, NULL, begin_anew) == 0;
  /* Signals are for the threads of the program; those that a fault raises go to the thread that made it. */
  sigset_t blocked, before;
  sigfillset(&blocked);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  for (size_t k = 0; k < sizeof(faults) / sizeof(*faults); k++) sigdelset(&blocked, faults[k]);
  pthread_attr_t attributes;
  if (prepared && pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int32_t there = __atomic_load_n(&workers, __ATOMIC_RELAXED);
    for (; there < count && there < most_workers; there++) {
      pthread_t worker;
      if (pthread_create(&worker, &attributes, work, NULL) != 0) most_workers = there; /* the system allows no more */
    }
    __atomic_store_n(&workers, there, __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
  }
  __atomic_store_n(&making, false, __ATOMIC_RELEASE);
}

/* Return a seat that this thread has taken, or NULL. */
static seat *take_seat(void) {
  for (seat *s = seats; s < seats + SEATS; s++) {
    uint32_t none = 0;
    if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&s->state, &none, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      return s;
    }
  }
  return NULL;
}

/* Wait until no worker is inside. Returns INTERRUPTED if the caller was told to stop meanwhile, whatever the workers still
   did, FORKED in a child that was forked since there were so many forks, and else 0. */
static int64_t wait_for(seat *s, const weft_region *region, uint32_t before) {
  int64_t status = 0;
  if (forks != before) return FORKED;
  close_seat(s);
  for (int spins = 0; spins < SPINS; spins++, weft_pause()) {
    if ((__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) & INSIDES) == 0) return 0;
  }
  for (;;) {
    const uint32_t state = __atomic_or_fetch(&s->state, WAITING, __ATOMIC_ACQUIRE);
    if ((state & INSIDES) == 0) return status;
    sleep_while(&s->state, state, PATIENCE);
    if (region->poll != NULL && region->poll(region->watch)) status = INTERRUPTED;
    if (forks != before) return FORKED;
  }
}

/* Wake workers if other regions want some, which did not enter since there were enough threads at work. */
static void make_room(void) {
  if (__atomic_sub_fetch(&active, 1, __ATOMIC_SEQ_CST) == 0) return;
  for (seat *s = seats; s < seats + SEATS; s++) {
    const uint32_t state = __atomic_load_n(&s->state, __ATOMIC_RELAXED);
    if ((state & OPEN) != 0 && (state & PLACES) != 0) {
      __atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
      rouse(1);
      return;
    }
  }
}

/* Run all iterations of a region. Returns the status of all threads, combined by a bitwise or. */
int64_t weft_pool_run(weft_region *region) {
  int64_t helpers = region->end - region->next;
  if (helpers > region->threads) helpers = region->threads;
  if (--helpers > PLACES / PLACE) helpers = PLACES / PLACE;
  seat *s = helpers > 0 ? take_seat() : NULL;
  if (s == NULL) return region->body(region->shared, &region->next, region->end);
  const uint32_t before = forks;
  make_workers(helpers);
  s->region = region;
  s->caller = pthread_self();
  __atomic_store_n(&s->threads, (int32_t)helpers + 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&active, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&s->state, TAKEN | OPEN | (uint32_t)helpers * PLACE, __ATOMIC_RELEASE);
  __atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
  rouse(helpers);
  int64_t status = region->body(region->shared, &region->next, region->end);
  status |= wait_for(s, region, before);
  if ((status & FORKED) != 0) return status;
  status |= __atomic_load_n(&region->status, __ATOMIC_RELAXED);
  __atomic_store_n(&s->state, 0, __ATOMIC_RELEASE);
  make_room();
  return status;
}

/* Return the number of the calling thread in its region, from 0. */
int64_t weft_pool_number(void) { return number; }
