/* Allowed contents of states of Procgen's 16 games: a row for each game, with tables of its fields, entities and cells.
 *
 * The bounds are those of the games, where an index depends on them. Where a number only has to be of a sane size, they
 * are wider.
 */
#ifndef ENVPOOL_PROCGEN_SAVED_GAMES_H
#define ENVPOOL_PROCGEN_SAVED_GAMES_H

#include "saved_reader.h"

#define INT(name, low, high, ...) {name, SAVED_INT, low, high, __VA_ARGS__}
#define FLAG(name) INT(name, 0, 1)
#define REAL(name, low, high, ...) {name, SAVED_REAL, low, high, __VA_ARGS__}
#define FIXED(name, ...) {name, SAVED_FIXED, 0, 0, __VA_ARGS__}
#define RANDOM(name, seeded) {name, SAVED_RANDOM, seeded, 1}
#define SEED(name, slot) INT(name, INT32_MIN, INT32_MAX, slot)
#define TIME(name) INT(name, -100, 10000)
#define END {0}

/* An entity type: the images and the themes with which it is drawn, and how it grows in a step. An image or theme that a
 * game lacks would be read beyond a table. */
typedef struct saved_entity_type {
  int32_t type, first_image, last_image, themes;
  float growth;
  int32_t least, most; /* how many a state may contain */
  float min_rx, min_ry; /* radii; 0: see SAVED_MIN_RADIUS. An image that is tiled is drawn rx / ry or ry / rx times */
} saved_entity_type;

#define SAVED_MAX_ENTITIES 640 /* ten times as many, with the trails of bullets, still fit into MAX_STATE_BYTES */
#define SAVED_PLAYER 0
#define SAVED_MIN_RADIUS (-0.01f) /* a wall of no width may have less than zero after rounding */

#define ONE(type, themes) {type, type, type, themes, 1, 1, 1}
#define ANY(type, themes) {type, type, type, themes, 1, 0, SAVED_MAX_ENTITIES}
#define DRAWN_AS(type, first, last, themes) {type, first, last, themes, 1, 0, SAVED_MAX_ENTITIES}
#define GROWING(type, first, last, themes, growth) {type, first, last, themes, growth, 0, SAVED_MAX_ENTITIES}
#define EXPLOSION GROWING(54, 54, 58, 1, 1.4f)
#define TRAIL GROWING(59, 59, 59, 1, 1.05f)
#define TILED(type, min_rx) {type, type, type, 1, 1, 0, SAVED_MAX_ENTITIES, min_rx, 0.05f}
#define NO_MORE {-1}

typedef struct saved_game {
  const char *name;
  int32_t num_backgrounds;
  const saved_field *fields;            /* after those that all games have */
  const int32_t *cells;                 /* object types in the grid, up to -1 */
  const saved_entity_type *entities;    /* up to type -1 */
} saved_game;

#define FIELDS(game) static const saved_field game##_FIELDS[]
#define CELLS(game) static const int32_t game##_CELLS[]
#define ENTITIES(game) static const saved_entity_type game##_ENTITIES[]

CELLS(EMPTY) = {100, -1};
FIELDS(NO) = {END};

FIELDS(BIGFISH) = {INT("fish_eaten", 0, 30), FIXED("r_inc"), END};
ENTITIES(BIGFISH) = {ONE(0, 1), ANY(2, 3), NO_MORE};

FIELDS(BOSSFIGHT) = {
    {"attack_modes", SAVED_INTS, 0, 3, SAVED_ATTACKS, 1, 5},
    TIME("last_fire_time"),
    INT("time_to_swap", -1, 1000),
    INT("invulnerable_duration", 2, 5),
    FIXED("vulnerable_duration"),
    INT("num_rounds", 1, 5, SAVED_NUMBER),
    INT("round_num", 0, 45),
    INT("round_health", 1, 9),
    FIXED("boss_vel_timeout"),
    INT("curr_vel_timeout", 0, 40),
    INT("attack_mode", 0, 3),
    INT("player_laser_theme", 0, 2),
    INT("boss_laser_theme", 0, 2),
    TIME("damaged_until_time"),
    FLAG("shields_are_up"),
    FLAG("barriers_moves_right"),
    FIXED("base_fire_prob"),
    FIXED("boss_bullet_vel"),
    FIXED("barrier_vel"),
    FIXED("barrier_spawn_prob"),
    REAL("rand_pct", 0, 1),
    REAL("rand_fire_pct", 0, 1),
    REAL("rand_pct_x", 0, 1),
    REAL("rand_pct_y", 0, 1),
    END,
};
ENTITIES(BOSSFIGHT) = {
    ONE(0, 4),             /* player */
    ANY(1, 3),             /* its bullets */
    ONE(2, 4),             /* boss */
    ONE(3, 1),             /* its shields */
    ANY(4, 3),             /* its bullets */
    DRAWN_AS(5, 4, 4, 3),  /* their trails */
    DRAWN_AS(6, 1, 1, 3),  /* reflected bullets of the player */
    ANY(7, 8),             /* barriers */
    EXPLOSION, NO_MORE,
};

