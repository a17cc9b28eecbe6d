/* Reading the bytes of a saved state of Procgen's library: a cursor that checks every value before it moves on.
 *
 * The library reads 32-bit numbers in the order in which a table lists them, trusts them, and ends the process when the
 * bytes are too short. Some values are the same in all states of an environment: its options, and what a game derives
 * from them. A walk over a state that the environment itself has written collects these values; a walk over other bytes
 * compares with them.
 */
#ifndef ENVPOOL_PROCGEN_SAVED_READER_H
#define ENVPOOL_PROCGEN_SAVED_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SAVED_MAX_CONSTANTS 96
#define SAVED_GENERATOR_WORDS 624 /* of the Mersenne Twister, whose text ends with the position of the next word */

/* The values that the rules between several fields look at. */
enum saved_slot {
  SAVED_NOWHERE,
  SAVED_SEQUENTIAL,
  SAVED_LOWEST_SEED,
  SAVED_SEED_END,
  SAVED_LEVEL_SEED,
  SAVED_PREVIOUS_SEED,
  SAVED_TIMEOUT,
  SAVED_TIME,
  SAVED_BACKGROUND,
  SAVED_WIDTH,
  SAVED_GRID,
  SAVED_CELLS,   /* chaser: the cells without a wall */
  SAVED_SPACES,  /* chaser: for each cell whether it has no wall */
  SAVED_LAST_Y,  /* coinrun: the agent's y after the last step */
  SAVED_KEYS,    /* heist: for each key whether the agent has it */
  SAVED_NUMBER,  /* heist: number of keys; bossfight: number of rounds */
  SAVED_ATTACKS, /* bossfight: the attack of each round */
  SAVED_SLOTS,
};

enum saved_kind {
  SAVED_INT,      /* from low to high */
  SAVED_REAL,     /* a float, from low to high */
  SAVED_FIXED,    /* four bytes that all states of the environment share */
  SAVED_INTS,     /* a number of ints, and these */
  SAVED_REALS,    /* a number of floats, and these */
  SAVED_RANDOM,   /* a generator: whether it is seeded, at least `low`, and its text */
  SAVED_ENTITIES, /* see saved_entities.h */
};

/* One field of a state, or several of the same kind in a vector. */
typedef struct saved_field {
  const char *name;
  uint8_t kind;
  double low, high;
  uint8_t slot;        /* where the value is kept for rules between fields */
  int32_t least, most; /* items of a vector; most = 0: as many as in all other states of the environment */
} saved_field;

typedef struct saved_value {
  int32_t number;    /* of SAVED_INT and SAVED_FIXED */
  float real;        /* of SAVED_REAL */
  const char *items; /* of a vector, four bytes each, not aligned */
  int32_t count;
} saved_value;

typedef struct saved_reader {
  const char *at, *end;
  const char *refused; /* name of the first field with a wrong value; NULL: there was none */
  int32_t collects;    /* the state was written by the environment: collect its constants, and check nothing else */
  int32_t num_constants, next_constant;
  int32_t constants[SAVED_MAX_CONSTANTS];
  saved_value kept[SAVED_SLOTS];
} saved_reader;

/* Notes that a field is wrong, and returns 0. */
static inline int saved_refuse(saved_reader *r, const char *name) {
  if (!r->refused) r->refused = name;
  return 0;
}

static inline int32_t saved_int_at(const char *at) {
  int32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline float saved_real_at(const char *at) {
  float value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* The following functions return 1, or 0 if the bytes are refused. */

static inline int saved_take(saved_reader *r, const char *name, int64_t bytes, const char **at) {
  if (r->end - r->at < bytes) return saved_refuse(r, name);
  *at = r->at;
  r->at += bytes;
  return 1;
}

/* Checks a value that all states of the environment share. */
static inline int saved_fixed(saved_reader *r, const char *name, int32_t value) {
  if (r->collects) {
    if (r->num_constants == SAVED_MAX_CONSTANTS) return saved_refuse(r, name);
    r->constants[r->num_constants++] = value;
    return 1;
  }
  if (r->next_constant == r->num_constants || r->constants[r->next_constant++] != value) return saved_refuse(r, name);
  return 1;
}

static inline int saved_in_range(const saved_reader *r, double value, double low, double high) {
  return r->collects || (low <= value && value <= high); /* false for NaN */
}

/* Reads a decimal number without leading zeros. */
static inline int saved_decimal(const char **at, const char *end, uint64_t limit, uint64_t *value) {
  const char *first = *at;
  *value = 0;
  for (; *at < end && '0' <= **at && **at <= '9' && *at - first < 10; ++*at) *value = *value * 10 + (uint64_t)(**at - '0');
  return *at > first && (*first != '0' || *at == first + 1) && *value <= limit;
}

static inline int saved_random(saved_reader *r, const saved_field *f) {
  const char *at, *end;
  uint64_t word, any = 0;
  int32_t i, length;
  if (!saved_take(r, f->name, 8, &at)) return 0;
  if (!saved_in_range(r, saved_int_at(at), f->low, 1)) return saved_refuse(r, f->name);
  length = saved_int_at(at + 4);
  if (length < 0 || !saved_take(r, f->name, length, &at)) return saved_refuse(r, f->name);
  if (r->collects) return 1;
  end = at + length;
  for (i = 0; i < SAVED_GENERATOR_WORDS; ++i) {
    if (!saved_decimal(&at, end, UINT32_MAX, &word) || at == end || *at++ != ' ') return saved_refuse(r, f->name);
    any |= word;
  }
  /* A generator whose words are all zero draws nothing but zeros, with which loops might not end. */
  if (!saved_decimal(&at, end, SAVED_GENERATOR_WORDS, &word) || at != end || !any) return saved_refuse(r, f->name);
  return 1;
}

static inline int saved_vector(saved_reader *r, const saved_field *f) {
  const char *at;
  int32_t i, count;
  if (!saved_take(r, f->name, 4, &at)) return 0;
  count = saved_int_at(at);
  if (f->most ? !saved_in_range(r, count, f->least, f->most) : !saved_fixed(r, f->name, count))
    return saved_refuse(r, f->name);
  if (count < 0 || !saved_take(r, f->name, 4 * (int64_t)count, &at)) return saved_refuse(r, f->name);
  r->kept[f->slot].items = at;
  r->kept[f->slot].count = count;
  for (i = 0; i < count; ++i, at += 4)
    if (!saved_in_range(r, f->kind == SAVED_INTS ? saved_int_at(at) : saved_real_at(at), f->low, f->high))
      return saved_refuse(r, f->name);
  return 1;
}

static inline int saved_number(saved_reader *r, const saved_field *f) {
  const char *at;
  saved_value *kept = &r->kept[f->slot];
  if (!saved_take(r, f->name, 4, &at)) return 0;
  kept->number = saved_int_at(at);
  kept->real = saved_real_at(at);
  if (f->kind == SAVED_FIXED) return saved_fixed(r, f->name, kept->number);
  return saved_in_range(r, f->kind == SAVED_INT ? kept->number : kept->real, f->low, f->high) ||
         saved_refuse(r, f->name);
}

#endif
