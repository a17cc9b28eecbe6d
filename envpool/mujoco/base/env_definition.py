"""What the env definitions of all MuJoCo tasks share on the Python side."""

from __future__ import annotations

from typing import Any

from envpool.mujoco.base.opengl import require_gl
from envpool.native import EnvDefinition

#: Options of every MuJoCo task besides frame_skip, with their defaults. The ``render_*`` options here are those of
#: observed frames (``from_pixels=True``).
OPTIONS: dict[str, Any] = {
    "frame_stack": 1,
    "debug_info": False,
    "from_pixels": False,
    "render_width": 84,
    "render_height": 84,
    "render_camera_id": -1,
}


class MujocoEnvDefinition(EnvDefinition):
    """An env definition whose frames need an OpenGL library; see `envpool.native.EnvDefinition` for the methods."""

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the OpenGL library if frames are observed, or raise an ImportError that says how to install one."""
        if config.from_pixels:
            require_gl()

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> None:
        """Load the OpenGL library, or raise an ImportError that says how to install one."""
        require_gl()
