from typing import Any

import numpy as np
import numpy.typing as npt

def as_ids(env_id: Any) -> npt.NDArray[np.integer] | None: ...
