/* A thread that does one job at a time for a caller, which continues meanwhile. */
#ifndef ENVPOOL_ROLLOUT_HELPER_H
#define ENVPOOL_ROLLOUT_HELPER_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "envpool/split.h"

enum { EP_NO_JOB, EP_GIVEN, EP_TAKEN };

/* All fields but the first three are protected by the lock. */
typedef struct ep_helper {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change; /* `state` or `stops` has changed */
  ep_items_fn run;
  const void *job;
  int64_t count;
  int state;             /* EP_NO_JOB, EP_GIVEN or EP_TAKEN */
  int stops;
} ep_helper;

static void *ep_helper_main(void *arg) {
  ep_helper *h = (ep_helper *)arg;
  pthread_mutex_lock(&h->lock);
  for (;;) {
    while (h->state == EP_NO_JOB && !h->stops) pthread_cond_wait(&h->change, &h->lock);
    if (h->state == EP_NO_JOB) break;
    h->state = EP_TAKEN;
    pthread_mutex_unlock(&h->lock);
    h->run(h->job, 0, h->count);
    pthread_mutex_lock(&h->lock);
    h->state = EP_NO_JOB;
    pthread_cond_broadcast(&h->change);
  }
  pthread_mutex_unlock(&h->lock);
  return NULL;
}

/* Starts the thread; returns 0, or an error number. */
static inline int ep_helper_start(ep_helper *h) {
  sigset_t all, before; /* the signals of the process belong to the threads that Python knows */
  *h = (ep_helper){0};
  int failed = pthread_mutex_init(&h->lock, NULL);
  if (!failed) failed = pthread_cond_init(&h->change, NULL);
  if (failed) return failed;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  failed = pthread_create(&h->thread, NULL, ep_helper_main, h);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* Lets the thread process items 0 to count - 1 of a job. It must have none. */
static inline void ep_helper_give(ep_helper *h, ep_items_fn run, const void *job, int64_t count) {
  pthread_mutex_lock(&h->lock);
  h->run = run, h->job = job, h->count = count, h->state = EP_GIVEN;
  pthread_cond_broadcast(&h->change);
  pthread_mutex_unlock(&h->lock);
}

/* Waits until the job is done. On a busy machine, the thread may not have begun it: the caller then does it instead. */
static inline void ep_helper_wait(ep_helper *h) {
  pthread_mutex_lock(&h->lock);
  const int is_mine = h->state == EP_GIVEN;
  if (is_mine) h->state = EP_NO_JOB;
  while (h->state == EP_TAKEN) pthread_cond_wait(&h->change, &h->lock);
  pthread_mutex_unlock(&h->lock);
  if (is_mine) h->run(h->job, 0, h->count);
}

/* Ends the thread, after its job. */
static inline void ep_helper_stop(ep_helper *h) {
  pthread_mutex_lock(&h->lock);
  h->stops = 1;
  pthread_cond_broadcast(&h->change);
  pthread_mutex_unlock(&h->lock);
  pthread_join(h->thread, NULL);
  pthread_cond_destroy(&h->change);
  pthread_mutex_destroy(&h->lock);
}

#endif
