/* What LunarLander's engines blow out: particles that fall to the ground and are only to be looked at.
 *
 * Upstream has them in the lander's world, if it was made with a render mode. Here a step only notes what was blown out,
 * and a world that has nothing but the ground and the particles follows when a picture is drawn: so steps cost nothing,
 * and the lander's trajectory is that without a render mode. Particles meet nothing but the ground.
 *
 * As upstream, a particle fades with each picture that it could be in, not with time.
 */
#ifndef ENVPOOL_BOX2D_EXHAUST_H
#define ENVPOOL_BOX2D_EXHAUST_H

#include "envpool/box2d/scene.h"

enum { EXHAUST_PARTICLES = 2048 }; /* two for each step of an episode of the usual length                            */

struct Particle {
  double brightness; /* left: what the engine's power was, less what it has faded                                    */
  float32 x, y;      /* where it was blown out                                                                       */
  float32 push_x, push_y;
  float32 density;
  int32 step; /* of the episode                                                                                      */
};

/* Zeros are a valid state. Particles are numbered as they come, in each episode anew; number k is at k modulo
 * EXHAUST_PARTICLES. If there are more, the oldest vanish. */
struct Exhaust {
  int64_t num_blown; /* particles of this episode                                                                      */
  int64_t first;     /* oldest that has not faded                                                                      */
  int32 step;      /* of the episode                                                                                 */
  b2World *world;  /* at the beginning of step `world_step`; NULL before the first picture                           */
  bool is_world_old; /* it is that of another episode                                                                */
  int32 world_step;
  int64_t world_first, world_end; /* its particles                                                                     */
  Particle particles[EXHAUST_PARTICLES];
  b2Body *bodies[EXHAUST_PARTICLES];
};

/* Begins an episode. */
static inline void exhaust_restart(Exhaust *e) {
  e->num_blown = e->first = 0;
  e->step = 0;
  e->is_world_old = true;
}

static inline void exhaust_release(Exhaust *e) { delete e->world; }

/* Blows a particle out in this step, at a place and with an impulse. */
static inline void exhaust_blow(Exhaust *e, double density, double brightness, const b2Vec2 &place, const b2Vec2 &push) {
  Particle *p = &e->particles[e->num_blown % EXHAUST_PARTICLES];
  e->num_blown++;
  if (e->num_blown - e->first > EXHAUST_PARTICLES) e->first = e->num_blown - EXHAUST_PARTICLES;
  p->brightness = brightness;
  p->x = place.x;
  p->y = place.y;
  p->push_x = push.x;
  p->push_y = push.y;
  p->density = static_cast<float32>(density);
  p->step = e->step;
}

static inline void exhaust_step(Exhaust *e) { e->step++; }

/* Makes sure that there is a world for this episode. Returns 0 when there is none, -1 without memory, and 1 when it is
 * new: then the caller has to add the ground. */
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

/* Takes particles that are no more out of the world. */
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

/* Brings the world to now. */
static inline void exhaust_follow(Exhaust *e) {
  exhaust_forget(e);
  for (; e->world_step < e->step; e->world_step++) {
    while (e->world_end < e->num_blown && e->particles[e->world_end % EXHAUST_PARTICLES].step == e->world_step)
      exhaust_add(e);
    if (e->world_first < e->world_end) scene_step_any(e->world);
  }
}

/* Fades all particles, and forgets the oldest that are no more to be seen. */
static inline void exhaust_fade(Exhaust *e) {
  for (int64_t k = e->first; k < e->num_blown; k++) e->particles[k % EXHAUST_PARTICLES].brightness -= 0.15;
  while (e->first < e->num_blown && e->particles[e->first % EXHAUST_PARTICLES].brightness < 0) e->first++;
  exhaust_forget(e);
}

#endif /* ENVPOOL_BOX2D_EXHAUST_H */
