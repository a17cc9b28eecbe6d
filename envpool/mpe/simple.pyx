"""Simple: one agent and the landmark that it wants to be near."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, Config, Rules, World, landmark, position, put, put_landmarks, scatter, squared_distance, velocity,
)

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import Scenario


cdef void reset(World* w, const Config* c) noexcept nogil:
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    rewards[0] = -squared_distance(position(w, 0), landmark(w, c, 0))


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    put_landmarks(put(obs, velocity(w, c, agent), DIM), w, c, agent)


class MPESimple(Scenario):
    """One agent that must approach a landmark. It loses its squared distance from the landmark in each step.

    Observation float32 (1, 4): velocity, offset of the landmark. The options are those of
    ``envpool.mpe.scenario.Scenario``.
    """

    functions = new_scenario("MPESimple", Rules(reset, step, observe, NULL, NULL, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        return [
            Entities("agent", 1, obs_size=4),
            Entities("landmark", 1, colour=(0.75, 0.25, 0.25)),
        ]
