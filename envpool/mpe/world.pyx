"""Worlds: physics, actions, observations of agents, and rewards that scenarios share.

Source of the rules: mpe2 1.1.1, which continues the particle environments of Lowe et al. (Multi-Agent Actor-Critic for
Mixed Cooperative-Competitive Environments, 2017) and Mordatch and Abbeel (Emergence of Grounded Compositional Language
in Multi-Agent Populations, 2018).
"""

from libc.math cimport exp, fabs, log1p, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from envpool.mpe.assignment cimport ASSIGNMENT_MAX, assign
from envpool.numerics.numpy_exact cimport np_exp, np_norm, np_sum

cdef double DT = 0.1
cdef double KEPT_SPEED = 1 - 0.25
cdef double CONTACT_FORCE = 1e2
cdef double CONTACT_MARGIN = 1e-3
cdef double FAR = 0.75          # entities with a larger gap have no force at all: exp(-746) is zero
cdef double LN2 = 0.693147180559945309417232121458176568

# ---- physics ---------------------------------------------------------------------------------------------------------


cdef inline double penetration(double gap) noexcept nogil:
    """Return how far entities have penetrated each other, softly.

    Upstream's np.logaddexp(0, -gap / margin) * margin. The shortcuts are exact: exp is zero below -746 and less than
    2 ** -54 below -38, where log1p returns its argument; from 45 on, log1p(exp(-x)) is less than half of the last digit
    of x.
    """
    cdef double x = -gap / CONTACT_MARGIN
    if x < -746:
        return 0
    if x > 45:
        return x * CONTACT_MARGIN
    if x == 0:
        return LN2 * CONTACT_MARGIN
    if x < -38:
        return exp(x) * CONTACT_MARGIN
    if x < 0:
        return log1p(exp(x)) * CONTACT_MARGIN
    return (x + log1p(exp(-x))) * CONTACT_MARGIN


cdef inline void collide(const double* a, const double* b, double reach, double* force_a,
                         double* force_b) noexcept nogil:
    """Add the force between two entities; force_b is NULL for one that cannot move."""
    cdef double x = a[0] - b[0], y = a[1] - b[1]
    cdef double square = x * x + y * y, between, depth
    if square > (reach + FAR) * (reach + FAR):
        return
    between = sqrt(square)
    depth = penetration(between - reach)
    if depth == 0:
        return
    x = CONTACT_FORCE * x / between * depth
    y = CONTACT_FORCE * y / between * depth
    force_a[0] = x + force_a[0]
    force_a[1] = y + force_a[1]
    if force_b != NULL:
        force_b[0] = -x + force_b[0]
        force_b[1] = -y + force_b[1]


cdef void add_collisions(const World* w, const Config* c, double* forces) noexcept nogil:
    """Add the forces of all pairs, in the order of their numbers: each is added to what was there."""
    cdef const Kind* kind
    cdef const Kind* other
    cdef int32_t a, b, k, m, a0 = 0, b0
    for k in range(c.num_kinds):
        kind = &c.kinds[k]
        if not kind.is_agent:
            break
        if kind.collides:
            for a in range(a0, a0 + kind.count):
                b0 = a0
                for m in range(k, c.num_kinds):
                    other = &c.kinds[m]
                    if other.collides:
                        for b in range(max(b0, a + 1), b0 + other.count):
                            collide(position(w, a), position(w, b), kind.size + other.size, forces + DIM * a,
                                    forces + DIM * b if other.is_movable else NULL)
                    b0 += other.count
        a0 += kind.count


