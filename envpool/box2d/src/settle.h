/* The passes over the contacts of an impact: Box2D does 180 of them, but the later ones usually change nothing. */
#ifndef ENVPOOL_BOX2D_SETTLE_H
#define ENVPOOL_BOX2D_SETTLE_H

class b2ContactSolver;

/* Does up to `passes` passes over the velocity constraints, and stops after the first pass that changes nothing.
 * `num_bodies` is the number of velocities of the solver. */
void settle_contacts(b2ContactSolver *solver, int num_bodies, int passes);

#endif /* ENVPOOL_BOX2D_SETTLE_H */
