/* One step of one world: what b2World::Step does, for worlds whose moving bodies form one island. */
#ifndef ENVPOOL_BOX2D_WORLD_STEP_H
#define ENVPOOL_BOX2D_WORLD_STEP_H

#include <Box2D/Box2D.h>
#include <Box2D/Dynamics/Contacts/b2ContactSolver.h>
#include <Box2D/Dynamics/b2Island.h>

#include <new>

#include "velocities.h"

/* Storage for an object that is constructed and destroyed explicitly. */
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

/* A contact, and which of its sides moves. */
struct Moving {
  const b2ContactVelocityConstraint *constraint;
  int32 body; /* index among the moving bodies */
  bool is_a;
};

/* One step of a world whose moving bodies are connected by joints and touch static bodies only. The class is a friend of
 * Box2D's classes; other worlds are stepped by Box2D itself. */
class Stepper {
 public:
  /* Does the step up to the passes over velocities. Returns whether the caller must do these passes; otherwise only
   * finish() remains. */
  bool begin(b2World *world, float32 dt, int32 velocity_passes, int32 position_passes);
  void finish();

  /* Whether the passes of this world can be done together with those of `first`: both have the same joints between the
   * same bodies. */
  bool is_like(const Stepper &first) const;
  /* Does the passes of this world alone. */
  void solve_alone();
  /* Copy the state of the passes to one lane of a vector, and back. */
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
  int32 index_[VELOCITIES_BODIES];                                /* index in the island of a moving body */
  int32 joint_bodies_[VELOCITIES_BODIES - 1][2];                  /* indices among the moving bodies */
  Moving moving_[VELOCITIES_BODIES * VELOCITIES_CONTACTS];        /* in the order of the island */
  int32 num_contacts_[VELOCITIES_BODIES];
};

#endif /* ENVPOOL_BOX2D_WORLD_STEP_H */
