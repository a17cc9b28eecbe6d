# distutils: language = c++
"""The Atari environment: resets, frame skipping, observations and rendering, on top of emulator.h.

This extension contains ALE. As a binary it is therefore under the GNU General Public License, version 2.

Observations follow ``gymnasium.wrappers.AtariPreprocessing``: `planes` is its newer buffer, which contains the maximum
of the last two screens in greyscale or RGB. Its older buffer is only needed as the screen that it was made of.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport fabsf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool.atari.emulator cimport Emulator, GameInfo, MAX_STRENGTH, Machine, RAM_SIZE, Rom, find_game
from envpool.atari.envs cimport BAD_MODE, Config, Env, EnvParams, Envs, create, destroy, with_params, with_snapshots
from envpool.atari.screen cimport look_up_max
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_NEW_GAME, envpool_batch, envpool_env, envpool_env_init, envpool_frames, envpool_rows,
    envpool_seeds,
)
from envpool.numerics.numpy_exact cimport np_cos32, np_sin32
from envpool.numerics.rng cimport ep_generate_state, ep_integers, ep_pcg64_seed

from envpool.native import Field, define

cdef enum:
    NOOP = 0                    # ALE's actions
    FIRE = 1
    NO_CONSOLE = 1              # error code: a console could not be built or reset
    NO_MEMORY = 2               # error code: out of memory while rendering
    FRAMES_PER_SECOND = 60      # of the console


cdef struct Press:              # what is held during a step
    int action                  # ALE's number
    float strength              # with which a paddle turns, 0 to MAX_STRENGTH


#: Actions of a stick (horizontally: left, centre, right; vertically: down, centre, up; button), see `press_of`.
cdef const uint8_t* STICK = b"\x09\x11\x04\x0c\x07\x0f\x05\x0d\x00\x01\x02\x0a\x08\x10\x03\x0b\x06\x0e"


cdef inline Press press_of(const Config* c, const float* polar) noexcept nogil:
    """Return what a continuous action (radius, angle, button) holds, with the bits of ale_py's float32 arithmetic."""
    cdef Press press
    cdef float x = polar[0] * np_cos32(polar[1]), y = polar[0] * np_sin32(polar[1])
    cdef int horizontal = (x > c.threshold) - (x < -c.threshold) + 1
    cdef int vertical = (y > c.threshold) - (y < -c.threshold) + 1
    press.action = STICK[6 * horizontal + 2 * vertical + (polar[2] > c.threshold)]
    press.strength = fabsf(polar[0])
    if not press.strength <= MAX_STRENGTH:      # NaN is not a strength
        press.strength = MAX_STRENGTH if press.strength > MAX_STRENGTH else 0
    return press


cdef void seed_one(Env* env) noexcept nogil:
    """Build a new console. As in ``ale_py.AtariEnv``, one word seeds the no-ops, another one the emulator."""
    cdef uint32_t seed[2]
    cdef uint32_t words[2]
    seed[0] = <uint32_t>env.seed
    seed[1] = <uint32_t>(env.seed >> 32)
    ep_generate_state(seed, 2, words, 2)
    ep_pcg64_seed(&env.rng, words[0])
    env.is_fresh = True
    env.is_broken = not env.emulator.load(words[1])
    env.frame_number = 0 if env.is_broken else env.emulator.frames_of_reset()


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    for i in range(seeds.n):
        s.env[seeds.ids[i]].seed = seeds.seeds[i]
        seed_one(&s.env[seeds.ids[i]])
    return 0


cdef inline const uint8_t* table_of(Envs* s, int32_t plane) noexcept nogil:
    return &s.tables[0 if s.config.num_planes == 1 else 1 + plane][0]


cdef void set_planes(Envs* s, Env* env, const uint8_t* a, const uint8_t* b) noexcept nogil:
    """Set the planes to the maximum of two screens."""
    cdef int32_t p
    for p in range(s.config.num_planes):
        look_up_max(a, b, table_of(s, p), s.pixels, env.planes + p * s.pixels)


