"""sprite.h, sheet.h and smoothscale.h: images drawn over a canvas, sheets of images, and scaled images."""

from libc.stdint cimport int32_t, uint8_t

from envpool.raster.canvas cimport canvas

cdef extern from "envpool/raster/sprite.h" nogil:
    enum: SPRITE_MIRRORED, SPRITE_UPSIDE_DOWN
    ctypedef struct sprite:
        const uint8_t* pixels
        int32_t height
        int32_t width
    void sprite_draw(const canvas* c, const sprite* s, int32_t x, int32_t y, int32_t flip)

cdef extern from "envpool/raster/sheet.h" nogil:
    const int32_t* sheet_numbers(const void* sheet)
    sprite sheet_sprite(const void* sheet, int32_t image)
    void sheet_draw(const canvas* c, const void* sheet, int32_t image, int32_t x, int32_t y)
    void sheet_copy(const canvas* c, const void* sheet, int32_t image)

cdef extern from "envpool/raster/smoothscale.h" nogil:
    ctypedef struct smooth_image:
        uint8_t* pixels
        int32_t height
        int32_t width
        int32_t channels
    void smooth_scale(const smooth_image* source, const smooth_image* target)
