"""The part of the env definition that all Box2D environments share."""

from __future__ import annotations

from typing import Any

from envpool.native import EnvDefinition

FPS = 50  # SCENE_FPS of scene.h


class Box2DDefinition(EnvDefinition):
    """The Python side of a Box2D environment: an EnvDefinition with the frame rate of the simulation."""

    continues_after_end = True

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate of the upstream environment, in frames per second."""
        return FPS
