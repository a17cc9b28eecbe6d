/* Steps several worlds at once, bit for bit as b2World::Step does.
 *
 * Most of a step's time goes into 180 passes over joints and contacts, each of which depends on the previous one. Here the
 * worlds of a block reach these passes one by one (world_step.h), do them together (velocities.h), and are finished one by
 * one.
 *
 * Static bodies must have been created before all other bodies of a world, since Box2D's list has the newest body first.
 */
#ifndef ENVPOOL_BOX2D_STEPPER_H
#define ENVPOOL_BOX2D_STEPPER_H

class b2World;

enum { STEPPER_BLOCK = 16, STEPPER_LANES = 8 };

/* Steps n worlds (at most STEPPER_BLOCK) by dt seconds. */
void stepper_step(b2World *const *worlds, int n, float dt, int velocity_passes, int position_passes);

#endif /* ENVPOOL_BOX2D_STEPPER_H */