cdef void move(World* w, const Config* c, const double* forces, const double* max_speeds) noexcept nogil:
    cdef const Kind* kind
    cdef double* p
    cdef double* v
    cdef double speed
    cdef int32_t k, a, j, first = 0
    for k in range(c.num_kinds):
        kind = &c.kinds[k]
        if not kind.is_agent:
            break
        for a in range(first, first + kind.count if kind.is_movable else first):
            p = position(w, a)
            v = velocity(w, c, a)
            for j in range(DIM):
                p[j] += v[j] * DT
                v[j] = v[j] * KEPT_SPEED
                v[j] += (forces[DIM * a + j] / kind.mass) * DT
            if max_speeds[k] > 0:
                speed = sqrt(v[0] * v[0] + v[1] * v[1])
                if speed > max_speeds[k]:
                    v[0] = v[0] / speed * max_speeds[k]
                    v[1] = v[1] / speed * max_speeds[k]
        first += kind.count


# ---- what agents observe ---------------------------------------------------------------------------------------------


cdef void sort_by_key(int32_t* indices, double* keys, int32_t n) noexcept nogil:
    cdef int32_t i, j, index
    cdef double key
    for i in range(1, n):
        index, key = indices[i], keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            indices[j], keys[j] = indices[j - 1], keys[j - 1]
            j -= 1
        indices[j], keys[j] = index, key


cdef void sort_by_norm(const World* w, int32_t agent, int32_t* found, int32_t n) noexcept nogil:
    cdef double keys[MAX_ENTITIES]
    cdef double offset[DIM]
    cdef int32_t i
    for i in range(n):
        offset[0] = position(w, found[i])[0] - position(w, agent)[0]
        offset[1] = position(w, found[i])[1] - position(w, agent)[1]
        keys[i] = np_norm(offset, DIM)
    sort_by_key(found, keys, n)


cdef int32_t observed_agents(const World* w, const Config* c, int32_t agent, int32_t* found) noexcept nogil:
    cdef int32_t i, n = 0
    for i in range(c.num_agents):
        if i != agent:
            found[n] = i
            n += 1
    if c.agent_neighbours == ALL:
        return n
    sort_by_norm(w, agent, found, n)
    return min(n, c.agent_neighbours)


cdef int32_t observed_landmarks(const World* w, const Config* c, int32_t agent, int32_t* found) noexcept nogil:
    cdef int32_t i
    for i in range(c.num_landmarks):
        found[i] = c.num_agents + i
    if c.landmark_neighbours == ALL:
        return c.num_landmarks
    sort_by_norm(w, agent, found, c.num_landmarks)
    return min(c.num_landmarks, c.landmark_neighbours)


cdef int32_t agent_places(const Config* c) noexcept nogil:
    return c.num_agents - 1 if c.agent_neighbours == ALL else c.agent_neighbours


cdef int32_t landmark_places(const Config* c) noexcept nogil:
    return c.num_landmarks if c.landmark_neighbours == ALL else c.landmark_neighbours


