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

#: Observations beyond this number of standard deviations are clipped.
CLIP = 10.0


class Scale:
    """Mean and standard deviation of observations, arrays (inputs,)."""

    def __init__(self, inputs):
        self.mean, self.std = np.zeros(inputs), np.ones(inputs)


class Agent(nn.Module):
    """A policy and a value network for the observations and actions of a pool with `pool_options`.

    Parameters
    ----------
    env : EnvPool
        A pool of the task as it is, without these options.
    hidden : int
        Units in a hidden layer.
    """

    def __init__(self, env, hidden):
        super().__init__()
        obs_space, self.action_space = env.observation_space, env.action_space
        parts = list(obs_space.values()) if isinstance(obs_space, Dict) else [obs_space]
        if not all(isinstance(x, Box) for x in parts) or not isinstance(self.action_space, (Box, Discrete)):
            raise SystemExit(
                "this example needs observations from a Box or a Dict of them, and Box or Discrete actions; "
                f"got {obs_space}, {self.action_space}"
            )
        self.is_discrete, self.is_image = isinstance(self.action_space, Discrete), has_images(env)
        self.keys = list(obs_space) if isinstance(obs_space, Dict) else []
        outputs = int(self.action_space.n if self.is_discrete else np.prod(self.action_space.shape))
        if self.is_image:  # both networks see the same features
            height, width, channels = obs_space.shape
            self.has_channels_last = channels < height
            shape = (channels, height, width) if self.has_channels_last else obs_space.shape
            self.features = convolutions(shape, hidden)
            self.actor, self.critic = head(hidden, outputs, 0.01), head(hidden, 1, 1.0)
        else:
            inputs = sum(int(np.prod(x.shape)) for x in parts)
            self.actor, self.critic = mlp(inputs, hidden, outputs, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.scale = Scale(() if self.is_image else (inputs,))  # images are divided by 255 instead
        self.log_std = nn.Parameter(torch.zeros(outputs), requires_grad=not self.is_discrete)

    @property
    def device(self):
        """The device of the networks."""
        return self.log_std.device

    def join(self, obs, dims=1):
        """Return images as they are, and other observations with one row of inputs each.

        The observations, an array or a dict of arrays, have `dims` dimensions before their own.
        """
        if self.is_image:
            return obs
        parts = [x.reshape(*x.shape[:dims], -1) for x in ([obs[key] for key in self.keys] or [obs])]
        return np.concatenate(parts, axis=dims) if len(parts) > 1 else parts[0]

    def prepare(self, obs, dims=1):
        """Return observations of a pool with `pool_options` as inputs of the networks."""
        return torch.from_numpy(self.join(obs, dims)).to(self.device, None if self.is_image else torch.float32)

    def see(self, inputs):
        """Return the features of inputs, which the actor and the critic take; those of vectors are the vectors."""
        if not self.is_image:
            return inputs
        if self.has_channels_last:
            inputs = inputs.movedim(-1, -3)
        # The precision of bfloat16 is sufficient for the features.
        is_fast = is_bfloat16_fast(self.device.type)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_fast):
            return self.features(inputs.to(torch.bfloat16 if is_fast else torch.float32) / 255).float()

    def value(self, features):
        """Return the expected discounted returns (...) for features (..., size)."""
        return self.critic(features).squeeze(-1)

    def sample(self, features, sampler):
        """Return actions for features (n, size), an `envpool.rollout.Sample`."""
        outputs = self.actor(features).cpu().numpy()
        if self.is_discrete:
            return sampler.categorical(outputs)
        return sampler.gaussian(outputs, self.log_std.cpu().numpy())

    def forward(self, inputs):
        """Return the distribution over actions and the expected discounted return (n,)."""
        features = self.see(inputs)
        outputs, value = self.actor(features), self.value(features)
        # Checks of their arguments would take half of the time of distributions over so few actions.
        if self.is_discrete:
            return Categorical(logits=outputs, validate_args=False), value
        normal = Normal(outputs, self.log_std.exp(), validate_args=False)
        return Independent(normal, 1, validate_args=False), value

    def to_pool(self, actions):
        """Return sampled actions as those of a pool with `pool_options`."""
        return actions + self.action_space.start if self.is_discrete else actions.reshape(-1, *self.action_space.shape)

    def learn_scale(self, normalization):
        """Keep the scale of the observations of a pool, given `pool.normalization`."""
        found, names = normalization.get() if normalization else {}, [f"obs:{key}" for key in self.keys] or ["obs"]
        if all(f"{name}.mean" in found for name in names):
            parts = ([found[f"{name}.{part}"].ravel() for name in names] for part in ("mean", "var"))
            self.scale.mean, var = (np.concatenate(x, dtype=np.float64) for x in parts)
            self.scale.std = np.sqrt(var + 1e-8)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations of the task as it is, without `pool_options`."""
        inputs = self.join(obs)
        if not self.is_image:
            inputs = np.clip((inputs - self.scale.mean) / self.scale.std, -CLIP, CLIP).astype(np.float32)
        outputs = self.actor(self.see(torch.from_numpy(inputs).to(self.device))).cpu().numpy()
        actions = self.to_pool(outputs.argmax(axis=1) if self.is_discrete else outputs)
        if self.is_discrete or not is_bounded(self.action_space):
            return actions
        low, high = self.action_space.low, self.action_space.high
        return low + (np.clip(actions, -1, 1) + 1) / 2 * (high - low)


def make_pool(task, **options):
    """Return a pool of a task, or of the Python environments of an id that only gymnasium has."""
    make = envpool.make_gymnasium if task in envpool.list_all_envs() else envpool.make_python
    return make(task, **options)


def has_images(env):
    """Return whether the observations of a task are images: uint8, with the channels first or last."""
    space = env.observation_space
    return isinstance(space, Box) and len(space.shape) == 3 and space.dtype == np.uint8


def is_bounded(space):
    """Return whether all actions of a Box have finite bounds."""
    return bool(np.isfinite(space.low).all() and np.isfinite(space.high).all())


def pool_options(env, gamma):
    """Return the options with which a pool prepares a task for the networks of an Agent.

    Observations, unless they are images, have mean 0 and standard deviation 1. Rewards are divided by the standard
    deviation of their discounted sums; `gamma` is the discount. Continuous actions are scaled from [-1, 1] to their
    bounds. The pool also returns the episodes that have ended, with their original rewards.
    """
    options = {"normalize_reward": {"gamma": gamma}, "episode_statistics": True, "finished_episodes": True}
    if not has_images(env):
        options |= {"normalize_obs": True, "clip_obs": CLIP}
    if isinstance(env.action_space, Box):
        bounded = is_bounded(env.action_space)
        options |= {"clip_action": True, "rescale_action": True} if bounded else {}
    return options


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
    return nn.Sequential(first, Tanh(), second, Tanh(), head(hidden, outputs, gain))


class Tanh(nn.Module):
    """The hyperbolic tangent. Without gradients NumPy computes it, in a sixth of the time that torch takes on a CPU."""

    def forward(self, x):
        """Return the values for a tensor, which is overwritten if no gradients are needed."""
        if x.is_cpu and not torch.is_grad_enabled():
            np.tanh(x.numpy(), out=x.numpy())
            return x
        return x.tanh()


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
    with make_pool(content["task"], **options) as env:
        agent = agent_class(env, content["hidden"])
    agent.load_state_dict(content["networks"])
    if content["scale"].keys() != vars(agent.scale).keys():
        raise SystemExit(f"{path} was written by another version of this example: train the policy again")
    vars(agent.scale).update({name: x.numpy() for name, x in content["scale"].items()})
    return agent, content["task"], options


def load(path):
    """Return the policy of a file that `save` has written: a function from observations to the likeliest actions."""
    return restore(path)[0].best
