from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

def find(name: str) -> dict[str, Any]: ...
def screen_size(rom: bytes) -> tuple[int, int]: ...
def build(config: Any, game: dict[str, Any], rom: bytes, picture_size: tuple[int, int] | None = None) -> Any: ...

@disjoint_base
class Console:
    def __new__(
        cls,
        rom: bytes,
        seed: int,
        repeat_action_probability: float = 0,
        mode: int = -1,
        difficulty: int = -1,
    ) -> Console: ...
    def play(
        self, actions: ArrayLike, drawn: ArrayLike
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]: ...
