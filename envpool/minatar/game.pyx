"""Shared code of the MinAtar games: their environment definitions, options, seeds, saved states and frames.

Source of the rules: MinAtar 1.0.15 (Young and Tian, MinAtar: An Atari-Inspired Testbed for Thorough and Reproducible
Reinforcement Learning Experiments, 2019), gymnasium's ``MinAtar/<Game>-v0`` and ``-v1``. The package is under the GNU
General Public License: this code behaves as it does, and contains none of its text.

An environment equals a new environment of upstream whose first reset has its seed. Upstream's generator is a
``RandomState(seed)``, from which each step draws one number, whether or not actions are sticky, before the game draws.
The next episodes continue its stream, and they remember the last action of the episode before. Seeding forgets it.
"""

import numpy as np

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows
from envpool.numerics.rng_legacy cimport EP_MT19937_WORDS, ep_legacy_random_sample, ep_mt19937_seed
from envpool.raster.canvas cimport canvas, canvas_colour, canvas_of_frame, canvas_span
from envpool.records cimport (
    envpool_advance, envpool_new_records_env, envpool_outcome, envpool_record, envpool_records, envpool_records_config,
    envpool_template,
)
from envpool.scaffold cimport envpool_state

from envpool.minatar.palette import PALETTES
from envpool.native import EnvDefinition, Field, define
from envpool.config.checks import check_range

cdef extern from * nogil:
    void __builtin_prefetch(const void* address)

cdef enum:
    LINE = 64                   # bytes of a cache line

cdef struct Config:
    const Rules* rules          # a constant of the game's module
    double sticky_action_prob
    int32_t is_ramping
    int32_t actions[NUM_ACTIONS]    # upstream's number of each action of the task


cdef size_t size_for(const void* config) noexcept nogil:
    return (<const Config*>config).rules.size


cdef void seed(void* record, uint64_t seed) noexcept nogil:
    cdef Agent* agent = <Agent*>record
    ep_mt19937_seed(&agent.rng, <uint32_t>seed)
    agent.action = STAY


cdef int reset(void* record, const void* config) noexcept nogil:
    (<Agent*>record).is_over = 0
    (<const Config*>config).rules.reset(record)
    return 0


cdef int step(void* record, const void* config, const void* const* actions, int32_t id,
              envpool_outcome* out) noexcept nogil:
    cdef const Config* c = <const Config*>config
    cdef Agent* agent = <Agent*>record
    if ep_legacy_random_sample(&agent.rng) >= c.sticky_action_prob:
        agent.action = c.actions[(<const int32_t*>actions[0])[id]]
    out.reward = c.rules.step(agent, agent.action, c.is_ramping)
    out.terminated = agent.is_over
    return 0


cdef inline void write_board(const void* record, const Rules* rules, uint8_t* obs) noexcept nogil:
    memset(obs, 0, CELLS * rules.channels)
    rules.write(record, obs)


cdef void write(const void* record, const void* config, void* const* fields, int64_t row) noexcept nogil:
    cdef const Rules* rules = (<const Config*>config).rules
    write_board(record, rules, <uint8_t*>fields[0] + CELLS * rules.channels * row)


cdef inline void prefetch(const Agent* far, const Agent* near) noexcept nogil:
    """Fetch a game, and the words that a nearer one draws next; the processor fetches within pages only."""
    cdef const char* behind_key = <const char*>&far.rng.position
    __builtin_prefetch(behind_key)
    __builtin_prefetch(behind_key + LINE)
    __builtin_prefetch(behind_key + 2 * LINE)
    __builtin_prefetch(&near.rng.key[near.rng.position])


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef void* game
    cdef int32_t i
    for i in range(b.n):
        if i + 4 < b.n:
            prefetch(<Agent*>envpool_record(s, b.ids[i + 4]), <Agent*>envpool_record(s, b.ids[i + 2]))
        game = envpool_record(s, b.ids[i])
        envpool_advance(game, s.config, b, i, reset, step)
        write(game, s.config, rows.fields, rows.row0 + i)
    return 0


cdef int has_random_state(const void* record) noexcept nogil:
    """Every key is a state of the generator; only the position can lead out of it."""
    cdef const Agent* agent = <const Agent*>record
    return 0 <= agent.rng.position <= EP_MT19937_WORDS and 0 <= agent.rng.has_normal <= 1


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    cdef const Agent* agent = <const Agent*>record
    if not (0 <= agent.action < NUM_ACTIONS and 0 <= agent.is_over <= (1 if resets else 0)):
        return 0
    return (<const Config*>config).rules.is_valid(agent, agent.is_over)


