from typing import Any, ClassVar

class BipedalWalker:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
