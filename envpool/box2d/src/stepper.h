/* Steps several worlds at once, with the bits that b2World::Step gives each of them.
 *
 * Most of a step goes into 180 passes over joints and contacts, each of which has to wait for the one before. Here the
 * worlds of a block come to that point one by one, go through it together (velocities.h), and are finished one by one.
 *
 * Worlds must have been made so that static bodies come before all others, as the list of bodies has the newest first.
 */
#ifndef ENVPOOL_BOX2D_STEPPER_H
#define ENVPOOL_BOX2D_STEPPER_H

class b2World;

enum { STEPPER_BLOCK = 16, STEPPER_LANES = 8 };

/* Steps n worlds (at most STEPPER_BLOCK) by dt seconds. */
void stepper_step(b2World *const *worlds, int n, float dt, int velocity_passes, int position_passes);

#endif /* ENVPOOL_BOX2D_STEPPER_H */
