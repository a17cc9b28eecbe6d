"""Simple speaker listener: one agent knows where the other one should go, and only the other one can move."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, Config, Rules, World, landmark, position, put, put_landmarks, scatter, speech, squared_distance, velocity,
)
from envpool.numerics.rng cimport ep_integers

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, Scenario

cdef enum:
    SPEAKER, LISTENER, NUM_AGENTS
    NUM_LANDMARKS = 3
    SYMBOLS = 3


cdef void reset(World* w, const Config* c) noexcept nogil:
    w.goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    scatter(w, 0, c.num_entities, 1)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    rewards[SPEAKER] = rewards[LISTENER] = -squared_distance(position(w, LISTENER), landmark(w, c, w.goal))


cdef inline void landmark_colour(int32_t number, double* colour) noexcept nogil:
    colour[0] = colour[1] = colour[2] = 0.15
    colour[number] = 0.65


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    """The listener has a lighter shade of the goal's colour."""
    cdef int32_t i
    if entity == LISTENER:
        landmark_colour(w.goal, colour)
        for i in range(3):
            colour[i] += 0.45
    elif entity >= NUM_AGENTS:
        landmark_colour(entity - NUM_AGENTS, colour)
    return 1


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef double colour[3]
    if agent == SPEAKER:
        landmark_colour(w.goal, colour)
        put(obs, colour, 3)
    else:
        obs = put_landmarks(put(obs, velocity(w, c, agent), DIM), w, c, agent)
        put(obs, speech(w, c, SPEAKER), SYMBOLS)


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """The reward."""
    figures[0] = -squared_distance(position(w, LISTENER), landmark(w, c, w.goal))


class MPESimpleSpeakerListener(Scenario):
    """A speaker, which knows the goal among three landmarks, and a listener, which should go there.

    Both lose the squared distance of the listener from the goal. Observation float32 (2, 11): of the speaker, 3
    numbers, the goal's colour; of the listener, velocity, offsets of the landmarks, and what the speaker said. The
    options are those of ``envpool.mpe.scenario.Scenario``.
    """

    options = {**Scenario.options, **BENCHMARK}
    symbols = SYMBOLS
    functions = new_scenario("MPESimpleSpeakerListener", Rules(reset, step, observe, colour_of, measure, NULL))
    num_figures = 1

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        return [
            Entities("speaker", 1, 0.075, obs_size=3, is_movable=False, speaks=True),
            Entities("listener", 1, 0.075, obs_size=11),
            Entities("landmark", NUM_LANDMARKS, 0.04),
        ]
