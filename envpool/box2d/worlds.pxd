"""worlds.h: the environment ABI, implemented once for all Box2D environments."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from envpool.box2d.parameters cimport WorldParams
from envpool.box2d.scene cimport Archive, b2World
from envpool.env cimport envpool_env
from envpool.numerics.rng cimport ep_pcg64
from envpool.records cimport envpool_outcome, envpool_write_one
from envpool.scaffold cimport envpool_state

cdef extern from "envpool/box2d/worlds.h" nogil:
    cdef struct WorldEnv:
        ep_pcg64 rng
        b2World* world
        double* params

    cdef struct WorldFunctions:
        size_t env_size
        const char* bad_action
        const char* bad_reset
        void (*release)(WorldEnv* env) noexcept nogil
        void (*seed)(WorldEnv* env, const WorldOptions* options, uint64_t seed) noexcept nogil
        int (*reset)(WorldEnv* env, const WorldOptions* options) noexcept nogil
        int32_t (*set_action)(WorldEnv* env, const WorldOptions* options, const void* actions,
                              int32_t id) noexcept nogil
        void (*apply_forces)(WorldEnv* env, const WorldOptions* options) noexcept nogil
        void (*observe)(WorldEnv* env, const WorldOptions* options, envpool_outcome* out) noexcept nogil
        envpool_write_one write
        bint (*draw)(WorldEnv* env, const WorldOptions* options, uint8_t* canvas) noexcept nogil
        int32_t canvas_height
        int32_t canvas_width
        void (*forget)(WorldEnv* env) noexcept nogil
        void (*transfer)(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil
        void (*transfer_before)(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil
        int64_t state_size

    cdef struct WorldOptions:
        const WorldFunctions* functions
        WorldParams params

    WorldEnv* worlds_env(const envpool_state* s, int32_t id)
    void worlds_init(envpool_env* definition, const char* name)
