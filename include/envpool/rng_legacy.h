/* Random numbers that equal those of np.random.RandomState(seed) draw for draw, as in dm_control's tasks. New code
 * should use envpool/rng.h. Its rules also apply here: streams are equal for any mixture of calls, nothing is
 * allocated, and arguments are not checked.
 */
#ifndef ENVPOOL_RNG_LEGACY_H
#define ENVPOOL_RNG_LEGACY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "envpool/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EP_MT19937_WORDS = 624, EP_MT19937_SHIFT = 397 };

/* A RandomState: the Mersenne Twister and the second half of a pair of normal numbers. */
typedef struct ep_mt19937 {
  uint32_t key[EP_MT19937_WORDS]; /* the state, from which words are drawn                                         */
  int32_t position;               /* next word of `key`; EP_MT19937_WORDS: all words are used                      */
  int32_t has_normal;             /* 1: the next normal number is `normal`                                         */
  double normal;                  /* the second number of a pair; 0 if has_normal is 0                             */
} ep_mt19937;

/* --- Seeding ---------------------------------------------------------------------------------------------------- */

/* RandomState(seed) for 0 <= seed < 2**32; numpy allows no larger seed. */
static inline void ep_mt19937_seed(ep_mt19937 *r, uint32_t seed) {
  r->key[0] = seed;
  for (uint32_t i = 1; i < EP_MT19937_WORDS; i++)
    r->key[i] = UINT32_C(1812433253) * (r->key[i - 1] ^ (r->key[i - 1] >> 30)) + i;
  r->position = EP_MT19937_WORDS;
  r->has_normal = 0;
  r->normal = 0.0;
}

/* RandomState(words) for a sequence of n ints below 2**32, n >= 1. One word is not the same as a seed. */
static inline void ep_mt19937_seed_words(ep_mt19937 *r, const uint32_t *words, size_t n) {
  uint32_t *const key = r->key;
  uint32_t at = 1;
  size_t word = 0;
  ep_mt19937_seed(r, 19650218);
  const size_t rounds = EP_MT19937_WORDS; /* at least this many, and each word at least once */
  for (size_t left = n > rounds ? n : rounds; left > 0; left--) {
    const uint32_t before = key[at - 1] ^ (key[at - 1] >> 30);
    key[at] = (key[at] ^ (before * UINT32_C(1664525))) + words[word] + (uint32_t)word;
    if (++word == n) word = 0;
    if (++at == EP_MT19937_WORDS) {
      key[0] = key[EP_MT19937_WORDS - 1];
      at = 1;
    }
  }
  for (uint32_t left = EP_MT19937_WORDS - 1; left > 0; left--) {
    const uint32_t before = key[at - 1] ^ (key[at - 1] >> 30);
    key[at] = (key[at] ^ (before * UINT32_C(1566083941))) - at;
    if (++at == EP_MT19937_WORDS) {
      key[0] = key[EP_MT19937_WORDS - 1];
      at = 1;
    }
  }
  key[0] = UINT32_C(0x80000000); /* so that the state is not all zero, whatever the words are */
}

/* Returns whether every draw from a generator, which may be forged, is safe and ends. A state whose words are all zero,
 * apart from the 31 bits of the first word that the recurrence ignores, yields nothing but zeros. */
static inline int ep_mt19937_is_valid(const ep_mt19937 *r) {
  uint32_t bits = r->key[0] & UINT32_C(0x80000000);
  for (int i = 1; i < EP_MT19937_WORDS; i++) bits |= r->key[i];
  return bits != 0 && r->position >= 0 && r->position <= EP_MT19937_WORDS && (r->has_normal == 0 || r->has_normal == 1) &&
         r->normal > -1e3 && r->normal < 1e3;
}

/* --- Bits and uniform numbers ----------------------------------------------------------------------------------- */

/* The top bit of one word and the rest of the next, times the matrix of the recurrence. */
static inline uint32_t ep_mt19937_twist(uint32_t word, uint32_t next) {
  const uint32_t joined = (word & UINT32_C(0x80000000)) | (next & UINT32_C(0x7fffffff));
  return (joined >> 1) ^ ((0 - (next & 1)) & UINT32_C(0x9908b0df));
}

/* Renews all words in place. The loops are split so that no index has to be taken modulo the length. */
static inline void ep_mt19937_refill(ep_mt19937 *r) {
  enum { WRAP = EP_MT19937_WORDS - EP_MT19937_SHIFT };
  uint32_t *const key = r->key;
  for (int i = 0; i < WRAP; i++) key[i] = key[i + EP_MT19937_SHIFT] ^ ep_mt19937_twist(key[i], key[i + 1]);
  for (int i = WRAP; i < EP_MT19937_WORDS - 1; i++) key[i] = key[i - WRAP] ^ ep_mt19937_twist(key[i], key[i + 1]);
  key[EP_MT19937_WORDS - 1] = key[EP_MT19937_SHIFT - 1] ^ ep_mt19937_twist(key[EP_MT19937_WORDS - 1], key[0]);
  r->position = 0;
}

