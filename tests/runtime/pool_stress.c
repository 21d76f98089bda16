/* A stress test of the pool of threads, which is the text before this one: ``pool_stress CASE COUNT``.

   Each case checks that every iteration of every region is taken once, by a thread with a number below the region's. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MUST(condition) \
  do { \
    if (!(condition)) fprintf(stderr, "line %d: not %s\n", __LINE__, #condition), _exit(1); \
  } while (0)

enum { MOST = 64 };

typedef struct job {
  int64_t taken[MOST], inside[MOST], threads, rest, fails, nested;
} job;

static int64_t run_job(int64_t threads, int64_t chunks, int64_t rest, int64_t fails, int64_t nested);

static int64_t body(void *shared, int64_t *next, int64_t end) {
  job *j = shared;
  const int64_t me = weft_pool_number();
  int64_t status = 0;
  MUST(0 <= me && me < j->threads);
  MUST(__atomic_fetch_add(&j->inside[me], 1, __ATOMIC_RELAXED) == 0); /* no other thread has the number */
  for (int64_t i; status == 0 && (i = weft_take(next)) < end;) {
    j->taken[i]++; /* not atomic: the one who takes an iteration is alone with it, and the caller reads it afterwards */
    if (j->rest > 0 && me != 0) usleep((useconds_t)j->rest);
    if (j->nested > 0 && me == 0) run_job(4, 8, 0, 0, j->nested - 1);
    if (i == j->fails - 1) status = 1;
  }
  __atomic_fetch_sub(&j->inside[me], 1, __ATOMIC_RELAXED);
  return status;
}

static int64_t run_job(int64_t threads, int64_t chunks, int64_t rest, int64_t fails, int64_t nested) {
  job j = {.threads = threads, .rest = rest, .fails = fails, .nested = nested};
  weft_region region = {body, &j, 0, chunks, threads, NULL, NULL, 0};
  const int64_t status = weft_pool_run(&region);
  MUST(status == (fails > 0));
  for (int64_t i = 0; i < chunks; i++) MUST(j.taken[i] == 1 || (fails > 0 && j.taken[i] == 0));
  return status;
}

static void regions(int64_t count) {
  for (int64_t k = 0; k < count; k++) run_job(1 + k % 5, k % MOST, 0, k % 7 == 6 && k % MOST > 0, 0);
}

static void *caller(void *count) {
  regions(*(int64_t *)count);
  return NULL;
}

/* Threads that come and go, more at a time than there are seats. */
static void callers(int64_t count) {
  int64_t each = 200;
  for (int64_t k = 0; k < count; k++) {
    pthread_t threads[SEATS + 4];
    const int64_t many = k % 3 == 0 ? SEATS + 4 : 3;
    for (int64_t t = 0; t < many; t++) MUST(pthread_create(threads + t, NULL, caller, &each) == 0);
    for (int64_t t = 0; t < many; t++) MUST(pthread_join(threads[t], NULL) == 0);
  }
}

/* Children of a process in which other threads are in the middle of regions. */
static void children(int64_t count) {
  int64_t each = count * 2000;
  pthread_t threads[2];
  for (int t = 0; t < 2; t++) MUST(pthread_create(threads + t, NULL, caller, &each) == 0);
  for (int64_t k = 0; k < count; k++) {
    run_job(4, 16, 10, 0, 0);
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
      alarm(60);
      regions(200);
      /* The child gets threads of its own, at the latest before the alarm. */
      do MUST(run_job(3, 3, 20000, 0, 0) == 0);
      while (__atomic_load_n(&workers, __ATOMIC_RELAXED) < 2);
      _exit(7);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) MUST(errno == EINTR);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  for (int t = 0; t < 2; t++) MUST(pthread_join(threads[t], NULL) == 0);
}

/* A caller that forks in the middle of a region, as handlers of signals may. The child waits for no worker. */
static int64_t forking(void *shared, int64_t *next, int64_t end) {
  for (int64_t i; (i = weft_take(next)) < end;) {
    if (weft_pool_number() != 0) {
      usleep(3000);
      continue;
    }
    while (__atomic_load_n(next, __ATOMIC_RELAXED) < end / 2) usleep(100); /* until workers are inside */
    if (*(pid_t *)shared == -1) *(pid_t *)shared = fork();
  }
  return 0;
}

static void handlers(int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    pid_t child = -1;
    int64_t watch[2] = {0};
    weft_region region = {forking, &child, 0, 16, 3, NULL, watch, 0};
    const int64_t status = weft_pool_run(&region);
    if (child == 0) {
      alarm(60);
      MUST(status == FORKED && watch[0] == 1); /* what is left of the loop was told to stop */
      regions(200);
      _exit(active == 0 ? 7 : 1);
    }
    MUST(status == 0 && child > 0);
    int ended = 0;
    while (waitpid(child, &ended, 0) < 0) MUST(errno == EINTR);
    MUST(WIFEXITED(ended) && WEXITSTATUS(ended) == 7);
  }
}

/* Workers that are held up in the middle of the last iteration; the caller asks whether to stop meanwhile. What it is
   told counts, though no iteration is left that would end early. */
static int64_t asked;

static bool ask(int64_t *watch) {
  MUST(weft_pool_number() == 0);
  asked++;
  __atomic_store_n(watch, asked > 1, __ATOMIC_RELAXED);
  return asked > 1;
}

static int64_t slow(void *shared, int64_t *next, int64_t end) {
  for (int64_t i; (i = weft_take(next)) < end;) {
    if (weft_pool_number() == 0) {
      while (__atomic_load_n((int64_t *)shared + 1, __ATOMIC_RELAXED) == 0) usleep(100); /* until a worker has one */
    } else {
      __atomic_store_n((int64_t *)shared + 1, 1, __ATOMIC_RELAXED);
      while (__atomic_load_n((int64_t *)shared, __ATOMIC_RELAXED) == 0) usleep(1000);
    }
  }
  return 0;
}

static void delays(int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    int64_t watch[2] = {0};
    asked = 0;
    weft_region region = {slow, watch, 0, 2, 2, ask, watch, 0};
    MUST(weft_pool_run(&region) == INTERRUPTED && asked >= 2);
    run_job(4, 12, 20000, 0, 0);
  }
}

static void nested(int64_t count) {
  for (int64_t k = 0; k < count; k++) run_job(4, 16, 0, 0, 2);
}

/* Regions that begin when all workers sleep. */
static void pauses(int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    usleep((useconds_t)(k % 5 * 100));
    run_job(1 + k % 8, 32, k % 3, 0, 0);
  }
}

int main(int argc, char **argv) {
  MUST(argc == 3);
  const struct {
    const char *name;
    void (*run)(int64_t);
  } cases[] = {{"regions", regions}, {"callers", callers}, {"children", children}, {"handlers", handlers},
               {"delays", delays},   {"nested", nested},   {"pauses", pauses}};
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
    if (strcmp(cases[k].name, argv[1]) == 0) {
      cases[k].run(atoll(argv[2]));
      /* Nobody is left behind, but for a worker that still looks at a seat. */
      while (__atomic_load_n(&active, __ATOMIC_ACQUIRE) != 0) usleep(100);
      for (seat *s = seats; s < seats + SEATS; s++) {
        while (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != 0) usleep(100);
      }
      puts("done");
      return 0;
    }
  }
  return 2;
}
