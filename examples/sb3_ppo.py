"""PPO of Stable-Baselines3 on a pool.

    pip install "envpool-cython[sb3,examples]"
    python examples/sb3_ppo.py --plot sb3.png

Only one line is specific to a pool: `VecEnv` of envpool.adapters.sb3 replaces `make_vec_env`. The pool counts the
returns of episodes natively, so no `VecMonitor` is needed.
"""

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from envpool.adapters.sb3 import VecEnv
from envpool.training.curves import Curve, parse_args


class Record(BaseCallback):
    """Records the episodes that the pool reports as finished, and stops at a target."""

    def __init__(self, target):
        super().__init__()
        self.curve, self.target = Curve(), target

    def _on_step(self):
        for info in self.locals["infos"]:
            if "episode" in info:
                self.curve.add(info["episode"]["r"], info["episode"]["l"])
        return not self.curve.has_reached(self.target)


def main(argv=None):
    """Train and report; exit with an error if the target was not reached."""
    args = parse_args(__doc__.splitlines()[0], argv, num_envs=16)
    torch.set_num_threads(1)  # networks this small run fastest on one thread
    env = VecEnv(args.task, num_envs=args.num_envs, seed=args.seed, episode_statistics=True)
    agent = PPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=256,
        n_epochs=10,
        learning_rate=lambda remaining: 1e-3 * remaining,
        gamma=0.98,
        gae_lambda=0.9,
        seed=args.seed,
        device="cpu",
    )
    record = Record(args.target)
    agent.learn(args.total_timesteps, callback=record)
    env.close()
    record.curve.report(args, "PPO of Stable-Baselines3")


if __name__ == "__main__":
    main()
