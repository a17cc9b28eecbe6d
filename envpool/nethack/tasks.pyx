# optimize: -Og
"""The tasks: their rewards, and when their episodes end.

Upstream: the classes of ``nle/env/tasks.py``. Rewards are computed in float64, in upstream's order.
"""

from libc.math cimport ldexp
from libc.stdint cimport int16_t, int32_t, int64_t

from envpool.nethack.structs cimport (
    ALWAYS, AT_X, AT_Y, BY_GOLD, BY_HUNGER, BY_SCORE, CHALLENGE, COLUMNS, CONSTANT, Config, DUNGEON,
    EXPONENTIAL, Env, GOLD, HUNGER, LEVEL, LINEAR, MAX_DUNGEONS, MAX_LEVELS, ON_STAIRS_DOWN, ORACLE, PLAIN, ROWS,
    RUNNING, SCORE, SCOUT, SQUARE, STAIRCASE, STAIRCASE_PET, SUCCESSFUL, TIME, blstats_of, glyphs_of, internal_of,
)

cdef enum:
    NUM_MONSTERS = 381
    FIRST_PET_GLYPH = NUM_MONSTERS
    ORACLE_GLYPH = 270
    UNEXPLORED_GLYPH = 2359
    MAX_EXPONENT = 2000             # of the penalty mode "exp"; larger ones give infinity as well

# ---- ends of episodes ------------------------------------------------------------------------------------------------


cdef bint has_neighbour(const Env* env, int16_t first, int16_t last) noexcept nogil:
    """Return whether the hero, or a cell next to the hero, shows a glyph from `first` to `last`.

    At the left and upper edge, there are no neighbours, since upstream's slices begin at -1 there.
    """
    cdef int64_t x = blstats_of(env)[AT_X], y = blstats_of(env)[AT_Y], row, column
    cdef int16_t glyph
    if x < 1 or y < 1:
        return False
    for row in range(y - 1, min(y + 2, <int64_t>ROWS)):
        for column in range(x - 1, min(x + 2, <int64_t>COLUMNS)):
            glyph = glyphs_of(env)[row * COLUMNS + column]
            if first <= glyph <= last:
                return True
    return False


cdef bint should_abort(Env* env, const Config* config) noexcept nogil:
    """Upstream asks twice in each step, and each time counts towards the timeout of the challenge."""
    cdef int64_t turn
    if config.task == CHALLENGE:
        turn = blstats_of(env)[TIME]
        if env.has_idle_turn and env.idle_turn == turn:
            env.num_idle += 1
        else:
            env.has_idle_turn = True
            env.idle_turn = turn
            env.num_idle = 0
        if env.num_idle >= config.no_progress_timeout:
            return True
    return env.num_steps >= config.max_steps


cdef int end_status(const Env* env, const Config* config) noexcept nogil:
    if config.task == STAIRCASE:
        return SUCCESSFUL if internal_of(&env.game)[ON_STAIRS_DOWN] else RUNNING
    if config.task == STAIRCASE_PET:
        if not internal_of(&env.game)[ON_STAIRS_DOWN]:
            return RUNNING
        return SUCCESSFUL if has_neighbour(env, FIRST_PET_GLYPH, FIRST_PET_GLYPH + NUM_MONSTERS - 1) else RUNNING
    if config.task == ORACLE:
        return SUCCESSFUL if has_neighbour(env, ORACLE_GLYPH, ORACLE_GLYPH) else RUNNING
    return RUNNING


# ---- rewards ---------------------------------------------------------------------------------------------------------


cdef void note_before_step(Env* env) noexcept nogil:
    env.last_score = blstats_of(env)[SCORE]
    env.last_gold = blstats_of(env)[GOLD]
    env.last_time = blstats_of(env)[TIME]
    env.last_hunger = internal_of(&env.game)[HUNGER]


cdef double time_penalty(Env* env, const Config* config) noexcept nogil:
    cdef int64_t time = blstats_of(env)[TIME]
    cdef double penalty = 0.0
    env.num_frozen = env.num_frozen + 1 if time == env.last_time else 0
    if config.penalty_mode == CONSTANT:
        if env.num_frozen > 0:
            penalty += config.penalty_step
    elif config.penalty_mode == EXPONENTIAL:
        penalty += ldexp(1.0, <int>min(env.num_frozen, <int64_t>MAX_EXPONENT)) * config.penalty_step
    elif config.penalty_mode == SQUARE:
        penalty += <double>(env.num_frozen * env.num_frozen) * config.penalty_step
    elif config.penalty_mode == LINEAR:
        penalty += <double>env.num_frozen * config.penalty_step
    elif config.penalty_mode == ALWAYS:
        penalty += config.penalty_step
    penalty += <double>(time - env.last_time) * config.penalty_time
    return penalty


cdef double newly_explored(Env* env) noexcept nogil:
    """The number of glyphs that were seen on this level for the first time; fewer glyphs count negatively."""
    cdef int64_t dungeon = blstats_of(env)[DUNGEON], level = blstats_of(env)[LEVEL]
    cdef const int16_t* glyphs = glyphs_of(env)
    cdef int32_t i, count = 0, before
    for i in range(ROWS * COLUMNS):
        count += glyphs[i] != UNEXPLORED_GLYPH
    if not (0 <= dungeon < MAX_DUNGEONS and 0 <= level < MAX_LEVELS):
        return 0.0
    before = env.explored[dungeon][level]
    env.explored[dungeon][level] = count
    return <double>(count - before)


cdef double reward_of(Env* env, const Config* config) noexcept nogil:
    cdef int64_t gained = 0
    if STAIRCASE <= config.task <= ORACLE:
        return (1.0 if env.end_status == SUCCESSFUL else 0.0) + time_penalty(env, config)
    if not env.game.exchange.in_normal_game:    # the numbers are zero outside of it
        return time_penalty(env, config) if config.task == BY_SCORE or config.task == CHALLENGE else 0.0
    if config.task == BY_GOLD:
        gained = blstats_of(env)[GOLD] - env.last_gold
    elif config.task == BY_HUNGER:
        gained = max(<int64_t>0, <int64_t>internal_of(&env.game)[HUNGER] - env.last_hunger)
    elif config.task == SCOUT:
        return newly_explored(env) + time_penalty(env, config)
    else:
        gained = blstats_of(env)[SCORE] - env.last_score
    return <double>gained if config.task == PLAIN else <double>gained + time_penalty(env, config)
