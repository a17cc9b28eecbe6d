from typing import Any, ClassVar

class GymHalfCheetah:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
