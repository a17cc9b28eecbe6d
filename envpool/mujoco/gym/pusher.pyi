from typing import Any, ClassVar

class GymPusher:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
