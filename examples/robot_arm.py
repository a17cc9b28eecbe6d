"""PPO learns to reach with a robot arm of your own: a MuJoCo model in XML, and a task that is declared here.

    python examples/robot_arm.py --target 85 --plot robot_arm.png
    python examples/robot_arm.py --save arm.pt --capture-video arm.mp4

The arm of `MODEL` holds a position; an action says where its joints should go. Each episode puts the ball somewhere in
front of the arm, and the reward of a step grows up to 1 as the gripper comes closer to it. Observation, reward,
termination and reset are expressions, which a native program computes: no Python runs in a step. Registered under an
id, the declaration is a task like any other: the second half of this file, PPO for continuous actions, knows nothing of
the arm.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal

import envpool
from envpool.mujoco import declared as d
from envpool.mujoco.declared.task import Declared
from envpool.rollout import Progress, Sampler, gae, shuffled
from envpool.training import policies
from envpool.training.curves import Returns
from envpool.training.files import check_files
from envpool.training.options import (
    PolicyArgs,
    RunArgs,
    natural_number,
    option,
    parse_args,
    positive,
    positive_number,
    share,
)
from envpool.training.runs import run_seeds, start

TASK = "RobotArmReach-v0"
#: A robot arm with four joints, held by position servos, and a red ball that shows where its gripper should be. A path
#: of a file would do as well.
MODEL = """
<mujoco model="robot_arm">
  <compiler angle="degree"/>
  <option timestep="0.005" integrator="implicitfast"/>
  <default>
    <joint damping="1" armature="0.02"/>
    <geom type="capsule" size="0.035" rgba="0.3 0.5 0.8 1"/>
    <position kp="40" kv="4" inheritrange="1"/>
  </default>
  <worldbody>
    <light pos="0 0 2" dir="0 0 -1"/>
    <camera name="side" pos="0 -1.6 0.9" xyaxes="1 0 0 0 0.35 1"/>
    <geom name="floor" type="plane" size="1 1 0.1" rgba="0.8 0.8 0.8 1"/>
    <body name="base" pos="0 0 0.1">
      <joint name="turn" axis="0 0 1" range="-150 150"/>
      <geom name="column" fromto="0 0 0 0 0 0.2" size="0.05"/>
      <body name="upper_arm" pos="0 0 0.2">
        <joint name="shoulder" axis="0 1 0" range="-100 60"/>
        <geom name="upper_arm" fromto="0 0 0 0.3 0 0"/>
        <body name="forearm" pos="0.3 0 0">
          <joint name="elbow" axis="0 1 0" range="-20 140"/>
          <geom name="forearm" fromto="0 0 0 0.25 0 0"/>
          <body name="hand" pos="0.25 0 0">
            <joint name="wrist" axis="0 1 0" range="-90 90"/>
            <geom name="hand" fromto="0 0 0 0.08 0 0" size="0.025" rgba="0.9 0.7 0.2 1"/>
            <site name="gripper" pos="0.1 0 0" size="0.015"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" mocap="true" pos="0.4 0 0.3">
      <geom name="ball" type="sphere" size="0.03" rgba="0.9 0.1 0.1 1" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator>
    <position name="turn" joint="turn"/>
    <position name="shoulder" joint="shoulder"/>
    <position name="elbow" joint="elbow"/>
    <position name="wrist" joint="wrist"/>
  </actuator>
  <keyframe>
    <key name="ready" qpos="0 -0.5 1 0.3" mpos="0.4 0 0.3" ctrl="0 -0.5 1 0.3"/>
  </keyframe>