cdef float* put_observed(float* obs, const World* w, int32_t agent, const int32_t* found, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(count):
        obs = put_offset(obs, position(w, found[i]), position(w, agent))
    return obs


cdef float* put_observed_landmarks(float* obs, const World* w, const Config* c, int32_t agent) noexcept nogil:
    cdef int32_t found[MAX_LANDMARKS]
    cdef int32_t n = observed_landmarks(w, c, agent, found)
    obs = put_observed(obs, w, agent, found, n)
    return put_zeros(obs, DIM * (landmark_places(c) - n))


# ---- rewards ---------------------------------------------------------------------------------------------------------


cdef double excess(double coordinate) noexcept nogil:
    cdef double x = fabs(coordinate), y
    if x < 0.9:
        return 0
    if x < 1.0:
        return (x - 0.9) * 10
    x = 2 * x - 2
    np_exp(&x, &y, 1)
    return 10 if y > 10 else y


cdef void reward_targets(World* w, const Config* c, const double* targets, double near, double* rewards) noexcept nogil:
    cdef double costs[ASSIGNMENT_MAX * ASSIGNMENT_MAX]
    cdef double offset[DIM]
    cdef double reward = 0
    cdef int32_t chosen[ASSIGNMENT_MAX]
    cdef int32_t i, j, n = c.num_agents
    for i in range(n):
        for j in range(n):
            offset[0] = position(w, i)[0] - targets[DIM * j]
            offset[1] = position(w, i)[1] - targets[DIM * j + 1]
            costs[i * n + j] = np_norm(offset, DIM)
    w.is_success = assign(costs, n, chosen)
    if w.is_success:
        for i in range(n):
            costs[i] = costs[i * n + chosen[i]]     # overwrites nothing that is still needed: chosen[i] >= 0
            w.is_success &= costs[i] < near
            costs[i] = min(costs[i], 2.0)
        reward = -(np_sum(costs, n) / n)
    for i in range(n):
        rewards[i] = reward


# ---- steps -----------------------------------------------------------------------------------------------------------


cdef inline float clipped(float action) noexcept nogil:
    return 0 if action < 0 else 1 if action > 1 else action


cdef void say(World* w, const Config* c, int32_t agent, int32_t symbol) noexcept nogil:
    cdef int32_t i
    for i in range(c.dim_c):
        speech(w, c, agent)[i] = i == symbol


cdef void act_discretely(World* w, const Config* c, int32_t agent, const Kind* kind, int32_t action,
                         double force, double* forces) noexcept nogil:
    cdef int32_t move
    if kind.is_movable:
        move = action % MOVES
        action = action // MOVES
        forces[0] = ((move == 2) - (move == 1)) * force
        forces[1] = ((move == 4) - (move == 3)) * force
    if kind.speaks:
        say(w, c, agent, action)


cdef void act_continuously(World* w, const Config* c, int32_t agent, const Kind* kind, const float* action,
                           double force, double* forces) noexcept nogil:
    """As upstream does, subtract and say numbers of single precision, and add 0, so that no zero is negative."""
    cdef int32_t i
    if kind.is_movable:
        forces[0] = (<double>(clipped(action[2]) - clipped(action[1])) + 0.0) * force
        forces[1] = (<double>(clipped(action[4]) - clipped(action[3])) + 0.0) * force
        action += MOVES
    if kind.speaks:
        for i in range(c.dim_c):
            speech(w, c, agent)[i] = clipped(action[i]) + 0.0


cdef void reset_world(World* w, const Config* c) noexcept nogil:
    cdef int32_t i
    memset(velocities(w, c), 0, (num_doubles(c) - DIM * c.num_entities) * sizeof(double))
    w.steps = w.is_success = 0
    c.rules.reset(w, c)
    w.first_range = 0
    for i in range(DIM * c.num_entities):
        w.first_range = max(w.first_range, fabs(positions(w)[i]))


cdef void step_world(World* w, const Config* c, const void* actions, int64_t row, float* rewards) noexcept nogil:
    """Simulate a step; `row` is the row of the first agent in the actions of all environments."""
    cdef double forces[DIM * MAX_AGENTS]
    cdef double results[MAX_AGENTS]
    cdef double max_speeds[MAX_KINDS]
    cdef const Kind* kind
    cdef double pace
    cdef int32_t k, a, first = 0
    memset(forces, 0, DIM * c.num_agents * sizeof(double))
    for k in range(c.num_kinds):
        kind = &c.kinds[k]
        if not kind.is_agent:
            break
        pace = 0.5 + 0.25 * w.stage if c.has_curriculum and k == c.slow_kind else 1
        max_speeds[k] = kind.max_speed * pace
        for a in range(first, first + kind.count):
            if c.is_continuous:
                act_continuously(w, c, a, kind, <const float*>actions + (row + a) * c.action_size, kind.force * pace,
                                 forces + DIM * a)
            else:
                act_discretely(w, c, a, kind, (<const int32_t*>actions)[row + a], kind.force * pace, forces + DIM * a)
        first += kind.count
    add_collisions(w, c, forces)
    move(w, c, forces, max_speeds)
    w.steps += 1
    c.rules.step(w, c, results)
    for a in range(c.num_agents):
        rewards[a] = <float>(results[a] + 0.0)      # no negative zeros: upstream adds rewards to 0
