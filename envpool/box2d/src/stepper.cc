#include "stepper.h"

#include <Box2D/Box2D.h>
#include <Box2D/Dynamics/Contacts/b2ContactSolver.h>
#include <Box2D/Dynamics/b2Island.h>

#include <cstring>
#include <new>

#include "velocities.h"

namespace {

/* Memory for an object that is made and unmade by hand. */
template <class T>
class Slot {
 public:
  template <class... A>
  void make(A... arguments) {
    new (memory_) T(arguments...);
  }
  void unmake() { get()->~T(); }
  T *get() { return reinterpret_cast<T *>(memory_); }
  T *operator->() { return get(); }

 private:
  alignas(T) unsigned char memory_[sizeof(T)];
};

/* A contact with the side that moves. */
struct Moving {
  const b2ContactVelocityConstraint *constraint;
  int32 body; /* index among the moving bodies */
  bool is_a;
};

}  // namespace

/* One step of one world; what b2World::Step does, for worlds whose moving bodies hang together by joints and touch
 * nothing but static bodies. It is a friend of Box2D's classes. */
class Stepper {
 public:
  /* The step up to the passes. Returns whether these are to be done; if not, the step is done but for finish(). */
  bool begin(b2World *world, float32 dt, int32 velocity_passes, int32 position_passes);
  void finish();

  /* Whether the passes may be done together with those of `first`: the same joints between the same bodies. */
  bool is_like(const Stepper &first) const;
  /* The passes, alone. */
  void solve_alone();
  /* The passes, with the other worlds: in one lane of many. */
  template <class F, class M>
  void load(Lanes<F, M> *lanes, int lane, bool is_first);
  template <class F, class M>
  void store(const Lanes<F, M> *lanes, int lane);

 private:
  bool build_island();
  void integrate_velocities();
  void integrate_positions();
  void solve_positions();
  void fall_asleep();
  bool describe_joints();
  bool describe_contacts();
  template <class F, class M>
  void load_joint(LaneJoint<F, M> *out, const b2RevoluteJoint *j, int lane) const;
  template <class F, class M>
  void load_contact(LaneContact<F, M> *out, const Moving &contact, int lane) const;

  b2World *world_;
  b2TimeStep step_;
  Slot<b2Island> island_;
  Slot<b2ContactSolver> contacts_;
  bool has_island_, are_positions_good_;
  int32 num_moving_, num_joints_;
  int32 index_[VELOCITIES_BODIES];                                /* island's index of a moving body */
  int32 joint_bodies_[VELOCITIES_BODIES - 1][2];                  /* of the moving ones */
  Moving moving_[VELOCITIES_BODIES * VELOCITIES_CONTACTS];        /* in the island's order */
  int32 num_contacts_[VELOCITIES_BODIES];
};

/* Gathers all moving bodies with their joints and contacts, depth first as Box2D does, since the order decides how the
 * passes go. Returns false if they do not hang together, or all sleep. */
