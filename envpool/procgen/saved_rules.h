/* Rules between several fields of a saved state of Procgen, most of which only one game needs. */
#ifndef ENVPOOL_PROCGEN_SAVED_RULES_H
#define ENVPOOL_PROCGEN_SAVED_RULES_H

#include "saved_entities.h"

#define CHASER_EGG 4
#define CHASER_ENEMY 6
#define CHASER_WALL 5
#define COINRUN_CRATE 20
#define STARPILOT_FLYER 4
#define STARPILOT_TURRET 7
#define STARPILOT_FAST_FLYER 8

static inline int32_t saved_cell(const saved_value *cells, int32_t i) { return saved_int_at(cells->items + 4 * i); }

static inline int saved_is_whole(double value) { return value == (double)(int32_t)value; }

/* ---- starpilot --------------------------------------------------------------------------------------------------- */

/* The library looks up the size of a bullet by the type of what fires it, and divides by its time between bullets. */
static inline int saved_fires(saved_reader *r, const saved_entity *e) {
  int fires = e->type == STARPILOT_FLYER || e->type == STARPILOT_TURRET || e->type == STARPILOT_FAST_FLYER;
  if (fires ? 10 <= e->fire_time && e->fire_time < 100 : e->fire_time == -1) return 1;
  return saved_refuse(r, "fire_time");
}

/* Checks the entities that enter the world later. */
static inline int saved_spawners(saved_reader *r, const char *name, const saved_value *spawners) {
  saved_entity e;
  int32_t i;
  for (i = 0; i < (r->collects ? 0 : spawners->count); ++i) {
    e = saved_entity_at(spawners, i);
    if (e.type < STARPILOT_FLYER || STARPILOT_FAST_FLYER < e.type) return saved_refuse(r, name);
    if (!saved_fires(r, &e)) return 0;
  }
  return 1;
}

/* ---- chaser ------------------------------------------------------------------------------------------------------ */

static inline int saved_is_open(const saved_reader *r, int32_t x, int32_t y) {
  int32_t size = r->kept[SAVED_WIDTH].number;
  return 0 <= x && x < size && 0 <= y && y < size && saved_cell(&r->kept[SAVED_GRID], y * size + x) != CHASER_WALL;
}

/* Checks the maze: an enemy in a dead end would divide by the number of its ways on, which is zero. */
static inline int saved_maze(saved_reader *r) {
  const saved_value *cells = &r->kept[SAVED_CELLS], *spaces = &r->kept[SAVED_SPACES];
  int32_t size = r->kept[SAVED_WIDTH].number, x, y, n = 0;
  for (y = 0; y < size; ++y) {
    for (x = 0; x < size; ++x) {
      int open = saved_is_open(r, x, y);
      if (saved_cell(spaces, y * size + x) != open) return saved_refuse(r, "is_space_vec");
      if (!open) continue;
      if (n == cells->count || saved_cell(cells, n++) != y * size + x) return saved_refuse(r, "free_cells");
      if (saved_is_open(r, x - 1, y) + saved_is_open(r, x + 1, y) + saved_is_open(r, x, y - 1) +
              saved_is_open(r, x, y + 1) < 2)
        return saved_refuse(r, "grid");
    }
  }
  return n == cells->count || saved_refuse(r, "free_cells");
}

/* Checks an enemy or an egg. Enemies choose a way only in the middle of cells, which they have to meet exactly. */
static inline int saved_in_maze(saved_reader *r, const saved_entity *e) {
  double x = e->x - 0.5, y = e->y - 0.5, along = e->vx ? x : y, speed = e->vx ? e->vx : e->vy;
  double low = along, high = along;
  if (x < 0 || y < 0 || !saved_is_whole(e->vx ? y : x)) return saved_refuse(r, e->vx ? "y" : "x");
  if (e->rx != 0.5f || e->ry != 0.5f) return saved_refuse(r, "rx");
  if (e->expire_time != -1) return saved_refuse(r, "expire_time");
  if (e->vx && e->vy) return saved_refuse(r, "vy");
  if (e->type == CHASER_EGG ? speed != 0 || e->smart_step : speed * speed != 0.0625 && speed * speed != 0.25 && speed)
    return saved_refuse(r, "vx");
  if (e->type == CHASER_ENEMY && !e->smart_step) return saved_refuse(r, "smart_step");
  if (speed ? !saved_is_whole(along / speed) : !saved_is_whole(along)) return saved_refuse(r, "x");
  low = high = (int32_t)along;
  if (low != along) high = low + 1;
  else if (speed > 0) high += 1;
  else if (speed < 0) low -= 1;
  if (!saved_is_open(r, (int32_t)(e->vx ? low : x), (int32_t)(e->vx ? y : low)) ||
      !saved_is_open(r, (int32_t)(e->vx ? high : x), (int32_t)(e->vx ? y : high)))
    return saved_refuse(r, e->vx ? "x" : "y");
  return 1;
}

