from typing import Any, ClassVar

class GymInvertedPendulum:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
