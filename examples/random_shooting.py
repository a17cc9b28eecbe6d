"""Play a task by looking ahead: random shooting on copies of the running environments.

    python examples/random_shooting.py --task CartPole-v1 --target 400 --plot shooting.png
    python examples/random_shooting.py --task Pong-v5 --games 2 --rollouts 48 --horizon 25 --max-steps 200

Before each step of a game, its state is copied to `--rollouts` other environments of the same pool. Each of them plays
a random sequence of actions, and the game takes the action after which the mean discounted return is highest. The
policy of the rollouts is the uniformly random one, which also plays alone for comparison. ``pool.copy_state`` copies
simulator, generator and elapsed steps in native code, so that the rollouts see the exact future of the game.
"""

import argparse
import json

import numpy as np
from gymnasium.spaces import Discrete

import envpool
from envpool.rollout import Progress
from envpool.training.options import json_object, natural, number, positive, share


def parse_args(argv=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--task", default="CartPole-v1", help="task id with discrete actions (default: %(default)s)")
    add("--options", type=json_object, default="{}", help="further options of the task as JSON")
    add(
        "--games",
        type=positive,
        default=8,
        help="games that are played at the same time (default: %(default)s)",
    )
    add("--rollouts", type=positive, default=64, help="rollouts for each step of a game (default: %(default)s)")
    add("--horizon", type=positive, default=40, help="largest number of steps of a rollout (default: %(default)s)")
    add("--discount", type=share, default=0.99, help="discount of rewards in a rollout (default: %(default)s)")
    add("--max-steps", type=positive, default=10_000, help="largest number of steps of a game (default: %(default)s)")
    add("--seed", type=natural, default=1, help="seed of the games and of the actions (default: %(default)s)")
    add("--target", type=number, help="mean return of the games; exit with an error if it is not reached")
    add("--plot", help="write the returns to this PNG file")
    return parser.parse_args(argv)


class Search:
    """A pool whose first environments are the games; the others are copies of them in which rollouts are played.

    Parameters
    ----------
    args : argparse.Namespace
        The options.
    """

    def __init__(self, args):
        self.args = args
        self.games = np.arange(args.games)
        num_envs = args.games * (1 + args.rollouts)
        options = json.loads(args.options)
        self.pool = envpool.make_gymnasium(args.task, num_envs=num_envs, seed=args.seed, **options)
        space = self.pool.single_action_space
        if not isinstance(space, Discrete):
            self.pool.close()
            raise SystemExit(f"this example needs a task with discrete actions; those of {args.task} are {space}")
        self.actions = np.arange(space.start, space.start + space.n)
        if args.rollouts < space.n:
            self.pool.close()
            raise SystemExit(f"--rollouts is {args.rollouts}; {args.task} needs at least one per action, {space.n}")
        self.rng = np.random.default_rng(args.seed)

    def act(self, playing):
        """Return the best action for each game in `playing`, ids (n,), after rollouts from copies of its state."""
        rollouts = self.args.rollouts
        copies = self.args.games + playing[:, None] * rollouts + np.arange(rollouts)
        self.pool.copy_state(np.repeat(playing, rollouts), copies.ravel())
        first = np.resize(self.actions, rollouts)  # every action begins equally many rollouts
        values = self.rollout(copies.ravel(), np.tile(first, len(playing))).reshape(copies.shape)
        scores = np.stack([values[:, first == action].mean(axis=1) for action in self.actions])
        scores += self.rng.uniform(0, 1e-9, scores.shape)  # a random one among equally good actions
        return self.actions[scores.argmax(axis=0)]

    def rollout(self, copies, actions):
        """Play random actions, after `actions` (n,), in the environments `copies` (n,); return the returns (n,)."""
        values, is_playing, weight = np.zeros(len(copies)), np.ones(len(copies), bool), 1.0
        for _ in range(self.args.horizon):
            _, reward, terminated, truncated, _ = self.pool.step(actions, copies)
            values += weight * reward * is_playing
            is_playing &= ~(terminated | truncated)
            if not is_playing.any():
                break
            weight *= self.args.discount
            actions = self.rng.choice(self.actions, len(copies))
        return values

    def play(self, choose):
        """Play each game to its end, or up to `--max-steps`, with the policy `choose(playing)`; return the returns."""
        self.pool.reset()
        returns, playing = np.zeros(self.args.games), self.games
        with Progress(self.args.max_steps) as progress:
            while len(playing) and progress.done < self.args.max_steps:
                _, reward, terminated, truncated, _ = self.pool.step(choose(playing), playing)
                returns[playing] += reward
                playing = playing[~(terminated | truncated)]
                progress.update(1, f"mean return {returns.mean():.1f}")
        return returns


def plot(path, task, returns):
    """Plot the return of each game, one column for each policy."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    for column, values in enumerate(returns.values()):
        axes.plot(column + np.linspace(-0.1, 0.1, len(values)), values, "o", alpha=0.6)
        axes.hlines(np.mean(values), column - 0.25, column + 0.25, color="0.2")
    axes.set_xticks(range(len(returns)), returns)
    axes.set(xlim=(-0.5, len(returns) - 0.5), ylabel="return of a game; the lines are means", title=task)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv=None):
    """Play with and without the search, and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    search = Search(args)
    with search.pool:
        returns = {
            "random": search.play(lambda playing: search.rng.choice(search.actions, len(playing))),
            "random shooting": search.play(search.act),
        }
    for name, values in returns.items():
        print(f"{args.task}, {name}: mean return {values.mean():.1f} of {len(values)} games, seed {args.seed}")
    if args.plot:
        plot(args.plot, args.task, returns)
    if args.target is not None and not returns["random shooting"].mean() >= args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")
    return returns


if __name__ == "__main__":
    main()
