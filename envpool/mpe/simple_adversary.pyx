"""Simple adversary: agents that must be near a landmark that an adversary does not know."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, Config, Rules, World, agent_places, distance, landmark, least_distance, observed_agents, position,
    put_observed, put_observed_landmarks, put_offset, put_zeros, scatter, squared_distance,
)
from envpool.numerics.rng cimport ep_integers

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, NEIGHBOURS, Scenario, check_count, places


cdef void reset(World* w, const Config* c) noexcept nogil:
    w.goal = <int32_t>ep_integers(&w.rng, 0, c.num_landmarks)
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef const double* goal = landmark(w, c, w.goal)
    cdef double adversary = distance(position(w, 0), goal)
    cdef double good = -least_distance(goal, position(w, 1), c.num_agents - 1) + adversary
    cdef int32_t i
    rewards[0] = -adversary
    for i in range(1, c.num_agents):
        rewards[i] = good


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef int32_t found[MAX_AGENTS]
    cdef int32_t n = observed_agents(w, c, agent, found)
    if agent > 0:
        obs = put_offset(obs, landmark(w, c, w.goal), position(w, agent))
    obs = put_observed(put_observed_landmarks(obs, w, c, agent), w, agent, found, n)
    put_zeros(obs, DIM * (agent_places(c) - n))


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    if entity == c.num_agents + w.goal:
        colour[0], colour[1], colour[2] = 0.15, 0.65, 0.15
    return 1


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """Squared distances from the landmarks, for good agents, and from the goal."""
    cdef int32_t i, n = 0
    if agent > 0:
        for i in range(c.num_landmarks):
            figures[i] = squared_distance(position(w, agent), landmark(w, c, i))
        n = c.num_landmarks
    figures[n] = squared_distance(position(w, agent), landmark(w, c, w.goal))


class MPESimpleAdversary(Scenario):
    """N agents, an adversary, and N landmarks, one of which is the goal; the adversary does not know which one.

    The adversary loses its distance from the goal. The agents gain this distance, and lose the distance of the nearest
    agent. Observation float32 (1 + N, 4N + 2), by default: offset of the goal (agents only), offsets of the landmarks
    and of the other agents. The observation of the adversary has 4N numbers.

    Options
    -------
    N : int
        Number of good agents and of landmarks, 1 to 127. Default 2.
    """

    options = {"N": 2, **Scenario.options, **BENCHMARK, **NEIGHBOURS}
    functions = new_scenario("MPESimpleAdversary", Rules(reset, step, observe, colour_of, measure, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        check_count("N", config.N, high=MAX_AGENTS - 1)
        seen = 2 * places("num_landmark_neighbors", config.num_landmark_neighbors, config.N)
        seen += 2 * places("num_agent_neighbors", config.num_agent_neighbors, config.N)
        return [
            Entities("adversary", 1, 0.15, (0.85, 0.35, 0.35), seen),
            Entities("agent", config.N, 0.15, (0.35, 0.35, 0.85), seen + 2),
            Entities("landmark", config.N, 0.08, (0.15, 0.15, 0.15)),
        ]

    @classmethod
    def build(cls, config):
        return cls.functions.define(cls, config, num_figures=config.N + 1)
