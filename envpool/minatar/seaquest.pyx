"""Seaquest: a submarine among fish, hostile submarines and divers.

`envpool.minatar.game` says where the rules come from, and `swarm.pxd` in which order the things of a kind move.
"""

from libc.stdint cimport int8_t, int32_t, uint8_t

from envpool.env cimport envpool_env
from envpool.minatar.game cimport (
    DOWN, FIRE, LAST, LEFT, RIGHT, STAY, UP, Agent, Pace, Rules, can_rise, columns_of, count_down, define_game,
    is_inside, new_game, put, put_trail, raise_pace, rows_of,
)
from envpool.minatar.swarm cimport GONE, Swarm, Thing, add, find, is_valid_swarm, move, put_swarm, remove, remove_equal
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_random_sample, ep_mt19937

from envpool.minatar.game import Game

cdef enum:
    FRONT, BACK, BULLET, TRAIL, TORPEDO, FISH, SUB, AIR, RESCUED, DIVER, CHANNELS   # channels
    MAX_AIR = 200
    MAX_DIVERS = 6              # on board
    LOWEST_ROW = 8
    ENEMY_INTERVAL = 20         # steps from one enemy to the next, at first
    DIVER_INTERVAL = 30
    MOVE_INTERVAL = 5           # of enemies at first, and of divers
    FASTEST_MOVE = 2
    COOL_DOWN = 5               # steps from one bullet to the next
    TORPEDO_INTERVAL = 10
    FEWEST_DIVERS = -(1 << 30)  # of a saved state

cdef struct Sea:
    Agent agent
    int32_t x, y                # of the submarine
    int32_t is_rightward
    int32_t air
    int32_t divers              # on board; below 0 after six were brought to the surface
    int32_t is_surfaced         # whether the submarine has been at the surface since it got there
    Pace pace                   # of enemies
    int32_t enemy_timer, diver_timer, cool_down
    Swarm bullets, torpedoes, fish, subs, swimmers


cdef inline bint meets(const Sea* q, const Thing* thing) noexcept nogil:
    """Return whether a thing is in the cell of the submarine's front."""
    return thing.x == q.x and thing.y == q.y


# ---- reset -----------------------------------------------------------------------------------------------------------


cdef void reset(void* game) noexcept nogil:
    cdef Sea* q = <Sea*>game
    q.x = 5
    q.y = 0
    q.is_rightward = 0
    q.air = MAX_AIR
    q.divers = 0
    q.is_surfaced = 1
    q.pace = Pace(ENEMY_INTERVAL, MOVE_INTERVAL, 0)
    q.enemy_timer = ENEMY_INTERVAL
    q.diver_timer = DIVER_INTERVAL
    q.cool_down = 0
    q.bullets.count = q.torpedoes.count = q.fish.count = q.subs.count = q.swimmers.count = 0


# ---- parts of a step, in their order ---------------------------------------------------------------------------------


cdef inline bint has_opponent(const Swarm* swarm, int32_t y, bint is_rightward) noexcept nogil:
    """Return whether something in a row moves in the other direction."""
    cdef int32_t k
    for k in range(swarm.count):
        if swarm.things[k].y == y and swarm.things[k].is_rightward != is_rightward:
            return True
    return False


cdef void spawn_enemy(Sea* q) noexcept nogil:
    """Draw an enemy; it does not appear if it would collide with another one."""
    cdef ep_mt19937* rng = &q.agent.rng
    cdef bint is_rightward = ep_legacy_random_sample(rng) < 1 / 2.0
    cdef bint is_sub = ep_legacy_random_sample(rng) < 1 / 3.0
    cdef int32_t y = <int32_t>ep_legacy_randint(rng, 1, LOWEST_ROW + 1)
    cdef int32_t x = 0 if is_rightward else LAST
    if has_opponent(&q.subs, y, is_rightward) or has_opponent(&q.fish, y, is_rightward):
        return
    if is_sub:
        add(&q.subs, x, y, is_rightward, q.pace.move, TORPEDO_INTERVAL)
    else:
        add(&q.fish, x, y, is_rightward, q.pace.move, 0)


cdef void spawn_diver(Sea* q) noexcept nogil:
    cdef bint is_rightward = ep_legacy_random_sample(&q.agent.rng) < 1 / 2.0
    cdef int32_t y = <int32_t>ep_legacy_randint(&q.agent.rng, 1, LOWEST_ROW + 1)
    add(&q.swimmers, 0 if is_rightward else LAST, y, is_rightward, MOVE_INTERVAL, 0)


cdef void obey(Sea* q, int32_t action) noexcept nogil:
    """Take the action of the player."""
    if action == FIRE and q.cool_down == 0:
        add(&q.bullets, q.x, q.y, q.is_rightward, 0, 0)
        q.cool_down = COOL_DOWN
    q.x = max(0, min(q.x + columns_of(action), LAST))
    q.y = max(0, min(q.y + rows_of(action), LOWEST_ROW))
    q.is_rightward = (q.is_rightward and action != LEFT) or action == RIGHT


