"""NetHack: the tasks of the NetHack Learning Environment, played by the library of nle 1.3.0."""

from envpool.nethack.text import as_ansi, as_text
from envpool.pools.classes import classes_of

__all__ = ["as_ansi", "as_text"]

__getattr__ = classes_of(__name__)