cdef void raise_planes(Envs* s, Env* env, const uint8_t* screen) noexcept nogil:
    """Set the planes to the maximum of the planes and a screen."""
    cdef const uint8_t* table
    cdef uint8_t* plane
    cdef size_t i
    cdef int32_t p
    for p in range(s.config.num_planes):
        table = table_of(s, p)
        plane = env.planes + p * s.pixels
        for i in range(s.pixels):
            plane[i] = max(plane[i], table[screen[i]])


cdef void push_frame(Envs* s, Env* env) noexcept nogil:
    """Resize the planes and append them to the ring buffer of frames."""
    cdef uint8_t* frame
    cdef int32_t p
    env.newest = (env.newest + 1) % s.config.stack_num
    env.num_frames = min(env.num_frames + 1, s.config.stack_num)
    frame = env.frames + env.newest * s.config.num_planes * s.plane
    for p in range(s.config.num_planes):
        s.resizer.run(env.planes + p * s.pixels, frame + p * s.plane)


cdef bint start_game(Env* env) noexcept nogil:
    env.num_frames = 0
    env.steps = 0
    if env.is_broken or not env.emulator.reset_game():
        return False
    env.episode_frame_number = env.emulator.frames_of_reset()
    env.frame_number += env.episode_frame_number
    return True


cdef bint press(Env* env, int action, bint draw) noexcept nogil:
    """Emulate one frame at the start of an episode. If the game ends in it, the game is restarted; in the first reset
    after seeding, it is restarted from the seed. Return whether the console works."""
    env.emulator.act(action, draw)
    env.frame_number += 1
    env.episode_frame_number += 1
    if not env.emulator.is_game_over():
        return True
    if env.is_fresh:
        seed_one(env)
    return start_game(env)


cdef bint reset_one(Envs* s, Env* env, bint is_given_up) noexcept nogil:
    """Start an episode. Return False if the console could not be built or reset.

    The game continues only after a life was lost, unless the user gives it up: a reset in the middle of an episode
    gives it up, too.
    """
    cdef Config* c = &s.config
    cdef int64_t noops
    cdef bint has_ended_life = env.has_lost_life and env.lives > 0 and not is_given_up
    cdef bint is_continued = c.episodic_life and has_ended_life and not (env.is_fresh or env.is_broken or env.is_over)
    if env.is_broken:
        seed_one(env)
    if not (is_continued and env.steps < c.max_episode_steps) and not start_game(env):
        return False
    noops = ep_integers(&env.rng, 1, c.noop_max + 1) if c.noop_max > 0 else 0
    if c.presses_fire:
        noops -= 1
    while noops > 0:
        if not press(env, NOOP, noops == 1 and not c.presses_fire):
            return False
        noops -= 1
    if c.presses_fire and not press(env, FIRE, True):
        return False
    env.is_fresh = False
    env.is_over = False
    env.has_lost_life = False
    env.life_loss = False
    env.lives = env.emulator.lives()
    env.reward = 0
    set_planes(s, env, env.emulator.screen(), env.emulator.screen())
    push_frame(s, env)
    return True


