from typing import Any, ClassVar

class GymReacher:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
