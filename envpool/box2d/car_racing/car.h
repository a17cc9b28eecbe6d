/* The car of CarRacing: a hull, four wheels that drive it, and the marks that sliding wheels leave on the ground.
 *
 * The dynamics are those of gymnasium.envs.box2d.car_dynamics, computed in float64 in upstream's order.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_CAR_H
#define ENVPOOL_BOX2D_CAR_RACING_CAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "envpool/box2d/scene.h"
#include "frame.h"
#include "lap.h"
#include "shapes.h"
#include "track.h"

enum { CAR_WHEELS = 4 /* left front, right front, left rear, right rear */ };

struct Wheel {
  LapBody lap_body;
  b2Body *body;
  b2RevoluteJoint *joint;
  double gas;
  double brake;
  double steer;        /* target angle, rad                                                                         */
  double phase;        /* rad                                                                                       */
  double omega;        /* rad / s                                                                                   */
  bool is_sliding;     /* whether the wheel slid in the last step without leaving a mark                            */
  int64_t mark;        /* number of the mark that the wheel is leaving, counted from 1; 0 if there is none          */
  int32_t mark_length; /* points of this mark                                                                       */
  bool is_mark_on_grass;
};

struct Car {
  b2Body *hull;
  Wheel wheels[CAR_WHEELS];
  car_racing_mark marks[CAR_RACING_MARKS]; /* a ring buffer                                                         */
  int64_t num_marks;                       /* marks of the episode so far, including overwritten ones               */
};

static inline void car_add_part(b2Body *body, const b2FixtureDef &fixture, const car_racing_part *part, double size) {
  double corners[8][2];
  for (int32_t i = 0; i < part->count; i++)
    for (int32_t k = 0; k < 2; k++) corners[i][k] = part->vertices[i][k] * size;
  scene_polygon(body, fixture, &corners[0][0], part->count);
}

/* Creates a car at rest on a point of the track. */
static inline void car_create(Car *car, b2World *world, Lap *lap, const track_point *p, double size) {
  static const double places[CAR_WHEELS][2] = {{-55, 80}, {55, 80}, {-55, -82}, {55, -82}};
  b2FixtureDef fixture;
  car->num_marks = 0;
  fixture.density = 1.0f;
  car->hull = scene_body(world, b2_dynamicBody, p->x, p->y, p->beta);
  for (int32_t i = 0; i < CAR_RACING_HULL_PARTS; i++) car_add_part(car->hull, fixture, &CAR_RACING_HULL[i], size);
  fixture.density = static_cast<float32>(0.1);
  fixture.filter.categoryBits = 0x0020;
  fixture.filter.maskBits = 0x0001;
  for (int32_t i = 0; i < CAR_WHEELS; i++) {
    Wheel *w = &car->wheels[i];
    memset(w, 0, sizeof(Wheel));
    w->lap_body.lap = lap;
    w->lap_body.tile = -1;
    const double x = places[i][0] * size, y = places[i][1] * size;
    w->body = scene_body(world, b2_dynamicBody, p->x + x, p->y + y, p->beta);
    car_add_part(w->body, fixture, &CAR_RACING_WHEEL, size);
    w->joint = scene_motor(world, car->hull, w->body, x, y, 0.0, 0.0, 180 * 900 * size * size, 0.0, -0.4, 0.4);
    w->body->SetUserData(&w->lap_body);
  }
}

static inline void car_destroy(Car *car, b2World *world) {
  world->DestroyBody(car->hull);
  for (int32_t i = 0; i < CAR_WHEELS; i++) world->DestroyBody(car->wheels[i].body);
}

/* Sets the controls. The gas of the rear wheels rises by at most 0.1 per step. */
static inline void car_control(Car *car, double steer, double gas, double brake) {
  car->wheels[0].steer = car->wheels[1].steer = steer;
  gas = 0.0 > gas ? 0.0 : gas;
  gas = 1.0 < gas ? 1.0 : gas;
  for (int32_t i = 2; i < CAR_WHEELS; i++) {
    const double more = gas - car->wheels[i].gas;
    car->wheels[i].gas += more > 0.1 ? 0.1 : more;
  }
  for (int32_t i = 0; i < CAR_WHEELS; i++) car->wheels[i].brake = brake;
}

/* Extends the mark of a wheel to the wheel's position, unless newer marks have overwritten it. */
static inline void car_extend_mark(Car *car, Wheel *w) {
  car_racing_mark *mark = &car->marks[(w->mark - 1) % CAR_RACING_MARKS];
  if (w->mark > car->num_marks - CAR_RACING_MARKS) {
    mark->points[w->mark_length][0] = w->body->GetPosition().x;
    mark->points[w->mark_length][1] = w->body->GetPosition().y;
    mark->length = w->mark_length + 1;
  }
  w->mark_length++;
}

