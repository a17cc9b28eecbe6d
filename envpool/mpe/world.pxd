"""Worlds of agents and landmarks: their state, and what the scenarios of MPE share.

A scenario is a table of `Rules`, and a `Config` that lists its kinds of entities; definition.pxd makes an environment
of both. Entities are numbered in upstream's order: the agents of all kinds first, then the landmarks.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from envpool.numerics.rng cimport ep_pcg64, ep_uniform

cdef enum:
    DIM = 2                     # coordinates of a position
    MOVES = 5                   # actions of an agent that moves: nothing, left, right, down, up
    MAX_KINDS = 6
    MAX_NAME = 16               # bytes, with the terminating zero
    MAX_AGENTS = 128
    MAX_LANDMARKS = 128
    MAX_ENTITIES = MAX_AGENTS + MAX_LANDMARKS
    ALL = -1                    # number of neighbours that an agent observes

# Entities that are alike: a group of agents, or landmarks of one sort.
cdef struct Kind:
    int32_t count
    int32_t is_agent
    int32_t is_movable
    int32_t collides
    int32_t speaks
    int32_t obs_size            # of an agent
    double size                 # the radius
    double mass
    double force                # of the strongest move
    double max_speed            # 0: unlimited
    double colour[3]            # 0 to 1; the scenario's `colour_of` may change it
    char name[MAX_NAME]         # the group's name; its agents are name_0, name_1, ...

cdef struct Config:
    const Rules* rules          # see new_scenario in definition.pxd
    int32_t num_agents
    int32_t num_landmarks
    int32_t num_entities
    int32_t num_kinds
    Kind kinds[MAX_KINDS]
    int32_t dim_c               # symbols that an agent can say
    int32_t is_continuous
    int32_t max_cycles          # steps after which an episode is truncated
    int32_t num_types           # of treasures
    int32_t slow_kind           # index of the kind that the stages of the curriculum slow down; -1: none
    int32_t first_stage         # of the curriculum, for environments that have no other one
    int32_t last_stage
    int32_t agent_neighbours    # or ALL
    int32_t landmark_neighbours     # or ALL
    int32_t terminates_on_success
    int32_t has_curriculum
    int32_t has_dynamic_rescaling
    int32_t num_extra           # doubles of the scenario in a record
    int32_t num_figures         # about each agent, if the user asks for them
    int32_t reserved
    int32_t obs_size            # of the kind with the longest observation
    int32_t action_size         # of the kind with the longest continuous action
    double local_ratio

# The record: its head, which `num_doubles` numbers follow.
cdef struct World:
    ep_pcg64 rng
    ep_pcg64 respawns           # the generator of treasures
    double first_range          # largest coordinate of the first state of the episode, which frames are scaled by
    int32_t goal                # a landmark, counted from the first one
    int32_t second_goal         # another landmark, whose meaning depends on the scenario
    int32_t stage               # of the curriculum
    int32_t steps               # of the episode
    int32_t is_success          # whether the last step reached the aim of the scenario
    int32_t reserved
    # double positions[num_entities][2], velocities[num_agents][2], speech[num_agents][dim_c], extra[num_extra]

# A scenario.
cdef struct Rules:
    # Draws an episode. Velocities and speech are zero.
    void (*reset)(World* w, const Config* c) noexcept nogil
    # Applies the rules that follow the physics, and writes the reward of every agent. May set World.is_success.
    void (*step)(World* w, const Config* c, double* rewards) noexcept nogil
    # Writes the observation of an agent, whose size depends on its kind.
    void (*observe)(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil
    # Changes the colour of an entity from that of its kind; returns 0 if the entity is not drawn. NULL: no change.
    bint (*colour_of)(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil
    # Writes the figures about an agent (num_figures), which are zero at first. NULL: there are none.
    void (*measure)(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil
    # Whether the extra numbers and the goals are safe, for any bytes. NULL: nothing but the goals, which are landmarks.
    bint (*is_valid)(const World* w, const Config* c) noexcept nogil


cdef inline double* positions(const World* w) noexcept nogil:
    return <double*>(w + 1)


cdef inline double* position(const World* w, int32_t entity) noexcept nogil:
    return positions(w) + DIM * entity


cdef inline double* landmark(const World* w, const Config* c, int32_t number) noexcept nogil:
    """Return the position of a landmark, counted from the first one."""
    return position(w, c.num_agents + number)


cdef inline double* velocities(const World* w, const Config* c) noexcept nogil:
    return positions(w) + DIM * c.num_entities


cdef inline double* velocity(const World* w, const Config* c, int32_t agent) noexcept nogil:
    return velocities(w, c) + DIM * agent


cdef inline double* speech(const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Return what an agent said last (dim_c)."""
    return velocities(w, c) + DIM * c.num_agents + c.dim_c * agent


