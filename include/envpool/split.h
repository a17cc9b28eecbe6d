/* Splitting a loop over threads. */
#ifndef ENVPOOL_SPLIT_H
#define ENVPOOL_SPLIT_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

enum { EP_MAX_PARTS = 64 }; /* the most threads that share one call */

/* Processes items first to last - 1 of the job. */
typedef void (*ep_items_fn)(const void *job, int64_t first, int64_t last);

typedef struct ep_part {
  ep_items_fn run;
  const void *job;
  int64_t first, last;
} ep_part;

static inline void *ep_run_part(void *arg) {
  const ep_part *part = (const ep_part *)arg;
  part->run(part->job, part->first, part->last);
  return NULL;
}

/* Runs `run` for items 0 to n - 1, in `threads` parts of about the same size, the first one on the calling thread. Parts
 * begin at multiples of `multiple`, so that two threads rarely write to the same cache line. Returns when all are done.
 * The threads live only for the call, since they are worth starting only for work that takes many times longer. Where no
 * thread can be started, the caller does the part itself. */
static inline void ep_split(int64_t n, int64_t multiple, int threads, ep_items_fn run, const void *job) {
  ep_part parts[EP_MAX_PARTS];
  pthread_t ids[EP_MAX_PARTS];
  int is_started[EP_MAX_PARTS] = {0};
  if (threads > EP_MAX_PARTS) threads = EP_MAX_PARTS;
  const int64_t units = (n + multiple - 1) / multiple;
  if (threads > units) threads = (int)units;
  if (threads <= 1) {
    run(job, 0, n);
    return;
  }
  /* The signals of the process belong to the threads that Python knows. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int k = 0; k < threads; k++) {
    const int64_t first = units * k / threads * multiple, last = units * (k + 1) / threads * multiple;
    parts[k] = (ep_part){run, job, first, last < n ? last : n};
    if (k) is_started[k] = pthread_create(&ids[k], NULL, ep_run_part, &parts[k]) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  for (int k = 0; k < threads; k++)
    if (!is_started[k]) ep_run_part(&parts[k]);
  for (int k = 0; k < threads; k++)
    if (is_started[k]) pthread_join(ids[k], NULL);
}

#endif /* ENVPOOL_SPLIT_H */
