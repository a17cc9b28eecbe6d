"""Gymnasium's MuJoCo tasks as native code that returns the same bits."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
