"""Simple tag: adversaries that must catch agents, which are faster, among obstacles."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, Config, Rules, World, agent_places, distance, excess, observed_agents, position, put, put_observed,
    put_observed_landmarks, put_self, put_zeros, scatter, velocity,
)

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, NEIGHBOURS, Scenario, check_count, check_total, places, stages

cdef enum:
    ADVERSARY                   # kind of agents

cdef double ADVERSARY_SIZE = 0.075
cdef double GOOD_SIZE = 0.05


cdef void reset(World* w, const Config* c) noexcept nogil:
    scatter(w, 0, c.num_agents, 1)
    scatter(w, c.num_agents, c.num_landmarks, 0.9)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef int32_t first = c.kinds[ADVERSARY].count, i, j, touched, touches = 0
    w.is_success = 1
    for i in range(first, c.num_agents):
        touched = 0
        for j in range(first):
            touched += distance(position(w, i), position(w, j)) < ADVERSARY_SIZE + GOOD_SIZE
        touches += touched
        w.is_success &= touched > 0
        rewards[i] = -10 * touched - excess(position(w, i)[0]) - excess(position(w, i)[1])
    for j in range(first):
        rewards[j] = 10 * touches


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef int32_t found[MAX_AGENTS]
    cdef int32_t first = c.kinds[ADVERSARY].count, i
    cdef int32_t n = observed_agents(w, c, agent, found), missing = DIM * (agent_places(c) - n)
    obs = put_observed_landmarks(put_self(obs, w, c, agent), w, c, agent)
    obs = put_zeros(put_observed(obs, w, agent, found, n), missing)
    for i in range(n):
        if found[i] >= first:
            obs = put(obs, velocity(w, c, found[i]), DIM)
        elif c.agent_neighbours >= 0:
            obs = put_zeros(obs, DIM)
    put_zeros(obs, missing)


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """How many agents an adversary touches."""
    cdef int32_t first = c.kinds[ADVERSARY].count, i
    if agent < first:
        for i in range(first, c.num_agents):
            figures[0] += distance(position(w, i), position(w, agent)) < ADVERSARY_SIZE + GOOD_SIZE


class MPESimpleTag(Scenario):
    """Adversaries gain 10 for each pair of an adversary and an agent that touch; the agent loses 10.

    Agents also lose up to 10 for each coordinate beyond 0.9. The aim is reached when all agents are touched at once.
    Observation float32 (4, 16), by default: velocity, position, offsets of the obstacles and of the other agents,
    velocities of the good ones among them. With curriculum, agents have half of their speed and force in stage 0, three
    quarters in stage 1, and all in stage 2.

    Options
    -------
    num_good : int
        Number of good agents, at least 1. Default 1.
    num_adversaries : int
        Number of adversaries, at least 1; with the good agents, at most 128. Default 3.
    num_obstacles : int
        Number of obstacles, 0 to 128. Default 2.
    """

    options = {
        "num_good": 1, "num_adversaries": 3, "num_obstacles": 2, **Scenario.options, **BENCHMARK, **NEIGHBOURS,
        "curriculum": False, "terminate_on_success": False,
    }
    params = stages(2, "stage of the curriculum: agents have 50, 75 or 100 % of their speed")
    functions = new_scenario("MPESimpleTag", Rules(reset, step, observe, NULL, measure, NULL), has_stages=1)
    num_figures = 1

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        good, adversaries = config.num_good, config.num_adversaries
        check_count("num_good", good)
        check_count("num_adversaries", adversaries)
        check_total("num_good and num_adversaries", good + adversaries)
        check_count("num_obstacles", config.num_obstacles, 0)
        limit = config.num_agent_neighbors
        agents = 2 * places("num_agent_neighbors", limit, good + adversaries - 1)
        seen = 4 + 2 * places("num_landmark_neighbors", config.num_landmark_neighbors, config.num_obstacles) + agents
        return [
            Entities("adversary", adversaries, ADVERSARY_SIZE, (0.85, 0.35, 0.35),
                     seen + (2 * good if limit is None else agents), True, force=3.0, max_speed=1.0),
            Entities("agent", good, GOOD_SIZE, (0.35, 0.85, 0.35),
                     seen + (2 * (good - 1) if limit is None else agents), True, force=4.0, max_speed=1.3,
                     slows_down=True),
            Entities("landmark", config.num_obstacles, 0.2, collides=True),
        ]
