"""The multi-agent particle environments of mpe2, as native code with the same bits."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
