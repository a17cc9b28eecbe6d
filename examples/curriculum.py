"""A curriculum: each environment makes its task harder when it succeeds, and easier when it fails.

    python examples/curriculum.py --plot curriculum.png

The car of MountainCar-v0 is too weak for its hill, and random pushes hardly ever take it to the flag, so PPO learns
slowly. With the curriculum, each environment begins with a strong motor. Whenever an episode reaches the flag, the
motor of the next one is weaker, until it is that of the task; after a failure it is stronger. The policy is evaluated
on the unchanged task, next to one that was trained on it without a curriculum.
"""

import argparse

import numpy as np
import ppo
import varied

import envpool
from envpool.training.options import natural, number, positive

TASK = "MountainCar-v0"
EASIEST = 5.0  # the force of the motor at difficulty 0, in multiples of the task's force
SUCCESS, FAILURE = 0.05, -0.05  # change of the difficulty, from 0 to 1, after an episode


def parse_args(argv=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--seed",
        type=natural,
        default=1,
        help="seed of networks, sampling and pools (default: %(default)s)",
    )
    add("--total-timesteps", type=natural, default=1_000_000, help="steps of each training (default: %(default)s)")
    add("--episodes", type=positive, default=100, help="episodes of an evaluation (default: %(default)s)")
    add(
        "--evaluate-every",
        type=positive,
        default=10,
        help="updates between evaluations (default: %(default)s)",
    )
    add("--target", type=number, help="mean return on the task; exit with an error if it is not reached")
    add("--plot", help="write the curves to this PNG file")
    return parser.parse_args(argv)


class Curriculum:
    """The difficulty of each environment.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    """

    def __init__(self, num_envs):
        self.difficulty = np.zeros(num_envs)
        self.force = envpool.make_spec(TASK).param_spec["force"].default

    def choose(self, ids, terminated):
        """Return the parameters of the next episodes; an episode that terminated has reached the flag."""
        if terminated is not None:
            self.difficulty[ids] = np.clip(self.difficulty[ids] + np.where(terminated, SUCCESS, FAILURE), 0, 1)
        return {"force": self.force * EASIEST ** (1 - self.difficulty[ids])}


def train(args, has_curriculum):
    """Train an agent; return rows (steps, mean difficulty, mean return on the task) of the evaluations."""
    options = ppo.Args(task=TASK, seed=args.seed, total_timesteps=args.total_timesteps)
    curriculum, rows = Curriculum(options.num_envs), []
    pool, agent = ppo.begin(options)
    with pool:
        choose = curriculum.choose if has_curriculum else lambda ids, terminated: {}
        per_update = options.num_envs * options.num_steps

        def after_update(step):
            if step // per_update % args.evaluate_every == 0:
                n = args.episodes  # the first one of each environment
                returns = envpool.evaluate(agent.best, TASK, n, args.seed + 1000, num_envs=n).returns
                rows.append((step, curriculum.difficulty.mean() if has_curriculum else 1.0, returns.mean()))

        varied.learn(options, pool, choose, agent, after_update)
    return np.array(rows)


def plot(path, results, seed):
    """Plot the return on the task and the mean difficulty over the steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for label, rows in results.items():
        left.plot(rows[:, 0], rows[:, 2], label=label)
    threshold = envpool.make_spec(TASK).reward_threshold
    left.axhline(threshold, color="0.5", linestyle="--", label=f"solved: {threshold:g}")
    left.set(xlabel="environment steps", ylabel=f"mean return on {TASK}")
    left.legend()
    right.plot(*results["with a curriculum"][:, :2].T)
    right.set(xlabel="environment steps", ylabel="mean difficulty of the environments", ylim=(-0.02, 1.02))
    figure.suptitle(f"PPO on {TASK}, seed {seed}")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv=None):
    """Train with and without the curriculum, and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    results = {}
    for label, has_curriculum in (("without", False), ("with a curriculum", True)):
        results[label] = train(args, has_curriculum)
        print(f"{TASK}, {label}: mean return {results[label][-1, 2]:.1f} at the end, seed {args.seed}")
    if args.plot:
        plot(args.plot, results, args.seed)
    if args.target is not None and not results["with a curriculum"][-1, 2] >= args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")
    return results


if __name__ == "__main__":
    main()
