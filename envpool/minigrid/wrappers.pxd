"""Additions of upstream's wrappers to a level: seeds of resets, exploration bonuses, and the direction of the goal.

Their tables follow the options in the config of a definition: seeds, then directions; then the tiles of observations.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from envpool.minigrid.structs cimport GOAL, NUM_ACTIONS, Params, World
from envpool.minigrid.world cimport cells_of, kind_of
from envpool.numerics.rng cimport ep_pcg64_seed

# Kinds of exploration bonuses, in the order of wrappers.BONUSES.
cdef enum Bonus:
    NO_BONUS, POSITION_BONUS, ACTION_BONUS


cdef inline const uint64_t* reset_seeds_of(const Params* p) noexcept nogil:
    return <const uint64_t*>(p + 1)


cdef inline const double* directions_of(const Params* p) noexcept nogil:
    return <const double*>(reset_seeds_of(p) + p.num_reset_seeds)


cdef inline const uint8_t* tiles_of(const Params* p) noexcept nogil:
    return <const uint8_t*>(directions_of(p) + p.num_directions)


cdef inline void reseed(World* w, const Params* p) noexcept nogil:
    """Seed the generator with the next of the option reset_seeds, if there are any."""
    if p.num_reset_seeds:
        ep_pcg64_seed(&w.rng, reset_seeds_of(p)[w.next_seed])
        w.next_seed = (w.next_seed + 1) % p.num_reset_seeds


cdef inline int32_t num_counts(const Params* p) noexcept nogil:
    """Return the number of counts of an environment, which follow its cells and are never reset."""
    if p.bonus == NO_BONUS:
        return 0
    return p.width * p.height * (4 * NUM_ACTIONS if p.bonus == ACTION_BONUS else 1)


cdef inline double bonus_of(World* w, const Params* p, int32_t action) noexcept nogil:
    """Count the cell of the agent, or its cell and direction with the action that led there, and return the bonus. A
    count that has reached its largest value stays."""
    cdef int32_t at = w.y * w.width + w.x
    cdef uint32_t* count = cells_of(w) + w.width * w.height
    count += (at * 4 + w.direction) * NUM_ACTIONS + action if p.bonus == ACTION_BONUS else at
    if count[0] < <uint32_t>-1:
        count[0] += 1
    return 1 / sqrt(<double>count[0]) * p.options.bonus_scale


cdef inline int32_t find_goal(const World* w) noexcept nogil:
    """Return the index of the first goal, row by row, or -1."""
    cdef int32_t i
    for i in range(w.width * w.height):
        if kind_of(cells_of(<World*>w)[i]) == GOAL:
            return i
    return -1


cdef inline double goal_direction(const World* w, const Params* p) noexcept nogil:
    """Return the direction of the first goal from the agent; 0 if there is none, as after a failure."""
    cdef int32_t goal = find_goal(w), dx, dy
    if goal < 0:
        return 0
    dx, dy = goal % w.width - w.x, goal // w.width - w.y
    return directions_of(p)[(dy + w.height - 1) * (2 * w.width - 1) + dx + w.width - 1]
