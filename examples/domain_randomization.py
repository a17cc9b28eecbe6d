"""Domain randomization: a policy that has seen many carts and poles balances others than one that has seen only one.

    python examples/domain_randomization.py --plot randomization.png

Two policies are trained by PPO with the same seed and the same number of steps: one on CartPole as it is, one on a pool
in which each environment draws the mass of its cart, the mass and the length of its pole and the duration of a step
anew for each episode (``pool.set_params``). Both are then evaluated on carts that neither has seen.
"""

import argparse

import numpy as np
import ppo
import varied

import envpool
from envpool.training.options import natural, number, positive

TASK = "CartPole-v1"
#: Parameter -> range of the training; values are drawn log-uniformly.
RANGES = {"masscart": (0.3, 3.0), "masspole": (0.03, 1.0), "length": (0.2, 8.0), "tau": (0.01, 0.06)}
#: Parameter -> values of the evaluation along one axis, within the range and beyond it.
AXES = {"length": np.geomspace(0.1, 16.0, 13), "tau": np.geomspace(0.005, 0.1, 13)}


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
    add("--total-timesteps", type=natural, default=300_000, help="steps of each training (default: %(default)s)")
    add("--episodes", type=positive, default=200, help="episodes of an evaluation (default: %(default)s)")
    add("--target", type=number, help="mean return on unseen carts; exit with an error if it is not reached")
    add("--plot", help="write the returns to this PNG file")
    return parser.parse_args(argv)


def drawn(rng, count):
    """Return values of all parameters in RANGES for `count` environments."""
    return {name: np.exp(rng.uniform(*np.log(limits), count)) for name, limits in RANGES.items()}


def train(args, is_randomized):
    """Return an agent that was trained on CartPole, or on carts that differ from episode to episode."""
    options = ppo.Args(task=TASK, seed=args.seed, total_timesteps=args.total_timesteps)
    rng = np.random.default_rng(args.seed)
    pool, agent = ppo.begin(options)
    with pool:
        varied.learn(options, pool, lambda ids, terminated: drawn(rng, len(ids)) if is_randomized else {}, agent)
    return agent


def returns_of(agent, count, seed, **params):
    """Return the returns of one episode in each of `count` environments with parameters of their own."""
    return envpool.evaluate(agent.best, TASK, count, seed, num_envs=count, **params).returns


def evaluate(args, agent):
    """Return the returns on random unseen carts, and the mean return along each axis."""
    unseen = drawn(np.random.default_rng(args.seed + 1000), args.episodes)
    everywhere = returns_of(agent, args.episodes, args.seed + 1000, **unseen)
    means = {}
    for name, values in AXES.items():
        own = {name: np.repeat(values, args.episodes)}
        returns = returns_of(agent, len(own[name]), args.seed + 2000, **own)
        means[name] = returns.reshape(len(values), -1).mean(axis=1)
    return everywhere, means


def plot(path, results, seed):
    """Plot the mean return along each axis, and the distribution of returns on unseen carts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained", sharey=True)
    texts = {"length": "half length of the pole (m)", "tau": "duration of a step (s)"}
    for chart, (name, values) in zip(axes, AXES.items(), strict=False):
        chart.axvspan(*RANGES[name], color="0.93", label="range of the training")
        for label, (_, means) in results.items():
            chart.plot(values, means[name], ".-", label=label)
        chart.axvline(getattr(envpool.make_spec(TASK).config, name), color="0.5", linestyle=":", label="CartPole-v1")
        chart.set(xscale="log", xlabel=texts[name])
    axes[0].set_ylabel("mean return")
    axes[0].legend(loc="lower left", fontsize="small")
    for label, (everywhere, _) in results.items():
        axes[2].plot(np.linspace(0, 100, len(everywhere)), np.sort(everywhere), label=label)
    axes[2].set(xlabel="percentile of carts with unseen masses,\nlengths and durations")
    figure.suptitle(f"CartPole with other parameters, seed {seed}")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv=None):
    """Train both policies, evaluate and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv)
    results = {}
    for label, is_randomized in (("trained on CartPole-v1", False), ("trained on random carts", True)):
        results[label] = evaluate(args, train(args, is_randomized))
        print(f"{label}: mean return {results[label][0].mean():.1f} on unseen carts, seed {args.seed}")
    if args.plot:
        plot(args.plot, results, args.seed)
    reached = results["trained on random carts"][0].mean()
    if args.target is not None and not reached >= args.target:
        raise SystemExit(f"the target {args.target:g} was not reached")
    return results


if __name__ == "__main__":
    main()
