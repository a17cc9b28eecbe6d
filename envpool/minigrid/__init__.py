"""The levels of MiniGrid and BabyAI, as native code with the same bits."""

from envpool.family import classes_of
from envpool.minigrid.missions import decode_mission as decode_mission

__getattr__ = classes_of(__name__)
