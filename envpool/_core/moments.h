/* The running mean and variance of an array; moments_loops.h has the arithmetic. */
#ifndef ENVPOOL_CORE_MOMENTS_H
#define ENVPOOL_CORE_MOMENTS_H

#include <stdint.h>

enum { EP_TILE = 64 }; /* least number of elements in a loop that the compiler vectorises */

typedef struct ep_moments {
  double *mean;   /* (size) */
  double *var;    /* (size) */
  double *center; /* (2 * (size + EP_TILE)): mean and variance of a batch; means and deviations of a tile */
  double count;   /* observations so far, plus a small number */
  int64_t size;
  int32_t single; /* 1: mean and var are float32 arrays, whose values are stored as doubles */
  int32_t pad;
} ep_moments;

#endif /* ENVPOOL_CORE_MOMENTS_H */
