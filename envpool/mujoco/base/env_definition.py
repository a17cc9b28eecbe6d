"""What the env definitions of all MuJoCo tasks share on the Python side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from envpool.mujoco.base.model_params import PARAMS, resolve_params
from envpool.mujoco.base.opengl import require_gl
from envpool.mujoco.presets import PRESETS
from envpool.native import EnvDefinition, Param

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

    params: ClassVar[Mapping[str, Param]] = PARAMS
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    @classmethod
    def resolve_params(cls, config: Any) -> Mapping[str, Param]:
        """Return the parameters with the defaults, shapes and names of the model; see `EnvDefinition`."""
        return resolve_params(cls.build, config, cls.params)

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the OpenGL library if frames are observed, or raise an ImportError that says how to install one."""
        if config.from_pixels:
            require_gl()

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> None:
        """Load the OpenGL library, or raise an ImportError that says how to install one."""
        require_gl()
