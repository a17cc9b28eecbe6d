"""Simple crypto: Alice tells Bob a secret, which Eve overhears."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport Config, Rules, World, put, put_one_hot, scatter, speech
from envpool.numerics.rng cimport ep_integers

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, Scenario

cdef enum:
    EVE, BOB, ALICE, NUM_AGENTS
    SYMBOLS = 4
    NUM_LANDMARKS = 2           # one of them is the secret, and one is the key: `goal` and `second_goal`


cdef void reset(World* w, const Config* c) noexcept nogil:
    w.goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    w.second_goal = <int32_t>ep_integers(&w.rng, 0, NUM_LANDMARKS)
    scatter(w, 0, c.num_entities, 1)


cdef double error_of(const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Return the squared distance between what an agent said and the secret; 0 if it said nothing."""
    cdef const double* said = speech(w, c, agent)
    cdef double difference, error = 0
    cdef bint is_silent = 1
    cdef int32_t i
    for i in range(SYMBOLS):
        is_silent &= said[i] == 0
        difference = said[i] - (i == w.goal)
        error += difference * difference
    return 0 if is_silent else error


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef double eve = error_of(w, c, EVE), bob = error_of(w, c, BOB)
    rewards[EVE] = 0 - eve
    rewards[BOB] = rewards[ALICE] = eve + (0 - bob)


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    if agent == ALICE:
        put_one_hot(put_one_hot(obs, w.goal, SYMBOLS), w.second_goal, SYMBOLS)
        return
    if agent == BOB:
        obs = put_one_hot(obs, w.second_goal, SYMBOLS)
    put(obs, speech(w, c, ALICE), SYMBOLS)


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    """Landmarks are red and green; Bob has the colour of the secret."""
    if entity == BOB or entity >= NUM_AGENTS:
        colour[0] = colour[1] = colour[2] = 0
        colour[w.goal if entity == BOB else entity - NUM_AGENTS] = 1
    return 1


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """The message of the agent, and the secret."""
    cdef int32_t i
    for i in range(SYMBOLS):
        figures[i] = speech(w, c, agent)[i]
    figures[SYMBOLS + w.goal] = 1


class MPESimpleCrypto(Scenario):
    """Alice knows a secret bit and a key, and says one of four symbols, which Bob, who knows the key, and Eve hear.

    All three of them say something; Bob and Eve must say the secret. Eve loses the squared distance between what she
    says and the secret. Alice and Bob gain it, and lose Bob's squared distance. Nobody moves. Observation float32
    (3, 8) of Eve, Bob, Alice: what Alice said (4 numbers only); key and what Alice said; secret and key. The options
    are those of ``envpool.mpe.scenario.Scenario``.
    """

    options = {**Scenario.options, **BENCHMARK}
    symbols = SYMBOLS
    functions = new_scenario("MPESimpleCrypto", Rules(reset, step, observe, colour_of, measure, NULL))
    num_figures = 2 * SYMBOLS

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        return [
            Entities("eve", 1, colour=(0.75, 0.25, 0.25), obs_size=4, is_movable=False, speaks=True),
            Entities("bob", 1, obs_size=8, is_movable=False, speaks=True),
            Entities("alice", 1, obs_size=8, is_movable=False, speaks=True),
            Entities("landmark", NUM_LANDMARKS),
        ]
