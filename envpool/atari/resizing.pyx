# distutils: language = c++
"""What is done to Atari screens, by itself, for whoever wants the same pixels elsewhere."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t

from envpool.errors import ConfigError

cnp.import_array()

cdef extern from "image/resize.h" namespace "envpool::atari" nogil:
    cdef cppclass Resizer:
        Resizer(int from_height, int from_width, int to_height, int to_width, bint area, bint simd) except +
        void run(const uint8_t* source, uint8_t* to)


cdef extern from "image/screen.h" namespace "envpool::atari" nogil:
    void look_up_max(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)
    void look_up_max_plain(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)


def brightest(a, b, table, simd=True):
    """Looks two screens up in a palette and takes the maximum: ``np.maximum(table[a], table[b])``.

    Parameters
    ----------
    a, b : numpy.ndarray
        Palette indices, uint8, of one shape.
    table : numpy.ndarray
        uint8 (256,).
    simd : bool
        Whether to use vector instructions that this processor may have; the bits are the same.

    Returns
    -------
    numpy.ndarray
        uint8, of the shape of the screens, a new one.

    Raises
    ------
    ConfigError
        Shapes or types that are not allowed.
    """
    for array in (a, b, table):
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
            raise ConfigError(f"a, b and table must be uint8 arrays, got {array!r}")
    if a.shape != b.shape or table.shape != (256,):
        raise ConfigError(f"a and b must have one shape and table (256,), got {a.shape}, {b.shape} and {table.shape}")
    cdef cnp.ndarray first = np.ascontiguousarray(a)
    cdef cnp.ndarray second = np.ascontiguousarray(b)
    cdef cnp.ndarray palette = np.ascontiguousarray(table)
    cdef cnp.ndarray out = np.empty(a.shape, np.uint8)
    (look_up_max if simd else look_up_max_plain)(
        <const uint8_t*>cnp.PyArray_DATA(first), <const uint8_t*>cnp.PyArray_DATA(second),
        <const uint8_t*>cnp.PyArray_DATA(palette), first.size, <uint8_t*>cnp.PyArray_DATA(out),
    )
    return out


def resize(image, height, width, area=True, simd=True):
    """Resizes as ``cv2.resize(image, (width, height), interpolation=...)`` does, bit for bit.

    Parameters
    ----------
    image : numpy.ndarray
        uint8 (rows, columns), neither of them 0.
    height, width : int
        Of the result, 1 to 4096.
    area : bool
        ``cv2.INTER_AREA``; else ``cv2.INTER_LINEAR``.
    simd : bool
        Whether to use vector instructions that this processor may have; the bits are the same.

    Returns
    -------
    numpy.ndarray
        uint8 (height, width), a new one.

    Raises
    ------
    ConfigError
        A size or type that is not allowed.
    """
    cdef Resizer* resizer
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 2 or 0 in image.shape or max(image.shape) > 4096:
        raise ConfigError(
            f"image must be uint8 (rows, columns) with 1 to 4096 of each, got {image.dtype} {image.shape}"
        )
    if not (1 <= height <= 4096 and 1 <= width <= 4096):
        raise ConfigError(f"height is {height} and width is {width}, allowed are 1 to 4096")
    cdef cnp.ndarray source = np.ascontiguousarray(image)
    cdef cnp.ndarray out = np.empty((height, width), np.uint8)
    resizer = new Resizer(source.shape[0], source.shape[1], height, width, area, simd)
    resizer.run(<const uint8_t*>cnp.PyArray_DATA(source), <uint8_t*>cnp.PyArray_DATA(out))
    del resizer
    return out
