# optimize: -Og
"""The env definition of all Procgen tasks: each environment is a handle of the library, see ``libenv.pxd``.

Upstream: ``procgen.ProcgenGym3Env`` of procgen-mirror 0.10.7, under ``gym3.ToGymEnv``.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset, strncpy

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_seeds, envpool_setup
from envpool.procgen.libenv cimport (
    FORCE_RESET, FRAME_BYTES, FRAME_SIDE, Library, NUM_ACTIONS, OBS_BYTES, OBS_SIDE, loaded, make_handle,
)
from envpool.procgen.rows cimport free_rows, load_row, new_rows
from envpool.procgen.snapshots cimport with_snapshots
from envpool.procgen.structs cimport Config, Env, Envs
from envpool.raster.image cimport smooth_image, smooth_scale
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_free_state, envpool_new_array, envpool_new_env,
    envpool_new_state, envpool_template,
)

from envpool.native import Field, define

cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Envs* s
    cdef const Config* config = <const Config*>setup.config
    cdef Env* env
    cdef int32_t i
    if loaded() == NULL:
        strncpy(setup.text, b"the library of Procgen is not loaded: make the pool with envpool.make", setup.text_size)
        return 1
    s = <Envs*>envpool_new_state(setup, sizeof(Envs), sizeof(Env))
    if s == NULL:
        return envpool_finish_state(NULL, state)
    if config.settings.renders:
        s.frames = <uint8_t*>envpool_new_array(s, FRAME_BYTES)      # pages that nobody renders to take no memory
    if config.seed_rows:
        s.rows = new_rows(&config.settings, setup.num_envs)
        s.head.has_failed |= s.rows == NULL
    for i in range(setup.num_envs):
        env = <Env*>s.head.records + i
        env.ob = env.obs
        env.ac = &env.action
        env.info[0] = &env.prev_level_seed
        env.info[1] = &env.prev_level_complete
        env.info[2] = &env.level_seed
        env.info[3] = s.frames + <size_t>i * FRAME_BYTES if s.frames != NULL else NULL
        env.buffers.ob = &env.ob
        env.buffers.ac = &env.ac
        env.buffers.info = env.info
        env.buffers.reward = &env.reward
        env.buffers.first = &env.first
    if s.head.has_failed:
        free_rows(s.rows)
    return envpool_finish_state(s, state)


cdef void destroy(void* state) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    for i in range(s.head.num_envs):
        close_handle(<Env*>s.head.records + i)
    free_rows(s.rows)
    envpool_free_state(state)


cdef void close_handle(Env* env) noexcept nogil:
    if env.handle != NULL:
        loaded().close(env.handle)
    env.handle = NULL


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    """Make new handles: the library takes a seed only when it makes one. Seeds count modulo 2**32."""
    cdef Envs* s = <Envs*>state
    cdef const Config* config = <const Config*>s.head.config
    cdef Env* env
    cdef uint64_t seed
    cdef int32_t i
    for i in range(seeds.n):
        env = <Env*>s.head.records + seeds.ids[i]
        close_handle(env)
        # Environment i gets the seed of the pool plus i, so that this is the seed of the pool.
        seed = seeds.seeds[i] - <uint64_t>seeds.ids[i] if config.seed_rows else seeds.seeds[i]
        env.handle = make_handle(&config.settings, 1, <int32_t><uint32_t>seed)
        loaded().set_buffers(env.handle, &env.buffers)
        if config.seed_rows:
            load_row(s.rows, seeds.ids[i], <int32_t><uint32_t>seed, env.handle)
        env.has_ended = 0
    return 0


cdef inline void act(const Library* library, Env* env, int32_t action) noexcept nogil:
    env.action = action
    library.act(env.handle)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    """The step that ends an episode also starts the next one, as upstream. Therefore a reset after it does nothing but
    show the first frame, and only a reset in the middle of an episode has to force the library."""
    cdef Envs* s = <Envs*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef const Library* library = loaded()
    cdef Env* env
    cdef int32_t i
    for i in range(b.n):
        env = <Env*>s.head.records + b.ids[i]
        if b.reset[i]:
            if not env.first:
                act(library, env, FORCE_RESET)
            env.has_ended = 0
            continue
        memcpy(env.previous, env.obs, OBS_BYTES)
        act(library, env, actions[b.ids[i]])
        env.has_ended = env.first
        b.reward[i] = env.reward
        b.terminated[i] = env.first
    return 0


cdef void write_planes(const uint8_t* pixels, uint8_t* obs) noexcept nogil:
    """Write pixels (64, 64, 3) as three planes."""
    cdef int32_t i
    for i in range(OBS_SIDE * OBS_SIDE):
        obs[i] = pixels[3 * i]
        obs[i + OBS_SIDE * OBS_SIDE] = pixels[3 * i + 1]
        obs[i + 2 * OBS_SIDE * OBS_SIDE] = pixels[3 * i + 2]


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    """The row that ends an episode shows the frame before its last step, since the library draws no other one."""
    cdef Envs* s = <Envs*>state
    cdef uint8_t* obs = <uint8_t*>rows.fields[0] + rows.row0 * OBS_BYTES
    cdef int32_t* prev_level_seed = <int32_t*>rows.fields[1] + rows.row0
    cdef int32_t* prev_level_complete = <int32_t*>rows.fields[2] + rows.row0
    cdef int32_t* level_seed = <int32_t*>rows.fields[3] + rows.row0
    cdef bint channel_first = (<const Config*>s.head.config).channel_first
    cdef const uint8_t* pixels
    cdef Env* env
    cdef int32_t i
    for i in range(rows.n):
        env = <Env*>s.head.records + rows.ids[i]
        pixels = &env.previous[0] if env.has_ended else &env.obs[0]
        if channel_first:
            write_planes(pixels, obs)
        else:
            memcpy(obs, pixels, OBS_BYTES)
        obs += OBS_BYTES
        prev_level_seed[i] = env.prev_level_seed
        prev_level_complete[i] = env.prev_level_complete
        level_seed[i] = env.level_seed


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    """Draw frames as upstream, and scale them if another size is asked for."""
    cdef Envs* s = <Envs*>state
    cdef size_t size = <size_t>f.height * f.width * 3
    cdef smooth_image drawn, wanted
    cdef int32_t i
    drawn.height = drawn.width = FRAME_SIDE
    wanted.height, wanted.width = f.height, f.width
    drawn.channels = wanted.channels = 3
    for i in range(f.n):
        loaded().observe((<Env*>s.head.records + f.ids[i]).handle)
        drawn.pixels = s.frames + <size_t>f.ids[i] * FRAME_BYTES
        wanted.pixels = f.pixels + i * size
        if f.height == FRAME_SIDE and f.width == FRAME_SIDE:
            memcpy(wanted.pixels, drawn.pixels, size)
        else:
            smooth_scale(&drawn, &wanted)
    return 0


cdef void complete(envpool_env* env_def) noexcept:
    env_def.destroy = destroy
    env_def.seed_many = seed_many
    env_def.render_many = render_many
    env_def.frame_height = env_def.frame_width = FRAME_SIDE


cdef envpool_env ENV_DEF = envpool_new_env("Procgen", create, step_many, write_many)
# The library ends the process when it should write a state with generated images. The name is part of an error message.
cdef envpool_env GENERATED_ENV_DEF = envpool_new_env("Procgen with use_generated_assets=True", create, step_many,
                                                     write_many)
complete(&ENV_DEF)
complete(&GENERATED_ENV_DEF)
with_snapshots(&ENV_DEF)


def build(config, num_levels, start_level, distribution_mode, renders):
    """Return the capsule of a task with checked options, whose handles can draw frames if `renders` is true."""
    cdef Config c
    memset(&c, 0, sizeof(c))
    strncpy(c.settings.env_name, <bytes>config.env_name.encode(), sizeof(c.settings.env_name) - 1)
    c.settings.distribution_mode = distribution_mode
    c.settings.num_levels = num_levels
    c.settings.start_level = start_level
    c.settings.use_sequential_levels = config.use_sequential_levels
    c.settings.center_agent = config.center_agent
    c.settings.use_backgrounds = config.use_backgrounds
    c.settings.use_monochrome_assets = config.use_monochrome_assets
    c.settings.restrict_themes = config.restrict_themes
    c.settings.use_generated_assets = config.use_generated_assets
    c.settings.paint_vel_info = config.paint_vel_info
    c.settings.use_easy_jump = config.use_easy_jump
    c.settings.renders = renders
    c.channel_first = config.channel_first
    c.seed_rows = config.seed_rows
    shape = [OBS_SIDE, OBS_SIDE]
    shape.insert(0 if config.channel_first else 2, 3)
    fields = [
        Field("obs", np.uint8, tuple(shape), 0, 255),
        Field("info:prev_level_seed", np.int32, (-1,)),
        Field("info:prev_level_complete", np.int32, (-1,)),
        Field("info:level_seed", np.int32, (-1,)),
    ]
    actions = [Field("action", np.int32, (-1,), 0, NUM_ACTIONS - 1)]
    template = envpool_template(&GENERATED_ENV_DEF if config.use_generated_assets else &ENV_DEF)
    return define(template, fields, actions, envpool_config_bytes(&c, sizeof(c)))
