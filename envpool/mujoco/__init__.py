"""MuJoCo tasks: Gymnasium's (``gym``) and dm_control's (``dmc``), on a base that steps MuJoCo without the GIL."""

from envpool._support.packages import submodules_of

__getattr__ = submodules_of(__name__, "dmc", "gym", "robotics")
