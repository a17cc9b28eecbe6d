"""Models of users: what the tasks need, and that nothing in them leads out of an array or to an endless loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError

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


HAMMER = """<mujoco>
  <worldbody>
    <body name="nail_board">
      <site name="S_grasp"/><site name="S_target"/><site name="nail_goal"/><site name="tool"/></body>
    <body name="Object"><freejoint/><geom size=".1"/>
      <body><joint/><geom size=".1"/></body></body>
  </worldbody>
  <actuator><motor site="tool"/></actuator>
  <sensor>SENSORS<touch name="S_nail" site="S_target"/></sensor>
</mujoco>"""


#: A hand that cannot hold an object.
SLIPPERY = f"""<mujoco>
  <worldbody>
    <body><joint name="robot0:j"/><geom size=".1" contype="0"/></body>
    <body><freejoint name="object:joint"/><geom size=".1" contype="0"/><site name="object:center"/></body>
    <body><freejoint name="target:joint"/><geom size=".1" contype="0"/></body>
  </worldbody>
  <actuator>{'<motor joint="robot0:j"/>' * 20}</actuator>
</mujoco>"""

SHELL = '<geom type="ellipsoid" size=".3 .1 .2" fluidshape="ellipsoid" mass=".1" contype="0" conaffinity="0"/>'
VISUAL = SHELL.replace(' fluidshape="ellipsoid"', "")
BOXES = '<geom type="box" size=".1 .1 .1" pos=".1 0 0"/><geom type="box" size=".1 .1 .1" pos="-.1 0 0"/>'
PULLEY = VISUAL.replace("<geom ", '<geom name="pulley" ').replace('"ellipsoid"', '"sphere"')

#: A hand above a floor, and an object of two boxes between geoms without contacts.
FLOOR = f"""<mujoco>
  <worldbody>
    <geom type="plane" size="9 9 1" pos="0 0 .1"/>
    <site name="top" pos="-.3 0 .9"/>
    <body name="hand" pos=".2 0 .4"><joint name="robot0:j" axis="0 1 0" range="-90 90"/>{VISUAL}<geom size=".15"/>
      <site name="tip" pos=".2 0 0"/></body>
    <body name="object" pos="0 0 .25"><freejoint name="object:joint"/>{VISUAL}GEOMS{VISUAL}
      <site name="object:center"/></body>
    <body><freejoint name="target:joint"/>{VISUAL}</body>
  </worldbody>
  <actuator>{'<motor joint="robot0:j" ctrlrange="-1 1"/>' * 20}</actuator>
  PARTS
</mujoco>"""
TENDON = """<tendon><spatial stiffness="50" springlength="0">
  <site site="top"/><geom geom="pulley"/><site site="tip"/></spatial></tendon>"""
#: With it, MuJoCo gets the lists of geoms as they are.
DISTANCE = '<sensor><distance body1="object" body2="hand" cutoff="9"/></sensor>'


def write(folder: Path, parts: str, model: str = MODEL) -> str:
    path = folder / "own.xml"
    path.write_text(model.replace("PARTS", parts))
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
        (WELD + '<actuator><motor joint="robot0:slide0"/></actuator>', "must have 0 or 2 actuators, got 1"),
    ],
)  # fmt: skip
def test_models_that_lack_something(parts: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        envpool.make_spec("FetchReach-v4", xml_file=write(tmp_path, parts))


def test_the_first_state_is_near_the_origin(tmp_path: Path) -> None:
    """Far away from it, no place for an object would differ from that of the gripper."""
    far = MODEL.replace('<body name="base">', '<body name="base" pos="1e17 0 0">')
    with pytest.raises(ConfigError, match=r"begin with the gripper at .* between -1e\+06 and 1e\+06 m, got \[1e\+17"):
        envpool.make_spec("FetchReach-v4", xml_file=write(tmp_path, WELD, far))


def test_sensors_without_numbers(tmp_path: Path) -> None:
    """Upstream reads a sensor at its id, which may lie behind the end of the sensor data."""
    file = write(tmp_path, "", HAMMER.replace("SENSORS", ""))
    with envpool.make_gymnasium("AdroitHandHammer-v1", xml_file=file) as env:
        assert env.reset()[0].shape == (1, 8 + 13)
    file = write(tmp_path, "", HAMMER.replace("SENSORS", '<user dim="0"/>'))
    with pytest.raises(ConfigError, match="has sensors without numbers before 'S_nail'"):
        envpool.make_spec("AdroitHandHammer-v1", xml_file=file)


def test_a_reset_gives_up(tmp_path: Path) -> None:
    """The number of simulation steps of a reset is limited, also with a large frame_skip."""
    file = write(tmp_path, "", SLIPPERY)
    with (
        envpool.make_gymnasium("HandManipulateBlock-v1", xml_file=file, frame_skip=10000) as env,
        pytest.raises(EnvStepError, match=r"did not come to rest .* in 1000 attempts or 200000 simulation steps"),
    ):
        env.reset()


@pytest.mark.parametrize(
    ("geoms", "parts"),
    [(BOXES, ""), (SHELL + BOXES, ""), (BOXES + SHELL, ""), (PULLEY + BOXES, TENDON)],
    ids=["no_shell", "shell_first", "shell_last", "tendon"],
)
def test_geoms_without_contacts_change_nothing(geoms: str, parts: str, tmp_path: Path) -> None:
    """A model whose lists of geoms may be shortened gives the bits of one whose lists are not, also in a medium."""
    found: dict[tuple[str, float], list[np.ndarray]] = {}
    for sensor in ("", DISTANCE):
        file = write(tmp_path, parts + sensor, FLOOR.replace("GEOMS", geoms))
        for density in (0.0, 300.0):
            options = {"xml_file": file, "density": density, "seed": 3, "render_mode": "rgb_array"}
            with envpool.make_gymnasium("HandManipulateBlock-v1", num_envs=2, **options) as pool:
                rows = found[sensor, density] = [pool.reset()[0]["observation"]]
                for _ in range(20):
                    rows.append(pool.step(pool.sample_actions())[0]["observation"])
                found[sensor, density].extend(pool.render([0, 1]))
    for density in (0.0, 300.0):
        for row, other in zip(found["", density], found[DISTANCE, density], strict=True):
            np.testing.assert_array_equal(row, other)
    assert not np.array_equal(found["", 0.0][20], found["", 300.0][20])
