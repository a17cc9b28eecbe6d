"""Gymnasium's Box2D environments as native code, bit for bit."""

from envpool.pools.classes import Variant, classes_of

__getattr__ = classes_of(
    __name__,
    LunarLanderContinuous=Variant("LunarLander", {"continuous": True}),
    LunarLanderDiscrete=Variant("LunarLander"),
)
