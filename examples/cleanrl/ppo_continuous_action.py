"""PPO with continuous actions in a single file, in the style of CleanRL. It imports nothing from this folder: copy it.

    python ppo_continuous_action.py --env-id HalfCheetah-v5 --num-envs 1 --total-timesteps 1000000
    tensorboard --logdir runs

The preset "ppo-continuous" stands for CleanRL's wrappers: it clips actions, and normalises and clips observations and
rewards. The pool resets an environment in the step that ends its episode (autoreset_mode="same_step"), so that every
row is a transition. With the default mode, "next_step", the step after the end only begins an episode, and its row
would have to be left out of the loss.
"""

import argparse
import random
import time
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal
from torch.utils.tensorboard import SummaryWriter

import envpool


@dataclass
class Args:
    """Options of the command line."""

    exp_name: str = "ppo_continuous_action"
    seed: int = 1
    cuda: bool = True
    env_id: str = "HalfCheetah-v5"
    total_timesteps: int = 1_000_000
    learning_rate: float = 3e-4
    num_envs: int = 1
    num_steps: int = 2048
    anneal_lr: bool = True
    gamma: float = 0.99
    gae_lambda: float = 0.95
    num_minibatches: int = 32
    update_epochs: int = 10
    clip_coef: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


def parse_args(argv=None):
    """Return the command line as Args."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        kind = {"action": argparse.BooleanOptionalAction} if field.type is bool else {"type": field.type}
        parser.add_argument("--" + field.name.replace("_", "-"), default=field.default, **kind)
    return Args(**vars(parser.parse_args(argv)))


def init(layer, std=2**0.5):
    """Initialise the weights of a layer orthogonally and its bias with 0; return it."""
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    """A network for the mean action, one for the value, and a standard deviation that does not depend on the state."""

    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.actor = self.network(num_inputs, num_actions, 0.01)
        self.critic = self.network(num_inputs, 1, 1)
        self.log_std = nn.Parameter(torch.zeros(num_actions))

    @staticmethod
    def network(num_inputs, num_outputs, std):
        """Return two hidden layers of 64 units, and a last layer."""
        hidden = [init(nn.Linear(num_inputs, 64)), nn.Tanh(), init(nn.Linear(64, 64)), nn.Tanh()]
        return nn.Sequential(*hidden, init(nn.Linear(64, num_outputs), std))

    def forward(self, obs):
        """Return the distribution of actions, and the values."""
        return Independent(Normal(self.actor(obs), self.log_std.exp()), 1), self.critic(obs).flatten()


def main(argv=None):
    """Train an agent."""
    args = parse_args(argv)
    writer = SummaryWriter(f"runs/{args.env_id.replace('/', '-')}__{args.exp_name}__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", "\n".join(f"    {name}: {value}" for name, value in asdict(args).items()))
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and args.cuda else "cpu")

    envs = envpool.make_gymnasium(
        args.env_id,
        num_envs=args.num_envs,
        seed=args.seed * args.num_envs,  # environment i gets this plus i: seeds 1, 2, ... share no environments
        preset="ppo-continuous",
        normalize_reward={"gamma": args.gamma},
        autoreset_mode="same_step",
    )
    agent = Agent(envs.observation_space.shape[0], envs.action_space.shape[0]).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, *envs.observation_space.shape), device=device)
    actions = torch.zeros((*shape, *envs.action_space.shape), device=device)
    log_probs, rewards, dones, values = (torch.zeros(shape, device=device) for _ in range(4))
    batch_size = args.num_steps * args.num_envs
    num_updates = max(args.total_timesteps // batch_size, 1)

    global_step, start = 0, time.time()
    next_obs = torch.as_tensor(envs.reset()[0], dtype=torch.float32, device=device)
    next_done = torch.zeros(args.num_envs, device=device)
    for update in range(num_updates):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = (1 - update / num_updates) * args.learning_rate

        for t in range(args.num_steps):
            global_step += args.num_envs
            obs[t], dones[t] = next_obs, next_done
            with torch.no_grad():
                policy, values[t] = agent(next_obs)
                actions[t] = policy.sample()
                log_probs[t] = policy.log_prob(actions[t])
            new_obs, reward, terminated, truncated, info = envs.step(actions[t].cpu().numpy())
            rewards[t] = torch.as_tensor(reward, device=device)
            next_obs = torch.as_tensor(new_obs, dtype=torch.float32, device=device)
            next_done = torch.as_tensor(terminated | truncated, device=device).float()
            if "episode" in info:
                ended = info["_episode"]
                for score, length in zip(info["episode"]["r"][ended], info["episode"]["l"][ended], strict=True):
                    print(f"global_step={global_step}, episodic_return={score}")
                    writer.add_scalar("charts/episodic_return", score, global_step)
                    writer.add_scalar("charts/episodic_length", length, global_step)

        with torch.no_grad():  # generalised advantage estimation
            advantages, last = torch.zeros_like(rewards), 0
            following, going = agent(next_obs)[1], 1 - next_done
            for t in reversed(range(args.num_steps)):
                delta = rewards[t] + args.gamma * following * going - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * going * last
                following, going = values[t], 1 - dones[t]
            returns = advantages + values

        flat = [x.flatten(0, 1) for x in (obs, actions, log_probs, advantages, returns, values)]
        for _ in range(args.update_epochs):
            for rows in torch.randperm(batch_size, device=device).chunk(args.num_minibatches):
                b_obs, b_actions, b_log_probs, b_advantages, b_returns, b_values = (x[rows] for x in flat)
                policy, new_values = agent(b_obs)
                log_ratio = policy.log_prob(b_actions) - b_log_probs
                ratio = log_ratio.exp()
                gain = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = torch.max(-gain * ratio, -gain * clipped).mean()
                near = b_values + (new_values - b_values).clamp(-args.clip_coef, args.clip_coef)
                value_loss = torch.max((new_values - b_returns) ** 2, (near - b_returns) ** 2).mean() / 2
                entropy = policy.entropy().mean()
                loss = policy_loss - args.ent_coef * entropy + args.vf_coef * value_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        writer.add_scalar("losses/value_loss", value_loss.item(), global_step)
        writer.add_scalar("losses/policy_loss", policy_loss.item(), global_step)
        writer.add_scalar("losses/entropy", entropy.item(), global_step)
        writer.add_scalar("losses/approx_kl", ((ratio - 1) - log_ratio).mean().item(), global_step)
        rate = int(global_step / (time.time() - start))
        print("SPS:", rate)
        writer.add_scalar("charts/SPS", rate, global_step)

    envs.close()
    writer.close()


if __name__ == "__main__":
    main()
