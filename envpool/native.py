"""For authors of native environments: building the capsule of ``include/envpool/env.h`` from Cython."""

from envpool._core.definition import Description, Field, define, describe

__all__ = ["Description", "Field", "define", "describe"]
