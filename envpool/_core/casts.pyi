from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.errors import EnvPoolError

class CastError(EnvPoolError, ValueError): ...

def fitted(values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]: ...
def as_action(name: str, values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]: ...
