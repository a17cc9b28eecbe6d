from typing import Any, ClassVar

class GymHumanoidStandup:
    options: ClassVar[dict[str, Any]]
    @staticmethod
    def build(config: Any) -> Any: ...
