"""Space Invaders: a cannon under a block of aliens.

`envpool.minatar.game` says where the rules come from. Aliens and bullets are kept as one word of bits for each row.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.env cimport envpool_env
from envpool.minatar.game cimport (
    FIRE, LAST, LEFT, RIGHT, SIDE, STAY, Agent, Rules, columns_of, count_down, define_game, is_inside,
    new_game, put,
)

from envpool.minatar.game import Game

cdef enum:
    CANNON, ALIEN, ALIEN_LEFT, ALIEN_RIGHT, BULLET, BOMB, CHANNELS      # channels
    COOL_DOWN = 5                               # steps from one bullet of the player to the next
    BOMB_INTERVAL = 10
    MOVE_INTERVAL = 12                          # of the first wave
    FASTEST_WAVE = 6                            # interval of the last waves
    WAVE_ROWS = 4
    WAVE = 0xFC                                 # columns 2 to 7
    FULL = (1 << SIDE) - 1

cdef struct Sky:
    Agent agent
    uint32_t aliens[SIDE]       # bit x of word y is set if there is one at x, y
    uint32_t bullets[SIDE]      # of the player, which fly upwards
    uint32_t bombs[SIDE]        # of the aliens, which fall
    int32_t cannon              # column
    int32_t direction           # of the aliens: -1 or 1
    int32_t move_interval       # the aliens move at least as often as this
    int32_t cool_down, move_timer, bomb_timer


cdef void spawn_wave(Sky* s) noexcept nogil:
    cdef int32_t y
    for y in range(WAVE_ROWS):
        s.aliens[y] = WAVE


cdef void reset(void* game) noexcept nogil:
    cdef Sky* s = <Sky*>game
    cdef int32_t y
    for y in range(SIDE):
        s.aliens[y] = s.bullets[y] = s.bombs[y] = 0
    spawn_wave(s)
    s.cannon = 5
    s.direction = -1
    s.move_interval = s.move_timer = MOVE_INTERVAL
    s.bomb_timer = BOMB_INTERVAL
    s.cool_down = 0


cdef inline int32_t count_bits(uint32_t row) noexcept nogil:
    cdef int32_t count = 0
    while row != 0:
        row &= row - 1
        count += 1
    return count


cdef int32_t count_aliens(const Sky* s) noexcept nogil:
    cdef int32_t y, count = 0
    for y in range(SIDE):
        count += count_bits(s.aliens[y])
    return count


cdef inline uint32_t columns_with_aliens(const Sky* s) noexcept nogil:
    cdef uint32_t columns = 0
    cdef int32_t y
    for y in range(SIDE):
        columns |= s.aliens[y]
    return columns


cdef inline void fall(uint32_t* rows, uint32_t first) noexcept nogil:
    """Move all rows down by one; `first` is the new first row."""
    cdef int32_t y
    for y in range(LAST, 0, -1):
        rows[y] = rows[y - 1]
    rows[0] = first


cdef void move_aliens(Sky* s) noexcept nogil:
    """Move the aliens to the side, or at the border down; those in the last row return in the first one."""
    cdef uint32_t border = 1 if s.direction < 0 else 1 << LAST
    cdef int32_t y
    if columns_with_aliens(s) & border:
        s.direction = -s.direction
        s.agent.is_over |= s.aliens[LAST] != 0
        fall(s.aliens, s.aliens[LAST])
        return
    for y in range(SIDE):
        s.aliens[y] = s.aliens[y] >> 1 if s.direction < 0 else s.aliens[y] << 1


cdef void drop_bomb(Sky* s) noexcept nogil:
    """Let the lowest alien of the column nearest to the cannon drop a bomb, of two columns that on the left."""
    cdef uint32_t columns = columns_with_aliens(s)
    cdef int32_t distance, x, y
    for distance in range(SIDE):
        x = s.cannon - distance
        if x < 0 or not (columns >> x) & 1:
            x = s.cannon + distance
        if x > LAST or not (columns >> x) & 1:
            continue
        y = LAST
        while y > 0 and not (s.aliens[y] >> x) & 1:
            y -= 1
        s.bombs[y] |= <uint32_t>1 << x
        return


cdef int32_t step(void* game, int32_t action, bint is_ramping) noexcept nogil:
    cdef Sky* s = <Sky*>game
    cdef uint32_t hits, place
    cdef int32_t y, reward = 0
    if action == FIRE and s.cool_down == 0:
        s.bullets[LAST] |= <uint32_t>1 << s.cannon
        s.cool_down = COOL_DOWN
    s.cannon = max(0, min(s.cannon + columns_of(action), LAST))
    place = <uint32_t>1 << s.cannon
    for y in range(LAST):
        s.bullets[y] = s.bullets[y + 1]
    s.bullets[LAST] = 0
    fall(s.bombs, 0)
    s.agent.is_over = ((s.bombs[LAST] | s.aliens[LAST]) & place) != 0
    if s.move_timer == 0:
        s.move_timer = min(count_aliens(s), s.move_interval)
        move_aliens(s)
        s.agent.is_over |= (s.aliens[LAST] & place) != 0
    if s.bomb_timer == 0:
        s.bomb_timer = BOMB_INTERVAL
        drop_bomb(s)
    for y in range(SIDE):
        hits = s.aliens[y] & s.bullets[y]
        reward += count_bits(hits)
        s.aliens[y] ^= hits
        s.bullets[y] ^= hits
    s.cool_down = count_down(s.cool_down)
    s.move_timer -= 1
    s.bomb_timer -= 1
    if columns_with_aliens(s) == 0:
        if is_ramping and s.move_interval > FASTEST_WAVE:
            s.move_interval -= 1
        spawn_wave(s)
    return reward


cdef void write(const void* game, uint8_t* obs) noexcept nogil:
    cdef const Sky* s = <const Sky*>game
    cdef int32_t heading = ALIEN_LEFT if s.direction < 0 else ALIEN_RIGHT
    cdef uint8_t* cell = obs
    cdef int32_t x, y
    for y in range(SIDE):
        if s.aliens[y] | s.bullets[y] | s.bombs[y]:
            for x in range(SIDE):
                cell[CHANNELS * x + ALIEN] = cell[CHANNELS * x + heading] = (s.aliens[y] >> x) & 1
                cell[CHANNELS * x + BULLET] = (s.bullets[y] >> x) & 1
                cell[CHANNELS * x + BOMB] = (s.bombs[y] >> x) & 1
        cell += CHANNELS * SIDE
    put(obs, CHANNELS, LAST, s.cannon, CANNON)


cdef bint is_valid(const void* game, bint is_over) noexcept nogil:
    cdef const Sky* s = <const Sky*>game
    cdef int32_t y
    for y in range(SIDE):
        if s.aliens[y] > FULL or s.bullets[y] > FULL or s.bombs[y] > FULL:
            return False
    return (
        columns_with_aliens(s) != 0
        and is_inside(s.cannon)
        and s.direction * s.direction == 1
        and FASTEST_WAVE <= s.move_interval <= MOVE_INTERVAL
        and 0 <= s.cool_down <= COOL_DOWN
        and 0 <= s.move_timer <= MOVE_INTERVAL
        and 0 <= s.bomb_timer <= BOMB_INTERVAL
    )


cdef Rules RULES = Rules(sizeof(Sky), CHANNELS, reset, step, write, is_valid)
cdef envpool_env ENV_DEF = new_game("MinAtarSpaceInvaders")


class MinAtarSpaceInvaders(Game):
    """A cannon that shoots at a block of aliens, which walk from side to side, come down and drop bombs.

    Channels: 0 the cannon, 1 aliens, 2 aliens that walk to the left, 3 to the right, 4 bullets of the player, 5 bombs.
    Reward 1 for each alien. The fewer are left, the faster they walk. After the last one, a new wave appears; with
    difficulty ramping, it is faster. An episode ends when a bomb or an alien meets the cannon, or when the aliens turn
    while some are in the last row.

    The minimal action set is nothing, left, right, fire. The options are those of ``envpool.minatar.game.Game``.
    """

    channels = ("cannon", "alien", "alien_left", "alien_right", "friendly_bullet", "enemy_bullet")

    @staticmethod
    def build(config):
        return define_game(&ENV_DEF, &RULES, config, (STAY, LEFT, RIGHT, FIRE))
