from typing import Any, ClassVar

class CartPole:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
    @staticmethod
    def render_fps(config: Any) -> int: ...
