/* The exhaust of LunarLander's engines: particles that fall to the ground and only affect frames.
 *
 * Upstream simulates the particles in the lander's world if the env has a render mode. Here a step only records the
 * particles that the engines emit. A second world, which contains nothing but the ground and the particles, catches up
 * when a frame is drawn. So a step costs nothing extra, and the lander's trajectory is the one without a render mode.
 * Particles collide with the ground only.
 *
 * As upstream, a particle fades with every frame that is drawn, not with time.
 */
#ifndef ENVPOOL_BOX2D_EXHAUST_H
#define ENVPOOL_BOX2D_EXHAUST_H

#include "envpool/box2d/scene.h"
#include "world_image.h"

enum {
  EXHAUST_PARTICLES = 2048, /* two per step of an episode of 1000 steps, and some more                               */
  EXHAUST_STEPS = 1024      /* age at which particles disappear: no frame simulates more steps than this             */
};

struct Particle {
  double brightness; /* the power of the engine, minus the fading so far                                             */
  float32 x, y;      /* position at which the engine emits it, m                                                     */
  float32 push_x, push_y; /* initial impulse, N s                                                                    */
  float32 density;
  int32 step; /* step of the episode in which the engine emits it                                                    */
};

/* An object of zeros is valid. The particles of an episode are numbered in the order of emission; particle k is stored
 * at index k modulo EXHAUST_PARTICLES. If there are more particles than entries, the oldest disappear. Those in the
 * world were emitted before `world_step`. */
struct Exhaust {
  int64_t num_emitted; /* particles of this episode                                                                  */
  int64_t first;       /* number of the oldest particle that has not faded                                           */
  int32 step;          /* current step of the episode                                                                */
  b2World *world;      /* world of the particles, at the beginning of step `world_step`; NULL before the first frame */
  bool is_world_old;   /* whether `world` belongs to an earlier episode                                              */
  int32 world_step;
  int64_t world_first, world_end; /* range of particles that have a body in `world`                                  */
  Particle particles[EXHAUST_PARTICLES];
  b2Body *bodies[EXHAUST_PARTICLES];
};

/* Begins an episode. */
static inline void exhaust_restart(Exhaust *e) {
  e->num_emitted = e->first = 0;
  e->step = 0;
  e->is_world_old = true;
}

static inline void exhaust_release(Exhaust *e) { delete e->world; }

/* Emits a particle in the current step, at a position and with an impulse. */
static inline void exhaust_emit(Exhaust *e, double density, double brightness, const b2Vec2 &place, const b2Vec2 &push) {
  Particle *p = &e->particles[e->num_emitted % EXHAUST_PARTICLES];
  e->num_emitted++;
  if (e->num_emitted - e->first > EXHAUST_PARTICLES) e->first = e->num_emitted - EXHAUST_PARTICLES;
  p->brightness = brightness;
  p->x = place.x;
  p->y = place.y;
  p->push_x = push.x;
  p->push_y = push.y;
  p->density = static_cast<float32>(density);
  p->step = e->step;
}

static inline void exhaust_step(Exhaust *e) { e->step++; }

/* Ensures that the particles have a world for this episode. Returns 0 if they already have one, -1 if memory is
 * exhausted, and 1 if the world is new: the caller must then add the ground. */
static inline int exhaust_renew(Exhaust *e, double gravity) {
  if (e->world != NULL && !e->is_world_old) return 0;
  if (e->world == NULL)
    e->world = scene_create(gravity);
  else
    scene_restart(e->world, gravity);
  if (e->world == NULL) return -1;
  e->is_world_old = false;
  e->world_step = 0;
  e->world_first = e->world_end = 0;
  return 1;
}

/* Removes the bodies of faded particles from the world. */
static inline void exhaust_forget(Exhaust *e) {
  for (; e->world_first < e->first; e->world_first++)
    if (e->world_first < e->world_end) e->world->DestroyBody(e->bodies[e->world_first % EXHAUST_PARTICLES]);
  if (e->world_end < e->world_first) e->world_end = e->world_first;
}

static inline void exhaust_add(Exhaust *e) {
  const int64_t k = e->world_end++ % EXHAUST_PARTICLES;
  const Particle *p = &e->particles[k];
  b2FixtureDef def;
  b2CircleShape shape;
  shape.m_radius = static_cast<float32>(2 / 30.0);
  def.shape = &shape;
  def.density = p->density;
  def.friction = 0.1f;
  def.restitution = 0.3f;
  def.filter.categoryBits = 0x0100;
  def.filter.maskBits = 0x0001;
  b2Body *body = scene_body(e->world, b2_dynamicBody, p->x, p->y, 0.0);
  body->CreateFixture(&def);
  body->ApplyLinearImpulse(b2Vec2(p->push_x, p->push_y), b2Vec2(p->x, p->y), true);
  e->bodies[k] = body;
}

