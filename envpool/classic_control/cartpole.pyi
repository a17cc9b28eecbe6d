from typing import Any, ClassVar

class CartPole:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
