"""Simple world comm: simple tag with food, forests to hide in, and a leader of the adversaries, which speaks."""

from libc.stdint cimport int32_t

from envpool.mpe.definition cimport new_scenario
from envpool.mpe.world cimport (
    DIM, MAX_AGENTS, MAX_LANDMARKS, Config, Rules, World, distance, excess, landmark, least_distance, position, put,
    put_landmarks, put_offset, put_self, put_zeros, scatter, speech, velocity,
)

from envpool.mpe.entities import Entities
from envpool.mpe.scenario import BENCHMARK, Scenario, check_count, check_total

cdef enum:
    LEADER, ADVERSARY, GOOD     # kinds of agents
    OBSTACLE, FOOD, FOREST      # kinds of landmarks
    SYMBOLS = 4

cdef double ADVERSARY_SIZE = 0.075
cdef double GOOD_SIZE = 0.045
cdef double FOOD_SIZE = 0.03
cdef double FOREST_SIZE = 0.3


cdef void reset(World* w, const Config* c) noexcept nogil:
    """Draw the positions; positions of food and forests are drawn twice."""
    cdef int32_t obstacles = c.kinds[OBSTACLE].count
    scatter(w, 0, c.num_agents, 1)
    scatter(w, c.num_agents, c.num_landmarks, 0.9)
    scatter(w, c.num_agents + obstacles, c.num_landmarks - obstacles, 0.9)


cdef void step(World* w, const Config* c, double* rewards) noexcept nogil:
    cdef int32_t first = 1 + c.kinds[ADVERSARY].count, food = c.kinds[OBSTACLE].count, i, j, touched, touches = 0
    cdef const double* p
    cdef double reward
    for i in range(first, c.num_agents):
        p = position(w, i)
        touched = 0
        for j in range(first):
            touched += distance(p, position(w, j)) < ADVERSARY_SIZE + GOOD_SIZE
        touches += touched
        reward = -5 * touched
        for j in range(DIM):
            reward -= 2 * excess(p[j])
        for j in range(food, food + c.kinds[FOOD].count):
            if distance(p, landmark(w, c, j)) < GOOD_SIZE + FOOD_SIZE:
                reward += 2
        rewards[i] = reward - 0.05 * least_distance(p, landmark(w, c, food), c.kinds[FOOD].count)
    for i in range(first):
        reward = 0 - 0.1 * least_distance(position(w, i), position(w, first), c.num_agents - first)
        for _ in range(touches):
            reward += 5
        rewards[i] = reward


cdef inline bint is_in(const World* w, const Config* c, int32_t agent, int32_t first, int32_t forest) noexcept nogil:
    """Return whether an agent is in a forest; `first` is the number of the first agent that is not an adversary."""
    cdef double size = ADVERSARY_SIZE if agent < first else GOOD_SIZE
    return distance(position(w, agent), landmark(w, c, c.num_landmarks - c.kinds[FOREST].count + forest)) < (
        size + FOREST_SIZE
    )


cdef void observe(const World* w, const Config* c, int32_t agent, float* obs) noexcept nogil:
    cdef int32_t first = 1 + c.kinds[ADVERSARY].count, forests = c.kinds[FOREST].count, i, f
    cdef bint is_hidden[MAX_LANDMARKS]          # whether the agent itself is in a forest
    cdef bint is_seen[MAX_AGENTS]
    cdef bint is_in_any = 0, other_is_in, other_is_in_any, is_near
    for f in range(forests):
        is_hidden[f] = is_in(w, c, agent, first, f)
        is_in_any |= is_hidden[f]
    for i in range(c.num_agents):
        is_near = other_is_in_any = 0
        for f in range(forests):
            other_is_in = is_in(w, c, i, first, f)
            other_is_in_any |= other_is_in
            is_near |= other_is_in and is_hidden[f]
        is_seen[i] = is_near or not (is_in_any or other_is_in_any) or agent == 0
    obs = put_landmarks(put_self(obs, w, c, agent), w, c, agent)
    for i in range(c.num_agents):
        if i != agent:
            obs = put_offset(obs, position(w, i), position(w, agent)) if is_seen[i] else put_zeros(obs, DIM)
    if agent >= first:
        obs = put_forests(obs, is_hidden, forests)
    for i in range(first, c.num_agents):
        if i != agent:
            obs = put(obs, velocity(w, c, i), DIM) if is_seen[i] else put_zeros(obs, DIM)
    if agent < first:
        put(put_forests(obs, is_hidden, forests), speech(w, c, 0), SYMBOLS)


