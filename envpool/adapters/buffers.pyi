from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class StepBuffers:
    def __init__(self, num_envs: int) -> None: ...
    def reset(self) -> None: ...
    def store(
        self, step: tuple[Any, ...], observations: Any, rewards: Any, terminals: Any, truncations: Any
    ) -> list[dict[str, Any]]: ...
