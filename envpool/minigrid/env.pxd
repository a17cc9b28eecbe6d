"""Makes environment definitions of levels."""

from envpool.minigrid.structs cimport Level

# The capsule of a level under a configuration, in a grid of this size, whose episodes have `max_steps` steps unless the
# option of this name is given. Actions are 0 to last_action. `fixed` has the values of options that the level lacks.
cdef object define_level(const Level* level, object config, int width, int height, int max_steps, int last_action=*,
                         dict fixed=*)
