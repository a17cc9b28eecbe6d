/* Several worlds in the lanes of vectors: which worlds can share a vector, and the way into the lanes and back. */
#include "stepper.h"

#include <cstring>

#include "world_step.h"

/* Numbers the moving bodies in the order of the world's list. Returns whether velocities.h supports all joints. */
bool Stepper::describe_joints() {
  if (num_moving_ > VELOCITIES_BODIES || island_->m_jointCount > VELOCITIES_BODIES - 1) return false;
  int32 number_of[VELOCITIES_BODIES * (VELOCITIES_CONTACTS + 1)]; /* by index in the island */
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

/* Groups the contacts by moving body. Returns whether velocities.h supports all contacts. */
bool Stepper::describe_contacts() {
  for (int32 i = 0; i < num_moving_; i++) num_contacts_[i] = 0;
  for (int32 i = 0; i < contacts_->m_count; i++) {
    const b2ContactVelocityConstraint *c = &contacts_->m_velocityConstraints[i];
    const bool is_a = c->invMassB == 0.0f;
    if (is_a == (c->invMassA == 0.0f) || c->tangentSpeed != 0.0f) return false; /* none or both of its bodies move */
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

/* Unused lanes, and the contacts that a world lacks, contain zeros, which the passes do not change. */
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

/* Does the passes of steppers that are like the first one, one vector of worlds at a time. */
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