bool Stepper::build_island() {
  b2Body *seed = NULL;
  num_moving_ = 0;
  for (b2Body *b = world_->m_bodyList; b && b->m_type != b2_staticBody; b = b->m_next) {
    b->m_flags &= ~b2Body::e_islandFlag;
    num_moving_++;
    if (seed == NULL && b->IsAwake()) seed = b;
  }
  if (seed == NULL) return false;
  for (b2Contact *c = world_->m_contactManager.m_contactList; c; c = c->m_next) c->m_flags &= ~b2Contact::e_islandFlag;
  for (b2Joint *j = world_->m_jointList; j; j = j->m_next) j->m_islandFlag = false;

  const int32 num_contacts = world_->m_contactManager.m_contactCount, capacity = num_moving_ + num_contacts;
  island_.make(capacity, num_contacts, world_->m_jointCount, &world_->m_stackAllocator,
               static_cast<b2ContactListener *>(NULL));
  has_island_ = true;
  b2Body **stack = static_cast<b2Body **>(world_->m_stackAllocator.Allocate(capacity * sizeof(b2Body *)));
  int32 size = 0, found = 0;
  stack[size++] = seed;
  seed->m_flags |= b2Body::e_islandFlag;
  while (size > 0) {
    b2Body *b = stack[--size];
    island_->Add(b);
    b->SetAwake(true);
    if (b->m_type == b2_staticBody) continue;
    found++;
    for (b2ContactEdge *edge = b->m_contactList; edge; edge = edge->next) {
      b2Contact *c = edge->contact;
      if ((c->m_flags & b2Contact::e_islandFlag) || !c->IsEnabled() || !c->IsTouching()) continue;
      if (c->m_fixtureA->IsSensor() || c->m_fixtureB->IsSensor()) continue;
      island_->Add(c);
      c->m_flags |= b2Contact::e_islandFlag;
      if (edge->other->m_flags & b2Body::e_islandFlag) continue;
      stack[size++] = edge->other;
      edge->other->m_flags |= b2Body::e_islandFlag;
    }
    for (b2JointEdge *edge = b->m_jointList; edge; edge = edge->next) {
      if (edge->joint->m_islandFlag) continue;
      island_->Add(edge->joint);
      edge->joint->m_islandFlag = true;
      if (edge->other->m_flags & b2Body::e_islandFlag) continue;
      stack[size++] = edge->other;
      edge->other->m_flags |= b2Body::e_islandFlag;
    }
  }
  world_->m_stackAllocator.Free(stack);
  for (int32 i = 0; i < island_->m_bodyCount; i++) /* islands may share static bodies */
    if (island_->m_bodies[i]->m_type == b2_staticBody) island_->m_bodies[i]->m_flags &= ~b2Body::e_islandFlag;
  return found == num_moving_;
}

void Stepper::integrate_velocities() {
  const float32 h = step_.dt;
  for (int32 i = 0; i < island_->m_bodyCount; i++) {
    b2Body *b = island_->m_bodies[i];
    b2Vec2 v = b->m_linearVelocity;
    float32 w = b->m_angularVelocity;
    b->m_sweep.c0 = b->m_sweep.c;
    b->m_sweep.a0 = b->m_sweep.a;
    if (b->m_type == b2_dynamicBody) {
      v += h * (b->m_gravityScale * world_->m_gravity + b->m_invMass * b->m_force);
      w += h * b->m_invI * b->m_torque;
      v *= b2Clamp(1.0f - h * b->m_linearDamping, 0.0f, 1.0f);
      w *= b2Clamp(1.0f - h * b->m_angularDamping, 0.0f, 1.0f);
    }
    island_->m_positions[i].c = b->m_sweep.c;
    island_->m_positions[i].a = b->m_sweep.a;
    island_->m_velocities[i].v = v;
    island_->m_velocities[i].w = w;
  }
}

bool Stepper::begin(b2World *world, float32 dt, int32 velocity_passes, int32 position_passes) {
  world_ = world;
  has_island_ = false;
  if (world->m_flags & b2World::e_newFixture) {
    world->m_contactManager.FindNewContacts();
    world->m_flags &= ~b2World::e_newFixture;
  }
  world->m_flags |= b2World::e_locked;
  step_.dt = dt;
  step_.inv_dt = 1.0f / dt;
  step_.dtRatio = world->m_inv_dt0 * dt;
  step_.velocityIterations = velocity_passes;
  step_.positionIterations = position_passes;
  step_.warmStarting = true;
  world->m_contactManager.Collide();
  if (!build_island()) {
    if (has_island_) island_.unmake();
    has_island_ = false;
    world->Solve(step_);
    return false;
  }

  integrate_velocities();
  b2ContactSolverDef def;
  def.step = step_;
  def.contacts = island_->m_contacts;
  def.count = island_->m_contactCount;
  def.positions = island_->m_positions;
  def.velocities = island_->m_velocities;
  def.allocator = &world->m_stackAllocator;
  contacts_.make(&def);
  contacts_->InitializeVelocityConstraints();
  contacts_->WarmStart();
  const b2SolverData data = {step_, island_->m_positions, island_->m_velocities};
  for (int32 i = 0; i < island_->m_jointCount; i++) island_->m_joints[i]->InitVelocityConstraints(data);
  if (describe_joints() && describe_contacts()) return true;
  solve_alone();
  return false;
}

