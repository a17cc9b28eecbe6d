from typing import Any, ClassVar

class CarRacing:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
