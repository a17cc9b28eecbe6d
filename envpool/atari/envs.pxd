"""envs.h: configuration, state and memory of the Atari envs of a pool."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.atari.emulator cimport Emulator
from envpool.env cimport envpool_env, envpool_setup
from envpool.numerics.rng cimport ep_pcg64
from envpool.raster.resize cimport Resizer

cdef extern from "envs.h" namespace "envpool::atari" nogil:
    cdef struct EnvParams:
        int32_t frame_skip
        int32_t mode
        int32_t difficulty
        int32_t unused
        double repeat_action_probability

    cdef struct Config:
        int32_t stack_num
        int32_t noop_max
        int32_t max_episode_steps
        int32_t height
        int32_t width
        int32_t num_planes
        float threshold
        uint8_t actions[18]
        bint presses_fire
        bint episodic_life
        bint cuts_discount
        bint clips_reward
        bint area
        bint continuous
        bint maxpool
        bint pads_with_zeros
        bint tells_life_loss
        bint tells_frames
        bint renders
        int32_t render_height
        int32_t render_width
        EnvParams params
        int64_t rom_size

    cdef struct Env:
        Emulator* emulator
        EnvParams params
        ep_pcg64 rng
        uint64_t seed
        bint is_fresh
        bint is_broken
        bint is_over
        bint has_lost_life
        int32_t lives
        bint life_loss
        uint32_t frame_number
        uint32_t episode_frame_number
        int32_t steps
        float reward
        int32_t newest
        int32_t num_frames
        uint8_t* frames
        uint8_t* planes
        uint8_t* older

    cdef struct Envs:
        Config config
        Resizer* resizer
        Resizer* render_resizer
        size_t pixels
        size_t plane
        uint8_t tables[4][256]
        Env* env

    int create(const envpool_setup* setup, void** state)
    void destroy(void* state)

cdef extern from "snapshots.h" namespace "envpool::atari" nogil:
    void with_snapshots(envpool_env* env)

cdef extern from "params.h" namespace "envpool::atari" nogil:
    const int BAD_MODE "envpool::atari::kBadMode"
    void with_params(envpool_env* env)
