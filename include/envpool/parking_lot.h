/* Futexes of one process made of POSIX's mutexes and condition variables, for portable builds.
 *
 * Threads that sleep stand in queues, one per bucket of a hash table of the words' addresses. A thread looks at the word
 * under the lock of its bucket before it sleeps, and is woken under the same lock, so that no change of the word is missed.
 * All modules must use one table, which envpool._core keeps: each calls ep_use_parking_lot() when it is imported. */
#ifndef ENVPOOL_PARKING_LOT_H
#define ENVPOOL_PARKING_LOT_H

#include <Python.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define EP_BUCKETS 64 /* a power of two */

typedef struct ep_sleeper { /* on the stack of the thread that sleeps */
  struct ep_sleeper *next;
  const int32_t *word;
  int is_woken;
  pthread_cond_t change;
} ep_sleeper;

typedef struct {
  pthread_mutex_t lock; /* of everything here, and of the sleepers in the queue */
  ep_sleeper *first;    /* has slept longest */
} ep_bucket;

static ep_bucket *ep_parking_lot; /* (EP_BUCKETS) */

static inline void ep_clear_parking_lot(void) {
  for (int k = 0; k < EP_BUCKETS; k++) {
    pthread_mutex_init(&ep_parking_lot[k].lock, NULL);
    ep_parking_lot[k].first = NULL;
  }
}

/* Modules that sleep or wake call this once, when they are imported. Returns -1 with a Python exception. */
static inline int ep_use_parking_lot(void) {
  PyObject *owner = PyImport_AddModule("envpool._core"), *capsule;
  if (owner == NULL) return -1;
  if ((capsule = PyObject_GetAttrString(owner, "_parking_lot")) != NULL) {
    ep_parking_lot = (ep_bucket *)PyCapsule_GetPointer(capsule, NULL);
    Py_DECREF(capsule);
    return ep_parking_lot == NULL ? -1 : 0;
  }
  PyErr_Clear();
  ep_parking_lot = (ep_bucket *)malloc(EP_BUCKETS * sizeof *ep_parking_lot); /* never freed: threads outlive modules */
  if (ep_parking_lot == NULL) return PyErr_NoMemory(), -1;
  ep_clear_parking_lot();
  pthread_atfork(NULL, NULL, ep_clear_parking_lot); /* a thread that the child lacks may have held a lock */
  if ((capsule = PyCapsule_New(ep_parking_lot, NULL, NULL)) == NULL) return -1;
  const int failed = PyObject_SetAttrString(owner, "_parking_lot", capsule);
  Py_DECREF(capsule);
  return failed;
}

static inline ep_bucket *ep_bucket_of(const int32_t *word) {
  return &ep_parking_lot[((uint64_t)(uintptr_t)word * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

/* Waits for a change of a sleeper until a time of CLOCK_MONOTONIC, and returns 0 or ETIMEDOUT. */
static inline int ep_await_change(ep_sleeper *sleeper, ep_bucket *bucket, const struct timespec *until) {
#ifdef __APPLE__ /* its condition variables have only the other clock, but take durations */
  struct timespec now, left;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t ns = (until->tv_sec - now.tv_sec) * INT64_C(1000000000) + (until->tv_nsec - now.tv_nsec);
  if (ns <= 0) return ETIMEDOUT;
  left.tv_sec = ns / 1000000000, left.tv_nsec = ns % 1000000000;
  return pthread_cond_timedwait_relative_np(&sleeper->change, &bucket->lock, &left);
#else
  return pthread_cond_timedwait(&sleeper->change, &bucket->lock, until);
#endif
}

static inline void ep_init_change(pthread_cond_t *change) {
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
#ifndef __APPLE__
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
  pthread_cond_init(change, &clock);
  pthread_condattr_destroy(&clock);
}

/* Sleeps while *word == value, at most timeout_ns (negative: no limit). Unlike a futex, it does not notice signals:
 * threads that must notice them sleep for short times. */
static inline int ep_futex_wait(int32_t *word, int32_t value, int64_t timeout_ns) {
  ep_bucket *bucket = ep_bucket_of(word);
  ep_sleeper me = {NULL, word, 0, PTHREAD_COND_INITIALIZER}, **at;
  struct timespec until;
  int late = 0;
  clock_gettime(CLOCK_MONOTONIC, &until);
  if (timeout_ns >= 0) {
    until.tv_sec += timeout_ns / 1000000000 + (until.tv_nsec + timeout_ns % 1000000000) / 1000000000;
    until.tv_nsec = (until.tv_nsec + timeout_ns % 1000000000) % 1000000000;
  }
  pthread_mutex_lock(&bucket->lock);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
    ep_init_change(&me.change);
    for (at = &bucket->first; *at != NULL;) at = &(*at)->next;
    *at = &me;
    while (!me.is_woken && late != ETIMEDOUT)
      late = timeout_ns < 0 ? pthread_cond_wait(&me.change, &bucket->lock) : ep_await_change(&me, bucket, &until);
    if (!me.is_woken) {
      for (at = &bucket->first; *at != &me;) at = &(*at)->next;
      *at = me.next;
    }
    pthread_cond_destroy(&me.change);
    late = !me.is_woken;
  }
  pthread_mutex_unlock(&bucket->lock);
  return late ? EP_TIMEOUT : EP_WOKEN;
}

/* Wakes up to `count` sleepers, as ep_futex_wake() does, and returns how many were woken. */
static inline int ep_wake_sleepers(int32_t *word, int count) {
  ep_bucket *bucket = ep_bucket_of(word);
  int woken = 0;
  pthread_mutex_lock(&bucket->lock);
  for (ep_sleeper **at = &bucket->first; *at != NULL && woken < count;) {
    ep_sleeper *sleeper = *at;
    if (sleeper->word != word) {
      at = &sleeper->next;
      continue;
    }
    *at = sleeper->next;
    sleeper->is_woken = 1;
    pthread_cond_signal(&sleeper->change);
    woken++;
  }
  pthread_mutex_unlock(&bucket->lock);
  return woken;
}

/* Wakes at most `count` sleepers. The caller has changed *word before, or a sleeper could miss it. */
static inline void ep_futex_wake(int32_t *word, int count) { ep_wake_sleepers(word, count); }

#endif /* ENVPOOL_PARKING_LOT_H */
