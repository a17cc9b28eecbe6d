/* Random numbers that equal numpy's draw for draw: np.random.Generator(np.random.PCG64(seed)), which is also the result
 * of gymnasium.utils.seeding.np_random(seed). envpool/rng_legacy.h has np.random.RandomState.
 *
 * Not only the values are equal: each function takes as many bits from the generator as the numpy call that its comment
 * names, so calls may be mixed in any order. Consecutive calls also equal one numpy call with `size`, element by
 * element in C order, for float64, int64 and int32 (not for bool and the 8-bit and 16-bit types of Generator.integers).
 *
 * No function allocates, uses global variables or calls Python. A generator may be copied and compared as plain memory;
 * only one thread at a time may draw from it. Arguments are not checked: each comment states what must hold.
 *
 * Only the normal distribution needs a library: link libnpyrandom.a, which is in the numpy wheel (numpy/random/lib).
 * For it and after ep_pcg64_bind(), numpy's own functions draw through a bitgen_t; everything else is inlined.
 */
#ifndef ENVPOOL_RNG_H
#define ENVPOOL_RNG_H

#include <numpy/random/bitgen.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

__extension__ typedef unsigned __int128 ep_uint128;

/* numpy's PCG64. 128-bit numbers are stored as two halves, so that the struct needs an alignment of only 8. */
typedef struct ep_pcg64 {
  uint64_t state_high; /* upper half of the state                                                                  */
  uint64_t state_low;  /* lower half of the state                                                                  */
  uint64_t step_high;  /* upper half of the increment, which tells one stream from another                         */
  uint64_t step_low;   /* lower half of the increment, which is always odd                                         */
  uint32_t half;       /* upper 32 bits of a 64-bit draw whose lower 32 bits were handed out                       */
  uint32_t has_half;   /* 1: the next 32-bit draw is `half`; 64-bit draws do not use it                            */
} ep_pcg64;

/* --- Seeding ---------------------------------------------------------------------------------------------------- */

/* SeedSequence's hash. Each call advances `constant` along a fixed series, so the order of calls matters. */
static inline uint32_t ep_seed_hash(uint32_t word, uint32_t *constant, uint32_t factor) {
  word ^= *constant;
  *constant *= factor;
  word *= *constant;
  return word ^ (word >> 16);
}

static inline uint32_t ep_seed_mix(uint32_t into, uint32_t word) {
  const uint32_t mixed = UINT32_C(0xca01f9dd) * into - UINT32_C(0x4973f715) * word;
  return mixed ^ (mixed >> 16);
}

static inline void ep_pcg64_advance(ep_pcg64 *g) {
  const ep_uint128 factor = (ep_uint128)UINT64_C(0x2360ed051fc65da4) << 64 | UINT64_C(0x4385df649fccf645);
  const ep_uint128 step = (ep_uint128)g->step_high << 64 | g->step_low;
  const ep_uint128 state = ((ep_uint128)g->state_high << 64 | g->state_low) * factor + step;
  g->state_high = (uint64_t)(state >> 64);
  g->state_low = (uint64_t)state;
}

/* SeedSequence(entropy).generate_state(count) into out (count). The words (n, n >= 1) are a list of ints below 2**32, or
 * the words of one int of any size, lowest first, without leading zeros of the int. Among the first 4 words,
 * zeros at the end change nothing. */
static inline void ep_generate_state(const uint32_t *words, size_t n, uint32_t *out, size_t count) {
  const uint32_t absorb = UINT32_C(0x931e8875), emit = UINT32_C(0x58f38ded);
  uint32_t pool[4], constant = UINT32_C(0x43b0d7e5);
  for (size_t i = 0; i < 4; i++) pool[i] = ep_seed_hash(i < n ? words[i] : 0, &constant, absorb);
  for (size_t from = 0; from < 4; from++)
    for (size_t to = 0; to < 4; to++)
      if (from != to) pool[to] = ep_seed_mix(pool[to], ep_seed_hash(pool[from], &constant, absorb));
  for (size_t i = 4; i < n; i++)
    for (size_t to = 0; to < 4; to++) pool[to] = ep_seed_mix(pool[to], ep_seed_hash(words[i], &constant, absorb));

  constant = UINT32_C(0x8b51f9dd);
  for (size_t i = 0; i < count; i++) out[i] = ep_seed_hash(pool[i % 4], &constant, emit);
}

