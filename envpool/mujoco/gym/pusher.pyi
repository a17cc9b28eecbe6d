from typing import Any, ClassVar

from envpool.mujoco.base.opengl import MujocoTask

class GymPusher(MujocoTask):
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