cdef bint step_one(Envs* s, Env* env, Press press) noexcept nogil:
    """Simulate one step. Return whether the episode ended."""
    cdef Config* c = &s.config
    cdef Emulator* emulator = env.emulator
    cdef int32_t t = 0, lives, before = env.lives, last = env.params.frame_skip - 1
    cdef int32_t older = last - 1 if c.maxpool else -1      # the frame that is pooled with the last one
    cdef int32_t first_drawn = last - c.maxpool
    cdef int reward = 0
    cdef bint ended = False
    env.has_lost_life = False
    for t in range(env.params.frame_skip):
        reward += emulator.act(press.action, c.renders or t >= first_drawn, press.strength)
        lives = emulator.lives()
        env.is_over = emulator.is_game_over()
        env.has_lost_life |= lives < env.lives
        ended = env.is_over or (c.episodic_life and 0 < lives < env.lives)
        env.lives = lives
        if ended:
            break
        if t == older:
            memcpy(env.older, emulator.screen(), s.pixels)
    env.steps += 1
    env.reward = reward
    if c.tells_life_loss:
        env.life_loss = 0 < env.lives < before
    if c.tells_frames:
        env.frame_number += t + 1
        env.episode_frame_number += t + 1
    if not ended:
        set_planes(s, env, emulator.screen(), <const uint8_t*>env.older if older >= 0 else emulator.screen())
    elif older >= 0 and t == last:
        raise_planes(s, env, env.older)
    push_frame(s, env)
    return ended


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Env* env
    cdef Press press
    cdef int32_t i
    cdef int failed = 0
    press.strength = 1
    for i in range(b.n):
        env = &s.env[b.ids[i]]
        if b.reset[i]:
            if not reset_one(s, env, b.reset[i] == ENVPOOL_NEW_GAME):
                env.is_broken = True
                b.errors[i] = NO_CONSOLE
                failed = 1
            continue
        if s.config.continuous:
            press = press_of(&s.config, <const float*>b.actions[0] + 3 * <int64_t>b.ids[i])
        else:
            press.action = s.config.actions[actions[b.ids[i]]]
        b.terminated[i] = step_one(s, env, press)
        b.reward[i] = env.reward
        if s.config.clips_reward:
            b.reward[i] = (env.reward > 0) - (env.reward < 0)
        if s.config.cuts_discount and env.has_lost_life and b.discount != NULL:
            b.discount[i] = 0
        if s.config.episodic_life:          # the pool only counts the steps of the current life
            b.truncated[i] = env.steps >= s.config.max_episode_steps
    return failed


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t stack_num = s.config.stack_num
    cdef size_t frame = s.plane * s.config.num_planes
    cdef uint8_t* obs = <uint8_t*>rows.fields[0] + rows.row0 * stack_num * frame
    cdef int32_t* lives = <int32_t*>rows.fields[1] + rows.row0
    cdef float* reward = <float*>rows.fields[2] + rows.row0
    cdef int32_t* terminated = <int32_t*>rows.fields[3] + rows.row0
    cdef uint8_t* ram = <uint8_t*>rows.fields[4] + rows.row0 * RAM_SIZE
    cdef uint8_t* life_loss
    cdef int32_t* numbers
    cdef Env* env
    cdef int32_t i, age, missing
    for i in range(rows.n):
        env = &s.env[rows.ids[i]]
        missing = 0
        if s.config.pads_with_zeros:
            missing = stack_num - env.num_frames
            memset(obs, 0, missing * frame)
            obs += missing * frame
        for age in range(stack_num - missing - 1, -1, -1):      # the first frame of a game is repeated before it
            memcpy(obs, env.frames + (env.newest - min(age, env.num_frames - 1) + stack_num) % stack_num * frame, frame)
            obs += frame
        lives[i] = env.lives
        reward[i] = env.reward
        terminated[i] = env.is_over
        memcpy(ram + i * RAM_SIZE, env.emulator.ram(), RAM_SIZE)
    if s.config.tells_life_loss:
        life_loss = <uint8_t*>rows.fields[5] + rows.row0
        for i in range(rows.n):
            life_loss[i] = s.env[rows.ids[i]].life_loss
    if s.config.tells_frames:
        numbers = <int32_t*>rows.fields[5 + s.config.tells_life_loss] + rows.row0
        for i in range(rows.n):
            numbers[i] = <int32_t>s.env[rows.ids[i]].frame_number
        numbers = <int32_t*>rows.fields[6 + s.config.tells_life_loss] + rows.row0
        for i in range(rows.n):
            numbers[i] = <int32_t>s.env[rows.ids[i]].episode_frame_number


