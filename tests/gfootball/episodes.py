"""Whole episodes for sanitizers: ``python -m tests.gfootball.episodes EPISODES [SCENARIO ...]``.

Plays random actions in all scenarios, or in those that are named, with agents of both teams.
"""

import sys

import numpy as np

import envpool
from envpool.gfootball.registration import DURATIONS


def play(scenario, episodes, seed=1):
    """Play episodes of a scenario; return the number of steps."""
    rng = np.random.default_rng(seed)
    agents = {"left_agents": 1, "right_agents": 1, "players": "grid"}
    options = {"representation": "simple115v2", "raw_info": True, "rewards": "scoring,checkpoints", **agents}
    with envpool.make_gymnasium(f"gfootball/{scenario}-v1", num_envs=1, seed=seed, num_threads=1, **options) as pool:
        pool.reset()
        steps = ends = 0
        while ends < episodes:
            *_, terminated, truncated, _ = pool.step(rng.integers(0, 19, (1, 2), dtype=np.int32))
            ends += int(np.any(terminated | truncated))
            steps += 1
    return steps


def main(episodes, scenarios):
    for scenario in scenarios:
        print(f"{scenario}: {episodes} episodes, {play(scenario, episodes)} steps", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] or list(DURATIONS))
