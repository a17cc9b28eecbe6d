# optimize: -Og
"""Settings of this build of the package, which setup.py passes as macros."""

cdef extern from *:
    """
    #include "envpool/platform.h"
    #ifdef ENVPOOL_PORTABLE
    #define EP_IS_PORTABLE 1
    #else
    #define EP_IS_PORTABLE 0
    #endif
    """
    const bint EP_IS_PORTABLE

PORTABLE = bool(EP_IS_PORTABLE)
