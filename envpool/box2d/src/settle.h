/* Passes over the contacts of an impact, which Box2D does 180 times, and which soon change nothing any more. */
#ifndef ENVPOOL_BOX2D_SETTLE_H
#define ENVPOOL_BOX2D_SETTLE_H

class b2ContactSolver;

/* Does up to `passes` passes over the velocity constraints: all of them, or as many as change something. `num_bodies`
 * is the number of velocities that the solver works on. */
void settle_contacts(b2ContactSolver *solver, int num_bodies, int passes);

#endif /* ENVPOOL_BOX2D_SETTLE_H */
