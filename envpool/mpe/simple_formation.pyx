"""Simple formation: agents that must form a circle around a landmark."""

from libc.math cimport INFINITY, cos, sin
from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, Config, Rules, World, landmark, position, put_landmarks, put_self, reward_targets, scatter,
)
from envpool.numerics.numpy_exact cimport np_arctan2

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import Scenario, check_count

cdef double PI = 3.141592653589793
cdef double RADIUS = 0.5
cdef double NEAR = 0.05


cdef void reset(World* w, const Config* c) noexcept nogil:
    scatter(w, 0, c.num_agents, 1)
    scatter(w, c.num_agents, 1, 0.5)


cdef double smallest_angle(const World* w, const Config* c) noexcept nogil:
    """Return the smallest angle, in [0, 2 pi), at which the landmark has an agent."""
    cdef const double* centre = landmark(w, c, 0)
    cdef double x[MAX_AGENTS]
    cdef double y[MAX_AGENTS]
    cdef double angles[MAX_AGENTS]
    cdef double angle, smallest = INFINITY
    cdef int32_t i
    for i in range(c.num_agents):
        x[i], y[i] = position(w, i)[0] - centre[0], position(w, i)[1] - centre[1]
    np_arctan2(y, x, angles, c.num_agents)
    for i in range(c.num_agents):
        angle = angles[i] + 2 * PI if angles[i] < 0 else angles[i]
        smallest = min(smallest, angle)
    return smallest


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef double targets[DIM * MAX_AGENTS]
    cdef const double* centre = landmark(w, c, 0)
    cdef double first = smallest_angle(w, c), between = 2 * PI / c.num_agents, angle
    cdef int32_t i
    for i in range(c.num_agents):
        angle = first + i * between
        targets[DIM * i] = centre[0] + RADIUS * cos(angle)
        targets[DIM * i + 1] = centre[1] + RADIUS * sin(angle)
    reward_targets(w, c, targets, NEAR, rewards)


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    put_landmarks(put_self(obs, w, c, agent), w, c, agent)


class MPESimpleFormation(Scenario):
    """Agents that must stand evenly on a circle around a landmark.

    Each agent has a place of its own on the circle of radius 0.5; an optimal assignment decides which. All lose the
    mean distance of agents from their places, at most 2 each. The aim is reached when all are within 0.05. Observation
    float32 (N, 6): velocity, position, offset of the landmark.

    Options
    -------
    N : int
        Number of agents, 1 to 128. Default 4.
    """

    options = {"N": 4, **Scenario.options, "terminate_on_success": False}
    functions = new_scenario("MPESimpleFormation", Rules(reset, step, observe, NULL, NULL, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        check_count("N", config.N)
        return [Entities("agent", config.N, colour=(0.35, 0.35, 0.85), obs_size=6, collides=True),
                Entities("landmark", 1, 0.03)]
