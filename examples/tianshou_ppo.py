"""PPO of Tianshou on a pool.

    pip install "envpool-cython[tianshou,examples]"
    python examples/tianshou_ppo.py --plot tianshou.png

Tianshou's Collector takes a pool directly, and resets the environments whose episodes have ended.
"""

import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from torch import nn

import envpool
from envpool.training.curves import Curve, parse_args


def make_algorithm(env):
    """Return PPO with two networks, each with two hidden tanh layers."""

    def features():
        return Net(state_shape=env.observation_space.shape, hidden_sizes=[64, 64], activation=nn.Tanh)

    actor = DiscreteActor(preprocess_net=features(), action_shape=env.action_space.n, softmax_output=False)
    policy = DiscreteActorPolicy(actor=actor, action_space=env.action_space, observation_space=env.observation_space)
    return PPO(
        policy=policy,
        critic=DiscreteCritic(preprocess_net=features()),
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=0.98,
        gae_lambda=0.9,
        ent_coef=0.0,
        max_grad_norm=0.5,
    )


class Record:
    """Records finished episodes; a step hook of a Collector."""

    def __init__(self, num_envs):
        self.curve, self.returns, self.lengths = Curve(), np.zeros(num_envs), np.zeros(num_envs, int)

    def __call__(self, action_batch, rollout_batch):
        """Add one step of the pool."""
        ids = rollout_batch.info.env_id
        self.returns[ids] += rollout_batch.rew
        self.lengths[ids] += 1
        for i in ids[rollout_batch.done]:
            self.curve.add(self.returns[i], self.lengths[i])
            self.returns[i] = self.lengths[i] = 0


def main(argv=None):
    """Train and report; exit with an error if the target was not reached."""
    args = parse_args(__doc__.splitlines()[0], argv, num_envs=16)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # networks this small run fastest on one thread
    record = Record(args.num_envs)
    per_update = 64 * args.num_envs
    with (
        envpool.make_gymnasium(args.task, num_envs=args.num_envs, seed=args.seed) as env,
        envpool.make_gymnasium(args.task, num_envs=4, seed=args.seed + args.num_envs) as test_env,
    ):
        algorithm = make_algorithm(env)
        buffer = VectorReplayBuffer(per_update, args.num_envs)
        params = OnPolicyTrainerParams(
            training_collector=Collector[CollectStats](algorithm, env, buffer, on_step_hook=record),
            test_collector=Collector[CollectStats](algorithm, test_env),
            test_step_num_episodes=4,
            stop_fn=lambda _: record.curve.has_reached(args.target),
            max_epochs=-(-args.total_timesteps // (8 * per_update)),
            epoch_num_steps=8 * per_update,
            collection_step_num_env_steps=per_update,
            update_step_num_repetitions=10,
            batch_size=256,
            show_progress=False,
        )
        algorithm.run_training(params)
    record.curve.report(args, "PPO of Tianshou")


if __name__ == "__main__":
    main()
