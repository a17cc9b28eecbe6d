"""PPO on an async pool: the policy acts in whichever environments are ready, and none of them waits for the slowest.

    python examples/async_ppo.py --task CartPole-v1 --target 475 --plot async_ppo.png

The networks, the loss and the options are those of ppo.py in the same folder. An async pool differs in the following
points:

- With ``batch_size < num_envs``, the policy acts in the first ``batch_size`` environments that have finished, whose ids
  are ``info["env_id"]``. The other environments continue to simulate while the networks compute.
- ``envpool.Rollout`` puts each row into the time slot of its environment. The environments have different numbers of
  steps in a rollout, ``data.lengths``.
- When an update is due, every environment has been sent an action, and is simulated during the update. The results
  belong to the next rollout, together with the log probability under the policy that chose the action, as PPO's ratio
  requires.
"""

from dataclasses import dataclass

import ppo
import torch

from envpool.rollout import Progress
from envpool.training.options import natural, option


@dataclass(frozen=True)
class Args(ppo.CommonArgs):
    """Options of the command line."""

    batch_size: int = option(0, "environments that the policy acts in at a time; 0 for half of num_envs", natural)


class Rollout(ppo.Rollout):
    """The data of about `num_steps` steps of each environment: tensors (steps, num_envs, ...)."""

    def __init__(self, args, env, agent, returns):
        super().__init__(args, env, agent)
        self.returns, self.step, self.result = returns, 0, self.steps.reset()

    def choose(self, result):
        """Return actions for the observations of a result, and what is recorded with them."""
        obs, *outcome, info = result
        self.step += len(outcome[0]) if outcome else 0  # reset() has no outcome
        self.returns.add(info, self.step)
        return self.act(obs)

    def collect(self):
        """Act until the rollout is full."""
        data, self.result = self.steps.collect(self.choose, self.result)
        self.take(data)


def train(args):
    """Train until the target or the last step is reached, and return the Returns."""
    env, agent = ppo.begin(args, batch_size=args.batch_size or max(args.num_envs // 2, 1))
    returns = ppo.Returns()
    with env, Progress(args.total_timesteps) as progress:
        optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
        data = Rollout(args, env, agent, returns)
        while data.step < args.total_timesteps:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - data.step / args.total_timesteps)
            before = data.step
            data.collect()
            data.estimate_advantages(args.gamma, args.gae_lambda)
            ppo.update(args, agent, optimizer, data.transitions())
            progress.update(data.step - before, f"mean return {returns.mean:.1f}")
            if args.target is not None and returns.mean >= args.target:
                break
    return returns


if __name__ == "__main__":
    ppo.main(train=train, args_class=Args, algorithm="Async PPO")
