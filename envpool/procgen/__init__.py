"""The 16 games of Procgen, played by upstream's compiled library.

The library is part of the wheel of ``procgen-mirror``, which is no requirement of envpool, since its metadata excludes
NumPy 2. ``envpool fetch-procgen`` downloads it.
"""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
