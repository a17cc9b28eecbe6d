"""Pictures of the suite's tasks equal ``physics.render``."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from envpool.errors import RenderError
from tests.mujoco.dmc.upstream import load, suite_tasks
from tests.mujoco.pictures import SEED, SMALL, Upstream, assert_same_pictures

#: Tasks that hide things, move lights, change their model, or have a terrain.
FEW = ["CheetahRun-v1", "FingerSpin-v1", "FishUpright-v1", "QuadrupedEscape-v1", "SwimmerSwimmer6-v1"]


def make(task_id: str, height: int, width: int, camera_id: int = -1) -> Upstream:
    """Return dm_control's environment."""
    env: Any = load(task_id, SEED, 1000)

    def render() -> Any:
        return env.physics.render(height, width, camera_id)

    return Upstream(env.reset, lambda action: env.step(action).last(), render, env.physics.free)


@pytest.mark.parametrize("task_id", FEW)
def test_small(task_id: str) -> None:
    assert_same_pictures(task_id, lambda h, w: make(task_id, h, w), SMALL, (0, 3, 30))


def test_default_size() -> None:
    assert envpool.make_spec("CheetahRun-v1").frame_size == (240, 320)
    assert_same_pictures("CheetahRun-v1", lambda h, w: make("CheetahRun-v1", h, w), None, (0, 3))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, SMALL])
@pytest.mark.parametrize("task_id", suite_tasks())
def test_all(task_id: str, size: tuple[int, int] | None) -> None:
    assert_same_pictures(task_id, lambda h, w: make(task_id, h, w), size)


def test_camera_of_the_model() -> None:
    assert_same_pictures(
        "CheetahRun-v1", lambda h, w: make("CheetahRun-v1", h, w, 0), SMALL, (0, 30), render_camera_id=0
    )


def test_no_such_camera() -> None:
    with envpool.make_dm("CheetahRun-v1", render_mode="rgb_array", render_width=16, render_height=16) as pool:
        pool.reset()
        with pytest.raises(RenderError, match="camera_id is 2, allowed are -1 to 1: the model has 2 cameras"):
            pool.render(camera_id=2)
        assert pool.render(camera_id=1).shape == (1, 16, 16, 3)
