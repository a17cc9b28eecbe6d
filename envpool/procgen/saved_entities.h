/* Checking the entities in a saved state of Procgen. */
#ifndef ENVPOOL_PROCGEN_SAVED_ENTITIES_H
#define ENVPOOL_PROCGEN_SAVED_ENTITIES_H

#include "saved_games.h"

/* As the library writes it. */
typedef struct saved_entity {
  float x, y, vx, vy, rx, ry;
  int32_t type, image_type, image_theme;
  int32_t render_z, will_erase, collides_with_entities;
  float collision_margin, rotation, vrot;
  int32_t is_reflected, fire_time, spawn_time, life_time, expire_time, use_abs_coords;
  float friction;
  int32_t smart_step, avoids_collisions, auto_erase;
  float alpha, health, theta, grow_rate, alpha_decay, climber_spawn_x;
} saved_entity;

/* Bounds of the numbers of all entities, named as in upstream's class. Positions and radii are in cells; the worlds have
 * at most 64. A step of an entity takes four small steps per unit of its velocity, in each of which it meets all others. */
static const saved_field SAVED_ENTITY_FIELDS[] = {
    REAL("x", -128, 128),
    REAL("y", -128, 128),
    REAL("vx", -4, 4),
    REAL("vy", -4, 4),
    REAL("rx", SAVED_MIN_RADIUS, 32),
    REAL("ry", SAVED_MIN_RADIUS, 32),
    INT("type", 0, 100),
    INT("image_type", 0, 100),
    INT("image_theme", 0, 100),
    INT("render_z", -1, 1),
    FLAG("will_erase"),
    FLAG("collides_with_entities"),
    REAL("collision_margin", 0, 0),
    REAL("rotation", -1000, 1000),
    REAL("vrot", -16, 16),
    FLAG("is_reflected"),
    INT("fire_time", -1, 10000),
    INT("spawn_time", -1, 10000),
    INT("life_time", 0, 100000),
    INT("expire_time", -1, 50),
    FLAG("use_abs_coords"),
    REAL("friction", 1, 1),
    FLAG("smart_step"),
    FLAG("avoids_collisions"),
    FLAG("auto_erase"),
    REAL("alpha", 0, 1),
    REAL("health", -1000, 1000),
    REAL("theta", -100, -100),
    REAL("grow_rate", 0.5, 1.5),
    REAL("alpha_decay", 0.5, 1),
    REAL("climber_spawn_x", 0, 64),
};
_Static_assert(sizeof(saved_entity) == 4 * sizeof SAVED_ENTITY_FIELDS / sizeof SAVED_ENTITY_FIELDS[0], "all fields");

static inline saved_entity saved_entity_at(const saved_value *entities, int32_t i) {
  saved_entity entity;
  memcpy(&entity, entities->items + i * sizeof entity, sizeof entity);
  return entity;
}

static inline const saved_entity_type *saved_type_of(const saved_game *game, int32_t type) {
  const saved_entity_type *t;
  for (t = game->entities; t->type != -1; ++t)
    if (t->type == type) return t;
  return NULL;
}

/* Checks what depends on the type of an entity. */
static inline int saved_as_its_type(saved_reader *r, const saved_game *game, const saved_entity *e) {
  const saved_entity_type *t = saved_type_of(game, e->type);
  if (!t) return saved_refuse(r, "type");
  if (e->image_type < t->first_image || t->last_image < e->image_type) return saved_refuse(r, "image_type");
  if (e->image_theme >= t->themes) return saved_refuse(r, "image_theme");
  if (e->rx < (t->min_rx ? t->min_rx : SAVED_MIN_RADIUS)) return saved_refuse(r, "rx");
  if (e->ry < (t->min_ry ? t->min_ry : SAVED_MIN_RADIUS)) return saved_refuse(r, "ry");
  if (e->grow_rate != t->growth) return saved_refuse(r, "grow_rate");
  /* An entity that grows must vanish before it is huge. */
  if (t->growth > 1 && (e->expire_time < 1 || e->expire_time > 8)) return saved_refuse(r, "expire_time");
  if (e->expire_time > 0 && e->life_time > e->expire_time + 1) return saved_refuse(r, "life_time");
  return 1;
}

/* Reads a vector of entities, and counts the entities of each type. */
static inline int saved_entities(saved_reader *r, const saved_game *game, const char *name, saved_value *entities) {
  const char *at;
  saved_entity entity;
  size_t k;
  int32_t i;
  if (!saved_take(r, name, 4, &at)) return 0;
  entities->count = saved_int_at(at);
  if (!saved_in_range(r, entities->count, 0, SAVED_MAX_ENTITIES) || entities->count < 0) return saved_refuse(r, name);
  if (!saved_take(r, name, (int64_t)sizeof entity * entities->count, &entities->items)) return 0;
  if (r->collects) return 1;
  for (i = 0; i < entities->count; ++i) {
    saved_reader one = *r;
    one.at = entities->items + i * sizeof entity;
    for (k = 0; k < sizeof SAVED_ENTITY_FIELDS / sizeof SAVED_ENTITY_FIELDS[0]; ++k)
      if (!saved_number(&one, &SAVED_ENTITY_FIELDS[k])) return saved_refuse(r, one.refused);
    entity = saved_entity_at(entities, i);
    if (!saved_as_its_type(r, game, &entity)) return 0;
  }
  return 1;
}

/* Checks how many entities of each type there are. */
static inline int saved_counts(saved_reader *r, const saved_game *game, const saved_value *entities) {
  const saved_entity_type *t;
  int32_t i, count;
  for (t = game->entities; t->type != -1; ++t) {
    for (i = count = 0; i < entities->count; ++i) count += saved_entity_at(entities, i).type == t->type;
    if (count < t->least || t->most < count) return saved_refuse(r, "entities");
  }
  return 1;
}

#endif
