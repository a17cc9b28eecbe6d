"""Collect treasure: collectors that must take treasures to the deposits of their kind."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, MAX_LANDMARKS, Config, Rules, World, distance, extra, landmark, position, put, put_offset,
    put_one_hot, put_zeros, scatter, sort_by_key, velocity,
)
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng cimport ep_integers, ep_next_double, ep_pcg64_is_valid, ep_uniform

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, Scenario, check_count, check_total

cdef enum:
    NOTHING = -1                # what a collector without a treasure holds

cdef double COLLECTOR_SIZE = 0.05
cdef double DEPOSIT_SIZE = 0.075
cdef double TREASURE_SIZE = 0.025
cdef double BOUND = 0.95        # of the coordinates of treasures
cdef double AWAY = -999         # coordinates of a treasure that a collector has taken
cdef double LAST = 1e6          # sorts treasures that have been taken behind the others

#: Colours of the kinds of treasures.
COLOURS = (
    (0.212, 0.408, 0.776), (0.945, 0.553, 0.000), (0.169, 0.627, 0.173), (0.839, 0.149, 0.157), (0.580, 0.404, 0.741),
    (0.549, 0.337, 0.294),
)
cdef double[6][3] PALETTE
for index, colour_of_kind in enumerate(COLOURS):
    PALETTE[index][0], PALETTE[index][1], PALETTE[index][2] = colour_of_kind


cdef inline int32_t num_collectors(const Config* c) noexcept nogil:
    return c.kinds[0].count


cdef inline int32_t* holdings(const World* w, const Config* c) noexcept nogil:
    """Return which kind of treasure each collector holds; deposit k takes treasures of kind k."""
    return <int32_t*>extra(w, c)


cdef inline int32_t* types(const World* w, const Config* c) noexcept nogil:
    """Return the kind of each treasure."""
    return holdings(w, c) + num_collectors(c)


cdef inline int32_t* present(const World* w, const Config* c) noexcept nogil:
    """Return whether nobody has taken each treasure."""
    return types(w, c) + c.num_landmarks


cdef void reset(World* w, const Config* c) noexcept nogil:
    """Treasures that appear later are drawn from a copy of the generator, which it leaves alone."""
    cdef int32_t i
    w.respawns = w.rng
    scatter(w, 0, c.num_agents, 1)
    for i in range(c.num_landmarks):
        types(w, c)[i] = <int32_t>ep_integers(&w.rng, 0, c.num_types)
        scatter(w, c.num_agents + i, 1, BOUND)
        present(w, c)[i] = 1
    for i in range(num_collectors(c)):
        holdings(w, c)[i] = NOTHING


cdef void appear(World* w, const Config* c, int32_t treasure) noexcept nogil:
    cdef double* p = landmark(w, c, treasure)
    ep_next_double(&w.respawns)             # upstream's chance of it, which is 1
    p[0] = ep_uniform(&w.respawns, -BOUND, BOUND)
    p[1] = ep_uniform(&w.respawns, -BOUND, BOUND)
    types(w, c)[treasure] = <int32_t>ep_integers(&w.respawns, 0, c.num_types)
    present(w, c)[treasure] = 1


cdef double take_treasures(World* w, const Config* c) noexcept nogil:
    """Let collectors take what they touch, and treasures that were taken before appear again; return the reward."""
    cdef double reward = 0
    cdef int32_t i, j
    for i in range(c.num_landmarks):
        if not present(w, c)[i]:
            appear(w, c, i)
            continue
        for j in range(num_collectors(c)):
            if holdings(w, c)[j] == NOTHING and (
                distance(landmark(w, c, i), position(w, j)) < TREASURE_SIZE + COLLECTOR_SIZE
            ):
                reward += 5
                present(w, c)[i] = 0
                holdings(w, c)[j] = types(w, c)[i]
                landmark(w, c, i)[0] = landmark(w, c, i)[1] = AWAY
                break
    return reward


cdef double leave_treasures(World* w, const Config* c) noexcept nogil:
    """Let collectors leave treasures at deposits of their kind that they touch; return the reward."""
    cdef double reward = 0
    cdef int32_t j, held
    for j in range(num_collectors(c)):
        held = holdings(w, c)[j]
        if held != NOTHING and (
            distance(position(w, j), position(w, num_collectors(c) + held)) < COLLECTOR_SIZE + DEPOSIT_SIZE
        ):
            reward += 5
            holdings(w, c)[j] = NOTHING
    return reward


cdef double collector_reward(const World* w, const Config* c, int32_t agent) noexcept nogil:
    cdef int32_t held = holdings(w, c)[agent], i
    cdef double reward = 0, nearest = INFINITY
    for i in range(num_collectors(c)):
        if i != agent and distance(position(w, agent), position(w, i)) < COLLECTOR_SIZE + COLLECTOR_SIZE:
            reward -= 5
    if held != NOTHING:
        nearest = distance(position(w, num_collectors(c) + held), position(w, agent))
    else:
        for i in range(c.num_landmarks):
            if present(w, c)[i]:
                nearest = min(nearest, distance(landmark(w, c, i), position(w, agent)))
    return reward - 0.1 * nearest if nearest < INFINITY else reward


cdef double deposit_reward(const World* w, const Config* c, int32_t agent) noexcept nogil:
    """Return what a deposit loses: its distance from the nearest collector for it, or else from their centre."""
    cdef double nearest = INFINITY
    cdef double[2] centre
    cdef int32_t i, n = num_collectors(c)
    for i in range(n):
        if holdings(w, c)[i] == agent - n:
            nearest = min(nearest, distance(position(w, i), position(w, agent)))
    if nearest == INFINITY:
        centre[0] = centre[1] = 0
        for i in range(n):
            centre[0] += position(w, i)[0]
            centre[1] += position(w, i)[1]
        centre[0] = centre[0] / n - position(w, agent)[0]
        centre[1] = centre[1] / n - position(w, agent)[1]
        nearest = np_norm(centre, DIM)
    return 0 - 0.1 * nearest


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef double common = take_treasures(w, c)
    cdef int32_t i
    common = common + leave_treasures(w, c)
    for i in range(c.num_agents):
        rewards[i] = (collector_reward(w, c, i) if i < num_collectors(c) else deposit_reward(w, c, i)) + common


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef double keys[MAX_AGENTS + MAX_LANDMARKS]
    cdef int32_t order[MAX_AGENTS + MAX_LANDMARKS]
    cdef int32_t collectors = num_collectors(c), types_ = c.num_types, i, k, n = 0
    cdef bint is_collector
    obs = put(put(obs, position(w, agent), DIM), velocity(w, c, agent), DIM)
    if agent < collectors:
        obs = put_one_hot(obs, holdings(w, c)[agent], types_)
    for i in range(c.num_agents):
        if i != agent:
            order[n], keys[n] = i, distance(position(w, i), position(w, agent))
            n += 1
    sort_by_key(order, keys, n)
    for i in range(n):
        k = order[i]
        is_collector = k < collectors
        obs = put(put_offset(obs, position(w, k), position(w, agent)), velocity(w, c, k), DIM)
        obs = put_one_hot(obs, NOTHING if is_collector else k - collectors, types_)
        obs = put_one_hot(obs, holdings(w, c)[k] if is_collector else NOTHING, types_)
    for i in range(c.num_landmarks):
        order[i] = i
        keys[i] = distance(landmark(w, c, i), position(w, agent)) if present(w, c)[i] else LAST
    sort_by_key(order, keys, c.num_landmarks)
    for i in range(c.num_landmarks):
        k = order[i]
        if present(w, c)[k]:
            obs = put_one_hot(put_offset(obs, landmark(w, c, k), position(w, agent)), types(w, c)[k], types_)
        else:
            obs = put_zeros(obs, DIM + types_)


cdef bint colour_of(const World* w, const Config* c, int32_t entity, double* colour) noexcept nogil:
    """Return the colour of a treasure, or a darker one for its deposit and the collector that holds it."""
    cdef int32_t i, n = num_collectors(c), treasure = entity - c.num_agents
    cdef int32_t kind = (
        types(w, c)[treasure] if treasure >= 0 else entity - n if entity >= n else holdings(w, c)[entity]
    )
    cdef double shade = 1 if treasure >= 0 else 0.35 if entity >= n else 0.85
    if kind != NOTHING:
        for i in range(3):
            colour[i] = PALETTE[kind][i] * shade
    return treasure < 0 or present(w, c)[treasure]


cdef bint is_valid(const World* w, const Config* c) noexcept nogil:
    cdef int32_t i
    for i in range(num_collectors(c)):
        if not NOTHING <= holdings(w, c)[i] < c.num_types:
            return 0
    for i in range(c.num_landmarks):
        if not (0 <= types(w, c)[i] < c.num_types and 0 <= present(w, c)[i] <= 1):
            return 0
    return ep_pcg64_is_valid(&w.respawns)


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """The treasure of a collector, or the number of collectors with one for a deposit; and the treasures left."""
    cdef int32_t i, n = num_collectors(c)
    if agent < n:
        figures[0] = holdings(w, c)[agent]
    else:
        for i in range(n):
            figures[0] += holdings(w, c)[i] == agent - n
    for i in range(c.num_landmarks):
        figures[1] += present(w, c)[i]


class MPECollectTreasure(Scenario):
    """Collectors that take treasures, each of one kind, to the deposit of that kind, which moves as well.

    All agents gain 5 for each treasure that is taken and each one that is left at its deposit. Collectors lose 5 for
    each other one that they touch, and 0.1 times the distance from the nearest treasure, or from the deposit for what
    they hold. Deposits lose 0.1 times the distance from the nearest collector for them, or else from the mean position
    of the collectors. A treasure that was taken appears elsewhere in the next step.

    Observation float32 (8, 86), by default: position, velocity, kind of treasure that a collector holds (deposits have
    no such entry); of each other agent, the nearest first, offset, velocity, the kind that it takes and the kind that
    it holds; of each treasure, the nearest first, offset and kind. Kinds are one-hot, and all zeros for none.

    Options
    -------
    num_collectors : int
        Number of collectors, at least 1; with the deposits, at most 128. Default 6.
    num_deposits : int
        Number of deposits and of kinds of treasures, 1 to 6. Default 2.
    num_treasures : int
        Number of treasures, 1 to 128. Default 6.
    """

    options = {"num_collectors": 6, "num_deposits": 2, "num_treasures": 6, **Scenario.options, **BENCHMARK}
    functions = new_scenario("MPECollectTreasure", Rules(reset, step, observe, colour_of, measure, is_valid))
    num_figures = 2

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        collectors, deposits, treasures = config.num_collectors, config.num_deposits, config.num_treasures
        check_count("num_collectors", collectors)
        check_count("num_deposits", deposits, high=len(COLOURS))
        check_count("num_treasures", treasures)
        check_total("num_collectors and num_deposits", collectors + deposits)
        seen = 4 + (4 + 2 * deposits) * (collectors + deposits - 1) + (2 + deposits) * treasures
        moves = {"force": 1.5, "max_speed": 1.0}
        return [
            Entities("collector", collectors, COLLECTOR_SIZE, (0.85, 0.85, 0.85), seen + deposits, **moves),
            Entities("deposit", deposits, DEPOSIT_SIZE, obs_size=seen, mass=2.25, **moves),
            Entities("treasure", treasures, TREASURE_SIZE),
        ]

    @classmethod
    def build(cls, config):
        num_extra = (config.num_collectors + 2 * config.num_treasures + 1) // 2     # two int32 in a double
        return cls.functions.define(cls, config, cls.num_figures, num_extra)
