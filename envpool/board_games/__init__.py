"""Board games for two players, who move in turn."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
