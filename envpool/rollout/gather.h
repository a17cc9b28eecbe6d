/* Gathering rows of a rollout for a minibatch, on several threads. */
#ifndef ENVPOOL_ROLLOUT_GATHER_H
#define ENVPOOL_ROLLOUT_GATHER_H

#include <stdint.h>
#include <string.h>

#include "envpool/simd.h"
#include "envpool/split.h"

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

/* Gathers rows first to last - 1. */
static inline void ep_gather_rows(const void *arg, int64_t first, int64_t last) {
  const ep_gather *job = (const ep_gather *)arg;
  for (int64_t b = first; b < last; b++)
    for (int64_t j = 0; j < job->pieces; j++) {
      const int64_t at = job->ids[b] * job->pieces + j, to = (b * job->pieces + j) * job->piece_bytes;
      const char *piece = job->source + (job->index ? job->index[at] : at) * job->piece_bytes;
      if (job->casts) ep_cast_bytes((float *)job->out + to, (const uint8_t *)piece, job->piece_bytes, job->scale);
      else memcpy((char *)job->out + to, piece, (size_t)job->piece_bytes);
    }
}

/* Gathers all rows in `threads` parts. */
static inline void ep_gather_all(const ep_gather *job, int threads) {
  ep_split(job->count, 1, threads, ep_gather_rows, job);
}

#endif
