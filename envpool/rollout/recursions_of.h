/* The kernels of recursions.h for one type, REAL, under names that NAMED makes. Included once per type. */

/* One row of a block of columns; arrays have an element per column. A row is in the rollout if t < lengths, and it is a
 * transition if its mask is set as well. Arrays that are only read may be the same; no other two may overlap. */
typedef struct NAMED(row) {
  int32_t t;
  const int32_t *lengths;
  const uint8_t *mask, *terminated, *truncated;
  const REAL *reward, *value, *ratio;
  const REAL *final;  /* values of the last observations, read where an episode ends without being terminated */
  const REAL *next;   /* values of the observations after the row                                             */
  REAL *before;       /* receives the values of the observations before the row                               */
  REAL *carry;        /* what the recursion needs of the row after this one; on return, of this row         */
  REAL *next_target;  /* EP_VTRACE: the target of the row after this one; on return, of this row              */
  REAL *out, *out_2;
} NAMED(row);

ENVPOOL_SIMD static int NAMED(gae_row)(const NAMED(row) *r, int64_t n, REAL gamma, REAL decay) {
  int bad = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int is_in = r->t < r->lengths[i], is_on = is_in & (r->mask[i] != 0);
    const int is_over = r->terminated[i] != 0, is_done = is_over | (r->truncated[i] != 0);
    const REAL v = r->value[i], next = r->next[i], final = r->final[i];
    const REAL scaled = gamma * (is_done ? final : next), faded = decay * r->carry[i];
    const REAL delta = (r->reward[i] + (is_over ? 0 : scaled)) - v;
    const REAL sum = delta + (is_done ? 0 : faded), total = sum + v;
    const REAL advantage = is_on ? sum : 0;
    r->out[i] = r->carry[i] = advantage;
    r->out_2[i] = is_on ? total : 0;
    r->before[i] = is_in ? v : next;
    bad |= !(advantage - advantage == 0);
  }
  return bad;
}

/* 32 bytes of REAL, of integers of the same width, and the flags of as many columns. */
typedef REAL NAMED(reals) __attribute__((vector_size(32)));
typedef INTEGER NAMED(integers) __attribute__((vector_size(32)));
typedef uint8_t NAMED(flags) __attribute__((vector_size(32 / sizeof(REAL))));
enum { NAMED(LANES) = 32 / sizeof(REAL) };

/* gae_row for n columns, a multiple of LANES, that all have the row. Then `next` are the values of the row after it as
 * they lie in the rollout, and `before` is not needed. Written with vectors, since the compiler takes flags apart one by
 * one: this takes less than half of the time. */
ENVPOOL_SIMD static int NAMED(gae_full_row)(const NAMED(row) *row, int64_t n, REAL gamma, REAL decay) {
  const NAMED(row) r = *row;
  NAMED(integers) bad = {0};
  for (int64_t i = 0; i < n; i += NAMED(LANES)) {
    NAMED(flags) mask, terminated, truncated;
    NAMED(reals) reward, value, next, final, carry;
    memcpy(&mask, r.mask + i, sizeof(mask));
    memcpy(&terminated, r.terminated + i, sizeof(mask));
    memcpy(&truncated, r.truncated + i, sizeof(mask));
    memcpy(&reward, r.reward + i, sizeof(value));
    memcpy(&value, r.value + i, sizeof(value));
    memcpy(&next, r.next + i, sizeof(value));
    memcpy(&final, r.final + i, sizeof(value));
    memcpy(&carry, r.carry + i, sizeof(value));
    KEEP_AS_VECTORS(mask, terminated, truncated);
    const NAMED(integers) is_on = __builtin_convertvector(mask, NAMED(integers)) != 0;
    const NAMED(integers) is_over = __builtin_convertvector(terminated, NAMED(integers)) != 0;
    const NAMED(integers) is_done = __builtin_convertvector(terminated | truncated, NAMED(integers)) != 0;
    const NAMED(integers) after = ((NAMED(integers))final & is_done) | ((NAMED(integers))next & ~is_done);
    const NAMED(reals) scaled = gamma * (NAMED(reals))after, faded = decay * carry;
    const NAMED(reals) delta = (reward + (NAMED(reals))((NAMED(integers))scaled & ~is_over)) - value;
    const NAMED(reals) sum = delta + (NAMED(reals))((NAMED(integers))faded & ~is_done), total = sum + value;
    const NAMED(integers) advantage = (NAMED(integers))sum & is_on, target = (NAMED(integers))total & is_on;
    memcpy(r.out + i, &advantage, sizeof(value));
    memcpy(r.carry + i, &advantage, sizeof(value));
    memcpy(r.out_2 + i, &target, sizeof(value));
    bad |= (NAMED(reals))advantage - (NAMED(reals))advantage != 0;
  }
  int any = 0;
  for (int k = 0; k < NAMED(LANES); k++) any |= bad[k] != 0;
  return any;
}

