"""Built-in tasks, rebuilt as declarations: the arguments of `make_mujoco` for each."""

from __future__ import annotations

import math
from typing import Any

from envpool.mujoco import declared as d
from envpool.mujoco.gym.options import ASSETS


def half_cheetah() -> dict[str, Any]:
    """Return HalfCheetah-v5."""
    return {
        "xml": ASSETS / "half_cheetah.xml",
        "observation": [d.Qpos()[1:], d.Qvel()],
        "reward": [d.joint_velocity(of="rootx"), d.control_cost(0.1)],
        "reset": [d.UniformNoise(d.Qpos(), 0.1), d.NormalNoise(d.Qvel(), 0.1)],
        "info": {"x_position": d.Qpos("rootx"), "x_velocity": d.rate(d.Qpos("rootx"))},
        "frame_skip": 5,
    }


def hopper() -> dict[str, Any]:
    """Return Hopper-v5."""
    return {
        "xml": ASSETS / "hopper.xml",
        "observation": [d.Qpos()[1:], d.Clip(d.Qvel(), -10, 10)],
        "reward": [d.joint_velocity(of="rootx"), d.alive(), d.control_cost(1e-3)],
        "termination": [
            d.Terminate(d.Qpos("rootz"), 0.7, math.inf, closed=False, name="height"),
            d.Terminate(d.Qpos("rooty"), -0.2, 0.2, closed=False, name="angle"),
            d.Terminate(d.Qpos()[2:], -100, 100, closed=False, name="positions"),
            d.Terminate(d.Qvel(), -100, 100, closed=False, name="velocities"),
        ],
        "reset": [d.UniformNoise(d.Qpos(), 5e-3), d.UniformNoise(d.Qvel(), 5e-3)],
        "info": {"x_velocity": d.rate(d.Qpos("rootx"))},
        "frame_skip": 4,
    }


def ant() -> dict[str, Any]:
    """Return Ant-v5."""
    return {
        "xml": ASSETS / "ant.xml",
        "observation": [d.Qpos()[2:], d.Qvel(), d.Clip(d.ContactForce(skip=1), -1, 1)],
        "reward": [d.velocity(of="torso"), d.alive(), d.control_cost(0.5), d.contact_cost(5e-4)],
        "termination": [
            d.non_finite(d.Qpos(), name="positions"),
            d.non_finite(d.Qvel(), name="velocities"),
            d.Terminate(d.Qpos()[2], 0.2, 1.0, name="height"),
        ],
        "reset": [d.UniformNoise(d.Qpos(), 0.1), d.NormalNoise(d.Qvel(), 0.1)],
        "info": {"x_velocity": d.rate(d.BodyPosition("torso", "x")), "distance_from_origin": d.Norm(d.Qpos()[:2])},
        "frame_skip": 5,
    }


def humanoid() -> dict[str, Any]:
    """Return Humanoid-v5."""
    return {
        "xml": ASSETS / "humanoid.xml",
        "observation": [
            d.Qpos()[2:],
            d.Qvel(),
            d.Cinert(skip=1),
            d.Cvel(skip=1),
            d.QfrcActuator()[6:],
            d.ContactForce(skip=1),
        ],
        "reward": [
            d.Reward(d.rate(d.CenterOfMass()[0]), 1.25, "forward"),
            d.alive(5.0),
            d.Cost(d.Sum(d.Square(d.Ctrl())), 0.1, "control"),
            d.Cost(d.Clip(5e-7 * d.Sum(d.Square(d.ContactForce())), -math.inf, 10), name="contact"),
        ],
        "termination": [d.Terminate(d.Qpos()[2], 1.0, 2.0, closed=False, name="height")],
        "reset": [d.UniformNoise(d.Qpos(), 0.01), d.UniformNoise(d.Qvel(), 0.01)],
        "info": {"x_velocity": d.rate(d.CenterOfMass()[0]), "tendon_length": d.TendonLength()},
        "frame_skip": 5,
    }


