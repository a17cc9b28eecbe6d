"""Files in memory, without a name, that processes share by their descriptors.

A portable build has temporary files without a name instead: what POSIX's ``shm_open`` returns can be mapped, but on
macOS it cannot be read, written, or resized a second time.
"""

from __future__ import annotations

import os
import tempfile

from envpool._support.built import PORTABLE
from envpool._support.descriptors import high_descriptor


def memory_file(name: str) -> int:
    """Return the descriptor of a new empty file.

    Parameters
    ----------
    name : str
        Is shown by tools that list open files and mappings.
    """
    if not PORTABLE:
        return high_descriptor(os.memfd_create(name, os.MFD_CLOEXEC))
    file, path = tempfile.mkstemp(prefix=f"memfd:{name}-")
    os.unlink(path)
    return high_descriptor(file)