cdef inline double* extra(const World* w, const Config* c) noexcept nogil:
    return speech(w, c, c.num_agents)


cdef inline int64_t num_doubles(const Config* c) noexcept nogil:
    return DIM * (c.num_entities + c.num_agents) + c.dim_c * c.num_agents + c.num_extra


cdef inline const Kind* kind_of(const Config* c, int32_t entity) noexcept nogil:
    cdef const Kind* kind = &c.kinds[0]
    while entity >= kind.count:
        entity -= kind.count
        kind += 1
    return kind


cdef inline double squared_distance(const double* a, const double* b) noexcept nogil:
    cdef double x = a[0] - b[0], y = a[1] - b[1]
    return x * x + y * y


cdef inline double distance(const double* a, const double* b) noexcept nogil:
    return sqrt(squared_distance(a, b))


cdef inline double least_distance(const double* point, const double* others, int32_t n) noexcept nogil:
    """Return the distance to the nearest of n > 0 points."""
    cdef double least = distance(others, point), other
    cdef int32_t i
    for i in range(1, n):
        other = distance(others + DIM * i, point)
        if other < least:
            least = other
    return least


cdef inline void scatter(World* w, int32_t first, int32_t count, double bound) noexcept nogil:
    """Draw the positions of entities in a square around 0."""
    cdef double* p = position(w, first)
    cdef int32_t i
    for i in range(DIM * count):
        p[i] = ep_uniform(&w.rng, -bound, bound)


# ---- observations: each function writes numbers, and returns where the next ones go ----------------------------------


cdef inline float* put(float* obs, const double* values, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        obs[i] = <float>values[i]
    return obs + n


cdef inline float* put_offset(float* obs, const double* to, const double* origin) noexcept nogil:
    obs[0] = <float>(to[0] - origin[0])
    obs[1] = <float>(to[1] - origin[1])
    return obs + DIM


cdef inline float* put_zeros(float* obs, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        obs[i] = 0
    return obs + n


cdef inline float* put_one_hot(float* obs, int32_t index, int32_t n) noexcept nogil:
    """Write n numbers: 1 at `index`, if it is in range, and 0 elsewhere."""
    cdef int32_t i
    for i in range(n):
        obs[i] = i == index
    return obs + n


cdef inline float* put_landmarks(float* obs, const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Write the offsets of all landmarks."""
    cdef int32_t i
    for i in range(c.num_agents, c.num_entities):
        obs = put_offset(obs, position(w, i), position(w, agent))
    return obs


cdef inline float* put_others(float* obs, const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Write the offsets of all other agents."""
    cdef int32_t i
    for i in range(c.num_agents):
        if i != agent:
            obs = put_offset(obs, position(w, i), position(w, agent))
    return obs


cdef inline float* put_self(float* obs, const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Write an agent's velocity and position."""
    return put(put(obs, velocity(w, c, agent), DIM), position(w, agent), DIM)


# Sorts n indices by their keys, ascending; those with equal keys keep their order.
cdef void sort_by_key(int32_t* indices, double* keys, int32_t n) noexcept nogil

# Writes the indices of the agents other than `agent`, or of the landmarks, which it observes: the nearest ones first if
# their number is limited. Returns how many it has written.
cdef int32_t observed_agents(const World* w, const Config* c, int32_t agent, int32_t* found) noexcept nogil
cdef int32_t observed_landmarks(const World* w, const Config* c, int32_t agent, int32_t* found) noexcept nogil

# Writes the offsets of the observed landmarks or agents, and zeros in the places of those that are missing.
cdef float* put_observed_landmarks(float* obs, const World* w, const Config* c, int32_t agent) noexcept nogil
cdef float* put_observed(float* obs, const World* w, int32_t agent, const int32_t* found, int32_t count) noexcept nogil

# The places for other agents, and for landmarks, in an observation.
cdef int32_t agent_places(const Config* c) noexcept nogil
cdef int32_t landmark_places(const Config* c) noexcept nogil


# ---- rewards ---------------------------------------------------------------------------------------------------------

# Penalty of an agent for a coordinate outside of the arena.
cdef double excess(double coordinate) noexcept nogil

# The reward of each agent is the mean distance, at most 2, of agents to the targets (num_agents, 2) that an optimal
# assignment gives them, negated. All within `near` of their targets is a success.
cdef void reward_targets(World* w, const Config* c, const double* targets, double near, double* rewards) noexcept nogil


# ---- episodes --------------------------------------------------------------------------------------------------------

# Starts an episode.
cdef void reset_world(World* w, const Config* c) noexcept nogil

# Simulates a step; `row` is the row of the first agent in the actions of all environments.
cdef void step_world(World* w, const Config* c, const void* actions, int64_t row, float* rewards) noexcept nogil
