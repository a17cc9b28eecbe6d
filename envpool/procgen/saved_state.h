/* Whether Procgen's library could have written the bytes of a saved state, in the order in which it reads them. */
#ifndef ENVPOOL_PROCGEN_SAVED_STATE_H
#define ENVPOOL_PROCGEN_SAVED_STATE_H

#include "saved_rules.h"

#define SAVED_END ((int32_t)0xCAFECAFE)

/* Before the entities. */
static const saved_field SAVED_FIRST_FIELDS[] = {
    FIXED("paint_vel_info"),
    FIXED("use_generated_assets"),
    FIXED("use_monochrome_assets"),
    FIXED("restrict_themes"),
    FIXED("use_backgrounds"),
    FIXED("center_agent"),
    FIXED("debug_mode"),
    FIXED("distribution_mode"),
    FIXED("use_sequential_levels", SAVED_SEQUENTIAL),
    FIXED("use_easy_jump"),
    FIXED("plain_assets"),
    FIXED("physics_mode"),
    FIXED("grid_step"),
    FIXED("level_seed_low", SAVED_LOWEST_SEED),
    FIXED("level_seed_high", SAVED_SEED_END),
    FIXED("game_type"),
    INT("game_n", 0, INT32_MAX), /* the row in which the environment began */
    RANDOM("level_seed_rand_gen", 1),
    RANDOM("rand_gen", 1),
    REAL("reward", -10000, 10000),
    FLAG("done"),
    FLAG("level_complete"),
    INT("action", 0, 14),
    FIXED("timeout", SAVED_TIMEOUT),
    SEED("current_level_seed", SAVED_LEVEL_SEED),
    SEED("prev_level_seed", SAVED_PREVIOUS_SEED),
    INT("episodes_remaining", 0, 0),
    FLAG("episode_done"),
    INT("last_reward_timer", 0, 10),
    REAL("last_reward", -10000, 10000),
    FIXED("default_action"),
    FIXED("fixed_asset_seed"),
    INT("cur_time", 0, 10000, SAVED_TIME),
    INT("is_waiting_for_step", 0, 0),
    FIXED("grid_size"),
    END,
};

/* After them. */
static const saved_field SAVED_LATER_FIELDS[] = {
    FIXED("use_procgen_background"),
    INT("background_index", 0, 100, SAVED_BACKGROUND),
    FIXED("bg_tile_ratio"),
    REAL("bg_pct_x", 0, 1),
    FIXED("char_dim"),
    INT("last_move_action", 0, 8),
    INT("move_action", 0, 8),
    INT("special_action", 0, 6),
    FIXED("mixrate"),
    FIXED("maxspeed"),
    FIXED("max_jump"),
    REAL("action_vx", -2, 2),
    REAL("action_vy", -2, 2),
    REAL("action_vrot", -2, 2),
    REAL("center_x", -1000, 1000),
    REAL("center_y", -1000, 1000),
    FIXED("random_agent_start"),
    FIXED("has_useful_vel_info"),
    INT("step_rand_int", 0, 1000000),
    RANDOM("asset_rand_gen", 0),
    FIXED("main_width", SAVED_WIDTH),
    FIXED("main_height"),
    FIXED("out_of_bounds_object"),
    REAL("unit", 0, 10000),
    REAL("view_dim", 0, 1000),
    REAL("x_off", -1000000, 1000000),
    REAL("y_off", -1000000, 1000000),
    FIXED("visibility"),
    FIXED("min_visibility"),
    FIXED("grid width"),
    FIXED("grid height"),
    {"grid", SAVED_INTS, 0, 1002, SAVED_GRID, 0, 0},
    END,
};

static inline int saved_fields(saved_reader *r, const saved_game *game, const saved_field *f) {
  saved_value spawners;
  for (; f->name; ++f) {
    switch (f->kind) {
      case SAVED_INTS:
      case SAVED_REALS:
        if (!saved_vector(r, f)) return 0;
        break;
      case SAVED_RANDOM:
        if (!saved_random(r, f)) return 0;
        break;
      case SAVED_ENTITIES:
        if (!saved_entities(r, game, f->name, &spawners) || !saved_spawners(r, f->name, &spawners)) return 0;
        break;
      default:
        if (!saved_number(r, f)) return 0;
    }
  }
  return 1;
}

/* Reads the version of the format and the name of the game. */
static inline const saved_game *saved_header(saved_reader *r) {
  const saved_game *game;
  const char *at, *name;
  size_t length;
  if (!saved_take(r, "the beginning", 8, &at)) return NULL;
  length = (size_t)saved_int_at(at + 4);
  if (saved_int_at(at) != 0 || length > 16 || !saved_take(r, "game_name", (int64_t)length, &name)) {
    saved_refuse(r, "game_name");
    return NULL;
  }
  for (game = SAVED_GAMES; game->name; ++game)
    if (strlen(game->name) == length && !memcmp(game->name, name, length)) break;
  if (!game->name || !saved_fixed(r, "game_name", (int32_t)(game - SAVED_GAMES))) {
    saved_refuse(r, "game_name");
    return NULL;
  }
  return game;
}

/* Reads a whole state, and returns whether it is accepted. */
static inline int saved_walk(saved_reader *r, const char *bytes, int64_t size) {
  const saved_game *game;
  const char *at;
  saved_value entities = {0};
  r->at = bytes;
  r->end = bytes + size;
  game = saved_header(r);
  if (!game || !saved_fields(r, game, SAVED_FIRST_FIELDS)) return 0;
  if (!saved_entities(r, game, "entities", &entities)) return 0;
  if (!saved_fields(r, game, SAVED_LATER_FIELDS) || !saved_fields(r, game, game->fields)) return 0;
  if (!saved_take(r, "the end", 4, &at)) return 0;
  if (saved_int_at(at) != SAVED_END || r->at != r->end) return saved_refuse(r, "the end");
  return r->collects || saved_rules(r, game, &entities);
}

/* Notes what all states of an environment share, from bytes that the library has just written for it. */
static void saved_learn(saved_reader *r, const char *bytes, int64_t size) {
  memset(r, 0, sizeof *r);
  r->collects = 1;
  saved_walk(r, bytes, size);
  r->collects = 0;
}

/* Returns NULL if the library can continue from these bytes in the environment that `r` has learned from, or else the
 * name of a field with a value that the library does not write. */
static const char *saved_refused(saved_reader *r, const char *bytes, int64_t size) {
  r->refused = NULL;
  r->next_constant = 0;
  saved_walk(r, bytes, size);
  return r->refused;
}

#undef INT
#undef FLAG
#undef REAL
#undef FIXED
#undef RANDOM
#undef SEED
#undef TIME
#undef END

#endif
