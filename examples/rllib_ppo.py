"""PPO of RLlib on a pool, with its new API stack.

    pip install "envpool-cython[rllib,examples]"
    python examples/rllib_ppo.py --plot rllib.png

RLlib creates the environments with `gymnasium.make_vec`. Without the wrapper that records returns,
`.environment("envpool:envpool/CartPole-v1")` would be sufficient.
"""

import ray
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.training.curves import Curve, parse_args


def main(argv=None):
    """Train and report; exit with an error if the target was not reached."""
    args = parse_args(__doc__.splitlines()[0], argv, num_envs=16)
    torch.set_num_threads(1)  # networks this small run fastest on one thread
    curve = Curve()

    def make_env(context):
        pool = EnvPoolVectorEnv(args.task, num_envs=context["num_envs"], seed=args.seed)
        return RecordEpisodeStatistics(pool)

    def record(episode, **others):
        # RLlib cuts episodes at the end of a batch; the wrapper records whole episodes.
        whole = episode.get_infos(-1)["episode"]
        curve.add(whole["r"], whole["l"])

    tune.register_env("pool", make_env)
    config = (
        PPOConfig()
        .environment("pool")
        .env_runners(
            gym_env_vectorize_mode="vector_entry_point",
            num_envs_per_env_runner=args.num_envs,
            num_env_runners=0,  # the pool steps in this process, on its own threads
            rollout_fragment_length=64,
        )
        .training(
            train_batch_size_per_learner=64 * args.num_envs,
            minibatch_size=128,
            num_epochs=6,
            lr=[[0, 1e-3], [args.total_timesteps, 0.0]],
            gamma=0.98,
            lambda_=0.9,
            vf_loss_coeff=0.01,
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], fcnet_activation="tanh"))
        .callbacks(on_episode_end=record)
        .debugging(seed=args.seed)
    )
    ray.init(num_cpus=1, include_dashboard=False, ignore_reinit_error=True)
    algorithm = config.build_algo()
    for _ in range(0, args.total_timesteps, 64 * args.num_envs):
        algorithm.train()
        if curve.has_reached(args.target):
            break
    algorithm.stop()
    ray.shutdown()
    curve.report(args, "PPO of RLlib")


if __name__ == "__main__":
    main()