CELLS(CAVEFLYER) = {8, 100, -1};
ENTITIES(CAVEFLYER) = {ONE(0, 1), ANY(1, 1), ANY(2, 1), ANY(3, 1), ANY(4, 1), ANY(5, 1),
                       GROWING(9, 9, 9, 1, 1.25f), EXPLOSION, NO_MORE};

FIELDS(CHASER) = {
    {"free_cells", SAVED_INTS, 0, 4096, SAVED_CELLS, 1, 4096},
    {"is_space_vec", SAVED_INTS, 0, 1, SAVED_SPACES, 0, 0},
    FIXED("eat_timeout"),
    FIXED("egg_timeout"),
    TIME("eat_time"),
    FIXED("total_enemies"),
    INT("total_orbs", 0, 4096),
    INT("orbs_collected", 0, 4096),
    FIXED("maze_dim"),
    END,
};
CELLS(CHASER) = {5, 100, 1002, -1};
ENTITIES(CHASER) = {ONE(0, 1), ANY(2, 1), ANY(4, 1), ANY(6, 1), NO_MORE};

FIELDS(CLIMBER) = {
    FLAG("has_support"),
    FLAG("facing_right"),
    INT("coin_quota", 0, 100),
    INT("coins_collected", 0, 100),
    INT("wall_theme", 0, 3),
    FIXED("gravity"),
    FIXED("air_control"),
    END,
};
CELLS(CLIMBER) = {15, 16, 100, -1};
ENTITIES(CLIMBER) = {ONE(0, 4), ANY(1, 1), DRAWN_AS(5, 6, 7, 1), NO_MORE};

FIELDS(COINRUN) = {
    REAL("last_agent_y", -128, 128, SAVED_LAST_Y),
    INT("wall_theme", 0, 5),
    FLAG("has_support"),
    FLAG("facing_right"),
    FLAG("is_on_crate"),
    FIXED("gravity"),
    FIXED("air_control"),
    END,
};
CELLS(COINRUN) = {1, 15, 16, 17, 18, 19, 100, -1};
ENTITIES(COINRUN) = {ONE(0, 5), DRAWN_AS(2, 2, 3, 1), DRAWN_AS(5, 6, 7, 9), {20, 20, 20, 4, 1, 0, 64}, TRAIL, NO_MORE};

FIELDS(DODGEBALL) = {
    FIXED("min_dim"),
    FIXED("hard_min_dim"),
    FIXED("ball_vscale"),
    FIXED("ball_r"),
    TIME("last_fire_time"),
    INT("num_enemies", 0, SAVED_MAX_ENTITIES),
    FIXED("enemy_fire_delay"),
    END,
};
ENTITIES(DODGEBALL) = {ONE(0, 1), TILED(1, 0.05f), ANY(3, 1), ANY(4, 11), ANY(5, 1), ANY(6, 1),
                       GROWING(8, 8, 8, 9, 1.0f / 1.2f), NO_MORE};

FIELDS(FRUITBOT) = {FIXED("min_dim"), FIXED("bullet_vscale"), TIME("last_fire_time"), END};
ENTITIES(FRUITBOT) = {ONE(0, 1), TILED(1, 0), ANY(3, 1), ANY(4, 6), ANY(7, 6), TILED(10, 0), ANY(11, 1), ANY(12, 3),
                      NO_MORE};

FIELDS(HEIST) = {
    INT("num_keys", 0, 3, SAVED_NUMBER),
    FIXED("world_dim"),
    {"has_keys", SAVED_INTS, 0, 1, SAVED_KEYS, 0, 3},
    END,
};
CELLS(HEIST) = {51, 100, -1};
ENTITIES(HEIST) = {ONE(0, 1), {1, 1, 1, 3, 1, 0, 3}, ANY(2, 3), ANY(9, 1), DRAWN_AS(11, 2, 2, 3), NO_MORE};

FIELDS(JUMPER) = {
    INT("jump_count", 0, 2),
    INT("jump_delta", -1, 0),
    TIME("jump_time"),
    FLAG("has_support"),
    FLAG("facing_right"),
    INT("wall_theme", 0, 3),
    FIXED("compass_dim"),
    END,
};
CELLS(JUMPER) = {6, 7, 100, -1};
ENTITIES(JUMPER) = {ONE(0, 1), ONE(1, 1), ANY(2, 1), TRAIL, NO_MORE};

FIELDS(LEAPER) = {
    INT("bottom_road_y", 1, 2),
    {"road_lane_speeds", SAVED_REALS, -0.5, 0.5, SAVED_NOWHERE, 0, 5},
    INT("bottom_water_y", 2, 20),
    {"water_lane_speeds", SAVED_REALS, -0.5, 0.5, SAVED_NOWHERE, 0, 5},
    INT("goal_y", 2, 20),
    END,
};
CELLS(LEAPER) = {2, 3, 100, -1};
ENTITIES(LEAPER) = {ONE(0, 5), ANY(1, 1), ANY(4, 5), TILED(5, 0), NO_MORE};

