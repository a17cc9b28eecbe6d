from typing import Any

import numpy as np
import numpy.typing as npt

def as_ids(env_id: Any, name: str = "env_id") -> npt.NDArray[np.integer] | None: ...