ENVPOOL_SIMD static int NAMED(vtrace_row)(const NAMED(row) *r, int64_t n, REAL gamma, REAL lambda, REAL clip_rho,
                                          REAL clip_c, REAL clip_pg) {
  int bad = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int is_in = r->t < r->lengths[i], is_on = is_in & (r->mask[i] != 0);
    const int is_over = r->terminated[i] != 0, is_done = is_over | (r->truncated[i] != 0);
    const REAL v = r->value[i], next = r->next[i], final = r->final[i], w = r->ratio[i], ahead = r->next_target[i];
    const REAL rho = clip_rho < w ? clip_rho : w, pg = clip_pg < w ? clip_pg : w;
    const REAL c = lambda * (clip_c < w ? clip_c : w);
    const REAL scaled = gamma * (is_done ? final : next), scaled_target = gamma * (is_done ? final : ahead);
    const REAL faded = (gamma * c) * r->carry[i];
    const REAL delta = rho * ((r->reward[i] + (is_over ? 0 : scaled)) - v);
    const REAL correction = delta + (is_done ? 0 : faded), sum = v + correction;
    const REAL product = pg * ((r->reward[i] + (is_over ? 0 : scaled_target)) - v);
    const REAL target = is_on ? sum : 0, advantage = is_on ? product : 0;
    r->out[i] = target;
    r->out_2[i] = advantage;
    r->carry[i] = is_on ? correction : 0;
    r->next_target[i] = is_in ? (is_on ? sum : v) : ahead;
    r->before[i] = is_in ? v : next;
    bad |= !((target - target) + (advantage - advantage) == 0);
  }
  return bad;
}

ENVPOOL_SIMD static int NAMED(lambda_row)(const NAMED(row) *r, int64_t n, REAL gamma, REAL keep, REAL fade) {
  int bad = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int is_in = r->t < r->lengths[i], is_on = is_in & (r->mask[i] != 0);
    const int is_over = r->terminated[i] != 0, is_done = is_over | (r->truncated[i] != 0);
    const REAL v = r->value[i], next = r->next[i], final = r->final[i], ahead = r->carry[i];
    const REAL mixed = (keep * next) + (fade * ahead), scaled = gamma * (is_done ? final : mixed);
    const REAL sum = r->reward[i] + (is_over ? 0 : scaled), total = is_on ? sum : 0;
    r->out[i] = total;
    r->carry[i] = is_in ? (is_on ? sum : v) : ahead;
    r->before[i] = is_in ? v : next;
    bad |= !(total - total == 0);
  }
  return bad;
}

/* Adds the row to the returns of an earlier row. Here `next` are the values after the last rows of the columns. */
ENVPOOL_SIMD static void NAMED(nstep_row)(const NAMED(row) *r, int64_t n, REAL gamma) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int is_in = r->t < r->lengths[i], is_on = is_in & (r->mask[i] != 0);
    const int is_over = r->terminated[i] != 0, is_done = is_over | (r->truncated[i] != 0);
    const REAL v = r->value[i], next = r->next[i], final = r->final[i];
    const REAL scaled = gamma * (is_done ? final : r->carry[i]), sum = r->reward[i] + (is_over ? 0 : scaled);
    r->carry[i] = is_in ? (is_on ? sum : v) : next;
  }
}

ENVPOOL_SIMD static int NAMED(nstep_out)(const NAMED(row) *r, int64_t n) {
  int bad = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int is_on = (r->t < r->lengths[i]) & (r->mask[i] != 0);
    const REAL sum = r->carry[i], total = is_on ? sum : 0;
    r->out[i] = total;
    bad |= !(total - total == 0);
  }
  return bad;
}

/* The part of row t in columns a, a + 1, ..., without what is carried. */
static NAMED(row) NAMED(row_at)(const ep_rollout *r, int64_t t, int64_t a) {
  const int64_t at = t * r->columns + a;
  return (NAMED(row)){
      .t = (int32_t)t,
      .lengths = r->lengths + a,
      .mask = r->mask + t * r->mask_stride + a,
      .terminated = r->terminated + at,
      .truncated = r->truncated + at,
      .reward = (const REAL *)r->rewards + at,
      .value = (const REAL *)r->values + at,
      .ratio = r->ratios ? (const REAL *)r->ratios + at : NULL,
      .final = r->final_values ? (const REAL *)r->final_values + at : NULL,
      .out = (REAL *)r->out + at,
      .out_2 = r->out_2 ? (REAL *)r->out_2 + at : NULL,
  };
}