FIELDS(MAZE) = {INT("maze_dim", 3, 31), FIXED("world_dim"), END};
CELLS(MAZE) = {2, 51, 100, -1};
ENTITIES(MAZE) = {ONE(0, 1), NO_MORE};

FIELDS(MINER) = {INT("diamonds_remaining", 0, 4096), END};
CELLS(MINER) = {1, 2, 3, 4, 9, 100, -1};
ENTITIES(MINER) = {ONE(0, 1), ANY(6, 1), NO_MORE};

FIELDS(NINJA) = {
    FLAG("has_support"),
    FLAG("facing_right"),
    TIME("last_fire_time"),
    INT("wall_theme", 0, 2),
    FIXED("gravity"),
    FIXED("air_control"),
    REAL("jump_charge", 0, 1),
    FIXED("jump_charge_inc"),
    END,
};
CELLS(NINJA) = {6, 14, 20, 100, -1};
ENTITIES(NINJA) = {ONE(0, 1), ANY(1, 6), ANY(7, 1), EXPLOSION, NO_MORE};

FIELDS(PLUNDER) = {
    TIME("last_fire_time"),
    {"lane_directions", SAVED_INTS, 0, 1, SAVED_NOWHERE, 0, 0},
    {"target_bools", SAVED_INTS, 0, 1, SAVED_NOWHERE, 0, 0},
    {"image_permutation", SAVED_INTS, 0, 5, SAVED_NOWHERE, 0, 0},
    {"lane_vels", SAVED_REALS, 0.1, 0.3, SAVED_NOWHERE, 0, 0},
    FIXED("num_lanes"),
    FIXED("num_current_ship_types"),
    INT("targets_hit", 0, 100),
    FIXED("target_quota"),
    REAL("juice_left", -2, 2),
    FIXED("r_scale"),
    FIXED("spawn_prob"),
    FIXED("legend_r"),
    FIXED("min_agent_x"),
    END,
};
ENTITIES(PLUNDER) = {{0, 7, 7, 6, 1, 1, 1}, ANY(1, 1), DRAWN_AS(2, 7, 7, 6), ANY(3, 1), ANY(6, 1), ANY(7, 6),
                     EXPLOSION, NO_MORE};

FIELDS(STARPILOT) = {{"spawners", SAVED_ENTITIES, 0, 0}, END};
ENTITIES(STARPILOT) = {ONE(0, 1), ANY(1, 1), ANY(2, 1), ANY(3, 1), ANY(4, 7), ANY(5, 8), ANY(6, 9), ANY(7, 2),
                       ANY(8, 7), ANY(9, 4), EXPLOSION, NO_MORE};

static const saved_game SAVED_GAMES[] = {
    {"bigfish", 7, BIGFISH_FIELDS, EMPTY_CELLS, BIGFISH_ENTITIES},
    {"bossfight", 13, BOSSFIGHT_FIELDS, EMPTY_CELLS, BOSSFIGHT_ENTITIES},
    {"caveflyer", 13, NO_FIELDS, CAVEFLYER_CELLS, CAVEFLYER_ENTITIES},
    {"chaser", 1, CHASER_FIELDS, CHASER_CELLS, CHASER_ENTITIES},
    {"climber", 62, CLIMBER_FIELDS, CLIMBER_CELLS, CLIMBER_ENTITIES},
    {"coinrun", 62, COINRUN_FIELDS, COINRUN_CELLS, COINRUN_ENTITIES},
    {"dodgeball", 9, DODGEBALL_FIELDS, EMPTY_CELLS, DODGEBALL_ENTITIES},
    {"fruitbot", 9, FRUITBOT_FIELDS, EMPTY_CELLS, FRUITBOT_ENTITIES},
    {"heist", 9, HEIST_FIELDS, HEIST_CELLS, HEIST_ENTITIES},
    {"jumper", 62, JUMPER_FIELDS, JUMPER_CELLS, JUMPER_ENTITIES},
    {"leaper", 9, LEAPER_FIELDS, LEAPER_CELLS, LEAPER_ENTITIES},
    {"maze", 9, MAZE_FIELDS, MAZE_CELLS, MAZE_ENTITIES},
    {"miner", 62, MINER_FIELDS, MINER_CELLS, MINER_ENTITIES},
    {"ninja", 62, NINJA_FIELDS, NINJA_CELLS, NINJA_ENTITIES},
    {"plunder", 4, PLUNDER_FIELDS, EMPTY_CELLS, PLUNDER_ENTITIES},
    {"starpilot", 13, STARPILOT_FIELDS, EMPTY_CELLS, STARPILOT_ENTITIES},
    {NULL, 0, NULL, NULL, NULL},
};

#endif
