"""Shared code of both mountain cars: the order of their parameters, and drawing."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_frames

# C, so that the C code of both can use it.
cdef extern from * nogil:
    """
    /* Entries of the table: the parameters that both cars have. Lengths in m, velocities in m per step. */
    enum { LOWEST, HIGHEST, MAX_SPEED, GOAL, GOAL_VELOCITY, PUSH, GRAVITY, NUM_SHARED, NUM_BOUNDS = 2 };
    """
    enum:
        LOWEST
        HIGHEST
        GOAL
        NUM_SHARED
        NUM_BOUNDS

cdef struct valley:             # the landscape of one frame
    double lowest               # positions at the borders of the frame, in m
    double highest
    double scale                # pixels per metre
    bint has_usual_hill         # the image in the assets shows its hill
    int32_t flag[2]             # foot of the flag, in pixels

# Returns the landscape of env `id`; `usual` are the parameters of the assets.
cdef valley valley_of(const envpool_frames* f, double* const* params, int32_t id, const double* usual) noexcept nogil

# Draws frame i of a batch: a car above the point x, y of the hill (pixels) that leans by an angle (rad). If is_single,
# positions are rounded to float32, as upstream does if its state is float32. Valley.render_assets returns f.assets.
cdef void draw_valley(const envpool_frames* f, int32_t i, const valley* v, double x, double y, double angle,
                      bint is_single) noexcept nogil
