from typing import Any, ClassVar

class GymInvertedDoublePendulum:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
