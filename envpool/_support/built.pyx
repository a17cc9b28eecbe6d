# optimize: -Og
"""For what this build of the package was made: setup.py passes it as macros."""

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
