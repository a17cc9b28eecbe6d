from typing import Any, ClassVar

class Pendulum:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
