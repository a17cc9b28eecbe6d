"""Drawing for both mountain cars."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_frames

# Draws frame i of a batch: a car above the point x, y of the hill (pixels) that leans by an angle (rad). If is_single,
# positions are rounded to float32, as upstream does if its state is float32. f.assets is the result of valley.assets.
cdef void draw_valley(const envpool_frames* f, int32_t i, double x, double y, double angle,
                      bint is_single) noexcept nogil
