"""BabyAI's instructions: descriptions of objects, tasks, their sentences, and what is done of them."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.structs cimport Clause, Description, Rooms, Task, World

cdef enum Status:
    GOES_ON, SUCCEEDS, FAILS

# A description of objects by kind, colour and location, each of which may be ANY or ANYWHERE; of objects that look like
# a given one; and of objects of its kind.
cdef Description describe(int32_t kind, int32_t colour, int32_t location) noexcept nogil
cdef Description like(uint32_t cell) noexcept nogil
cdef Description of_kind(uint32_t cell) noexcept nogil

# Finds the objects that a description fits, seen from where the agent is now.
cdef void find_objects(const Rooms* g, Description* what) noexcept nogil

cdef Task task_of(int32_t verb, Description what, bint is_strict) noexcept nogil
cdef Task put_next(Description what, Description fixed) noexcept nogil

# Instructions: one task, one clause, or two clauses in an order. A clause is one task, or two in any order.
cdef void ask(Rooms* g, Task task) noexcept nogil
cdef void ask_clause(Rooms* g, Clause clause) noexcept nogil
cdef void ask_both(Rooms* g, Clause a, Clause b, bint is_reversed) noexcept nogil
cdef Clause clause_of(Task task) noexcept nogil
cdef Clause both(Task a, Task b) noexcept nogil

# Whether an instruction can be given; LevelGen's levels with `unblocking` refuse tasks for keys of locked doors.
cdef bint is_sensible(Rooms* g, bint is_unblocking) noexcept nogil
# Makes the instruction a sentence, and the mission.
cdef void say_instruction(Rooms* g) noexcept nogil
# The number of walks through the maze that upstream counts for an instruction.
cdef int32_t count_walks(const World* w) noexcept nogil
# Progress that a step has made with the instruction.
cdef Status verify(World* w, int32_t action) noexcept nogil
