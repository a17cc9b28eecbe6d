"""CarRacing: a car on a generated track, seen from above. `env.pyx` is where to start."""