</mujoco>
"""


def declaration():
    """Return the task."""
    gripper, ball = d.SitePosition("gripper"), d.MocapPosition("ball")
    distance = d.Norm(ball - gripper)
    return d.declare(
        MODEL,
        observation=[d.Qpos(), 0.2 * d.Qvel(), d.Previous(d.Ctrl()), gripper, ball - gripper],
        reward=[
            d.tolerance(distance, (0, 0.02), margin=0.4, name="reach"),
            d.Cost(d.Sum(d.Square(d.Qvel())), 1e-3, "speed"),
        ],
        termination=[d.contact(("upper_arm", "forearm", "hand"), "floor")],
        reset=[
            d.Keyframe("ready"),
            d.UniformNoise(d.Qpos(), 0.1),
            d.Uniform(ball, (0.25, -0.3, 0.15), (0.5, 0.3, 0.5)),
        ],
        action=d.Actuators(normalized=True),
        info={"distance": distance},
        terms=True,
    )


class RobotArm(Declared):
    """The env definition of the task."""

    options = Declared.options | {"declaration": declaration(), "frame_skip": 8}


envpool.register(TASK, __name__, env="RobotArm", max_episode_steps=100)


# ---- PPO -------------------------------------------------------------------------------------------------------------

#: Observations beyond this number of standard deviations are clipped.
CLIP = 10.0


@dataclass(frozen=True)
class Args(PolicyArgs, RunArgs):
    """Options of the command line."""

    task: str = option(TASK, "task id")
    num_steps: int = option(100, "steps of each environment between two updates", positive)
    total_timesteps: int = option(600_000, "largest number of environment steps", positive)
    learning_rate: float = option(
        1e-3, "Adam's step size at the start; falls to 0 over total_timesteps", positive_number
    )
    gamma: float = option(0.97, "discount", share)
    gae_lambda: float = option(0.95, "decay of the advantage estimate", share)
    epochs: int = option(4, "passes over the data of an update", positive)
    minibatches: int = option(8, "gradient steps in a pass", positive)
    clip: float = option(0.2, "clipping range of the probability ratio and of the value", positive_number)
    entropy_coef: float = option(0.0, "weight of the entropy bonus", natural_number)
    value_coef: float = option(0.5, "weight of the value loss", natural_number)
    max_grad_norm: float = option(0.5, "gradient clipping", positive_number)
    hidden: int = option(64, "units in each of the two hidden layers", positive)


class Scale:
    """Mean and standard deviation of observations, arrays (inputs,)."""

    def __init__(self, inputs):
        self.mean, self.std = np.zeros(inputs), np.ones(inputs)


class Agent(nn.Module):
    """A policy and a value network for vectors and continuous actions, which lie in [-1, 1]."""

    def __init__(self, pool, hidden):
        super().__init__()
        inputs, actions = pool.observation_space.shape[0], pool.action_space.shape[0]
        self.actor, self.critic = mlp(inputs, hidden, actions, 0.01), mlp(inputs, hidden, 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(actions))
        self.scale = Scale(inputs)

    def forward(self, inputs):
        """Return the distribution over actions, and the expected discounted returns (n,)."""
        normal = Normal(self.actor(inputs), self.log_std.exp(), validate_args=False)
        return Independent(normal, 1, validate_args=False), self.critic(inputs).squeeze(1)

    @torch.no_grad()
    def best(self, obs):
        """Return the likeliest actions for observations of the task as it is."""
        inputs = np.clip((obs - self.scale.mean) / self.scale.std, -CLIP, CLIP).astype(np.float32)
        return self.actor(torch.from_numpy(inputs)).clamp(-1, 1).numpy()


def mlp(inputs, hidden, outputs, gain):
    """Return a network with two hidden tanh layers and orthogonal weights; `gain` scales the last layer."""
    layers = []
    for size, units, scale in ((inputs, hidden, 2**0.5), (hidden, hidden, 2**0.5), (hidden, outputs, gain)):
        layer = nn.Linear(size, units)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Learner:
    """The rollout and the networks."""

    def __init__(self, args, pool):
        self.args, self.pool, self.sampler, self.returns = args, pool, Sampler(args.seed), Returns()
        self.agent = Agent(pool, args.hidden)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        self.rollout = envpool.Rollout(pool, args.num_steps, {"log_prob": np.float32})
        self.obs, _ = self.rollout.reset()

    def inputs(self, obs):
        """Return observations as inputs of the networks."""
        return torch.from_numpy(obs).float()

    @torch.no_grad()
    def collect(self, step):
        """Return the data of a rollout; `step` is the number of environment steps so far."""
        for t in range(self.args.num_steps):
            means = self.agent.actor(self.inputs(self.obs)).numpy()
            sample = self.sampler.gaussian(means, self.agent.log_std.numpy())
            self.obs, *_, info = self.rollout.step(sample.actions, log_prob=sample.log_probs)
            self.returns.add(info, step + (t + 1) * self.args.num_envs)
        found, scale = self.pool.normalization.get(), self.agent.scale
        scale.mean, scale.std = found["obs.mean"].copy(), np.sqrt(found["obs.var"] + 1e-8)
        return self.rollout.finish()

    def learn(self, data):
        """Improve the networks on a rollout."""
        args, inputs = self.args, self.inputs(data.obs).flatten(0, 1)
        with torch.no_grad():
            old = self.agent.critic(inputs).numpy().reshape(data.reward.shape)
            last = self.agent.critic(self.inputs(data.last_obs)).numpy()[:, 0]
        factors = {"gamma": args.gamma, "lam": args.gae_lambda}
        estimate = gae(data.reward, old, last, data.terminated, data.truncated, mask=data.valid, **factors)
        actions = data.action.astype(np.float32)  # as they were drawn: only the environments get the clipped ones
        columns = inputs, *(torch.from_numpy(x).flatten(0, 1) for x in (actions, data.log_prob, old, *estimate))
        size = max(-(-int(data.valid.sum()) // args.minibatches), 1)
        for _ in range(args.epochs):
            for rows in map(torch.from_numpy, shuffled(data.valid, size, self.sampler)):
                self.descend(*(x[rows] for x in columns))

    def descend(self, inputs, action, log_prob, old_value, advantage, target):
        """Take a gradient step on a minibatch."""
        args = self.args
        policy, value = self.agent(inputs)
        ratio = (policy.log_prob(action) - log_prob).exp()
        gain = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        policy_loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
        clipped = old_value + (value - old_value).clamp(-args.clip, args.clip)
        value_loss = torch.max((value - target) ** 2, (clipped - target) ** 2).mean() / 2
        loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * policy.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
        self.optimizer.step()


def make_pool(args):
    """Return a pool that clips actions, normalises observations and rewards, and counts the returns of episodes."""
    options = {"clip_action": True, "normalize_obs": True, "clip_obs": CLIP, "normalize_reward": {"gamma": args.gamma}}
    return start(args, episode_statistics=True, finished_episodes=True, **options)


def train(args):
    """Train until the target or the last step is reached, or until Ctrl-C, and return the Returns."""
    check_files(args.save, args.capture_video)
    with make_pool(args) as pool, Progress(args.total_timesteps) as progress:
        learner = Learner(args, pool)
        try:
            learn(args, learner, progress)
        except KeyboardInterrupt:
            learner.returns.is_interrupted = True
    policies.use(args, learner.agent, learner.returns.is_interrupted, __file__)
    return learner.returns


def learn(args, learner, progress):
    """Train a Learner."""
    per_update = args.num_envs * args.num_steps
    for step in range(0, args.total_timesteps, per_update):
        learner.optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - step / args.total_timesteps)
        learner.learn(learner.collect(step))
        progress.update(per_update, f"mean return {learner.returns.mean:.1f}")
        if args.target is not None and learner.returns.has_reached(args.target):
            break


def load(path):
    """Return the policy of a file of ``--save``: a function from observations to the likeliest actions."""
    return policies.restore(path, Agent)[0].best


def main(argv=None):
    """Train with each seed and report; exit with an error if a target was set and not reached."""
    args = parse_args(argv, Args)
    if args.eval:
        return policies.evaluate_file(args.eval, Agent)
    run_seeds(args, train, "PPO")


if __name__ == "__main__":
    main()
