from typing import Any, ClassVar

class GymAnt:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