/* PCG64(SeedSequence(entropy)), with words (n) as for ep_generate_state(). */
static inline void ep_pcg64_seed_words(ep_pcg64 *g, const uint32_t *words, size_t n) {
  uint32_t out[8];
  ep_generate_state(words, n, out, 8);
  const uint64_t start_high = (uint64_t)out[1] << 32 | out[0], start_low = (uint64_t)out[3] << 32 | out[2];
  const uint64_t stream_high = (uint64_t)out[5] << 32 | out[4], stream_low = (uint64_t)out[7] << 32 | out[6];

  g->step_high = stream_high << 1 | stream_low >> 63;
  g->step_low = stream_low << 1 | 1;
  const ep_uint128 state = ((ep_uint128)start_high << 64 | start_low) + ((ep_uint128)g->step_high << 64 | g->step_low);
  g->state_high = (uint64_t)(state >> 64);
  g->state_low = (uint64_t)state;
  ep_pcg64_advance(g);
  g->half = 0;
  g->has_half = 0;
}

/* PCG64(SeedSequence(seed)) for 0 <= seed < 2**64. */
static inline void ep_pcg64_seed(ep_pcg64 *g, uint64_t seed) {
  const uint32_t words[4] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0};
  ep_pcg64_seed_words(g, words, 4);
}

/* Whether a generator that was read from a file or a snapshot is one that seeding and draws lead to. Only from such a
 * generator may numbers be drawn: if the increment is even, draws may not end. */
static inline int ep_pcg64_is_valid(const ep_pcg64 *g) { return g->step_low % 2 == 1 && g->has_half <= 1; }

/* --- Bits and uniform numbers ----------------------------------------------------------------------------------- */

static inline uint64_t ep_next64(ep_pcg64 *g) {
  ep_pcg64_advance(g);
  const uint64_t folded = g->state_high ^ g->state_low;
  const unsigned turn = (unsigned)(g->state_high >> 58);
  return folded >> turn | folded << (-turn & 63);
}

static inline uint32_t ep_next32(ep_pcg64 *g) {
  if (g->has_half) {
    g->has_half = 0;
    return g->half;
  }
  const uint64_t bits = ep_next64(g);
  g->half = (uint32_t)(bits >> 32);
  g->has_half = 1;
  return (uint32_t)bits;
}

/* Generator.random(): a multiple of 2**-53 in [0, 1). */
static inline double ep_next_double(ep_pcg64 *g) {
  return (double)(int64_t)(ep_next64(g) >> 11) * (1.0 / 9007199254740992.0);
}

/* Generator.uniform(low, high). high - low must be finite. */
static inline double ep_uniform(ep_pcg64 *g, double low, double high) { return low + (high - low) * ep_next_double(g); }

/* --- Integers --------------------------------------------------------------------------------------------------- */

/* An integer in [0, last] by Lemire's multiplication: the upper half of bits * (last + 1) is kept unless the lower half
 * falls into the short remainder that would make some results more likely. It takes 32-bit draws if they suffice.
 * Generator uses this function for integers and choice. */
static inline uint64_t ep_bounded(ep_pcg64 *g, uint64_t last) {
  if (last == 0) return 0;
  if (last < UINT32_MAX) {
    const uint32_t count = (uint32_t)last + 1;
    uint64_t product = (uint64_t)ep_next32(g) * count;
    if ((uint32_t)product < count) {
      const uint32_t remainder = -count % count;
      while ((uint32_t)product < remainder) product = (uint64_t)ep_next32(g) * count;
    }
    return product >> 32;
  }
  if (last == UINT32_MAX) return ep_next32(g);
  if (last == UINT64_MAX) return ep_next64(g);
  const uint64_t count = last + 1;
  ep_uint128 product = (ep_uint128)ep_next64(g) * count;
  if ((uint64_t)product < count) {
    const uint64_t remainder = -count % count;
    while ((uint64_t)product < remainder) product = (ep_uint128)ep_next64(g) * count;
  }
  return (uint64_t)(product >> 64);
}