cdef void draw_plane(Envs* s, const uint8_t* screen, const uint8_t* table, uint8_t* scratch, uint8_t* pixels,
                     size_t n) noexcept nogil:
    """Draw one channel of a frame of n pixels, which is every third byte."""
    cdef uint8_t* plane = scratch + s.pixels
    cdef size_t i
    if s.render_resizer == NULL:
        for i in range(n):
            pixels[3 * i] = table[screen[i]]
        return
    for i in range(s.pixels):
        scratch[i] = table[screen[i]]
    s.render_resizer.run(scratch, plane)
    for i in range(n):
        pixels[3 * i] = plane[i]


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef size_t n = <size_t>f.height * f.width
    cdef uint8_t* scratch = <uint8_t*>malloc(s.pixels + n)
    cdef int32_t i, p
    if scratch == NULL:
        return NO_MEMORY
    for i in range(f.n):
        for p in range(3):
            draw_plane(s, s.env[f.ids[i]].emulator.screen(), &s.tables[1 + p][0], scratch, f.pixels + 3 * n * i + p, n)
    free(scratch)
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == NO_CONSOLE:
        snprintf(text, size, "the console could not be built: out of memory")
    elif code == BAD_MODE:
        snprintf(text, size, "the game has no such mode or difficulty")
    else:
        snprintf(text, size, "out of memory while rendering a frame; use a smaller frame size")


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Atari")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = 210     # of most games; `build` determines the size for the game
ENV_DEF.frame_width = 160
with_snapshots(&ENV_DEF)
with_params(&ENV_DEF)


def find(str name):
    """Return ALE's data about a game (md5, modes, difficulties, minimal_actions, legal_actions), or {} if unknown."""
    cdef GameInfo info
    if not find_game(name.encode(), &info):
        return {}
    return {
        "md5": info.md5.decode(),
        "modes": list(info.modes),
        "difficulties": list(info.difficulties),
        "minimal_actions": list(info.minimal_actions),
        "legal_actions": list(info.legal_actions),
    }


def screen_size(bytes rom):
    """Return the height and the width of a game's screen in pixels. ALE must know the MD5 of the ROM (see `find`)."""
    console = Console(rom, 0)
    screens, *_ = console.play([NOOP], [True])
    return screens.shape[1:]


def build(config, game, bytes rom, params, render_size=None):
    """Return the capsule of a task with checked options, the result of `find` for its game, the game's ROM, and the
    table of its parameters.

    `render_size`, the height and the width of rendered frames (0: those of the screen), makes a capsule that renders.
    """
    cdef Config c
    actions = game["legal_actions" if config.full_action_space or config.continuous else "minimal_actions"]
    c.stack_num = config.stack_num
    c.noop_max = config.noop_max
    c.max_episode_steps = config.max_episode_steps
    c.height = config.img_height
    c.width = config.img_width
    c.num_planes = 1 if config.gray_scale else 3
    for i, action in enumerate(actions):
        c.actions[i] = action
    c.presses_fire = config.use_fire_reset and FIRE in actions
    c.episodic_life = config.episodic_life
    c.cuts_discount = config.zero_discount_on_life_loss
    c.clips_reward = config.reward_clip
    c.area = config.use_inter_area_resize
    c.continuous = config.continuous
    c.threshold = config.continuous_action_threshold
    c.maxpool = config.maxpool
    c.pads_with_zeros = config.padding_type == "zero"
    c.tells_life_loss = config.life_loss_info
    c.tells_frames = config.frame_number_info
    c.params = EnvParams(config.frame_skip, config.mode, config.difficulty, 0, config.repeat_action_probability)
    c.renders = render_size is not None
    frame_size = screen_size(rom) if c.renders else None
    c.render_height, c.render_width = (r or s for r, s in zip(render_size, frame_size)) if c.renders else (0, 0)
    c.rom_size = len(rom)
    fields = [
        Field("obs", np.uint8, (c.stack_num * c.num_planes, c.height, c.width), 0, 255),
        Field("info:lives", np.int32, (-1,)),
        Field("info:reward", np.float32, (-1,)),
        Field("info:terminated", np.int32, (-1,), 0, 1),
        Field("info:ram", np.uint8, (RAM_SIZE,)),
    ]
    if config.life_loss_info:
        fields.append(Field("info:life_loss", np.bool_, (-1,)))
    if config.frame_number_info:
        fields.append(Field("info:frame_number", np.int32, (-1,)))
        fields.append(Field("info:episode_frame_number", np.int32, (-1,)))
    if config.continuous:
        half_turn = float(np.float32(np.pi))
        actions = [Field("action", np.float32, (3,), [0, -half_turn, 0], [1, half_turn, 1])]
    else:
        actions = [Field("action", np.int32, (-1,), 0, len(actions) - 1)]
    template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
    config_bytes = (<const char*>&c)[:sizeof(Config)] + rom
    return define(template, fields, actions, config_bytes, params=params, frame_size=frame_size,
                  step_time=config.frame_skip / FRAMES_PER_SECOND)


