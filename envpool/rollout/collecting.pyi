from typing import Any

import numpy as np

from envpool.rollout.networks import Policy
from envpool.rollout.recorder import Recorder

OBSERVATIONS: tuple[type[np.generic], ...]

def collect_with(
    recorder: Recorder, policy: Policy, name: str, shape: tuple[int, ...], acts_first: bool
) -> tuple[Any, dict[str, Any]]: ...
