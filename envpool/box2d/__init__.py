"""Gymnasium's Box2D environments as native code, bit for bit."""

from envpool.family import classes_of

__getattr__ = classes_of(__name__)