def reacher() -> dict[str, Any]:
    """Return Reacher-v5."""
    arm, target = d.Qpos(("joint0", "joint1")), d.Qpos(("target_x", "target_y"))
    offset = d.BodyPosition("fingertip") - d.BodyPosition("target")
    return {
        "xml": ASSETS / "reacher.xml",
        "observation": [d.Cos(arm), d.Sin(arm), target, d.Qvel(("joint0", "joint1")), offset[:2]],
        "reward": [d.Cost(d.Norm(offset), 1.0, "distance"), d.control_cost(1.0)],
        "reset": [
            d.UniformNoise(d.Qpos(), 0.1),
            d.Disc(target, 0.2),
            d.UniformNoise(d.Qvel(), 0.005),
            d.Assign(d.Qvel(("target_x", "target_y")), 0.0),
        ],
        "frame_skip": 2,
        "max_episode_steps": 50,
    }


def suite_model(domain: str) -> dict[str, Any]:
    """Return the model of a domain of dm_control's suite."""
    from envpool.mujoco.base.model import import_with_bindings

    xml, assets = import_with_bindings(f"dm_control.suite.{domain}").get_model_and_assets()
    return {"xml": xml.decode() if isinstance(xml, bytes) else xml, "assets": assets, "conventions": "dm_control"}


def cheetah_run() -> dict[str, Any]:
    """Return CheetahRun-v1."""
    speed = d.Sensor("torso_subtreelinvel")[0]
    return suite_model("cheetah") | {
        "observation": {"position": [d.Qpos()[1:]], "velocity": [d.Qvel()]},
        "reward": [d.Tolerance(speed, (10, math.inf), margin=10, value_at_margin=0, sigmoid="linear")],
        "reset": [d.JointRanges(), d.Settle(200)],
    }


def walker_walk() -> dict[str, Any]:
    """Return WalkerWalk-v1."""
    height = d.BodyPosition("torso", "z")
    standing = d.Tolerance(height, (1.2, math.inf), margin=0.6)
    upright = (1 + d.BodyRotation("torso", "zz")) / 2
    stand = (3 * standing + upright) / 4
    speed = d.Sensor("torso_subtreelinvel")[0]
    move = d.Tolerance(speed, (1, math.inf), margin=0.5, value_at_margin=0.5, sigmoid="linear")
    return suite_model("walker") | {
        "observation": {
            "orientations": [d.BodyRotation(columns=("xx", "xz"), skip=1)],
            "height": [height],
            "velocity": [d.Qvel()],
        },
        "reward": [d.Reward(stand * (5 * move + 1) / 6, name="walk")],
        "reset": [d.RandomJoints()],
        "frame_skip": 10,
    }


def cartpole_swingup() -> dict[str, Any]:
    """Return CartpoleSwingup-v1."""
    cosines = d.BodyRotation(("pole_1",), "zz")
    upright = d.Mean((cosines + 1) / 2)
    centered = (1 + d.Tolerance(d.Qpos("slider"), margin=2)) / 2
    control = (4 + d.Tolerance(d.Ctrl(), margin=1, value_at_margin=0, sigmoid="quadratic")[0]) / 5
    velocity = (1 + d.Min(d.Tolerance(d.Qvel()[1:], margin=5))) / 2
    return suite_model("cartpole") | {
        "observation": {
            "position": [d.Qpos("slider"), d.BodyRotation("pole_1", ("zz", "xz"))],
            "velocity": [d.Qvel()],
        },
        "reward": [d.Reward(upright * control * velocity * centered, name="swingup")],
        "reset": [d.Normal(d.Qpos("slider"), 0, 0.01), d.Normal(d.Qpos("hinge_1"), math.pi, 0.01),
                  d.Normal(d.Qvel(), 0, 0.01)],
    }  # fmt: skip


#: The built-in task of each rebuilt one.
REBUILT = {
    "HalfCheetah-v5": half_cheetah,
    "Hopper-v5": hopper,
    "Ant-v5": ant,
    "Humanoid-v5": humanoid,
    "Reacher-v5": reacher,
    "CheetahRun-v1": cheetah_run,
    "WalkerWalk-v1": walker_walk,
    "CartpoleSwingup-v1": cartpole_swingup,
}
