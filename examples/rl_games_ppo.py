"""PPO of rl_games on a pool, through rl_games' own wrapper of EnvPool.

    python examples/rl_games_ppo.py --task Pendulum-v1 --plot rl_games.png

This example needs ``pip install rl_games==1.6.5 matplotlib``. Nothing in it is specific to this package: `env_name:
envpool` tells rl_games to call ``envpool.make``, and `env_config` contains the arguments.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from rl_games.common.algo_observer import AlgoObserver
from rl_games.torch_runner import Runner

from envpool.training.options import natural, positive, share


def settings(args):
    """Return the configuration of rl_games; settings that it does not contain have the defaults of rl_games."""
    return {
        "seed": args.seed,
        "algo": {"name": "a2c_continuous"},
        "model": {"name": "continuous_a2c_logstd"},
        "network": {
            "name": "actor_critic",
            "separate": False,
            "space": {
                "continuous": {
                    "mu_activation": "None",
                    "sigma_activation": "None",
                    "mu_init": {"name": "default"},
                    "sigma_init": {"name": "const_initializer", "val": 0},
                    "fixed_sigma": True,
                }
            },
            "mlp": {"units": [128, 64, 32], "activation": "elu", "initializer": {"name": "default"}},
        },
        "config": {
            "name": args.task,
            "env_name": "envpool",
            "env_config": {"env_name": args.task, "seed": args.seed},
            "device": "cpu",
            "torch_compile": False,
            "reward_shaper": {"scale_value": 0.1},
            "normalize_input": True,
            "normalize_value": True,
            "normalize_advantage": True,
            "value_bootstrap": True,  # for episodes that reached the time limit
            "num_actors": args.num_envs,
            "horizon_length": args.num_steps,
            "minibatch_size": args.num_envs * args.num_steps // 8,
            "mini_epochs": 6,
            "max_epochs": args.epochs,
            "gamma": args.gamma,
            "tau": 0.95,
            "learning_rate": 1e-3,
            "lr_schedule": "linear",
            "e_clip": 0.2,
            "clip_value": False,
            "entropy_coef": 0.0,
            "critic_coef": 4,
            "bounds_loss_coef": 0.0,
            "truncate_grads": True,
            "grad_norm": 1.0,
            "save_frequency": 0,
        },
    }


class Curve(AlgoObserver):
    """Records the mean return of the last 100 episodes after every epoch."""

    def after_init(self, algo):
        """Store the trainer, which counts frames and returns."""
        self.algo = algo
        self.frames, self.means = [], []

    def after_print_stats(self, frame, epoch_num, total_time):
        """Record one point if an episode has ended."""
        if self.algo.game_rewards.current_size:
            self.frames.append(frame)
            self.means.append(self.algo.game_rewards.get_mean().item())


def plot(args, curve):
    """Plot the mean return."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(curve.frames, curve.means)
    axes.set(xlabel="environment steps", ylabel="mean return of 100 episodes")
    axes.set_title(f"rl_games' PPO on {args.task}, seed {args.seed}")
    Path(args.plot).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(args.plot, dpi=120)


def main(argv=None):
    """Train, report, and return the Curve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="Pendulum-v1", help="task id with continuous actions")
    parser.add_argument("--seed", type=natural, default=5, help="seed of networks, sampling and environments")
    parser.add_argument("--num-envs", type=positive, default=128, help="environments in the pool")
    parser.add_argument("--num-steps", type=positive, default=32, help="steps of each environment in an epoch")
    parser.add_argument("--epochs", type=positive, default=80, help="number of rollouts to learn from")
    parser.add_argument("--gamma", type=share, default=0.9, help="discount")
    parser.add_argument("--plot", help="write the learning curve to this PNG file")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)  # networks this small run fastest on one thread
    start, here = time.perf_counter(), Path.cwd()
    curve = Curve()
    with tempfile.TemporaryDirectory() as folder:  # rl_games writes logs and checkpoints to the current directory
        os.chdir(folder)
        try:
            runner = Runner(curve)
            runner.load({"params": settings(args)})
            runner.run({"train": True})
        finally:
            os.chdir(here)
    if args.plot:
        plot(args, curve)
    seconds = time.perf_counter() - start
    print(f"{args.task}: mean return {curve.means[-1]:.1f} after {curve.frames[-1]} steps, {seconds:.1f} s")
    return curve


if __name__ == "__main__":
    main()
