from typing import Any, ClassVar

class MountainCarContinuous:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
