"""The base class of all specs under EnvPool's names, for ``isinstance`` checks."""

from envpool.spec import EnvSpec

EnvSpecMixin = EnvSpec

__all__ = ["EnvSpec", "EnvSpecMixin"]
