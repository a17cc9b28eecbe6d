"""Drawing for both mountain cars."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_frames

cdef struct valley:             # the landscape of one frame
    double lowest               # positions at the borders of the frame, in m
    double highest
    double scale                # pixels per metre
    bint has_usual_hill         # the image in the assets shows its hill
    int32_t flag[2]             # foot of the flag, in pixels

# Returns the landscape between two positions with a flag at the goal; `usual_...` are those of the assets.
cdef valley valley_of(const envpool_frames* f, double lowest, double highest, double goal, double usual_lowest,
                      double usual_highest, double usual_goal) noexcept nogil

# Draws frame i of a batch: a car above the point x, y of the hill (pixels) that leans by an angle (rad). If is_single,
# positions are rounded to float32, as upstream does if its state is float32. f.assets is the result of valley.assets.
cdef void draw_valley(const envpool_frames* f, int32_t i, const valley* v, double x, double y, double angle,
                      bint is_single) noexcept nogil
