# distutils: language = c++
"""The resizing of Atari frames by itself, for whoever wants the same pixels elsewhere."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t

from envpool.errors import ConfigError

cnp.import_array()

cdef extern from "image/resize.h" namespace "envpool::atari" nogil:
    cdef cppclass Resizer:
        Resizer(int from_height, int from_width, int to_height, int to_width, bint area) except +
        void run(const uint8_t* source, uint8_t* to)


def resize(image, height, width, area=True):
    """Resizes as ``cv2.resize(image, (width, height), interpolation=...)`` does, bit for bit.

    Parameters
    ----------
    image : numpy.ndarray
        uint8 (rows, columns), neither of them 0.
    height, width : int
        Of the result, 1 to 4096.
    area : bool
        ``cv2.INTER_AREA``; else ``cv2.INTER_LINEAR``.

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
    resizer = new Resizer(source.shape[0], source.shape[1], height, width, area)
    resizer.run(<const uint8_t*>cnp.PyArray_DATA(source), <uint8_t*>cnp.PyArray_DATA(out))
    del resizer
    return out
