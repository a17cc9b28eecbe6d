# distutils: language = c++
"""The image operations of Atari observations as functions, to reproduce the same pixels elsewhere."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t

from envpool.atari.screen cimport look_up_max, look_up_max_plain
from envpool.raster.resize cimport Resizer

from envpool._support.text import shown
from envpool.errors import ConfigError

cnp.import_array()


def brightest(a, b, table, simd=True):
    """Look up two screens in a palette and return their maximum, ``np.maximum(table[a], table[b])``.

    Parameters
    ----------
    a, b : numpy.ndarray
        Palette indices, uint8, of the same shape.
    table : numpy.ndarray
        The palette, uint8 (256,).
    simd : bool
        If True, use vector instructions if this processor has them. The result is the same.

    Returns
    -------
    numpy.ndarray
        A new array, uint8, of the shape of the screens.

    Raises
    ------
    ConfigError
        A shape or a dtype is not allowed.
    """
    for array in (a, b, table):
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
            raise ConfigError(f"a, b and table must be uint8 arrays, got {shown(array)}")
    if a.shape != b.shape or table.shape != (256,):
        raise ConfigError(
            f"a and b must have the same shape, and table must have shape (256,), got {a.shape}, {b.shape} and "
            f"{table.shape}"
        )
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
    """Resize an image as ``cv2.resize(image, (width, height), interpolation=...)`` does, bit for bit.

    Parameters
    ----------
    image : numpy.ndarray
        uint8 (rows, columns), 1 to 4096 of each.
    height, width : int
        Size of the result in pixels, 1 to 4096.
    area : bool
        If True, interpolate as ``cv2.INTER_AREA``; if False, as ``cv2.INTER_LINEAR``.
    simd : bool
        If True, use vector instructions if this processor has them. The result is the same.

    Returns
    -------
    numpy.ndarray
        A new array, uint8 (height, width).

    Raises
    ------
    ConfigError
        A size or a dtype is not allowed.
    """
    cdef Resizer* resizer
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 2 or 0 in image.shape or max(image.shape) > 4096:
        raise ConfigError(
            f"image must be uint8 (rows, columns) with 1 to 4096 of each, got {image.dtype} {image.shape}"
        )
    if not (1 <= height <= 4096 and 1 <= width <= 4096):
        raise ConfigError(f"height and width must be between 1 and 4096, got {height} and {width}")
    cdef cnp.ndarray source = np.ascontiguousarray(image)
    cdef cnp.ndarray out = np.empty((height, width), np.uint8)
    resizer = new Resizer(source.shape[0], source.shape[1], height, width, area, simd)
    resizer.run(<const uint8_t*>cnp.PyArray_DATA(source), <uint8_t*>cnp.PyArray_DATA(out))
    del resizer
    return out
