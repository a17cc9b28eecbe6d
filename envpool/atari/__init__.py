"""Atari 2600 games, emulated by ALE's C++ code.

The extension module of this package contains ALE and is therefore, as a binary, under the GNU General Public License,
version 2; the sources here are under the licence of the project.
"""

from envpool.family import classes_of

__getattr__ = classes_of(__name__)
