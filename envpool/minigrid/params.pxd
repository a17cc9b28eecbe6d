"""Turns the options of a task into the struct that its level reads."""

from envpool.minigrid.structs cimport Params

# Fills `p` from the options of a task, except for level, width, height and max_steps. Raises ConfigError for values
# that no level allows.
cdef int fill_params(Params* p, dict options) except -1
