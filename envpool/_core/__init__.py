"""The engine and the pool. All modules of this folder are compiled into one shared library, that of the module `pool`.

A step runs the code of eight of them, which would be spread over more pages of memory if each had a library of its own.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from typing import Any


class Finder:
    """Finds the modules of this folder in the library."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module is, or None if it is not in this folder or nothing was built."""
        if name.rpartition(".")[0] != __name__:
            return None
        library = PathFinder.find_spec(f"{__name__}.pool", __path__)
        return library and spec_from_file_location(name, library.origin)


sys.meta_path.insert(0, Finder)