/* Marks the ground. As upstream, a mark begins in the second step of sliding, with its first point repeated. */
static inline void car_slide(Car *car, Wheel *w, bool is_sliding) {
  const bool is_on_grass = !w->lap_body.on_tiles;
  if (!is_sliding) {
    w->is_sliding = false;
    w->mark = 0;
  } else if (w->mark && w->is_mark_on_grass == is_on_grass && w->mark_length < CAR_RACING_MARK_POINTS) {
    car_extend_mark(car, w);
  } else if (!w->is_sliding) {
    w->is_sliding = true;
  } else {
    w->is_sliding = false;
    w->is_mark_on_grass = is_on_grass;
    w->mark_length = 0;
    w->mark = ++car->num_marks;
    car->marks[(w->mark - 1) % CAR_RACING_MARKS].colour = is_on_grass ? 0x006666 : 0;
    car_extend_mark(car, w);
    car_extend_mark(car, w);
  }
}

/* Rotates a wheel for one step, and applies the force that it exerts on the ground. */
static inline void car_drive(Car *car, Wheel *w, const RacerParams *p) {
  const double dt = 1.0 / SCENE_FPS, radius = CAR_RACING_WHEEL_RADIUS * p->size, inertia = p->wheel_moment_of_inertia;
  const double stiffness = 205000 * p->size * p->size; /* force per difference between wheel and ground velocity    */
  const double off = w->steer - w->joint->GetJointAngle();
  const b2Vec2 ahead = w->body->GetWorldVector(b2Vec2(0, 1)), side = w->body->GetWorldVector(b2Vec2(1, 0));
  const b2Vec2 v = w->body->GetLinearVelocity();
  const double speed = 50.0 * fabs(off);
  w->joint->SetMotorSpeed(static_cast<float>(track_sign(off) * (3.0 < speed ? 3.0 : speed)));
  const double on_grass = p->friction_limit * p->grass_friction;
  const double limit = w->lap_body.on_tiles && p->friction_limit > on_grass ? p->friction_limit : on_grass;
  double forward = static_cast<double>(ahead.x) * v.x + static_cast<double>(ahead.y) * v.y;
  double aside = static_cast<double>(side.x) * v.x + static_cast<double>(side.y) * v.y;

  w->omega += dt * p->engine_power * w->gas / inertia / (fabs(w->omega) + 5.0);
  if (w->brake >= 0.9) {
    w->omega = 0;
  } else if (w->brake > 0) {
    const double limit = p->brake_force * w->brake, spin = fabs(w->omega);
    w->omega += -track_sign(w->omega) * (spin < limit ? spin : limit);
  }
  w->phase += w->omega * dt;

  forward = (-forward + w->omega * radius) * stiffness;
  aside = -aside * stiffness;
  const double force = sqrt(forward * forward + aside * aside);
  car_slide(car, w, force > 2.0 * limit);
  if (force > limit) {
    forward = forward / force * limit;
    aside = aside / force * limit;
  }
  w->omega -= dt * forward * radius / inertia;
  w->body->ApplyForceToCenter(b2Vec2(static_cast<float>(aside * side.x + forward * ahead.x),
                                     static_cast<float>(aside * side.y + forward * ahead.y)), true);
}

/* ---- saved states ---- */

static inline void car_transfer_wheel(Car *car, Wheel *w, Archive *a) {
  a->integer(&w->lap_body.on_tiles, -TRACK_MAX, TRACK_MAX);
  a->numbers(&w->gas), a->numbers(&w->brake), a->numbers(&w->steer), a->numbers(&w->phase), a->numbers(&w->omega);
  a->flag(&w->is_sliding);
  a->flag(&w->is_mark_on_grass);
  a->integer(&w->mark, 0, car->num_marks);
  a->integer(&w->mark_length, 0, CAR_RACING_MARK_POINTS);
}

/* Saves or restores what a car keeps besides its bodies and joints. */
static inline void car_transfer(Car *car, Archive *a) {
  a->integer(&car->num_marks, 0, INT64_C(1) << 40);
  for (int32_t i = 0; i < CAR_WHEELS; i++) car_transfer_wheel(car, &car->wheels[i], a);
  const int64_t oldest = car->num_marks > CAR_RACING_MARKS ? car->num_marks - CAR_RACING_MARKS : 0;
  for (int64_t k = oldest; k < car->num_marks && a->is_valid; k++) {
    car_racing_mark *mark = &car->marks[k % CAR_RACING_MARKS];
    a->bytes(&mark->colour, sizeof(mark->colour));
    a->integer(&mark->length, 0, CAR_RACING_MARK_POINTS);
    if (a->is_valid) a->numbers(&mark->points[0][0], 2 * mark->length);
  }
  if (!a->is_valid && a->is_loading) car->num_marks = 0;
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_CAR_H */
