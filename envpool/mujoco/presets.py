"""The presets of MuJoCo: the options that libraries use. docs/transforms.md has their sources and what differs."""

from __future__ import annotations

from typing import Any

#: Options by the name of their preset.
PRESETS: dict[str, dict[str, Any]] = {
    # The wrappers of CleanRL's ppo_continuous_action.py, in which each environment has statistics of its own.
    "ppo-continuous": {
        "clip_action": True,
        "normalize_obs": {"epsilon": 1e-8},
        "clip_obs": (-10.0, 10.0),
        "normalize_reward": {"gamma": 0.99, "epsilon": 1e-8},
        "reward_clip": (-10.0, 10.0),
        "episode_statistics": True,
    },
}