/* Generator.integers(low, last, endpoint=True), dtype int64. low <= last; low == last takes no draw. */
static inline int64_t ep_integers_closed(ep_pcg64 *g, int64_t low, int64_t last) {
  return (int64_t)((uint64_t)low + ep_bounded(g, (uint64_t)last - (uint64_t)low));
}

/* Generator.integers(low, high), dtype int64: in [low, high). low < high; low == high - 1 takes no draw. */
static inline int64_t ep_integers(ep_pcg64 *g, int64_t low, int64_t high) {
  return ep_integers_closed(g, low, high - 1);
}

/* The bits that integers in [0, last] can have set. last > 0. */
static inline uint64_t ep_mask(uint64_t last) { return UINT64_MAX >> __builtin_clzll(last); }

/* An integer in [0, last] by masking and rejection. Generator uses this function for shuffle and permutation. */
static inline uint64_t ep_interval(ep_pcg64 *g, uint64_t last) {
  if (last == 0) return 0;
  const uint64_t mask = ep_mask(last);
  uint64_t value;
  if (last <= UINT32_MAX) {
    while ((value = ep_next32(g) & mask) > last) {}
  } else {
    while ((value = ep_next64(g) & mask) > last) {}
  }
  return value;
}

/* --- Normal distribution ---------------------------------------------------------------------------------------- */

/* From numpy's libnpyrandom.a. Declared here, since numpy/random/distributions.h would include Python.h. */
double random_standard_normal(bitgen_t *bitgen);

static inline uint64_t ep_bitgen_next64(void *g) { return ep_next64((ep_pcg64 *)g); }
static inline uint32_t ep_bitgen_next32(void *g) { return ep_next32((ep_pcg64 *)g); }
static inline double ep_bitgen_next_double(void *g) { return ep_next_double((ep_pcg64 *)g); }

/* Lets numpy's C functions (numpy/random/distributions.h, numpy.random.c_distributions) draw from g, which must not
 * move while `bitgen` is in use. */
static inline void ep_pcg64_bind(ep_pcg64 *g, bitgen_t *bitgen) {
  bitgen->state = g;
  bitgen->next_uint64 = ep_bitgen_next64;
  bitgen->next_uint32 = ep_bitgen_next32;
  bitgen->next_double = ep_bitgen_next_double;
  bitgen->next_raw = ep_bitgen_next64;
}

/* Generator.standard_normal(). */
static inline double ep_standard_normal(ep_pcg64 *g) {
  bitgen_t bitgen;
  ep_pcg64_bind(g, &bitgen);
  return random_standard_normal(&bitgen);
}

/* Generator.normal(loc, scale). */
static inline double ep_normal(ep_pcg64 *g, double loc, double scale) { return loc + scale * ep_standard_normal(g); }

/* --- Choice ----------------------------------------------------------------------------------------------------- */

/* Generator.choice(n). n >= 1. */
static inline int64_t ep_choice(ep_pcg64 *g, int64_t n) { return (int64_t)ep_bounded(g, (uint64_t)n - 1); }

/* Turns probabilities p (n, not negative, not all zero) into the cdf (n) that choice with p searches: running sums,
 * divided by the last one, so cdf[n - 1] is 1 whatever p sums to. `cdf` may be `p`. For a fixed p, call it once. */
static inline void ep_choice_cdf(const double *p, int64_t n, double *cdf) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) cdf[i] = sum += p[i];
  for (int64_t i = 0; i < n; i++) cdf[i] /= sum;
}

/* How many entries of cdf (n, ascending, the last one 1) are <= u, for u in [0, 1): an index below n. */
static inline int64_t ep_cdf_index(const double *cdf, int64_t n, double u) {
  int64_t first = 0;
  while (n > 0) {
    const int64_t middle = n / 2;
    if (cdf[first + middle] <= u) {
      first += middle + 1;
      n -= middle + 1;
    } else {
      n = middle;
    }
  }
  return first;
}

/* Generator.choice(n, p=p), with cdf (n) from ep_choice_cdf(). */
static inline int64_t ep_choice_p(ep_pcg64 *g, const double *cdf, int64_t n) {
  return ep_cdf_index(cdf, n, ep_next_double(g));
}

/* Whether numpy draws a sample without replacement from the end of a shuffled range, as it does for a large sample, or
 * by Floyd's algorithm. The two take different draws. 0 <= k <= n. */
