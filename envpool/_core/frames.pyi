from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from envpool._core.partial import Shelf

@disjoint_base
class Renderer(Shelf):
    def draw(
        self, env_ids: Any, height: int, width: int, camera: int, assets: bytes | None = None
    ) -> npt.NDArray[np.uint8]: ...