cdef class Console:
    """One game that is played frame by frame, without a pool: for tests and profiles.

    Parameters
    ----------
    rom : bytes
        The ROM; ALE must know its MD5 (see `find`).
    seed : int
        Seed of the emulator's generator, which decides which actions are repeated; 0 to 2**32 - 1.
    repeat_action_probability : float
        Chance that a frame repeats the action of the previous frame, 0 to 1.
    mode, difficulty : int
        One of the values of `find`; -1 is the game's default.
    """
    cdef Rom* rom
    cdef Emulator* emulator

    def __cinit__(
        self, bytes rom, uint32_t seed, float repeat_action_probability=0, int mode=-1, int difficulty=-1
    ):
        cdef Machine machine
        self.rom = new Rom(<const char*>rom, len(rom))
        if not self.rom.is_open():
            raise MemoryError
        machine.rom = self.rom
        machine.mode = mode
        machine.difficulty = difficulty
        machine.repeat_action_probability = repeat_action_probability
        self.emulator = new Emulator(machine)
        if not self.emulator.load(seed) or not self.emulator.reset_game():
            raise MemoryError

    def __dealloc__(self):
        del self.emulator
        del self.rom

    def play(self, actions, drawn):
        """Emulate frames. A game that ends is restarted with the next frame.

        Parameters
        ----------
        actions : (n,) array of uint8
            The action of each frame, 0 to 17.
        drawn : (n,) array of bool
            True for each frame to draw.

        Returns
        -------
        tuple of arrays
            Palette indices uint8 (number of drawn frames, height, width), RAM uint8 (n, 128), rewards int32 (n,), lives
            int32 (n,), and whether the game is over, bool (n,).
        """
        cdef const uint8_t[::1] presses = np.ascontiguousarray(actions, np.uint8)
        cdef const uint8_t[::1] draw = np.ascontiguousarray(drawn, np.uint8)
        cdef Py_ssize_t i, n = len(presses), count = 0
        if len(draw) != n or (n and np.max(actions) >= 18):
            raise ValueError(f"actions must be {len(draw)} numbers between 0 and 17, as many as drawn, got {actions!r}")
        screens = np.zeros((np.count_nonzero(draw), self.emulator.height(), self.emulator.width()), np.uint8)
        memories, numbers, ends = np.zeros((n, RAM_SIZE), np.uint8), np.zeros((2, n), np.int32), np.zeros(n, np.bool_)
        cdef uint8_t[:, :, ::1] screen = screens
        cdef uint8_t[:, ::1] ram = memories
        cdef int32_t[:, ::1] number = numbers
        cdef uint8_t[::1] over = ends.view(np.uint8)
        cdef size_t size = <size_t>self.emulator.height() * self.emulator.width()
        with nogil:
            for i in range(n):
                if self.emulator.is_game_over() and not self.emulator.reset_game():
                    break
                number[0, i] = self.emulator.act(presses[i], draw[i])
                number[1, i] = self.emulator.lives()
                over[i] = self.emulator.is_game_over()
                memcpy(&ram[i, 0], self.emulator.ram(), RAM_SIZE)
                if draw[i]:
                    memcpy(&screen[count, 0, 0], self.emulator.screen(), size)
                    count += 1
        return screens, memories, numbers[0], numbers[1], ends
