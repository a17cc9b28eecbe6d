from typing import Any, ClassVar

class CarRacing:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def render_fps(config: Any) -> int: ...
    @staticmethod
    def build(config: Any) -> Any: ...