void Stepper::solve_alone() {
  const b2SolverData data = {step_, island_->m_positions, island_->m_velocities};
  for (int32 pass = 0; pass < step_.velocityIterations; pass++) {
    for (int32 i = 0; i < island_->m_jointCount; i++) island_->m_joints[i]->SolveVelocityConstraints(data);
    contacts_->SolveVelocityConstraints();
  }
}

/* Moves bodies as their velocities say, within Box2D's bounds for one step. */
void Stepper::integrate_positions() {
  const float32 h = step_.dt;
  for (int32 i = 0; i < island_->m_bodyCount; i++) {
    b2Position &position = island_->m_positions[i];
    b2Velocity &velocity = island_->m_velocities[i];
    const b2Vec2 way = h * velocity.v;
    const float32 turn = h * velocity.w;
    if (b2Dot(way, way) > b2_maxTranslationSquared) velocity.v *= b2_maxTranslation / way.Length();
    if (turn * turn > b2_maxRotationSquared) velocity.w *= b2_maxRotation / b2Abs(turn);
    position.c += h * velocity.v;
    position.a += h * velocity.w;
  }
}

void Stepper::solve_positions() {
  const b2SolverData data = {step_, island_->m_positions, island_->m_velocities};
  are_positions_good_ = false;
  for (int32 pass = 0; pass < step_.positionIterations && !are_positions_good_; pass++) {
    bool is_good = contacts_->SolvePositionConstraints();
    for (int32 i = 0; i < island_->m_jointCount; i++)
      is_good = island_->m_joints[i]->SolvePositionConstraints(data) && is_good;
    are_positions_good_ = is_good;
  }
}

/* A body that was slow for long enough sleeps, if all do. */
void Stepper::fall_asleep() {
  float32 shortest = b2_maxFloat;
  for (int32 i = 0; i < island_->m_bodyCount; i++) {
    b2Body *b = island_->m_bodies[i];
    if (b->m_type == b2_staticBody) continue;
    const float32 speed = b2Dot(b->m_linearVelocity, b->m_linearVelocity), spin = b->m_angularVelocity;
    const bool is_slow = spin * spin <= b2_angularSleepTolerance * b2_angularSleepTolerance &&
                         speed <= b2_linearSleepTolerance * b2_linearSleepTolerance;
    b->m_sleepTime = is_slow ? b->m_sleepTime + step_.dt : 0.0f;
    shortest = b2Min(shortest, b->m_sleepTime);
  }
  if (shortest >= b2_timeToSleep && are_positions_good_)
    for (int32 i = 0; i < island_->m_bodyCount; i++) island_->m_bodies[i]->SetAwake(false);
}

