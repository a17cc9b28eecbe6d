"""The 16 games of Procgen, played by upstream's compiled library.

The library is part of the wheel of ``procgen-mirror``. envpool does not require this package, since its metadata
excludes NumPy 2. ``envpool fetch-procgen`` downloads the library.
"""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
