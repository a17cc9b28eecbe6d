"""Rollouts, replay buffers and learner tools.

Every tool works on plain NumPy arrays and can be used without the others. Modules are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envpool.rollout.advantages import Advantages, VTrace, gae, lambda_returns, nstep_returns, vtrace
    from envpool.rollout.data import RolloutData
    from envpool.rollout.minibatches import Sequences, sequences, shuffled, whole_envs
    from envpool.rollout.mlp import MLP
    from envpool.rollout.progress import Progress
    from envpool.rollout.replay import ReplayBuffer, Transitions
    from envpool.rollout.rollout import Rollout
    from envpool.sampling.sampler import Sample, Sampler

#: Module of each public name.
_LAZY = {
    "MLP": "envpool.rollout.mlp",
    "Advantages": "envpool.rollout.advantages",
    "Progress": "envpool.rollout.progress",
    "ReplayBuffer": "envpool.rollout.replay",
    "Rollout": "envpool.rollout.rollout",
    "RolloutData": "envpool.rollout.data",
    "Sample": "envpool.sampling.sampler",
    "Sampler": "envpool.sampling.sampler",
    "Sequences": "envpool.rollout.minibatches",
    "Transitions": "envpool.rollout.replay",
    "VTrace": "envpool.rollout.advantages",
    "gae": "envpool.rollout.advantages",
    "lambda_returns": "envpool.rollout.advantages",
    "nstep_returns": "envpool.rollout.advantages",
    "sequences": "envpool.rollout.minibatches",
    "shuffled": "envpool.rollout.minibatches",
    "vtrace": "envpool.rollout.advantages",
    "whole_envs": "envpool.rollout.minibatches",
}
__all__ = [
    "MLP",
    "Advantages",
    "Progress",
    "ReplayBuffer",
    "Rollout",
    "RolloutData",
    "Sample",
    "Sampler",
    "Sequences",
    "Transitions",
    "VTrace",
    "gae",
    "lambda_returns",
    "nstep_returns",
    "sequences",
    "shuffled",
    "vtrace",
    "whole_envs",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'envpool.rollout' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
