/* Primitives of the scheduling core that Cython lacks: C11-style atomics through compiler builtins, pause,
 * clock; and futexes, from futex.h.
 *
 * Naming: ep_<operation>_<order><bits>; orders are rlx (relaxed), acq (acquire), rel (release) and sc (sequentially
 * consistent). Wherever two sides each write one word and read the other's (publish against park), both use sc. */
#ifndef ENVPOOL_ATOMIC_H
#define ENVPOOL_ATOMIC_H

#include <stdint.h>
#include <time.h>

#include "envpool/futex.h"

static inline int32_t ep_load_rlx32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline int32_t ep_load_sc32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline void ep_store_rlx32(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void ep_store_sc32(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
static inline int32_t ep_add_sc32(int32_t *p, int32_t v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
static inline int32_t ep_swap_sc32(int32_t *p, int32_t v) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }

static inline int64_t ep_load_rlx64(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline int64_t ep_load_acq64(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline int64_t ep_load_sc64(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline void ep_store_rlx64(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void ep_store_rel64(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void ep_store_sc64(int64_t *p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
static inline int64_t ep_add_sc64(int64_t *p, int64_t v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }

/* Nonzero when *p was `expected` and is now `desired`. */
static inline int ep_cas64(int64_t *p, int64_t expected, int64_t desired) {
  return __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

static inline int64_t ep_swap_sc64(int64_t *p, int64_t v) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }

static inline void ep_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/* Monotonic time in nanoseconds. */
static inline int64_t ep_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* CPU time of the calling thread in nanoseconds. */
static inline int64_t ep_thread_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif /* ENVPOOL_ATOMIC_H */
