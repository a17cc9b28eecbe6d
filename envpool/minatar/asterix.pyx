"""Asterix: enemies and gold cross the eight middle rows of the board.

`envpool.minatar.game` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint8_t

from envpool.env cimport envpool_env
from envpool.minatar.game cimport (
    DOWN, LAST, LEFT, RIGHT, SIDE, STAY, UP, Agent, Pace, Rules, can_rise, columns_of, define_game, is_inside, new_game,
    put, raise_pace, rows_of,
)
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_random_sample

from envpool.minatar.game import Game

cdef enum:
    PLAYER, ENEMY, TRAIL, GOLD, CHANNELS        # channels
    NUM_ROWS = 8                                # row i of the things is row i + 1 of the board
    SPAWN_INTERVAL = 10                         # at first
    MOVE_INTERVAL = 5
    FASTEST_MOVE = 1
    RAMP_INTERVAL = 100

cdef struct Thing:              # what is in one row
    int32_t is_there
    int32_t x
    int32_t is_rightward
    int32_t is_gold

cdef struct Field:
    Agent agent
    Thing things[NUM_ROWS]
    int32_t x, y                # of the player
    Pace pace
    int32_t spawn_timer, move_timer, ramp_timer


cdef void reset(void* game) noexcept nogil:
    cdef Field* f = <Field*>game
    cdef int32_t i
    for i in range(NUM_ROWS):
        f.things[i] = Thing(0, 0, 0, 0)
    f.x = f.y = 5
    f.pace = Pace(SPAWN_INTERVAL, MOVE_INTERVAL, 0)
    f.spawn_timer = SPAWN_INTERVAL
    f.move_timer = MOVE_INTERVAL
    f.ramp_timer = RAMP_INTERVAL


cdef void spawn(Field* f) noexcept nogil:
    """Put a thing into a free row, if there is one; what it is and where it comes from is drawn in any case."""
    cdef bint is_rightward = ep_legacy_random_sample(&f.agent.rng) < 1 / 2.0
    cdef bint is_gold = ep_legacy_random_sample(&f.agent.rng) < 1 / 3.0
    cdef int32_t free_rows[NUM_ROWS]
    cdef int32_t i, num_free = 0
    for i in range(NUM_ROWS):
        if not f.things[i].is_there:
            free_rows[num_free] = i
            num_free += 1
    if num_free > 0:
        i = free_rows[ep_legacy_randint(&f.agent.rng, 0, num_free)]
        f.things[i] = Thing(1, 0 if is_rightward else LAST, is_rightward, is_gold)


cdef int32_t meet(Field* f) noexcept nogil:
    """Return the reward for what is in the player's cell: gold is taken, an enemy ends the episode."""
    cdef Thing* thing = &f.things[f.y - 1]
    cdef bint is_met = thing.is_there and thing.x == f.x
    cdef bint is_taken = is_met and thing.is_gold
    thing.is_there ^= is_taken
    f.agent.is_over |= is_met and not is_taken
    return is_taken


cdef void move_things(Field* f) noexcept nogil:
    """Move everything, also in rows where nothing is."""
    cdef Thing* thing
    cdef int32_t i, x
    for i in range(NUM_ROWS):
        thing = &f.things[i]
        x = thing.x + (1 if thing.is_rightward else -1)
        thing.is_there &= is_inside(x)
        thing.x = x if is_inside(x) else 0


cdef void ramp(Field* f) noexcept nogil:
    if f.ramp_timer >= 0:
        f.ramp_timer -= 1
    else:
        raise_pace(&f.pace, FASTEST_MOVE)
        f.ramp_timer = RAMP_INTERVAL


cdef int32_t step(void* game, int32_t action, bint is_ramping) noexcept nogil:
    cdef Field* f = <Field*>game
    cdef int32_t reward
    if f.spawn_timer == 0:
        spawn(f)
        f.spawn_timer = f.pace.spawn
    f.x = max(0, min(f.x + columns_of(action), LAST))
    f.y = max(1, min(f.y + rows_of(action), NUM_ROWS))
    reward = meet(f)
    if f.move_timer == 0:
        f.move_timer = f.pace.move
        move_things(f)
        reward += meet(f)
    f.spawn_timer -= 1
    f.move_timer -= 1
    if is_ramping and can_rise(&f.pace, FASTEST_MOVE):
        ramp(f)
    return reward


cdef void write(const void* game, uint8_t* obs) noexcept nogil:
    cdef const Field* f = <const Field*>game
    cdef const Thing* thing
    cdef uint8_t* row = obs
    cdef int32_t i, behind
    put(obs, CHANNELS, f.y, f.x, PLAYER)
    for i in range(NUM_ROWS):           # writes zeros where nothing is, which is cheaper than a branch
        thing = &f.things[i]
        row += CHANNELS * SIDE
        behind = thing.x + (-1 if thing.is_rightward else 1)
        row[CHANNELS * thing.x + (GOLD if thing.is_gold else ENEMY)] = thing.is_there
        row[CHANNELS * (behind if is_inside(behind) else 0) + TRAIL] = thing.is_there & is_inside(behind)


cdef bint is_valid(const void* game, bint is_over) noexcept nogil:
    cdef const Field* f = <const Field*>game
    cdef const Thing* thing
    cdef int32_t i
    for i in range(NUM_ROWS):
        thing = &f.things[i]
        if not (0 <= thing.is_there <= 1 and is_inside(thing.x) and 0 <= thing.is_rightward <= 1
                and 0 <= thing.is_gold <= 1):
            return False
    return (
        is_inside(f.x)
        and 1 <= f.y <= NUM_ROWS
        and 1 <= f.pace.spawn <= SPAWN_INTERVAL
        and FASTEST_MOVE <= f.pace.move <= MOVE_INTERVAL
        and 0 <= f.pace.level <= SPAWN_INTERVAL
        and 0 <= f.spawn_timer <= SPAWN_INTERVAL
        and 0 <= f.move_timer <= MOVE_INTERVAL
        and -1 <= f.ramp_timer <= RAMP_INTERVAL
    )


cdef Rules RULES = Rules(sizeof(Field), CHANNELS, reset, step, write, is_valid)
cdef envpool_env ENV_DEF = new_game("MinAtarAsterix")


class MinAtarAsterix(Game):
    """A player among gold and enemies, which enter from both sides, one in a row at a time.

    Channels: 0 the player, 1 enemies, 2 the cell behind an enemy or gold, 3 gold. Reward 1 for taking gold. An episode
    ends when the player meets an enemy. With difficulty ramping, enemies and gold appear and move faster and faster.

    The minimal action set is nothing, left, up, right, down. The options are those of ``envpool.minatar.game.Game``.
    """

    channels = ("player", "enemy", "trail", "gold")

    @staticmethod
    def build(config):
        return define_game(&ENV_DEF, &RULES, config, (STAY, LEFT, UP, RIGHT, DOWN))
