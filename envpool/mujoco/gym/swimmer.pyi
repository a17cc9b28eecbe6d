from typing import Any, ClassVar

class GymSwimmer:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
