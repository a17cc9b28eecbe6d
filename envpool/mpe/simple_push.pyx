"""Simple push: an agent that must be near a landmark, and an adversary that must push it away."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, Config, Rules, World, distance, landmark, position, put, put_landmarks, put_offset, put_others, scatter,
    velocity,
)
from envpool.numerics.rng cimport ep_integers

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import Scenario

cdef enum:
    ADVERSARY, GOOD, NUM_AGENTS
    NUM_LANDMARKS = 2


cdef void reset(World* w, const Config* c) noexcept nogil:
    w.goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef const double* goal = landmark(w, c, w.goal)
    cdef double good = distance(position(w, GOOD), goal)
    rewards[ADVERSARY] = good - distance(goal, position(w, ADVERSARY))
    rewards[GOOD] = -good


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    """Landmarks have their own colours, and the good agent has a tint of its landmark's."""
    cdef double one = 0.1, tint = 0.25
    if entity == GOOD:
        colour[1 + w.goal] = tint + 0.5
    elif entity >= NUM_AGENTS:
        colour[1 + entity - NUM_AGENTS] = one + 0.8
    return 1


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef double colour[3]
    cdef int32_t i
    obs = put(obs, velocity(w, c, agent), DIM)
    if agent == ADVERSARY:
        put_others(put_landmarks(obs, w, c, agent), w, c, agent)
        return
    obs = put_offset(obs, landmark(w, c, w.goal), position(w, agent))
    colour[0] = colour[1] = colour[2] = 0.25
    colour_of(w, c, agent, colour)
    obs = put_landmarks(put(obs, colour, 3), w, c, agent)
    for i in range(NUM_AGENTS, NUM_AGENTS + NUM_LANDMARKS):
        colour[0] = colour[1] = colour[2] = 0.1
        colour_of(w, c, i, colour)
        obs = put(obs, colour, 3)
    put_others(obs, w, c, agent)


class MPESimplePush(Scenario):
    """An agent, an adversary, and two landmarks, one of which is the goal; the adversary does not know which one.

    The agent loses its distance from the goal; the adversary gains it, and loses its own distance from the goal.
    Observation float32 (2, 19): velocity, offset of the goal, own colour, offsets and colours of the landmarks, offset
    of the adversary. That of the adversary has 8 numbers: velocity, offsets of the landmarks and of the agent. The
    options are those of ``envpool.mpe.scenario.Scenario``.
    """

    functions = new_scenario("MPESimplePush", Rules(reset, step, observe, colour_of, NULL, NULL))

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        return [
            Entities("adversary", 1, colour=(0.75, 0.25, 0.25), obs_size=8, collides=True),
            Entities("agent", 1, obs_size=19, collides=True),
            Entities("landmark", NUM_LANDMARKS, colour=(0.1, 0.1, 0.1)),
        ]
