"""Compare pools of MPE with upstream's environments.

    python benchmarks/mpe_speed.py [--quick] [--json FILE]

A pool of 64 environments with one thread and one environment of mpe2, in PettingZoo's parallel form, play random
actions in turns. Figures are medians over the turns: steps of environments per second, their ratio, and the
ratio of the CPU time per step. Upstream's environment is reset after each episode.
"""

from upstream_speed import compare, compare_all, parse, write

from envpool.mpe.registration import TASKS
from envpool.mpe.upstream import upstream_of

SIZES = {"num_envs": 64, "num_threads": 1, "players": "grid"}


class Single:
    """An environment of upstream that takes the row of one environment of a pool as its action."""

    def __init__(self, task):
        self.player = upstream_of(task).start(0)
        self.env = self.player.env

    def reset(self, seed=None):
        """Start an episode."""
        return self.env.reset(seed=seed)

    def step(self, action):
        """Simulate a step; all agents end their episode together."""
        obs, rewards, terminated, truncated, infos = self.env.step(self.player.choose(action))
        return obs, rewards, any(terminated.values()), any(truncated.values()), infos


def main():
    """Print the table, and write it if asked to."""
    arguments = parse(__doc__)
    seconds = 0.3 if arguments.quick else 3.0
    tasks = [f"MPE/{name}-v{version}" for name, version in TASKS.items()]
    write(arguments, upstream=compare_all(tasks, lambda task: compare(task, Single(task), seconds, **SIZES)))


if __name__ == "__main__":
    main()
