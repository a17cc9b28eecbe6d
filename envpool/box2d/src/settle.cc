#include "settle.h"

#include <Box2D/Box2D.h>
#include <Box2D/Dynamics/Contacts/b2ContactSolver.h>

#include <cstring>

namespace {

enum { MAX_BODIES = 8, MAX_CONTACTS = 8 };

/* A copy of everything that a pass changes, to detect that a pass changed nothing. Unused if there are too many bodies or
 * contacts. */
class Snapshot {
 public:
  Snapshot(const b2ContactSolver *solver, int num_bodies)
      : solver_(solver),
        num_bodies_(num_bodies),
        is_used_(num_bodies <= MAX_BODIES && solver->m_count <= MAX_CONTACTS) {}

  void take() {
    if (!is_used_) return;
    std::memcpy(velocities_, solver_->m_velocities, num_bodies_ * sizeof(b2Velocity));
    std::memcpy(constraints_, solver_->m_velocityConstraints, solver_->m_count * sizeof(b2ContactVelocityConstraint));
  }

  bool is_current() const {
    return is_used_ && std::memcmp(velocities_, solver_->m_velocities, num_bodies_ * sizeof(b2Velocity)) == 0 &&
           std::memcmp(constraints_, solver_->m_velocityConstraints,
                       solver_->m_count * sizeof(b2ContactVelocityConstraint)) == 0;
  }

 private:
  const b2ContactSolver *solver_;
  int num_bodies_;
  bool is_used_;
  alignas(b2Velocity) unsigned char velocities_[MAX_BODIES * sizeof(b2Velocity)];
  alignas(b2ContactVelocityConstraint) unsigned char constraints_[MAX_CONTACTS * sizeof(b2ContactVelocityConstraint)];
};

}  // namespace

void settle_contacts(b2ContactSolver *solver, int num_bodies, int passes) {
  Snapshot before(solver, num_bodies);
  for (int pass = 0; pass < passes; pass++) {
    before.take();
    solver->SolveVelocityConstraints();
    if (before.is_current()) return;
  }
}
