"""Shared code of BabyAI's levels: their generation with rejected samples, and checks and choices of objects."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.rooms cimport LevelFunctions
from envpool.minigrid.structs cimport Outcome, Params, Rooms, World

# Functions of a Level: generates a level by its `plan`, from the beginning whenever a sample is rejected; and judges by
# the instruction.
cdef void generate(World* w, const Params* p) noexcept nogil
cdef void judge(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil

ctypedef void (*Plan)(Rooms* g, const Params* p) noexcept nogil
cdef LevelFunctions level_of(Plan plan)

# Whether the agent can get to everything through doors, whether or not they are locked; objects are in its way.
cdef bint all_reachable(Rooms* g) noexcept nogil
# Rejects the sample if not.
cdef void check_reachable(Rooms* g) noexcept nogil

# Places the agent in any room, connects all rooms with doors, and adds objects to any rooms, which `objects` receives
# if it is not NULL. Returns their number.
cdef int32_t scatter(Rooms* g, int32_t count, bint all_unique, uint32_t* objects) noexcept nogil
cdef uint32_t choose(World* w, const uint32_t* objects, int32_t count) noexcept nogil
# Places the agent in any room but one, by its number.
cdef void place_agent_outside(Rooms* g, int32_t room) noexcept nogil
