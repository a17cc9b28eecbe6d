"""The picture of both mountain cars."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_frames

# Draws picture i of a batch: a car over the point x, y of the hill (pixels), leaning by an angle. is_single: places are
# rounded to float32, as upstream's are where its state is. f.assets is what valley.assets gave.
cdef void draw_valley(const envpool_frames* f, int32_t i, double x, double y, double angle,
                      bint is_single) noexcept nogil
