/* Functions that build Box2D worlds from doubles, as pybox2d does from Python: each number is rounded to float32 once,
 * and joints and fixtures have the defaults of pybox2d. */
#ifndef ENVPOOL_BOX2D_SCENE_H
#define ENVPOOL_BOX2D_SCENE_H

#include <Box2D/Box2D.h>

#include <new>

#include "archive.h"
#include "stepper.h"

enum {
  SCENE_FPS = 50,              /* steps per second of simulated time, in all environments                          */
  SCENE_BLOCK = STEPPER_BLOCK, /* largest number of worlds that are stepped together                               */
  SCENE_LANES = STEPPER_LANES  /* number of worlds whose steps take about as long as the step of one               */
};

/* The contacts of a body, whose user data points here. */
struct Touch {
  bool is_touching; /* whether the last contact event was the beginning of a contact                               */
  bool was_touched; /* whether any contact has begun since the episode began                                       */
};

/* Saves or restores n of them. */
static inline void transfer_touches(Touch *touches, int n, Archive *archive) {
  for (int i = 0; i < n; i++) {
    archive->flag(&touches[i].is_touching);
    archive->flag(&touches[i].was_touched);
  }
}

/* Updates the Touch of every body that has one. The listener is stateless: one object serves all worlds and threads. */
class TouchListener : public b2ContactListener {
 public:
  void BeginContact(b2Contact *contact) override { set(contact, true); }
  void EndContact(b2Contact *contact) override { set(contact, false); }

 private:
  static void set(b2Contact *contact, bool begins) {
    for (b2Fixture *fixture : {contact->GetFixtureA(), contact->GetFixtureB()})
      if (Touch *touch = static_cast<Touch *>(fixture->GetBody()->GetUserData())) {
        touch->is_touching = begins;
        touch->was_touched = touch->was_touched || begins;
      }
  }
};

/* Returns a new world, or NULL if memory is exhausted. */
static inline b2World *scene_create(double gravity_y) {
  return new (std::nothrow) b2World(b2Vec2(0.0f, static_cast<float32>(gravity_y)));
}

/* Destroys a world and constructs a new one at the same address. */
static inline void scene_restart(b2World *world, double gravity_y) {
  world->~b2World();
  new (world) b2World(b2Vec2(0.0f, static_cast<float32>(gravity_y)));
}

static inline b2Body *scene_body(b2World *world, b2BodyType type, double x, double y, double angle) {
  b2BodyDef def;
  def.type = type;
  def.position.Set(static_cast<float32>(x), static_cast<float32>(y));
  def.angle = static_cast<float32>(angle);
  return world->CreateBody(&def);
}

/* Adds a polygon with n corners (n x 2) to a body. */
static inline void scene_polygon(b2Body *body, b2FixtureDef def, const double *corners, int n) {
  b2Vec2 vertices[b2_maxPolygonVertices];
  for (int i = 0; i < n; i++)
    vertices[i].Set(static_cast<float32>(corners[2 * i]), static_cast<float32>(corners[2 * i + 1]));
  b2PolygonShape shape;
  shape.Set(vertices, n);
  def.shape = &shape;
  body->CreateFixture(&def);
}

/* Creates the hull of a robot: a dynamic body with one polygon, whose n corners (n x 2) are divided by `scale`. The hull
 * collides with the category `ground` only, and `touch` records these contacts. */
static inline b2Body *scene_hull(b2World *world, double x, double y, const double *corners, int n, double scale,
                                 double density, double friction, uint16 category, uint16 ground, Touch *touch) {
  double scaled[2 * b2_maxPolygonVertices];
  for (int i = 0; i < 2 * n; i++) scaled[i] = corners[i] / scale;
  b2FixtureDef fixture;
  fixture.density = static_cast<float32>(density);
  fixture.friction = static_cast<float32>(friction);
  fixture.filter.categoryBits = category;
  fixture.filter.maskBits = ground;
  b2Body *hull = scene_body(world, b2_dynamicBody, x, y, 0.0);
  scene_polygon(hull, fixture, scaled, n);
  hull->SetUserData(touch);
  return hull;
}

/* Adds a box around the body's origin, given half its width and half its height. */
static inline void scene_box(b2Body *body, b2FixtureDef def, double half_width, double half_height) {
  b2PolygonShape shape;
  shape.SetAsBox(static_cast<float32>(half_width), static_cast<float32>(half_height));
  def.shape = &shape;
  body->CreateFixture(&def);
}

