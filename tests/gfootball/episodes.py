"""Whole episodes for sanitizers: ``python -m tests.gfootball.episodes SECONDS [SCENARIO ...]``.

Plays random actions in all scenarios, or in those that are named, with agents of both teams, until the time is over:
the short ones first, then the long ones in a random order, since a sanitizer may need minutes for an episode.
"""

import itertools
import random
import sys
import time

import numpy as np

import envpool
from envpool.gfootball.registration import DURATIONS


def play(scenario, seed):
    """Play an episode of a scenario; return the number of steps."""
    rng = np.random.default_rng(seed)
    agents = {"left_agents": 1, "right_agents": 1, "players": "grid"}
    options = {"representation": "simple115v2", "raw_info": True, "rewards": "scoring,checkpoints", **agents}
    with envpool.make_gymnasium(f"gfootball/{scenario}-v1", num_envs=1, seed=seed, num_threads=1, **options) as pool:
        pool.reset()
        for step in itertools.count(1):
            *_, terminated, truncated, _ = pool.step(rng.integers(0, 19, (1, 2), dtype=np.int32))
            if np.any(terminated | truncated):
                return step


def main(seconds, scenarios):
    end, first = time.monotonic() + seconds, time.time_ns() % 10**6
    random.Random(first).shuffle(scenarios)
    scenarios.sort(key=lambda scenario: DURATIONS[scenario])
    for seed in itertools.count(first):
        for scenario in scenarios:
            if time.monotonic() > end:
                return
            print(f"{scenario}, seed {seed}", end=": ", flush=True)
            print(f"{play(scenario, seed)} steps", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:] or list(DURATIONS))
