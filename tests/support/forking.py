"""Where a fork is safe in a process with several threads, as far as Python and the sanitizers are concerned."""

import os
import threading

#: The address and thread sanitizers of GCC 12 do not hold the locks of their allocators during a fork, so that a child
#: may wait forever for a lock that another thread had taken in the parent. Other runs do fork.
UNSAFE_LIBRARIES = ("libasan", "libtsan")


def may_fork():
    """Return whether this thread may fork.

    A destructor may run while a thread is just starting and holds a lock of the threading module. If it forks, the
    module, which does not know the thread yet, takes the same lock in the child and waits forever.
    """
    has_unsafe_library = any(name in os.environ.get("LD_PRELOAD", "") for name in UNSAFE_LIBRARIES)
    return not has_unsafe_library and threading.get_ident() in threading._active
