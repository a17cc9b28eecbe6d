"""The networks of PPO, and files that contain them.

python examples/ppo.py --task CartPole-v1 --save policy.pt
envpool watch CartPole-v1 --policy examples/policy.py:load --load policy.pt
"""

import json
from pathlib import Path

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete
from torch import nn
from torch.distributions import Categorical, Independent, Normal

import envpool


class RunningScale:
    """Running mean and standard deviation of all rows seen so far."""

    def __init__(self, shape=()):
        self.count, self.mean, self.m2 = 1e-4, np.zeros(shape), np.zeros(shape)

    def update(self, rows):
        """Add rows (n, *shape)."""
        n, total = len(rows), self.count + len(rows)
        mean = rows.mean(axis=0, keepdims=True)
        delta = mean[0] - self.mean
        self.mean = self.mean + delta * n / total
        self.m2 = self.m2 + rows.var(axis=0, mean=mean) * n + delta**2 * self.count * n / total
        self.count = total

    @property
    def std(self):
        """Standard deviation, never zero."""
        return np.sqrt(self.m2 / self.count + 1e-8)


class Agent(nn.Module):
    """A policy and a value network, with the scaling of their inputs and outputs."""

    def __init__(self, env, hidden):
        super().__init__()
        obs_space, self.action_space = env.observation_space, env.action_space
        parts = list(obs_space.values()) if isinstance(obs_space, Dict) else [obs_space]
        if not all(isinstance(x, Box) for x in parts) or not isinstance(self.action_space, (Box, Discrete)):
            raise SystemExit(
                "this example needs observations from a Box or a Dict of them, and Box or Discrete actions; "
                f"got {obs_space}, {self.action_space}"
            )
        self.is_discrete = isinstance(self.action_space, Discrete)
        self.is_image = isinstance(obs_space, Box) and len(obs_space.shape) == 3 and obs_space.dtype == np.uint8
        outputs = int(self.action_space.n if self.is_discrete else np.prod(self.action_space.shape))
        if self.is_image:  # both networks see the same features
            self.features = convolutions(obs_space.shape, hidden)
            self.actor, self.critic = head(hidden, outputs, 0.01), head(hidden, 1, 1.0)
        else:
            inputs = sum(int(np.prod(x.shape)) for x in parts)
            self.actor, self.critic = mlp(inputs, hidden, outputs, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.scale = RunningScale(() if self.is_image else (inputs,))  # images are divided by 255 instead
        self.log_std = nn.Parameter(torch.zeros(outputs), requires_grad=not self.is_discrete)

    @property
    def device(self):
        """The device of the networks."""
        return self.log_std.device

    def prepare(self, obs, learn=False):
        """Return observations (n, *shape) as inputs of the networks.

        Images stay uint8. Other observations become float32 (n, inputs) with mean 0 and standard deviation 1.
        """
        if self.is_image:
            return torch.from_numpy(obs).to(self.device)
        parts = [x.reshape(len(x), -1) for x in (obs.values() if isinstance(obs, dict) else [obs])]
        rows = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        if learn:
            self.scale.update(rows)
        scaled = np.clip((rows - self.scale.mean) / self.scale.std, -10, 10).astype(np.float32)
        return torch.from_numpy(scaled).to(self.device)

    def forward(self, inputs):
        """Return the distribution over actions and the expected discounted return (n,)."""
        features = self.see(inputs) if self.is_image else inputs
        outputs, value = self.actor(features), self.critic(features).squeeze(-1)
        # Checks of their arguments would take half of the time of distributions over so few actions.
        if self.is_discrete:
            return Categorical(logits=outputs, validate_args=False), value
        normal = Normal(outputs, self.log_std.exp(), validate_args=False)
        return Independent(normal, 1, validate_args=False), value

    def see(self, images):
        """Return the features of images."""
        # The precision of bfloat16 is sufficient for the features.
        is_fast = is_bfloat16_fast(self.device.type)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_fast):
            return self.features(images.to(torch.bfloat16 if is_fast else torch.float32) / 255).float()

    def to_env(self, actions):
        """Return actions, a NumPy array, for the pool; continuous actions are scaled from [-1, 1] to the bounds."""
        if self.is_discrete:
            return actions + self.action_space.start
        low, high = self.action_space.low, self.action_space.high
        unit = np.clip(actions, -1, 1).reshape(-1, *self.action_space.shape)
        return np.where(np.isfinite(high - low), low + (unit + 1) / 2 * (high - low), unit)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations, for the pool."""
        return self.to_env(self(self.prepare(obs))[0].mode.cpu().numpy())


def is_bfloat16_fast(device_type):
    """Return whether a device multiplies bfloat16 itself.

    The convolutions are then faster than with float32; a device that emulates bfloat16 is far slower with it.
    """
    if device_type == "cpu":
        return any(has for name, has in torch.cpu.get_capabilities().items() if name.endswith("bf16"))
    return device_type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def head(inputs, outputs, gain):
    """Return a linear layer with orthogonal weights."""
    return orthogonal(nn.Linear(inputs, outputs), gain)


def mlp(inputs, hidden, outputs, gain):
    """Return a network with two hidden tanh layers."""
    first, second = (head(n, hidden, 2**0.5) for n in (inputs, hidden))
    return nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), head(hidden, outputs, gain))


def convolutions(shape, hidden):
    """Return the network of Mnih et al. (2013) for images of this shape: two convolutions, one hidden layer."""
    layers = [orthogonal(nn.Conv2d(shape[0], 16, 8, 4)), nn.ReLU(), orthogonal(nn.Conv2d(16, 32, 4, 2)), nn.ReLU()]
    flat = nn.Sequential(*layers, nn.Flatten())
    return nn.Sequential(flat, head(flat(torch.zeros(1, *shape)).shape[1], hidden, 2**0.5), nn.ReLU())


def orthogonal(layer, gain=2**0.5):
    """Initialise a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def save(path, agent, task, options, hidden):
    """Write an Agent to a file; a file that has this name stays intact until the new one is complete.

    Parameters
    ----------
    path : str
        The file, from which `load` and `restore` make the policy again.
    agent : Agent
        The policy.
    task, options : str
        Id and options of the task, the options as JSON.
    hidden : int
        Units in a hidden layer.
    """
    content = {"task": task, "options": options, "hidden": hidden, "networks": agent.state_dict()}
    content["scale"] = {name: torch.as_tensor(x, dtype=torch.float64) for name, x in vars(agent.scale).items()}
    path = Path(path)
    part = path.with_name(path.name + ".part")
    torch.save(content, part)
    part.replace(path)


def restore(path, agent_class=Agent):
    """Return the agent of a file that `save` has written, its task, and the options of the task."""
    content = torch.load(path, map_location="cpu", weights_only=True)
    options = json.loads(content["options"])
    agent = agent_class(envpool.make_spec(content["task"], **options), content["hidden"])
    agent.load_state_dict(content["networks"])
    vars(agent.scale).update({name: x.numpy() for name, x in content["scale"].items()})
    return agent, content["task"], options


def load(path):
    """Return the policy of a file that `save` has written: a function from observations to the likeliest actions."""
    return restore(path)[0].best
