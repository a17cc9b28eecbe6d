"""Environment definitions of scenarios."""

from envpool.mpe.world cimport Rules

# The functions of a scenario, for its class, with or without the parameter `curriculum_stage`. They are kept forever.
cdef object new_scenario(const char* name, Rules rules, bint has_stages=*)
