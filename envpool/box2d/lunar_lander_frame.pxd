"""exhaust.h and lunar_lander_frame.h: the exhaust of LunarLander's engines, and its frames."""

from libc.stdint cimport uint8_t

from libcpp cimport bool

from envpool.box2d.scene cimport Archive, b2Body, b2Vec2, b2World

cdef extern from "envpool/box2d/exhaust.h" nogil:
    cdef struct Exhaust:
        b2World* world
        bool is_world_old

    void exhaust_restart(Exhaust* e)
    void exhaust_release(Exhaust* e)
    void exhaust_emit(Exhaust* e, double density, double brightness, const b2Vec2& place, const b2Vec2& push)
    void exhaust_step(Exhaust* e)
    int exhaust_renew(Exhaust* e, double gravity)
    void exhaust_catch_up(Exhaust* e)
    void exhaust_fade(Exhaust* e)
    bint exhaust_has_world(const Exhaust* e)
    void exhaust_transfer(Exhaust* e, Archive* archive)
    void exhaust_transfer_world(Exhaust* e, Archive* archive)

cdef extern from "envpool/box2d/lunar_lander_frame.h" nogil:
    enum:
        LANDER_CHUNKS
        LANDER_HEIGHT
        LANDER_WIDTH

    cdef struct LanderScene:
        const double* x
        const double* y
        double pad_y
        const b2Body* parts[3]
        const Exhaust* exhaust

    void lander_draw(const LanderScene* s, uint8_t* pixels)
