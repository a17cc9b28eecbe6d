"""The classes of families under EnvPool's names: defaults of their gen_config, recorded with EnvPool 1.2.5."""

import json
import pickle
from importlib import import_module
from pathlib import Path

import pytest

import envpool

RECORDED = json.loads(Path(__file__).with_name("envpool_class_defaults.json").read_text())


@pytest.mark.parametrize("family", sorted({name.rpartition(".")[0] for name in RECORDED}))
def test_the_defaults_are_those_of_envpool(family):
    for name, recorded in RECORDED.items():
        if name.rpartition(".")[0] == family:
            spec_cls = getattr(import_module(f"envpool.{family}"), name.rpartition(".")[2])
            config = json.loads(json.dumps(spec_cls.gen_config()._asdict()))  # tuples become lists
            assert {k: config[k] for k in recorded if k in config} == {k: v for k, v in recorded.items() if k in config}


def test_a_class_with_defaults_of_its_own_is_that_of_the_tasks():
    from envpool.mujoco.gym import GymAntEnvSpec, GymAntGymnasiumEnvPool, GymAntPixelEnvSpec

    spec = GymAntEnvSpec(GymAntEnvSpec.gen_config(num_envs=2))
    assert spec.observation_space.shape == (27,)
    task = envpool.make_spec("Ant-v5")
    assert task.observation_space.shape == (105,) and isinstance(task, GymAntEnvSpec)
    assert issubclass(type(task), GymAntEnvSpec) and not isinstance(task, GymAntPixelEnvSpec)
    assert pickle.loads(pickle.dumps(spec)) == spec == envpool.make_spec(spec)
    with GymAntGymnasiumEnvPool(spec) as pool, envpool.make_gymnasium(spec) as made:
        assert type(pool) is type(made) and pool.reset()[0].shape == (2, 27)
    pixels = GymAntPixelEnvSpec(GymAntPixelEnvSpec.gen_config())
    assert isinstance(pixels, GymAntPixelEnvSpec) and pixels.config.legacy_healthy_reward


def test_a_task_is_registered_with_defaults_of_its_class(monkeypatch):
    tasks = envpool.registration.registry.tasks
    monkeypatch.setattr(envpool.registration.registry, "_tasks", dict(tasks))
    names = (f"DmcWalker{kind}" for kind in ("EnvSpec", "DMEnvPool", "GymnasiumEnvPool"))
    envpool.register("MyWalker-v0", "envpool.mujoco.dmc", *names, frame_skip=5)
    with envpool.make_dm("MyWalker-v0") as pool:
        assert (pool.config["task_name"], pool.config["frame_skip"]) == ("stand", 5)


def test_options_of_classes_have_their_aliases():
    from envpool.atari import AtariEnvSpec

    assert AtariEnvSpec.gen_config(frame_stack=2).stack_num == 2
    with pytest.raises(TypeError, match="two names of the option stack_num"):
        AtariEnvSpec.gen_config(frame_stack=2, stack_num=2)


def test_groups_have_classes_of_pixels():
    from envpool.mujoco.robotics import GymnasiumRoboticsHandEnvSpec, GymnasiumRoboticsHandPixelEnvSpec

    spec = GymnasiumRoboticsHandPixelEnvSpec(GymnasiumRoboticsHandPixelEnvSpec.gen_config(hand_task="manipulate"))
    made = envpool.make_spec("HandReach-v3", from_pixels=True)
    assert spec.config.from_pixels and type(spec).__name__ == "HandManipulatePixelEnvSpec"
    assert all(isinstance(s, GymnasiumRoboticsHandPixelEnvSpec) for s in (spec, made, pickle.loads(pickle.dumps(spec))))
    assert isinstance(made, GymnasiumRoboticsHandEnvSpec)
    assert not isinstance(envpool.make_spec("HandReach-v3"), GymnasiumRoboticsHandPixelEnvSpec)