/* ---- coinrun ----------------------------------------------------------------------------------------------------- */

/* Checks the piles of crates: what stands in several crates at once is pushed out of each of them, and out of the next
 * ones, up to five times in a row. */
static inline int saved_crates(saved_reader *r, const saved_value *entities) {
  saved_entity e, other;
  int32_t i, k, same;
  for (i = 0; i < entities->count; ++i) {
    e = saved_entity_at(entities, i);
    if (e.type == SAVED_PLAYER && e.y != r->kept[SAVED_LAST_Y].real) return saved_refuse(r, "last_agent_y");
    if (e.type != COINRUN_CRATE) continue;
    if (e.rx != 0.5f || e.ry != 0.5f) return saved_refuse(r, "rx");
    if (e.vx || e.vy || e.smart_step) return saved_refuse(r, "vx");
    if (!saved_is_whole(e.x - 0.5) || !saved_is_whole(e.y - 0.5)) return saved_refuse(r, "x");
    for (k = same = 0; k < i; ++k) {
      other = saved_entity_at(entities, k);
      same += other.type == COINRUN_CRATE && other.x == e.x && other.y == e.y;
    }
    if (same > 1) return saved_refuse(r, "entities");
  }
  return 1;
}

/* ---- heist ------------------------------------------------------------------------------------------------------- */

/* Checks that the library has an entry for the key of every door and of every key. */
static inline int saved_locks(saved_reader *r, const saved_value *entities) {
  saved_entity e;
  int32_t i, num_keys = r->kept[SAVED_KEYS].count;
  if (r->kept[SAVED_NUMBER].number != num_keys) return saved_refuse(r, "num_keys");
  for (i = 0; i < entities->count; ++i) {
    e = saved_entity_at(entities, i);
    if ((e.type == 1 || e.type == 2 || e.type == 11) && e.image_theme >= num_keys) return saved_refuse(r, "image_theme");
  }
  return 1;
}

/* ---- all games --------------------------------------------------------------------------------------------------- */

static inline int saved_grid(saved_reader *r, const saved_game *game) {
  const int32_t *allowed;
  int32_t i, cell;
  for (i = 0; i < r->kept[SAVED_GRID].count; ++i) {
    cell = saved_cell(&r->kept[SAVED_GRID], i);
    for (allowed = game->cells; *allowed != -1 && *allowed != cell; ++allowed) continue;
    if (*allowed == -1) return saved_refuse(r, "grid");
  }
  return 1;
}

static inline int saved_seeds(saved_reader *r) {
  int32_t low = r->kept[SAVED_LOWEST_SEED].number, end = r->kept[SAVED_SEED_END].number;
  int32_t seed = r->kept[SAVED_LEVEL_SEED].number, previous = r->kept[SAVED_PREVIOUS_SEED].number;
  if (r->kept[SAVED_SEQUENTIAL].number) return 1; /* seeds go up without end, and wrap */
  if (seed < low || end <= seed) return saved_refuse(r, "current_level_seed");
  return previous == 0 || (low <= previous && previous < end) || saved_refuse(r, "prev_level_seed");
}

static inline int saved_rules(saved_reader *r, const saved_game *game, const saved_value *entities) {
  saved_entity e;
  int32_t i, size = r->kept[SAVED_WIDTH].number;
  if (!saved_seeds(r) || !saved_counts(r, game, entities) || !saved_grid(r, game)) return 0;
  if (r->kept[SAVED_TIME].number >= r->kept[SAVED_TIMEOUT].number) return saved_refuse(r, "cur_time");
  if (r->kept[SAVED_BACKGROUND].number >= game->num_backgrounds) return saved_refuse(r, "background_index");
  if (!strcmp(game->name, "bossfight") && r->kept[SAVED_ATTACKS].count != r->kept[SAVED_NUMBER].number)
    return saved_refuse(r, "attack_modes");
  if (!strcmp(game->name, "coinrun") && !saved_crates(r, entities)) return 0;
  if (!strcmp(game->name, "heist") && !saved_locks(r, entities)) return 0;
  if (!strcmp(game->name, "chaser") && !saved_maze(r)) return 0;
  for (i = 0; i < entities->count; ++i) {
    e = saved_entity_at(entities, i);
    if (!strcmp(game->name, "chaser") && (e.type == CHASER_EGG || e.type == CHASER_ENEMY) && !saved_in_maze(r, &e)) return 0;
    if (!strcmp(game->name, "starpilot") && !saved_fires(r, &e)) return 0;
    /* The library ends no episode of maze when the agent leaves it, and removes the agent. */
    if (!strcmp(game->name, "maze") && (e.x < 0 || size < e.x || e.y < 0 || size < e.y)) return saved_refuse(r, "x");
  }
  return 1;
}

#endif
