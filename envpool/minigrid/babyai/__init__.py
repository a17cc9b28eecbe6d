"""BabyAI: levels whose missions are sentences of a small language."""

from envpool.family import classes_of

__getattr__ = classes_of(__name__)
