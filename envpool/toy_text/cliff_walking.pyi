from typing import Any, ClassVar

class CliffWalking:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> bytes: ...
    @staticmethod
    def render_fps(config: Any) -> int: ...
