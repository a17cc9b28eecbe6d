from typing import Any, ClassVar

class Blackjack:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
