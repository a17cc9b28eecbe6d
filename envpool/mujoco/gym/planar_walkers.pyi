from typing import Any, ClassVar

from envpool.mujoco.base.opengl import MujocoTask

OPTIONS: dict[str, Any]

class GymHopper(MujocoTask):
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...

class GymWalker2d(MujocoTask):
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
