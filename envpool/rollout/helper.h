/* A thread that does one job at a time for a caller, which continues meanwhile. */
#ifndef ENVPOOL_ROLLOUT_HELPER_H
#define ENVPOOL_ROLLOUT_HELPER_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "envpool/split.h"

/* All fields but the first three are protected by the lock. */
typedef struct ep_helper {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change; /* `has_job` or `stops` has changed */
  ep_items_fn run;
  const void *job;
  int64_t count;
  int has_job; /* 1 from ep_helper_give() until the job is done */
  int stops;
} ep_helper;

static void *ep_helper_main(void *arg) {
  ep_helper *h = (ep_helper *)arg;
  pthread_mutex_lock(&h->lock);
  for (;;) {
    while (!h->has_job && !h->stops) pthread_cond_wait(&h->change, &h->lock);
    if (!h->has_job) break;
    pthread_mutex_unlock(&h->lock);
    h->run(h->job, 0, h->count);
    pthread_mutex_lock(&h->lock);
    h->has_job = 0;
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
  h->run = run, h->job = job, h->count = count, h->has_job = 1;
  pthread_cond_broadcast(&h->change);
  pthread_mutex_unlock(&h->lock);
}

/* Waits until the thread has no job. */
static inline void ep_helper_wait(ep_helper *h) {
  pthread_mutex_lock(&h->lock);
  while (h->has_job) pthread_cond_wait(&h->change, &h->lock);
  pthread_mutex_unlock(&h->lock);
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
