"""The games of MinAtar, as native code with the same bits."""

from envpool.family import classes_of

__getattr__ = classes_of(__name__)
