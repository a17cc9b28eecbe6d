/* How a thread computes with floats: steps and resets round to nearest and keep subnormal numbers, whichever thread
 * runs them. XLA flushes subnormal numbers to zero on its threads, and so may a user on a thread that steps a pool. */
#ifndef ENVPOOL_CORE_FLOATS_H
#define ENVPOOL_CORE_FLOATS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define EP_FLOAT_BITS 0xe040u /* of MXCSR: flush results to zero, the rounding mode, take subnormal operands as zero */
#elif defined(__aarch64__)
#define EP_FLOAT_BITS 0x1c80000u /* of FPCR: flush to zero, the rounding mode, flush half precision to zero */
#else
#define EP_FLOAT_BITS 0u
#endif

static inline uint64_t ep_float_word(void) {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
#else
  return 0;
#endif
}

static inline void ep_set_float_word(uint64_t word) {
#if defined(__x86_64__)
  _mm_setcsr((unsigned)word);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
#else
  (void)word;
#endif
}

/* Lets this thread compute as environments do; returns the bits for ep_floats_leave(), which are usually 0. */
static inline uint64_t ep_floats_enter(void) {
  uint64_t word = ep_float_word(), bits = word & EP_FLOAT_BITS;
  if (bits) ep_set_float_word(word & ~(uint64_t)EP_FLOAT_BITS);
  return bits;
}

static inline void ep_floats_leave(uint64_t bits) {
  if (bits) ep_set_float_word(ep_float_word() | bits);
}

#endif
