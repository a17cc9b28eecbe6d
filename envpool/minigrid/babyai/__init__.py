"""BabyAI: levels whose missions are sentences of a small language."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