cdef int32_t move_bullets(Sea* q) noexcept nogil:
    cdef Thing* bullet
    cdef Swarm* targets
    cdef int32_t i, k, reward = 0
    for i in range(q.bullets.count - 1, -1, -1):
        bullet = &q.bullets.things[i]
        move(bullet)
        if not is_inside(bullet.x):
            remove_equal(&q.bullets, i)
            continue
        targets = &q.fish
        k = find(targets, bullet)
        if k == GONE:
            targets = &q.subs
            k = find(targets, bullet)
        if k != GONE:
            remove(targets, k)
            remove_equal(&q.bullets, i)
            reward += 1
    return reward


cdef inline bint take_on_board(Sea* q, int32_t i) noexcept nogil:
    """Rescue a diver if the submarine is there and has room, and return whether it did."""
    if q.divers >= MAX_DIVERS or not meets(q, &q.swimmers.things[i]):
        return False
    remove_equal(&q.swimmers, i)
    q.divers += 1
    return True


cdef void move_swimmers(Sea* q) noexcept nogil:
    cdef Thing* diver
    cdef int32_t i
    for i in range(q.swimmers.count - 1, -1, -1):
        diver = &q.swimmers.things[i]
        if take_on_board(q, i):
            continue
        if diver.move_timer > 0:
            diver.move_timer -= 1
            continue
        diver.move_timer = MOVE_INTERVAL
        move(diver)
        if is_inside(diver.x):
            take_on_board(q, i)
        else:
            remove_equal(&q.swimmers, i)


cdef int32_t move_enemy(Sea* q, Swarm* enemies, int32_t i, Thing* enemy, int32_t* reward) noexcept nogil:
    """Move enemy i, which is stored in `enemy` after that; return the index at which it is then, or GONE."""
    cdef int32_t k
    enemy[0] = enemies.things[i]
    q.agent.is_over |= meets(q, enemy)
    if enemy.move_timer > 0:
        enemy.move_timer -= 1
        enemies.things[i] = enemy[0]
        return i
    enemy.move_timer = <int8_t>q.pace.move
    move(enemy)
    enemies.things[i] = enemy[0]
    if not is_inside(enemy.x):
        return remove_equal(enemies, i)
    if meets(q, enemy):
        q.agent.is_over = 1
        return i
    k = find(&q.bullets, enemy)
    if k == GONE:
        return i
    remove(&q.bullets, k)
    reward[0] += 1
    return remove_equal(enemies, i)


cdef int32_t move_subs(Sea* q) noexcept nogil:
    """Move the hostile submarines; those that leave the board or are hit still fire if it is time."""
    cdef Thing sub
    cdef int32_t i, place, reward = 0
    for i in range(q.subs.count - 1, -1, -1):
        place = move_enemy(q, &q.subs, i, &sub, &reward)
        if sub.torpedo_timer > 0:
            sub.torpedo_timer -= 1
        else:
            sub.torpedo_timer = TORPEDO_INTERVAL
            add(&q.torpedoes, sub.x, sub.y, sub.is_rightward, 0, 0)
        if place != GONE:
            q.subs.things[place] = sub
    return reward


cdef void move_torpedoes(Sea* q) noexcept nogil:
    cdef Thing* torpedo
    cdef int32_t i
    for i in range(q.torpedoes.count - 1, -1, -1):
        torpedo = &q.torpedoes.things[i]
        q.agent.is_over |= meets(q, torpedo)
        move(torpedo)
        q.agent.is_over |= meets(q, torpedo)
        if not is_inside(torpedo.x):
            remove_equal(&q.torpedoes, i)


cdef int32_t move_fish(Sea* q) noexcept nogil:
    cdef Thing fish
    cdef int32_t i, reward = 0
    for i in range(q.fish.count - 1, -1, -1):
        move_enemy(q, &q.fish, i, &fish, &reward)
    return reward


cdef int32_t surface(Sea* q, bint is_ramping) noexcept nogil:
    """Take air and let a diver go, or all six for a reward that is the air in tenths; return the reward.

    Upstream lets one more go after all six have gone: the number of divers is then negative until others come on
    board, and the submarine may surface, since only a number of 0 ends the episode.
    """
    cdef int32_t reward = 0
    if q.divers == MAX_DIVERS:
        q.divers = 0
        reward = q.air * 10 // MAX_AIR
    q.air = MAX_AIR
    q.divers -= 1
    if is_ramping and can_rise(&q.pace, FASTEST_MOVE):
        raise_pace(&q.pace, FASTEST_MOVE)
    return reward


