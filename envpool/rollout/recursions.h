/* The recursions of recursions.pyx in float32 and float64: returns and advantages, from the last step to the first.
 *
 * The kernels only add, multiply, compare and select, so that all vector widths give the same bits, see simd.h. The
 * order of the operations is the same as in docs/rollout.md and in the reference in the tests. */
#ifndef ENVPOOL_ROLLOUT_RECURSIONS_H
#define ENVPOOL_ROLLOUT_RECURSIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "envpool/simd.h"
#include "envpool/split.h"

enum { EP_COLUMNS = 1024 }; /* columns that are processed together, so that what is carried stays in the first cache */

typedef enum ep_recursion { EP_GAE, EP_VTRACE, EP_LAMBDA, EP_NSTEP } ep_recursion;

/* A rollout and what is computed from it. Arrays are (steps x columns), and void is the type of the kernel. */
typedef struct ep_rollout {
  ep_recursion recursion;
  int64_t steps;             /* rows */
  int64_t columns;           /* environments */
  const void *rewards;
  const void *values;        /* of the observations before the steps */
  const void *last_values;   /* of the observations after the last steps (columns) */
  const void *final_values;  /* of the last observations of truncated episodes; NULL: the values of the next row */
  const void *ratios;        /* EP_VTRACE: probability of an action under the new policy over that under the old one */
  const uint8_t *terminated;
  const uint8_t *truncated;
  const uint8_t *mask;       /* which rows are transitions; a single row of ones (columns) if mask_stride is 0 */
  int64_t mask_stride;       /* elements from one row of the mask to the next */
  const int32_t *lengths;    /* rows of each column, at most `steps` (columns) */
  double gamma;              /* discount */
  double lambda;
  double decay;              /* EP_GAE: gamma * lambda */
  double clip_rho, clip_c, clip_pg; /* EP_VTRACE */
  int64_t horizon;           /* EP_NSTEP: rewards that are added up */
  void *out;                 /* advantages; EP_VTRACE: the targets vs; EP_LAMBDA and EP_NSTEP: the returns */
  void *out_2;               /* EP_GAE: the returns; EP_VTRACE: the advantages of the policy gradient */
  int *is_bad;               /* becomes 1 if a result is not finite */
} ep_rollout;

/* Lets gcc hold flags in vector registers. It would take them apart in integer registers otherwise, but can be told. */
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define KEEP_AS_VECTORS(a, b, c) __asm__("" : "+x"(a), "+x"(b), "+x"(c))
#else
#define KEEP_AS_VECTORS(a, b, c) (void)0
#endif

/* Without this option, operations whose result is not selected might trap, so that selections become branches. It changes
 * no result. */
#pragma GCC push_options
#pragma GCC optimize("no-trapping-math")
#define REAL float
#define INTEGER int32_t
#define NAMED(name) name##_32
#include "recursions_of.h"
#undef REAL
#undef INTEGER
#undef NAMED
#define REAL double
#define INTEGER int64_t
#define NAMED(name) name##_64
#include "recursions_of.h"
#undef REAL
#undef INTEGER
#undef NAMED
#pragma GCC pop_options

static inline void ep_recur(const ep_rollout *r, int is_double, int threads) {
  const int64_t line = 64; /* columns whose float32 results fill whole cache lines */
  ep_split(r->columns, line, threads, is_double ? ep_columns_64 : ep_columns_32, r);
}

#endif /* ENVPOOL_ROLLOUT_RECURSIONS_H */