/* The values of the observations before the rows t of n columns from a on, where t may be a column's length or more. */
static void NAMED(values_before)(const ep_rollout *r, int64_t t, int64_t a, int64_t n, REAL *values) {
  const REAL *last = (const REAL *)r->last_values + a, *row = (const REAL *)r->values + t * r->columns + a;
  for (int64_t i = 0; i < n; i++) values[i] = t < r->lengths[a + i] ? row[i] : last[i];
}

/* All columns are processed up to the same row, so a row is added to at most `horizon` returns. */
static int NAMED(nstep_block)(const ep_rollout *r, int64_t a, int64_t n) {
  REAL carry[EP_COLUMNS], final[EP_COLUMNS];
  int bad = 0;
  for (int64_t t = 0; t < r->steps; t++) {
    const int64_t end = r->steps - t <= r->horizon ? r->steps : t + r->horizon;
    NAMED(values_before)(r, end, a, n, carry);
    for (int64_t s = end - 1; s >= t; s--) {
      NAMED(row) row = NAMED(row_at)(r, s, a);
      row.next = (const REAL *)r->last_values + a;
      row.carry = carry;
      if (!row.final) {
        NAMED(values_before)(r, s + 1, a, n, final);
        row.final = final;
      }
      NAMED(nstep_row)(&row, n, (REAL)r->gamma);
    }
    NAMED(row) row = NAMED(row_at)(r, t, a);
    row.carry = carry;
    bad |= NAMED(nstep_out)(&row, n);
  }
  return bad;
}

static int NAMED(block)(const ep_rollout *r, int64_t a, int64_t n) {
  REAL values[2][EP_COLUMNS], carry[EP_COLUMNS], target[EP_COLUMNS];
  const REAL gamma = (REAL)r->gamma, lambda = (REAL)r->lambda;
  const REAL *last = (const REAL *)r->last_values + a;
  int bad = 0;
  for (int64_t i = 0; i < n; i++) {
    values[r->steps % 2][i] = target[i] = last[i];
    carry[i] = r->recursion == EP_LAMBDA ? last[i] : 0;
  }
  for (int64_t t = r->steps - 1; t >= 0; t--) {
    NAMED(row) row = NAMED(row_at)(r, t, a);
    row.next = values[(t + 1) % 2];
    row.before = values[t % 2];
    row.carry = carry;
    row.next_target = target;
    if (!row.final) row.final = row.next;
    if (r->recursion == EP_GAE)
      bad |= NAMED(gae_row)(&row, n, gamma, (REAL)r->decay);
    else if (r->recursion == EP_VTRACE)
      bad |= NAMED(vtrace_row)(&row, n, gamma, lambda, (REAL)r->clip_rho, (REAL)r->clip_c, (REAL)r->clip_pg);
    else
      bad |= NAMED(lambda_row)(&row, n, gamma, (REAL)(1.0 - r->lambda), lambda);
  }
  return bad;
}

/* GAE of n columns, a multiple of LANES, that all have every row. */
static int NAMED(gae_full_block)(const ep_rollout *r, int64_t a, int64_t n) {
  REAL carry[EP_COLUMNS] = {0};
  const REAL *next = (const REAL *)r->last_values + a;
  int bad = 0;
  for (int64_t t = r->steps - 1; t >= 0; t--) {
    NAMED(row) row = NAMED(row_at)(r, t, a);
    row.next = next;
    row.carry = carry;
    if (!row.final) row.final = next;
    bad |= NAMED(gae_full_row)(&row, n, (REAL)r->gamma, (REAL)r->decay);
    next = row.value;
  }
  return bad;
}

/* Returns how many of n columns from a on gae_full_block can do. */
static int64_t NAMED(full_columns)(const ep_rollout *r, int64_t a, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (r->recursion != EP_GAE || r->lengths[a + i] != r->steps) return 0;
  return n - n % NAMED(LANES);
}

static void NAMED(ep_columns)(const void *job, int64_t first, int64_t last) {
  const ep_rollout *r = (const ep_rollout *)job;
  for (int64_t a = first; a < last; a += EP_COLUMNS) {
    const int64_t n = last - a < EP_COLUMNS ? last - a : EP_COLUMNS;
    const int64_t full = NAMED(full_columns)(r, a, n);
    int bad = full ? NAMED(gae_full_block)(r, a, full) : 0;
    if (full < n) bad |= r->recursion == EP_NSTEP ? NAMED(nstep_block)(r, a, n) : NAMED(block)(r, a + full, n - full);
    if (bad) __atomic_store_n(r->is_bad, 1, __ATOMIC_RELAXED);
  }
}
