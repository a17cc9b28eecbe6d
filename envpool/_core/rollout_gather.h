/* Gathering rows of a rollout for a minibatch, on several threads. */
#ifndef ENVPOOL_CORE_ROLLOUT_GATHER_H
#define ENVPOOL_CORE_ROLLOUT_GATHER_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "envpool/simd.h"

enum { EP_GATHER_THREADS = 32 }; /* the most threads of one call */

/* A row consists of `pieces` pieces: frames of a stack, or the row itself. */
typedef struct ep_gather {
  const char *source;
  const int32_t *index;  /* numbers of the pieces in `source` (rows, pieces); NULL: row i begins with piece i * pieces */
  const int64_t *ids;    /* rows to gather (count)                                                                     */
  int64_t count;
  int64_t pieces;
  int64_t piece_bytes;
  void *out;             /* (count, pieces, ...): as it is in `source`, or float32                                    */
  int32_t casts;         /* 1: bytes become float32, multiplied by `scale`                                            */
  float scale;
} ep_gather;

ENVPOOL_SIMD static void ep_cast_bytes(float *restrict out, const uint8_t *restrict in, int64_t n, float scale) {
  for (int64_t i = 0; i < n; i++) out[i] = (float)in[i] * scale;
}

static inline void ep_gather_rows(const ep_gather *job, int64_t first, int64_t last) {
  for (int64_t b = first; b < last; b++)
    for (int64_t j = 0; j < job->pieces; j++) {
      const int64_t at = job->ids[b] * job->pieces + j, to = (b * job->pieces + j) * job->piece_bytes;
      const char *piece = job->source + (job->index ? job->index[at] : at) * job->piece_bytes;
      if (job->casts) ep_cast_bytes((float *)job->out + to, (const uint8_t *)piece, job->piece_bytes, job->scale);
      else memcpy((char *)job->out + to, piece, (size_t)job->piece_bytes);
    }
}

typedef struct ep_gather_part {
  const ep_gather *job;
  int64_t first, last;
} ep_gather_part;

static inline void *ep_gather_part_run(void *arg) {
  const ep_gather_part *part = (const ep_gather_part *)arg;
  ep_gather_rows(part->job, part->first, part->last);
  return NULL;
}

/* Gathers all rows in `threads` parts, the first one on the calling thread. A part whose thread cannot be started is
 * gathered by the caller as well. */
static inline void ep_gather_all(const ep_gather *job, int threads) {
  ep_gather_part parts[EP_GATHER_THREADS];
  pthread_t ids[EP_GATHER_THREADS];
  int is_started[EP_GATHER_THREADS] = {0};
  sigset_t all, before;
  if (threads > EP_GATHER_THREADS) threads = EP_GATHER_THREADS;
  if (threads < 1) threads = 1;
  sigfillset(&all); /* the signals of the process belong to the threads that Python knows */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int k = 0; k < threads; k++) {
    parts[k] = (ep_gather_part){job, job->count * k / threads, job->count * (k + 1) / threads};
    if (k) is_started[k] = pthread_create(&ids[k], NULL, ep_gather_part_run, &parts[k]) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  for (int k = 0; k < threads; k++)
    if (!is_started[k]) ep_gather_part_run(&parts[k]);
  for (int k = 0; k < threads; k++)
    if (is_started[k]) pthread_join(ids[k], NULL);
}

#endif
