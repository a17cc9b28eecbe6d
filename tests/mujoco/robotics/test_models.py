"""Models of users for the Fetch tasks: what they need, and that nothing in them leads out of an array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError

WELD = '<equality><weld body1="robot0:mocap" body2="arm"/></equality>'
MODEL = """<mujoco>
  <worldbody>
    <body name="base"><joint name="robot0:slide0" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/>
      <body name="b1"><joint name="robot0:slide1" type="slide" axis="0 1 0"/><geom size=".1" mass="1"/>
        <body name="arm"><joint name="robot0:slide2" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/>
          <site name="robot0:grip"/><site name="target0"/>
          <body name="l"><joint name="robot0:l_gripper_finger_joint" type="slide"/><geom size=".01" mass=".1"/></body>
          <body name="r"><joint name="robot0:r_gripper_finger_joint" type="slide"/><geom size=".01" mass=".1"/></body>
    </body></body></body>
    <body name="robot0:mocap" mocap="true"/>
  </worldbody>
  PARTS
</mujoco>"""


def write(folder: Path, parts: str) -> str:
    path = folder / "own.xml"
    path.write_text(MODEL.replace("PARTS", parts))
    return str(path)


def test_a_model_of_the_user(tmp_path: Path) -> None:
    position = '<position joint="robot0:{}_gripper_finger_joint" kp="10"/>'
    actuators = f"<actuator>{position.format('l')}{position.format('r')}</actuator>"
    file = write(tmp_path, WELD + actuators)
    with envpool.make_gymnasium("FetchReach-v4", num_envs=2, xml_file=file, block_gripper=False) as pool:
        obs, _ = pool.reset()
        for _ in range(5):
            before, (obs, *_) = obs, pool.step(np.ones((2, 4), np.float32))
        assert np.isfinite(obs["observation"]).all()
        assert (obs["achieved_goal"][:, 0] > before["achieved_goal"][:, 0]).all()


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ("", "needs one mocap body and a weld that moves the gripper with it"),
        (WELD.replace("body1", "site1").replace("body2", "site2").replace("robot0:mocap", "target0")
         .replace('"arm"', '"robot0:grip"'), "needs one mocap body and a weld"),
        (WELD + '<actuator><motor joint="robot0:slide0"/></actuator>', "has 1 actuators, allowed are 0 and 2"),
    ],
)  # fmt: skip
def test_models_that_lack_something(parts: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        envpool.make_spec("FetchReach-v4", xml_file=write(tmp_path, parts))
