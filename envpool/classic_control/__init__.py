"""Gymnasium's classic control tasks, as native code with the same bits."""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__, lambda: {"CartPole": {"reward_threshold": 195.0}, "Pendulum": {"version": 0}})