/* Removes the particles that are too old. */
static inline void exhaust_expire(Exhaust *e) {
  const int32 oldest = e->step - EXHAUST_STEPS;
  while (e->first < e->num_emitted && e->particles[e->first % EXHAUST_PARTICLES].step < oldest) e->first++;
}

/* Steps the world of the particles up to the current step. */
static inline void exhaust_catch_up(Exhaust *e) {
  exhaust_expire(e);
  exhaust_forget(e);
  for (; e->world_step < e->step; e->world_step++) {
    while (e->world_end < e->num_emitted && e->particles[e->world_end % EXHAUST_PARTICLES].step == e->world_step)
      exhaust_add(e);
    if (e->world_first < e->world_end) scene_step_any(e->world);
  }
}

/* Fades all particles, and removes the oldest that have become invisible. */
static inline void exhaust_fade(Exhaust *e) {
  for (int64_t k = e->first; k < e->num_emitted; k++) e->particles[k % EXHAUST_PARTICLES].brightness -= 0.15;
  while (e->first < e->num_emitted && e->particles[e->first % EXHAUST_PARTICLES].brightness < 0) e->first++;
  exhaust_forget(e);
}

/* ---- saved states ---- */

/* Whether the particles of this episode have a world. */
static inline bool exhaust_has_world(const Exhaust *e) { return e->world != NULL && !e->is_world_old; }

/* Saves or restores a particle. Most particles have a brightness of 1 and follow soon after the particle before them,
 * which was emitted in step *step. */
static inline void exhaust_transfer_particle(Particle *p, int32 *step, Archive *a) {
  enum { HEAVY = 1, BRIGHT = 2, FAR = 63 };
  const float32 heavy = 3.5f, light = static_cast<float32>(0.7);
  uint8_t kind = 0;
  if (!a->is_loading) {
    const int32 after = p->step - *step;
    kind = (p->density == heavy) * HEAVY + (p->brightness == 1.0) * BRIGHT + 4 * (after < FAR ? after : FAR);
  }
  a->bytes(&kind, 1);
  if (a->is_loading) {
    p->density = kind & HEAVY ? heavy : light;
    p->brightness = 1.0;
    p->step = *step + kind / 4;
  }
  if (!(kind & BRIGHT)) a->numbers(&p->brightness, 1, 1e3);
  if (kind / 4 == FAR) a->bytes(&p->step, sizeof(p->step));
  a->require(p->step >= *step);
  *step = p->step;
  for (float32 *number : {&p->x, &p->y, &p->push_x, &p->push_y}) a->numbers(number, 1, 1e6);
}

/* Saves or restores the particles, but not their world. */
static inline void exhaust_transfer(Exhaust *e, Archive *a) {
  const int64_t limit = 1 << 24; /* more particles, and more steps, than any episode has */
  int32 step = 0;
  a->integer(&e->step, 0, limit);
  a->integer(&e->num_emitted, 0, limit);
  a->integer(&e->first, 0, e->num_emitted);
  a->require(e->num_emitted - e->first <= EXHAUST_PARTICLES);
  for (int64_t k = e->first; k < e->num_emitted && a->is_valid; k++)
    exhaust_transfer_particle(&e->particles[k % EXHAUST_PARTICLES], &step, a);
  a->require(e->first == e->num_emitted || step < e->step); /* so that exhaust_catch_up() gives each of them a body */
  if (!a->is_valid && a->is_loading) exhaust_restart(e);
}

/* Saves the world of the particles, or restores it into a new world that contains only the ground. */
static inline void exhaust_transfer_world(Exhaust *e, Archive *a) {
  if (!a->is_loading) exhaust_forget(e); /* as the next frame would do first */
  int64_t end = e->world_end;
  a->integer(&e->world_step, 0, e->step);
  a->integer(&end, e->first, e->num_emitted);
  if (a->is_loading) {
    for (int64_t k = e->first; k < end; k++) a->require(e->particles[k % EXHAUST_PARTICLES].step < e->world_step);
    for (int64_t k = end; k < e->num_emitted; k++)
      a->require(e->particles[k % EXHAUST_PARTICLES].step >= e->world_step);
    if (!a->is_valid) {
      e->is_world_old = true;
      return;
    }
    e->world_first = e->world_end = e->first;
    while (e->world_end < end) exhaust_add(e);
  }
  WorldImage::transfer(e->world, a);
  if (!a->is_valid && a->is_loading) e->is_world_old = true;
}

#endif /* ENVPOOL_BOX2D_EXHAUST_H */
