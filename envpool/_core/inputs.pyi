from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

@disjoint_base
class ResetOptions: ...

def as_ids(env_id: Any, name: str = "env_id") -> npt.NDArray[np.integer] | None: ...