cdef int32_t breathe(Sea* q, bint is_ramping) noexcept nogil:
    """Use air below the surface, or arrive at it; return the reward."""
    q.agent.is_over |= q.air <= 0
    if q.y > 0:
        q.air -= 1
        q.is_surfaced = 0
        return 0
    if q.is_surfaced:
        return 0
    if q.divers == 0:
        q.agent.is_over = 1
        return 0
    q.is_surfaced = 1
    return surface(q, is_ramping)


cdef int32_t step(void* game, int32_t action, bint is_ramping) noexcept nogil:
    cdef Sea* q = <Sea*>game
    cdef int32_t reward
    if q.enemy_timer == 0:
        spawn_enemy(q)
        q.enemy_timer = q.pace.spawn
    if q.diver_timer == 0:
        spawn_diver(q)
        q.diver_timer = DIVER_INTERVAL
    obey(q, action)
    reward = move_bullets(q)
    move_swimmers(q)
    reward += move_subs(q)
    move_torpedoes(q)
    reward += move_fish(q)
    q.enemy_timer = count_down(q.enemy_timer)
    q.diver_timer = count_down(q.diver_timer)
    q.cool_down = count_down(q.cool_down)
    return reward + breathe(q, is_ramping)


# ---- observations and saved states -----------------------------------------------------------------------------------


cdef void write(const void* game, uint8_t* obs) noexcept nogil:
    cdef const Sea* q = <const Sea*>game
    cdef int32_t x
    put(obs, CHANNELS, q.y, q.x, FRONT)
    put_trail(obs, CHANNELS, q.y, q.x, q.is_rightward, BACK)
    for x in range(q.air * 10 // MAX_AIR):
        put(obs, CHANNELS, LAST, x, AIR)
    for x in range(q.divers):
        put(obs, CHANNELS, LAST, LAST - 1 - x, RESCUED)
    put_swarm(obs, CHANNELS, &q.bullets, BULLET, GONE)
    put_swarm(obs, CHANNELS, &q.torpedoes, TORPEDO, GONE)
    put_swarm(obs, CHANNELS, &q.fish, FISH, TRAIL)
    put_swarm(obs, CHANNELS, &q.subs, SUB, TRAIL)
    put_swarm(obs, CHANNELS, &q.swimmers, DIVER, TRAIL)


cdef inline bint is_on_board(const Swarm* swarm) noexcept nogil:
    return is_valid_swarm(swarm, LOWEST_ROW, MOVE_INTERVAL, TORPEDO_INTERVAL)


cdef bint is_valid(const void* game, bint is_over) noexcept nogil:
    cdef const Sea* q = <const Sea*>game
    return (
        is_inside(q.x)
        and 0 <= q.y <= LOWEST_ROW
        and 0 <= q.is_rightward <= 1
        and is_inside(q.x - 1 if q.is_rightward else q.x + 1)
        and -1 <= q.air <= MAX_AIR
        and FEWEST_DIVERS <= q.divers <= MAX_DIVERS
        and 0 <= q.is_surfaced <= 1
        and 1 <= q.pace.spawn <= ENEMY_INTERVAL
        and FASTEST_MOVE <= q.pace.move <= MOVE_INTERVAL
        and 0 <= q.pace.level <= ENEMY_INTERVAL
        and 0 <= q.enemy_timer <= ENEMY_INTERVAL
        and 0 <= q.diver_timer <= DIVER_INTERVAL
        and 0 <= q.cool_down <= COOL_DOWN
        and is_on_board(&q.bullets)
        and is_on_board(&q.torpedoes)
        and is_on_board(&q.fish)
        and is_on_board(&q.subs)
        and is_on_board(&q.swimmers)
    )


cdef Rules RULES = Rules(sizeof(Sea), CHANNELS, reset, step, write, is_valid)
cdef envpool_env ENV_DEF = new_game("MinAtarSeaquest")


class MinAtarSeaquest(Game):
    """A submarine that shoots fish and hostile submarines, and brings divers to the surface before its air is used up.

    Channels: 0 the front of the submarine, 1 its back, 2 its bullets, 3 the cell behind an enemy or diver, 4 torpedoes
    of hostile submarines, 5 fish, 6 hostile submarines, 7 the air that is left, 8 divers on board, 9 other divers.
    Reward 1 for each enemy that is shot, and 0 to 10 for bringing six divers to the surface, more if more air is left.
    An episode ends when something hostile meets the front, when the air is used up, or when the submarine surfaces with
    no diver on board. With difficulty ramping, enemies appear and move faster each time that it surfaces.

    The minimal action set has all six actions. The options are those of ``envpool.minatar.game.Game``.
    """

    channels = (
        "sub_front", "sub_back", "friendly_bullet", "trail", "enemy_bullet", "enemy_fish", "enemy_sub", "oxygen_gauge",
        "diver_gauge", "diver",
    )

    @staticmethod
    def build(config):
        return define_game(&ENV_DEF, &RULES, config, (STAY, LEFT, UP, RIGHT, DOWN, FIRE))
