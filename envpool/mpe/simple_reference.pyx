"""Simple reference: two agents, each of which knows where the other one should go."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, Config, Rules, World, distance, landmark, position, put, put_landmarks, scatter, speech, velocity,
)
from envpool.numerics.rng cimport ep_integers

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import Scenario

cdef enum:
    NUM_AGENTS = 2
    NUM_LANDMARKS = 3
    SYMBOLS = 10


cdef void reset(World* w, const Config* c) noexcept nogil:
    """Draw which landmark agent 1 should go to, which agent 0 knows: `goal`; and the other way: `second_goal`."""
    w.goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    w.second_goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef double first = -distance(position(w, 1), landmark(w, c, w.goal))
    cdef double second = -distance(position(w, 0), landmark(w, c, w.second_goal))
    cdef double everyone = (first + second) / NUM_AGENTS
    rewards[0] = everyone * (1 - c.local_ratio) + first * c.local_ratio
    rewards[1] = everyone * (1 - c.local_ratio) + second * c.local_ratio


cdef inline void landmark_colour(int32_t number, double* colour) noexcept nogil:
    colour[0] = colour[1] = colour[2] = 0.25
    colour[number] = 0.75


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    """Return the colour of the landmark that an agent should go to."""
    landmark_colour(w.second_goal if entity == 0 else w.goal if entity == 1 else entity - NUM_AGENTS, colour)
    return 1


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef double colour[3]
    landmark_colour(w.goal if agent == 0 else w.second_goal, colour)
    obs = put_landmarks(put(obs, velocity(w, c, agent), DIM), w, c, agent)
    put(put(obs, colour, 3), speech(w, c, 1 - agent), SYMBOLS)


class MPESimpleReference(Scenario):
    """Two agents and three landmarks; each agent knows which landmark the other one should go to, and can say it.

    An agent loses the distance of the other one from its landmark; the common reward is the mean of both. Observation
    float32 (2, 21): velocity, offsets of the landmarks, colour of the other agent's landmark, what the other agent
    said.

    Options
    -------
    local_ratio : float
        Weight in [0, 1] of an agent's own reward; that of the common reward is 1 - local_ratio. Default 0.5.
    """

    options = {"local_ratio": 0.5, **Scenario.options}
    symbols = SYMBOLS
    functions = new_scenario("MPESimpleReference", Rules(reset, step, observe, colour_of, NULL, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        return [Entities("agent", NUM_AGENTS, obs_size=21, speaks=True), Entities("landmark", NUM_LANDMARKS)]
