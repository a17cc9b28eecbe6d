#include "world_step.h"

/* Gathers all moving bodies with their joints and contacts, depth first as Box2D does, since the order affects the
 * results of the passes. Returns false if the moving bodies are not connected, or if all of them sleep. */
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

/* Moves the bodies by their velocities, within Box2D's limits for one step. */
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

/* Puts the bodies to sleep if all of them have been slow for long enough. */
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
    fall_asleep(); /* no listener of this family uses impulses, so they are not reported */
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
