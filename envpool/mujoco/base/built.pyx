# optimize: -Og
"""The version of MuJoCo for which the extensions of this family were compiled, as its headers state it."""

cdef extern from "mujoco/mujoco.h":
    const int mjVERSION_HEADER


def text_of(number):
    """Return the text of a version number of MuJoCo's headers: 3017000 is "3.17.0"; old ones have 337 for "3.3.7"."""
    digits = (number // 1000000, number // 1000 % 1000, number % 1000)
    if number < 1000:
        digits = (number // 100, number // 10 % 10, number % 10)
    return ".".join(map(str, digits))


MUJOCO_VERSION = text_of(mjVERSION_HEADER)