static inline void scene_edge(b2Body *body, b2FixtureDef def, double x1, double y1, double x2, double y2) {
  b2EdgeShape shape;
  shape.Set(b2Vec2(static_cast<float32>(x1), static_cast<float32>(y1)),
            b2Vec2(static_cast<float32>(x2), static_cast<float32>(y2)));
  def.shape = &shape;
  body->CreateFixture(&def);
}

/* Creates a joint with a motor and limits between two anchors. Its angle is zero in the current pose of the bodies. */
static inline b2RevoluteJoint *scene_motor(b2World *world, b2Body *a, b2Body *b, double ax, double ay, double bx,
                                           double by, double torque, double speed, double lower, double upper) {
  b2RevoluteJointDef def;
  def.bodyA = a;
  def.bodyB = b;
  def.localAnchorA.Set(static_cast<float32>(ax), static_cast<float32>(ay));
  def.localAnchorB.Set(static_cast<float32>(bx), static_cast<float32>(by));
  def.referenceAngle = static_cast<float32>(static_cast<double>(b->GetAngle()) - static_cast<double>(a->GetAngle()));
  def.enableMotor = true;
  def.maxMotorTorque = static_cast<float32>(torque);
  def.motorSpeed = static_cast<float32>(speed);
  def.enableLimit = true;
  def.lowerAngle = static_cast<float32>(lower);
  def.upperAngle = static_cast<float32>(upper);
  return static_cast<b2RevoluteJoint *>(world->CreateJoint(&def));
}

/* Finds the closest fixture of a category along a ray. */
class Sight : public b2RayCastCallback {
 public:
  explicit Sight(uint16 category) : fraction(1.0f), is_blocked(false), category_(category) {}
  float32 ReportFixture(b2Fixture *fixture, const b2Vec2 &where, const b2Vec2 &, float32 at) override {
    if ((fixture->GetFilterData().categoryBits & category_) == 0) return -1.0f;
    fraction = at;
    place = where;
    is_blocked = true;
    return at;
  }
  float32 fraction;
  b2Vec2 place; /* the point at which the ray is blocked, if `is_blocked` */
  bool is_blocked;

 private:
  uint16 category_;
};

/* Returns the fraction, 0 to 1, of the segment from `from` to (x, y) that precedes the first fixture of a category. */
static inline float scene_look(const b2World *world, const b2Vec2 &from, double x, double y, uint16 category) {
  Sight sight(category);
  world->RayCast(&sight, from, b2Vec2(static_cast<float32>(x), static_cast<float32>(y)));
  return sight.fraction;
}

/* Writes to `end` (2) the point at which the ray of `scene_look` ends. */
static inline void scene_look_at(const b2World *world, const b2Vec2 &from, double x, double y, uint16 category,
                                 double *end) {
  Sight sight(category);
  world->RayCast(&sight, from, b2Vec2(static_cast<float32>(x), static_cast<float32>(y)));
  end[0] = sight.is_blocked ? sight.place.x : x;
  end[1] = sight.is_blocked ? sight.place.y : y;
}

/* Steps n worlds (at most SCENE_BLOCK). In each of them static bodies must have been created before all others. */
static inline void scene_step(b2World *const *worlds, int n) {
  stepper_step(worlds, n, static_cast<float32>(1.0 / SCENE_FPS), 6 * 30, 2 * 30);
}

/* Steps one world, whatever bodies it contains. */
static inline void scene_step_any(b2World *world) { world->Step(static_cast<float32>(1.0 / SCENE_FPS), 6 * 30, 2 * 30); }

/* Whether the bodies that move have finite angles, and positions and velocities that are not absurd. They must have been
 * created after all static ones. */
static inline bool scene_is_sound(const b2World *world) {
  float32 sum = 0.0f;
  for (const b2Body *b = world->GetBodyList(); b && b->GetType() != b2_staticBody; b = b->GetNext()) {
    const b2Vec2 &p = b->GetPosition(), &v = b->GetLinearVelocity();
    sum += fabsf(p.x) + fabsf(p.y) + fabsf(v.x) + fabsf(v.y) + 0.0f * (b->GetAngle() + b->GetAngularVelocity());
  }
  return sum < 1e5f;
}

/* Fills the tables that Box2D initialises on first use and shares between worlds. Call it once, with the GIL held: the
 * first use on several threads would be a data race. */
static inline void scene_warm_up() {
  b2World *world = scene_create(0.0);
  if (world == NULL) return;
  b2FixtureDef fixture;
  for (int i = 0; i < 2; i++) scene_box(scene_body(world, b2_dynamicBody, 0.0, 0.0, 0.0), fixture, 1.0, 1.0);
  world->Step(1.0f / 50, 1, 1);
  delete world;
}

#endif /* ENVPOOL_BOX2D_SCENE_H */
