from typing import Any, ClassVar

OPTIONS: dict[str, Any]

class GymHopper:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...

class GymWalker2d:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