cdef inline float* put_forests(float* obs, const bint* is_hidden, int32_t n) noexcept nogil:
    cdef int32_t f
    for f in range(n):
        obs[f] = 1 if is_hidden[f] else -1
    return obs + n


cdef void measure(const World* w, const Config* c, int32_t agent, double* figures) noexcept nogil:
    """How many agents an adversary touches."""
    cdef int32_t first = 1 + c.kinds[ADVERSARY].count, i
    if agent < first:
        for i in range(first, c.num_agents):
            figures[0] += distance(position(w, i), position(w, agent)) < ADVERSARY_SIZE + GOOD_SIZE


class MPESimpleWorldComm(Scenario):
    """Adversaries hunt agents, which look for food and hide in forests; the leader of the adversaries speaks to them.

    Agents lose 5 for each adversary that touches them, up to 20 for each coordinate beyond 0.9, and 0.05 times the
    distance from the nearest food; they gain 2 for each food that they touch. Adversaries gain 5 for each pair of an
    adversary and an agent that touch, and lose 0.1 times the distance from the nearest agent.

    Observation float32 (6, 34), by default: velocity, position, offsets of obstacles, food and forests, offsets of the
    other agents, velocities of the good ones among them, 1 or -1 for each forest that the agent is in or not, and what
    the leader said. That of good agents ends with the forests and the velocities, and has 28 numbers. Offsets and
    velocities of agents that are hidden are zero; the leader sees everyone.

    Options
    -------
    num_good : int
        Number of good agents, at least 1. Default 2.
    num_adversaries : int
        Number of adversaries, the leader included, at least 1; with the good agents, at most 128. Default 4.
    num_obstacles : int
        Number of obstacles, at least 0. Default 1.
    num_food : int
        Number of places with food, at least 1. Default 2.
    num_forests : int
        Number of forests, at least 0; with obstacles and food, at most 128. Default 2.
    """

    options = {
        "num_good": 2, "num_adversaries": 4, "num_obstacles": 1, "num_food": 2, "num_forests": 2,
        **Scenario.options, **BENCHMARK,
    }
    symbols = SYMBOLS
    functions = new_scenario("MPESimpleWorldComm", Rules(reset, step, observe, NULL, measure, NULL))
    num_figures = 1

    @staticmethod
    def entities(config):
        """Return the entities of the scenario."""
        good, adversaries = config.num_good, config.num_adversaries
        landmarks = config.num_obstacles + config.num_food + config.num_forests
        for name in ("num_good", "num_adversaries", "num_food"):
            check_count(name, getattr(config, name))
        for name in ("num_obstacles", "num_forests"):
            check_count(name, getattr(config, name), 0)
        check_total("num_good and num_adversaries", good + adversaries)
        check_total("num_obstacles, num_food and num_forests", landmarks)
        seen = 4 + 2 * landmarks + 2 * (good + adversaries - 1) + config.num_forests + 2 * good
        return [
            Entities("leadadversary", 1, ADVERSARY_SIZE, (0.95 - 0.3, 0.45 - 0.3, 0.45 - 0.3), seen + SYMBOLS, True,
                     speaks=True, force=3.0, max_speed=1.0),
            Entities("adversary", adversaries - 1, ADVERSARY_SIZE, (0.95, 0.45, 0.45), seen + SYMBOLS, True, force=3.0,
                     max_speed=1.0),
            Entities("agent", good, GOOD_SIZE, (0.45, 0.95, 0.45), seen - 2, True, force=4.0, max_speed=1.3),
            Entities("landmark", config.num_obstacles, 0.2, collides=True),
            Entities("food", config.num_food, FOOD_SIZE, (0.15, 0.15, 0.65)),
            Entities("forest", config.num_forests, FOREST_SIZE, (0.6, 0.9, 0.6)),
        ]
