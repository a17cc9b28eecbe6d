"""Simple line: agents that must form a line between two landmarks."""

from libc.math cimport cos, fabs, sin
from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, Config, Rules, World, extra, landmark, put_landmarks, put_self, reward_targets, scatter,
)
from envpool.numerics.rng cimport ep_uniform

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import Scenario, check_count

cdef double PI = 3.141592653589793
cdef double LENGTH = 1.25       # of the line
cdef double NEAR = 0.05

cdef enum:
    MAX_TURNS = 1000            # more than enough: a turn has 72


cdef void reset(World* w, const Config* c) noexcept nogil:
    """Draw a line, turn it until it ends inside of the arena, and divide it among the agents."""
    cdef const double* start = landmark(w, c, 0)
    cdef double* targets = extra(w, c)
    cdef double[2] direction
    cdef double between = LENGTH / (c.num_agents - 1) if c.num_agents > 1 else 0, angle
    cdef double* end = landmark(w, c, 1)
    cdef int32_t i, j
    scatter(w, 0, c.num_agents, 1)
    scatter(w, c.num_agents, 1, 0.25)
    angle = ep_uniform(&w.rng, 0, 2 * PI)
    for _ in range(MAX_TURNS):
        direction[0], direction[1] = cos(angle), sin(angle)
        for j in range(DIM):
            end[j] = start[j] + LENGTH * direction[j]
        if fabs(end[0]) < 1 and fabs(end[1]) < 1:
            break
        angle += 5 * (PI / 180)
    for i in range(c.num_agents):
        for j in range(DIM):
            targets[DIM * i + j] = start[j] + i * between * direction[j]


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    reward_targets(w, c, extra(w, c), NEAR, rewards)


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    put_landmarks(put_self(obs, w, c, agent), w, c, agent)


class MPESimpleLine(Scenario):
    """Agents that must stand evenly on the line between two landmarks.

    Each agent has a place of its own on the line; an optimal assignment decides which. All lose the mean distance of
    agents from their places, at most 2 each. The aim is reached when all are within 0.05. Observation float32 (N, 8):
    velocity, position, offsets of both ends.

    Options
    -------
    N : int
        Number of agents, 1 to 128. Default 4.
    """

    options = {"N": 4, **Scenario.options, "terminate_on_success": False}
    functions = new_scenario("MPESimpleLine", Rules(reset, step, observe, NULL, NULL, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        check_count("N", config.N)
        return [Entities("agent", config.N, 0.03, (0.35, 0.35, 0.85), 8, collides=True), Entities("landmark", 2, 0.02)]

    @classmethod
    def build(cls, config):
        return cls.functions.define(cls, config, num_extra=DIM * config.N)