static inline int ep_choice_by_tail(int64_t n, int64_t k, int shuffle) {
  return n > 10000 && k > n / (shuffle ? 50 : 20);
}

/* The number of scratch items that ep_choice_without_replacement() needs for n and k, with shuffle or without. */
static inline int64_t ep_choice_scratch_size(int64_t n, int64_t k) {
  if (ep_choice_by_tail(n, k, 1)) return n;
  int64_t slots = 2; /* a power of two, at most half full */
  while (slots < 2 * k) slots *= 2;
  return slots;
}

/* Swaps each of values[first..n-1], from the last one on, with itself or one before it; values[0] takes no draw. */
static inline void ep_shuffle_bounded(ep_pcg64 *g, int64_t *values, int64_t n, int64_t first) {
  for (int64_t i = n - 1; i >= first; i--) {
    const uint64_t other = ep_bounded(g, (uint64_t)i);
    const int64_t value = values[other];
    values[other] = values[i];
    values[i] = value;
  }
}

/* Adds value to the open-addressed set `slots` (-1: free). Returns 0 if the set already has it, otherwise 1. */
static inline int ep_set_add(int64_t *slots, uint64_t mask, int64_t value) {
  uint64_t slot = (uint64_t)value & mask;
  while (slots[slot] != -1) {
    if (slots[slot] == value) return 0;
    slot = (slot + 1) & mask;
  }
  slots[slot] = value;
  return 1;
}

/* Generator.choice(n, k, replace=False, shuffle=shuffle) into out (k). 0 <= k <= n. Without shuffle the set is
 * just as random, but its order is not. Overwrites scratch (ep_choice_scratch_size(n, k)). */
static inline void ep_choice_without_replacement(ep_pcg64 *g, int64_t n, int64_t k, int shuffle, int64_t *out,
                                                 int64_t *scratch) {
  if (ep_choice_by_tail(n, k, shuffle)) {
    for (int64_t i = 0; i < n; i++) scratch[i] = i;
    ep_shuffle_bounded(g, scratch, n, n - k);
    memcpy(out, scratch + (n - k), (size_t)k * sizeof(*out));
    return;
  }
  uint64_t mask = 1;
  while (mask + 1 < 2 * (uint64_t)k) mask = 2 * mask + 1;
  for (uint64_t i = 0; i <= mask; i++) scratch[i] = -1;
  for (int64_t i = 0; i < k; i++) {
    const int64_t last = n - k + i;
    const int64_t value = (int64_t)ep_bounded(g, (uint64_t)last);
    out[i] = value;
    if (!ep_set_add(scratch, mask, value)) { /* `last` could not be drawn before, so the set does not have it */
      ep_set_add(scratch, mask, last);
      out[i] = last;
    }
  }
  if (shuffle) ep_shuffle_bounded(g, out, k, 0);
}

/* --- Shuffling -------------------------------------------------------------------------------------------------- */

/* Swaps two items that do not overlap. It is fast if itemsize is a compile-time constant. */
static inline void ep_swap(char *a, char *b, size_t itemsize) {
  char kept[64];
  while (itemsize > 0) {
    const size_t part = itemsize < sizeof(kept) ? itemsize : sizeof(kept);
    memcpy(kept, a, part);
    memcpy(a, b, part);
    memcpy(b, kept, part);
    a += part;
    b += part;
    itemsize -= part;
  }
}

/* Generator.shuffle(items): n contiguous items of itemsize bytes. Items may be the rows of an array (axis 0), or
 * pointers to the elements of a Python list. */
static inline void ep_shuffle(ep_pcg64 *g, void *items, int64_t n, size_t itemsize) {
  char *const base = (char *)items;
  for (int64_t i = n - 1; i > 0; i--) {
    const int64_t other = (int64_t)ep_interval(g, (uint64_t)i);
    if (other != i) ep_swap(base + (size_t)i * itemsize, base + (size_t)other * itemsize, itemsize);
  }
}

/* Generator.permutation(n) into out (n). */
static inline void ep_permutation(ep_pcg64 *g, int64_t n, int64_t *out) {
  for (int64_t i = 0; i < n; i++) out[i] = i;
  ep_shuffle(g, out, n, sizeof(*out));
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_RNG_H */
