from typing import Any, ClassVar

class LunarLander:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
