"""The environments of rlib (the repository jhare96/reinforcement-learning) as native code."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
