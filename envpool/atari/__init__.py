"""Atari 2600 games, emulated by the Arcade Learning Environment (ALE).

The extension ``envpool.atari.env`` contains ALE: as a binary, it is therefore under the GNU General Public License,
version 2. The sources here are under the licence of the project.
"""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
