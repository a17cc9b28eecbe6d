from typing import Any

import numpy as np
from typing_extensions import disjoint_base

from envpool.rollout.networks import Policy
from envpool.rollout.recorder import Recorder

OBSERVATIONS: tuple[type[np.generic], ...]

@disjoint_base
class Acting:
    def __init__(self, policy: Policy, n: int, shape: tuple[int, ...]) -> None: ...

def collect_with(
    recorder: Recorder, policy: Policy, name: str, shape: tuple[int, ...]
) -> tuple[Any, dict[str, Any]]: ...