void Stepper::finish() {
  if (has_island_) {
    contacts_->StoreImpulses();
    integrate_positions();
    solve_positions();
    for (int32 i = 0; i < island_->m_bodyCount; i++) {
      b2Body *b = island_->m_bodies[i];
      b->m_sweep.c = island_->m_positions[i].c;
      b->m_sweep.a = island_->m_positions[i].a;
      b->m_linearVelocity = island_->m_velocities[i].v;
      b->m_angularVelocity = island_->m_velocities[i].w;
      b->SynchronizeTransform();
    }
    fall_asleep(); /* listeners here do not ask for impulses, so none are reported */
    contacts_.unmake();
    island_.unmake();
    for (b2Body *b = world_->m_bodyList; b && b->m_type != b2_staticBody; b = b->m_next) b->SynchronizeFixtures();
    world_->m_contactManager.FindNewContacts();
  }
  world_->SolveTOI(step_);
  world_->m_inv_dt0 = step_.inv_dt;
  for (b2Body *b = world_->m_bodyList; b && b->m_type != b2_staticBody; b = b->m_next) {
    b->m_force.SetZero();
    b->m_torque = 0.0f;
  }
  world_->m_flags &= ~b2World::e_locked;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

/* Numbers the moving bodies as the world lists them. Returns whether velocities.h knows all that is in the island. */
bool Stepper::describe_joints() {
  if (num_moving_ > VELOCITIES_BODIES || island_->m_jointCount > VELOCITIES_BODIES - 1) return false;
  int32 number_of[VELOCITIES_BODIES * (VELOCITIES_CONTACTS + 1)]; /* by the island's index */
  if (island_->m_bodyCount > static_cast<int32>(sizeof(number_of) / sizeof(number_of[0]))) return false;
  int32 n = 0;
  num_joints_ = island_->m_jointCount;
  for (b2Body *b = world_->m_bodyList; n < num_moving_; b = b->m_next, n++) {
    index_[n] = b->m_islandIndex;
    number_of[b->m_islandIndex] = n;
  }
  for (int32 i = 0; i < island_->m_jointCount; i++) {
    if (island_->m_joints[i]->GetType() != e_revoluteJoint) return false;
    const b2RevoluteJoint *j = static_cast<const b2RevoluteJoint *>(island_->m_joints[i]);
    if (!j->m_enableMotor || j->m_limitState == e_equalLimits || j->m_invIA + j->m_invIB == 0.0f) return false;
    joint_bodies_[i][0] = number_of[j->m_indexA];
    joint_bodies_[i][1] = number_of[j->m_indexB];
  }
  return true;
}

bool Stepper::describe_contacts() {
  for (int32 i = 0; i < num_moving_; i++) num_contacts_[i] = 0;
  for (int32 i = 0; i < contacts_->m_count; i++) {
    const b2ContactVelocityConstraint *c = &contacts_->m_velocityConstraints[i];
    const bool is_a = c->invMassB == 0.0f;
    if (is_a == (c->invMassA == 0.0f) || c->tangentSpeed != 0.0f) return false; /* none or both of them move */
    int32 body = 0;
    while (index_[body] != (is_a ? c->indexA : c->indexB)) body++;
    if (num_contacts_[body] == VELOCITIES_CONTACTS) return false;
    num_contacts_[body]++;
    moving_[i].constraint = c;
    moving_[i].body = body;
    moving_[i].is_a = is_a;
  }
  return true;
}

bool Stepper::is_like(const Stepper &first) const {
  return num_moving_ == first.num_moving_ && num_joints_ == first.num_joints_ &&
         std::memcmp(joint_bodies_, first.joint_bodies_, num_joints_ * sizeof(joint_bodies_[0])) == 0;
}

template <class F, class M>
void Stepper::load_joint(LaneJoint<F, M> *out, const b2RevoluteJoint *j, int lane) const {
  const b2Mat33 &m = j->m_mass;
  const b2Vec3 cross = b2Cross(m.ey, m.ez);
  float32 det2 = m.ex.x * m.ey.y - m.ey.x * m.ex.y, det3 = b2Dot(m.ex, cross);
  if (det2 != 0.0f) det2 = 1.0f / det2;
  if (det3 != 0.0f) det3 = 1.0f / det3;
  const bool is_at_limit = j->m_limitState != e_inactiveLimit;
  out->ax[lane] = j->m_rA.x, out->ay[lane] = j->m_rA.y;
  out->bx[lane] = j->m_rB.x, out->by[lane] = j->m_rB.y;
  out->mass_a[lane] = j->m_invMassA, out->mass_b[lane] = j->m_invMassB;
  out->spin_a[lane] = j->m_invIA, out->spin_b[lane] = j->m_invIB;
  out->motor_mass[lane] = j->m_motorMass, out->motor_speed[lane] = j->m_motorSpeed;
  out->motor_limit[lane] = step_.dt * j->m_maxMotorTorque, out->motor_impulse[lane] = j->m_motorImpulse;
  out->impulse_x[lane] = j->m_impulse.x, out->impulse_y[lane] = j->m_impulse.y, out->impulse_z[lane] = j->m_impulse.z;
  out->exx[lane] = m.ex.x, out->exy[lane] = m.ex.y, out->exz[lane] = m.ex.z;
  out->eyx[lane] = m.ey.x, out->eyy[lane] = m.ey.y, out->eyz[lane] = m.ey.z;
  out->ezx[lane] = m.ez.x, out->ezy[lane] = m.ez.y, out->ezz[lane] = m.ez.z;
  out->crossx[lane] = cross.x, out->crossy[lane] = cross.y, out->crossz[lane] = cross.z;
  out->det2[lane] = det2, out->det3[lane] = det3;
  out->is_at_limit[lane] = -is_at_limit;
  out->is_lower[lane] = -(j->m_limitState == e_atLowerLimit);
  out->any_at_limit = out->any_at_limit || is_at_limit;
  out->all_at_limit = out->all_at_limit && is_at_limit;
}

template <class F, class M>
void Stepper::load_contact(LaneContact<F, M> *out, const Moving &contact, int lane) const {
  const b2ContactVelocityConstraint *c = contact.constraint;
  const float32 sign = contact.is_a ? -1.0f : 1.0f;
  for (int32 i = 0; i < c->pointCount; i++) {
    const b2VelocityConstraintPoint &in = c->points[i];
    LanePoint<F, M> &p = out->points[i];
    p.x[lane] = contact.is_a ? in.rA.x : in.rB.x;
    p.y[lane] = contact.is_a ? in.rA.y : in.rB.y;
    p.still_x[lane] = contact.is_a ? 0.0f : -0.0f * in.rA.y;
    p.still_y[lane] = contact.is_a ? 0.0f : 0.0f * in.rA.x;
    p.normal_mass[lane] = in.normalMass, p.tangent_mass[lane] = in.tangentMass, p.bias[lane] = in.velocityBias;
    p.normal_impulse[lane] = in.normalImpulse, p.tangent_impulse[lane] = in.tangentImpulse;
  }
  out->nx[lane] = sign * c->normal.x, out->ny[lane] = sign * c->normal.y;
  out->friction[lane] = c->friction;
  out->mass[lane] = contact.is_a ? c->invMassA : c->invMassB;
  out->spin[lane] = contact.is_a ? c->invIA : c->invIB;
  out->k11[lane] = c->K.ex.x, out->k12[lane] = c->K.ey.x, out->k21[lane] = c->K.ex.y, out->k22[lane] = c->K.ey.y;
  out->i11[lane] = c->normalMass.ex.x, out->i12[lane] = c->normalMass.ey.x;
  out->i21[lane] = c->normalMass.ex.y, out->i22[lane] = c->normalMass.ey.y;
  out->is_here[lane] = -1;
  out->has_two[lane] = -(c->pointCount == 2);
  out->any_two = out->any_two || c->pointCount == 2;
}

/* Lanes that no world uses, and contacts that a world has not, hold zeros and stay at them. */
template <class F, class M>
void Stepper::load(Lanes<F, M> *lanes, int lane, bool is_first) {
  if (is_first) {
    lanes->num_bodies = num_moving_;
    lanes->num_joints = island_->m_jointCount;
    std::memset(lanes->bodies, 0, num_moving_ * sizeof(lanes->bodies[0]));
    std::memset(lanes->joints, 0, lanes->num_joints * sizeof(lanes->joints[0]));
    std::memset(lanes->num_contacts, 0, sizeof(lanes->num_contacts));
    for (int32 i = 0; i < lanes->num_joints; i++) {
      lanes->joints[i].a = joint_bodies_[i][0];
      lanes->joints[i].b = joint_bodies_[i][1];
      lanes->joints[i].all_at_limit = true;
    }
  }
  for (int32 i = 0; i < num_moving_; i++) {
    const b2Velocity &v = island_->m_velocities[index_[i]];
    lanes->bodies[i].x[lane] = v.v.x, lanes->bodies[i].y[lane] = v.v.y, lanes->bodies[i].w[lane] = v.w;
  }
  for (int32 i = 0; i < lanes->num_joints; i++)
    load_joint(&lanes->joints[i], static_cast<const b2RevoluteJoint *>(island_->m_joints[i]), lane);
  int32 next[VELOCITIES_BODIES] = {0};
  for (int32 i = 0; i < contacts_->m_count; i++) {
    const int32 body = moving_[i].body, k = next[body]++;
    LaneContact<F, M> *contact = &lanes->contacts[body][k];
    if (k == lanes->num_contacts[body]) {
      std::memset(static_cast<void *>(contact), 0, sizeof(*contact));
      lanes->num_contacts[body]++;
    }
    load_contact(contact, moving_[i], lane);
  }
}

template <class F, class M>
void Stepper::store(const Lanes<F, M> *lanes, int lane) {
  for (int32 i = 0; i < num_moving_; i++) {
    b2Velocity &v = island_->m_velocities[index_[i]];
    v.v.Set(lanes->bodies[i].x[lane], lanes->bodies[i].y[lane]);
    v.w = lanes->bodies[i].w[lane];
  }
  for (int32 i = 0; i < lanes->num_joints; i++) {
    b2RevoluteJoint *j = static_cast<b2RevoluteJoint *>(island_->m_joints[i]);
    const LaneJoint<F, M> &in = lanes->joints[i];
    j->m_motorImpulse = in.motor_impulse[lane];
    j->m_impulse.Set(in.impulse_x[lane], in.impulse_y[lane], in.impulse_z[lane]);
  }
  int32 next[VELOCITIES_BODIES] = {0};
  for (int32 i = 0; i < contacts_->m_count; i++) {
    const LaneContact<F, M> &in = lanes->contacts[moving_[i].body][next[moving_[i].body]++];
    b2ContactVelocityConstraint *c = &contacts_->m_velocityConstraints[i];
    for (int32 p = 0; p < c->pointCount; p++) {
      c->points[p].normalImpulse = in.points[p].normal_impulse[lane];
      c->points[p].tangentImpulse = in.points[p].tangent_impulse[lane];
    }
  }
}

namespace {

/* The passes of steppers that are like the first, for as many as there are lanes at a time. */
template <class F, class M>
LANES_INLINE void solve_in_lanes(Stepper **steppers, int n, int passes) {
  const int width = sizeof(F) / sizeof(float);
  Lanes<F, M> lanes;
  for (int first = 0; first < n; first += width) {
    const int count = n - first < width ? n - first : width;
    for (int i = 0; i < count; i++) steppers[first + i]->load(&lanes, i, i == 0);
    lanes_solve<F, M>(lanes, passes);
    for (int i = 0; i < count; i++) steppers[first + i]->store(&lanes, i);
  }
}

void solve_by_four(Stepper **steppers, int n, int passes) { solve_in_lanes<Float4, Mask4>(steppers, n, passes); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) void solve_by_eight(Stepper **steppers, int n, int passes) {
  solve_in_lanes<Float8, Mask8>(steppers, n, passes);
}
bool has_eight() { return __builtin_cpu_supports("avx2"); }
#else
void solve_by_eight(Stepper **steppers, int n, int passes) { solve_by_four(steppers, n, passes); }
bool has_eight() { return false; }
#endif

}  // namespace

void stepper_step(b2World *const *worlds, int n, float dt, int velocity_passes, int position_passes) {
  Stepper steppers[STEPPER_BLOCK];
  Stepper *alike[STEPPER_BLOCK];
  int num_alike = 0;
  for (int i = 0; i < n; i++) {
    if (!steppers[i].begin(worlds[i], dt, velocity_passes, position_passes)) continue;
    if (num_alike == 0 || steppers[i].is_like(*alike[0]))
      alike[num_alike++] = &steppers[i];
    else
      steppers[i].solve_alone();
  }
  (num_alike > 4 && has_eight() ? solve_by_eight : solve_by_four)(alike, num_alike, velocity_passes);
  for (int i = 0; i < n; i++) steppers[i].finish();
}
