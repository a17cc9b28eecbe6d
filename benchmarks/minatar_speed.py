"""Compare pools of MinAtar with upstream's environments.

    python benchmarks/minatar_speed.py [--quick] [--json FILE]

A pool of 256 environments with two threads and one environment of upstream play random actions in turns. Figures are
medians over the turns: steps per second, their ratio, and the ratio of the CPU time of all threads per step. Upstream's
environment is the one of ``gymnasium.make`` without the environment checker, and it is reset after each episode.
"""

from upstream_speed import compare, compare_all, parse, write

from envpool.minatar.upstream import upstream_of

SIZES = {"num_envs": 256, "num_threads": 2}
TASKS = tuple(f"MinAtar/{name}-v1" for name in ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"))


def main():
    """Print the table, and write it if asked to."""
    arguments = parse(__doc__)
    seconds = 0.3 if arguments.quick else 3.0
    rows = compare_all(TASKS, lambda task: compare(task, upstream_of(task).make(), seconds, **SIZES))
    write(arguments, upstream=rows)


if __name__ == "__main__":
    main()