# ---- frames ----------------------------------------------------------------------------------------------------------


cdef void draw_board(const canvas* c, const uint8_t* obs, int32_t channels, const uint8_t* palette) noexcept nogil:
    """Draw a board (10, 10, channels): a cell has the colour of its last channel that is set, or is black.

    Cells have the same size if the size of the frame is a multiple of ten, and nearly so otherwise.
    """
    cdef uint32_t colours[SIDE]
    cdef const uint8_t* cell
    cdef const uint8_t* rgb
    cdef int32_t y, x, channel, start
    for y in range(c.height):
        cell = obs + y * SIDE // c.height * SIDE * channels
        for x in range(SIDE):
            colours[x] = canvas_colour(0, 0, 0)
            for channel in range(channels):
                if cell[channel]:
                    rgb = palette + 3 * channel
                    colours[x] = canvas_colour(rgb[0], rgb[1], rgb[2])
            cell += channels
        start = 0
        for x in range(1, c.width + 1):
            if x == c.width or x * SIDE // c.width != start * SIDE // c.width:
                canvas_span(c, y, start, x - 1, colours[start * SIDE // c.width])
                start = x


cdef int draw(const void* record, const void* config, const envpool_frames* f, int32_t i) noexcept nogil:
    cdef const Rules* rules = (<const Config*>config).rules
    cdef uint8_t obs[CELLS * MAX_CHANNELS]
    cdef canvas c = canvas_of_frame(f, i)
    write_board(record, rules, obs)
    draw_board(&c, obs, rules.channels, <const uint8_t*>f.assets)
    return 0


# ---- definitions -----------------------------------------------------------------------------------------------------


cdef envpool_records GAMES
GAMES.size_for, GAMES.seed, GAMES.reset, GAMES.step, GAMES.write, GAMES.draw = size_for, seed, reset, step, write, draw
GAMES.is_valid, GAMES.has_generator = is_valid, has_random_state


cdef envpool_env new_game(const char* name) noexcept:
    cdef envpool_env env_def = envpool_new_records_env(name, &GAMES)
    env_def.run_many = run_many
    env_def.frame_height = env_def.frame_width = SIDE
    return env_def


cdef object define_game(const envpool_env* env_def, const Rules* rules, object config, object minimal):
    cdef Config c
    check_range("sticky_action_prob", config.sticky_action_prob, 0, 1)
    allowed = minimal if config.use_minimal_action_set else range(NUM_ACTIONS)
    memset(&c, 0, sizeof(c))
    c.rules = rules
    c.sticky_action_prob = config.sticky_action_prob
    c.is_ramping = config.difficulty_ramping
    for i, action in enumerate(allowed):
        c.actions[i] = action
    fields = [Field("obs", np.bool_, (SIDE, SIDE, rules.channels))]
    actions = [Field("action", np.int32, (-1,), 0, len(allowed) - 1)]
    return define(envpool_template(env_def), fields, actions, envpool_records_config(&GAMES, &c, sizeof(c)))


class Game(EnvDefinition):
    """The options of all games, and the colours of their frames.

    Observation bool (10, 10, channels): ``board[y, x, channel]`` is a cell. Action int32: 0 nothing, 1 left, 2 up,
    3 right, 4 down, 5 fire; with the minimal action set, the number of an action among those that the game uses.

    Options
    -------
    sticky_action_prob : float
        Probability in [0, 1] that a step repeats the last action, even an action of the episode before. Default 0.1.
    difficulty_ramping : bool
        If True, the game gets harder in the course of an episode. Default True. Breakout and Freeway never do.
    use_minimal_action_set : bool
        If True, the action space has only the actions that have an effect in the game. Default False in version 0 of a
        task, True in version 1.
    """

    options = {"sticky_action_prob": 0.1, "difficulty_ramping": True, "use_minimal_action_set": False}
    channels = ()

    @staticmethod
    def max_seed(config):
        """Return the largest seed of a RandomState."""
        return 2**32 - 1

    @classmethod
    def render_assets(cls, config, height, width):
        """Return the colours of the channels: uint8 (channels, 3)."""
        return bytes(PALETTES[len(cls.channels)])

    @staticmethod
    def render_fps(config):
        """Return the frame rate of upstream's window, which shows each frame for 50 ms."""
        return 20