static inline uint32_t ep_legacy_next32(ep_mt19937 *r) {
  if (r->position == EP_MT19937_WORDS) ep_mt19937_refill(r);
  uint32_t bits = r->key[r->position++];
  bits ^= bits >> 11;
  bits ^= (bits << 7) & UINT32_C(0x9d2c5680);
  bits ^= (bits << 15) & UINT32_C(0xefc60000);
  return bits ^ (bits >> 18);
}

/* Two 32-bit draws, the upper half first. */
static inline uint64_t ep_legacy_next64(ep_mt19937 *r) {
  const uint64_t high = ep_legacy_next32(r);
  return high << 32 | ep_legacy_next32(r);
}

/* RandomState.random_sample(), also rand(): 27 and 26 bits of two draws make a multiple of 2**-53 in [0, 1). */
static inline double ep_legacy_random_sample(ep_mt19937 *r) {
  const int32_t high = (int32_t)(ep_legacy_next32(r) >> 5);
  const int32_t low = (int32_t)(ep_legacy_next32(r) >> 6);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* RandomState.uniform(low, high). high - low must be finite; it may be negative. */
static inline double ep_legacy_uniform(ep_mt19937 *r, double low, double high) {
  return low + (high - low) * ep_legacy_random_sample(r);
}

/* --- Integers --------------------------------------------------------------------------------------------------- */

/* An integer in [0, last] by masking and rejection. RandomState uses this function wherever it needs an integer. */
static inline uint64_t ep_legacy_interval(ep_mt19937 *r, uint64_t last) {
  if (last == 0) return 0;
  const uint64_t mask = ep_mask(last);
  uint64_t value;
  if (last <= UINT32_MAX) {
    while ((value = ep_legacy_next32(r) & mask) > last) {}
  } else {
    while ((value = ep_legacy_next64(r) & mask) > last) {}
  }
  return value;
}

/* RandomState.randint(low, high): in [low, high). low < high; low == high - 1 takes no draw. */
static inline int64_t ep_legacy_randint(ep_mt19937 *r, int64_t low, int64_t high) {
  return (int64_t)((uint64_t)low + ep_legacy_interval(r, (uint64_t)high - (uint64_t)low - 1));
}

/* --- Normal distribution ---------------------------------------------------------------------------------------- */

/* RandomState.standard_normal(), also randn(): Marsaglia's polar method. A point in the unit disc gives two numbers, of
 * which the one from the second coordinate is returned first. */
static inline double ep_legacy_standard_normal(ep_mt19937 *r) {
  if (r->has_normal) {
    const double waiting = r->normal;
    r->has_normal = 0;
    r->normal = 0.0;
    return waiting;
  }
  double x, y, square;
  do {
    x = 2.0 * ep_legacy_random_sample(r) - 1.0;
    y = 2.0 * ep_legacy_random_sample(r) - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double stretch = sqrt(-2.0 * log(square) / square);
  r->normal = stretch * x;
  r->has_normal = 1;
  return stretch * y;
}

/* RandomState.normal(loc, scale). */
static inline double ep_legacy_normal(ep_mt19937 *r, double loc, double scale) {
  return loc + scale * ep_legacy_standard_normal(r);
}

/* --- Choice and shuffling --------------------------------------------------------------------------------------- */

/* RandomState.choice(n). n >= 1. */
static inline int64_t ep_legacy_choice(ep_mt19937 *r, int64_t n) {
  return (int64_t)ep_legacy_interval(r, (uint64_t)n - 1);
}

/* RandomState.choice(n, p=p), with cdf (n) from ep_choice_cdf(). */
static inline int64_t ep_legacy_choice_p(ep_mt19937 *r, const double *cdf, int64_t n) {
  return ep_cdf_index(cdf, n, ep_legacy_random_sample(r));
}

/* RandomState.shuffle(items): n contiguous items of itemsize bytes, as for ep_shuffle(). */
static inline void ep_legacy_shuffle(ep_mt19937 *r, void *items, int64_t n, size_t itemsize) {
  char *const base = (char *)items;
  for (int64_t i = n - 1; i > 0; i--) {
    const int64_t other = (int64_t)ep_legacy_interval(r, (uint64_t)i);
    if (other != i) ep_swap(base + (size_t)i * itemsize, base + (size_t)other * itemsize, itemsize);
  }
}

/* RandomState.permutation(n) into out (n). Its first k values are RandomState.choice(n, k, replace=False), which takes
 * the draws of the whole permutation for every k. */
static inline void ep_legacy_permutation(ep_mt19937 *r, int64_t n, int64_t *out) {
  for (int64_t i = 0; i < n; i++) out[i] = i;
  ep_legacy_shuffle(r, out, n, sizeof(*out));
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_RNG_LEGACY_H */
