"""Environment definitions of scenarios."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_env
from envpool.mpe.world cimport Config, Rules

# An environment definition with everything but the scenario, with or without the parameter `curriculum_stage`. The
# module of the scenario keeps it forever.
cdef envpool_env new_scenario(const char* name, bint has_stages=*) noexcept

# A Config with the entities of the scenario whose Python class is `scenario`, whose numbers it has checked. The caller
# fills in what only its scenario has.
cdef Config new_config(object scenario, object config) except *

# The capsule of a scenario, with `num_figures` about each agent.
cdef object define_scenario(const envpool_env* env_def, const Rules* rules, Config* c, object scenario, object config,
                            int32_t num_figures=*)
