"""The base class of all specs under EnvPool's names, for ``isinstance`` checks."""

from envpool.tasks.spec import EnvSpec

EnvSpecMixin = EnvSpec

__all__ = ["EnvSpec", "EnvSpecMixin"]
