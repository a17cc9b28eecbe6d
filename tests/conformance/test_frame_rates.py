"""Frame rates: ``metadata["render_fps"]`` is upstream's; `EnvSpec.real_time_fps` follows from the time of a step."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from envpool.registration import registry
from envpool.tasks.entries import family_of
from envpool.verify.lookup import oracle_of
from tests.mujoco.declared.models import ARM

#: Families whose upstream environments name no frame rate.
WITHOUT = {"gfootball", "minatar", "mujoco.dmc", "procgen", "rlib", "vizdoom"}
#: Tasks of other families that have no upstream environment in gymnasium's form.
OWN = {"Catch-v0", "ConnectFour-v0", "NChain-v0"}


def cases() -> list[Any]:
    """Return the tasks of this package whose upstream environments have metadata."""
    families = {task_id: family_of(registry.find(task_id)) for task_id in envpool.list_all_envs()}
    return [
        pytest.param(task_id, marks=pytest.mark.drawn(family), id=f"{family.partition('.')[0]}-{task_id}")
        for task_id, family in families.items()
        if registry.find(task_id).import_path.startswith("envpool.") and family not in WITHOUT and task_id not in OWN
    ]


@pytest.mark.parametrize("task_id", cases())
@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_frame_rate_of_upstream(task_id: str) -> None:
    upstream: Any = oracle_of(task_id)
    env = upstream.make()
    assert envpool.make_spec(task_id).render_fps == env.metadata["render_fps"]
    env.close()


@pytest.mark.parametrize(
    ("task_id", "options", "named", "real_time"),
    [
        ("CartPole-v1", {}, 50, 50),
        ("Hopper-v5", {}, 125, 125),
        ("Hopper-v5", {"frame_skip": 8, "clip_obs": 10.0}, 62, 62),
        ("HumanoidWalk-v1", {}, 40, 40),
        ("PointMaze_UMaze-v3", {}, 50, 100),
        ("Pong-v5", {}, 30, 15),
        ("Pong-v5", {"num_envs": 2, "frame_skip": [3, 2]}, 30, 20),
        ("Pong-v5", {"frame_skip": 1000}, 30, 1),
        ("Basic-v1", {}, 9, 9),
        ("MiniGrid-Empty-5x5-v0", {}, 10, 10),
        ("Catch-v0", {}, 30, 30),
    ],
)
def test_real_time(task_id: str, options: dict[str, Any], named: int, real_time: int) -> None:
    with envpool.make_gymnasium(task_id, **options) as pool:
        assert (pool.metadata["render_fps"], pool.spec.real_time_fps) == (named, real_time)


def test_own_models() -> None:
    """The model has a timestep of 0.01 seconds."""
    from envpool.mujoco import declared as d

    with envpool.make_mujoco(ARM, [d.Qpos()], frame_skip=4) as pool:
        assert pool.metadata["render_fps"] == pool.spec.real_time_fps == 25
