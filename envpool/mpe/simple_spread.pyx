"""Simple spread: agents that must cover all landmarks without bumping into each other."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, Config, Rules, World, agent_places, distance, landmark, least_distance, observed_agents, position,
    positions, put, put_observed, put_observed_landmarks, put_self, put_zeros, scatter, speech,
)

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, NEIGHBOURS, Scenario, check_count, places, stages

cdef enum:
    SYMBOLS = 2                 # which no agent says: observations have zeros in their places

cdef double SIZE = 0.15
cdef double COVERED = 0.1       # distance at which an agent covers a landmark


cdef void reset(World* w, const Config* c) noexcept nogil:
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef double least, everyone = 0
    cdef int32_t i, j
    w.is_success = 1
    for i in range(c.num_landmarks):
        least = least_distance(landmark(w, c, i), positions(w), c.num_agents)
        everyone -= least
        w.is_success &= least < COVERED
    for i in range(c.num_agents):
        rewards[i] = 0
    if not c.has_curriculum or w.stage > 0:
        for i in range(c.num_agents):
            for j in range(i + 1, c.num_agents):
                if distance(position(w, i), position(w, j)) < SIZE + SIZE:
                    rewards[i] -= 1
                    rewards[j] -= 1
    for i in range(c.num_agents):
        rewards[i] = everyone * (1 - c.local_ratio) + rewards[i] * c.local_ratio


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef int32_t found[MAX_AGENTS]
    cdef int32_t i, n = observed_agents(w, c, agent, found), missing = agent_places(c) - n
    obs = put_observed_landmarks(put_self(obs, w, c, agent), w, c, agent)
    obs = put_zeros(put_observed(obs, w, agent, found, n), DIM * missing)
    for i in range(n):
        obs = put(obs, speech(w, c, found[i]), SYMBOLS)
    put_zeros(obs, SYMBOLS * missing)


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """A reward with equal weights, collisions, sum of the landmarks' least distances, landmarks with an agent."""
    cdef double least
    cdef int32_t i
    for i in range(c.num_landmarks):
        least = least_distance(landmark(w, c, i), positions(w), c.num_agents)
        figures[0] -= least
        figures[2] += least
        figures[3] += least < COVERED
    for i in range(c.num_agents):
        if i != agent and distance(position(w, i), position(w, agent)) < SIZE + SIZE:
            figures[0] -= 1
            figures[1] += 1


class MPESimpleSpread(Scenario):
    """N agents that must cover N landmarks without collisions.

    In each step, all agents lose the distance of each landmark from the nearest agent, and an agent loses 1 for each
    agent that it touches. The aim is reached when all landmarks have an agent within 0.1.

    Observation float32 (N, 6N), by default: velocity, position, offsets of the landmarks and of the other agents, and
    two zeros for each other agent. With curriculum, agents lose nothing for touching each other in stage 0.

    Options
    -------
    N : int
        Number of agents and of landmarks, 1 to 128. Default 3.
    local_ratio : float
        Weight in [0, 1] of an agent's own reward; that of the common reward is 1 - local_ratio. Default 0.5.
    """

    options = {
        "N": 3, "local_ratio": 0.5, **Scenario.options, **BENCHMARK, **NEIGHBOURS,
        "curriculum": False, "terminate_on_success": False,
    }
    params = stages(1, "stage of the curriculum: in 0, agents lose nothing for touching each other")
    symbols = SYMBOLS
    functions = new_scenario("MPESimpleSpread", Rules(reset, step, observe, NULL, measure, NULL), has_stages=1)
    num_figures = 4

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        check_count("N", config.N)
        landmarks = places("num_landmark_neighbors", config.num_landmark_neighbors, config.N)
        agents = places("num_agent_neighbors", config.num_agent_neighbors, config.N - 1)
        return [
            Entities("agent", config.N, SIZE, (0.35, 0.35, 0.85), 4 + 2 * landmarks + 4 * agents, collides=True),
            Entities("landmark", config.N),
        ]
