"""PPO learns to reach with a robot arm of your own: a MuJoCo model in an XML file, and a task that is declared here.

    python examples/robot_arm.py --target 85 --plot robot_arm.png

The arm in robot_arm.xml holds a position; an action says where its joints should go. Each episode puts the ball
somewhere in front of the arm, and the reward of a step grows up to 1 as the gripper comes closer to it. Observation,
reward, termination and reset are expressions, which a native program computes: no Python runs in a step. Registered
under an id, the declaration is a task like any other, so ppo.py trains on it unchanged.
"""

from dataclasses import dataclass
from pathlib import Path

import ppo

import envpool
from envpool.mujoco import declared as d
from envpool.mujoco.declared.task import Declared

TASK = "RobotArmReach-v0"


def declaration():
    """Return the task."""
    gripper, ball = d.SitePosition("gripper"), d.MocapPosition("ball")
    distance = d.Norm(ball - gripper)
    return d.declare(
        Path(__file__).with_name("robot_arm.xml"),
        observation=[d.Qpos(), 0.2 * d.Qvel(), d.Previous(d.Ctrl()), gripper, ball - gripper],
        reward=[
            d.tolerance(distance, (0, 0.02), margin=0.4, name="reach"),
            d.Cost(d.Sum(d.Square(d.Qvel())), 1e-3, "speed"),
        ],
        termination=[d.contact(("upper_arm", "forearm", "hand"), "floor"), d.non_finite(d.Qvel())],
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


@dataclass(frozen=True)
class Args(ppo.Args):
    """Options of the command line."""

    task: str = ppo.option(TASK, "task id")
    num_steps: int = ppo.option(100, "steps of each environment between two updates")
    total_timesteps: int = ppo.option(600_000, "largest number of environment steps")
    learning_rate: float = ppo.option(1e-3, "Adam's step size at the start; falls to 0 over total_timesteps")
    gamma: float = ppo.option(0.97, "discount")
    entropy_coef: float = ppo.option(0.0, "weight of the entropy bonus")


if __name__ == "__main__":
    ppo.main(args_class=Args)
