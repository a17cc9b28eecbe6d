from typing import Any, ClassVar

class GymHumanoid:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
