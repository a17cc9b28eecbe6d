"""Pictures of the suite's tasks equal ``physics.render``."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from envpool.errors import RenderError
from tests.mujoco.dmc.upstream import UNLIMITED, load, suite_tasks
from tests.support.oracles.frames import Size, assert_same_pictures

SMALL = (48, 64)
#: Tasks that hide things, move lights, change their model, or have a terrain.
FEW = ["CheetahRun-v1", "FingerSpin-v1", "FishUpright-v1", "QuadrupedEscape-v1", "SwimmerSwimmer6-v1"]


class Suite:
    """A task of the suite with gymnasium's methods.

    Parameters
    ----------
    task_id : str
        The pool's id.
    size : (int, int) or None
        Height and width of pictures.
    camera_id : int
        Of pictures.
    """

    def __init__(self, task_id: str, size: Size | None, camera_id: int = -1):
        self.task_id = task_id
        self.view = {"camera_id": camera_id} | ({"height": size[0], "width": size[1]} if size else {})
        self.env: Any = None

    def reset(self, seed: int | None = None) -> None:
        """Start an episode."""
        if seed is not None:
            self.env = load(self.task_id, seed, 1000)
        self.env.reset()

    def step(self, action: Any) -> tuple[None, None, bool, bool, None]:
        """Step; whether the episode is over is all that is told."""
        return None, None, self.env.step(action).last(), False, None

    def render(self) -> Any:
        """Return a picture."""
        return self.env.physics.render(**self.view)

    def close(self) -> None:
        """Free what it has."""
        self.env.physics.free()


def assert_same(task_id: str, camera: int = -1, **options: Any) -> None:
    """Assert that no pixel differs from dm_control's."""
    high = envpool.make_spec(task_id).action_space.high
    scale = 1 / UNLIMITED if (high == UNLIMITED).any() else 1
    assert_same_pictures(
        task_id, lambda size: Suite(task_id, size, camera), seeds=[5], camera=camera, scale=scale, **options
    )


@pytest.mark.parametrize("task_id", FEW)
def test_small(task_id: str) -> None:
    assert_same(task_id, size=SMALL, steps=(0, 3, 30))


def test_default_size() -> None:
    assert envpool.make_spec("PointMassEasy-v1").frame_size == (240, 320)
    assert_same("PointMassEasy-v1", steps=(0, 3))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, SMALL])
@pytest.mark.parametrize("task_id", suite_tasks())
def test_all(task_id: str, size: Size | None) -> None:
    assert_same(task_id, size=size)


def test_camera_of_the_model() -> None:
    assert_same("CheetahRun-v1", 0, size=SMALL, steps=(0, 30))


def test_no_such_camera() -> None:
    with envpool.make_dm("CheetahRun-v1", render_mode="rgb_array", render_width=16, render_height=16) as pool:
        pool.reset()
        with pytest.raises(RenderError, match="camera_id is 2, allowed are -1 to 1: the model has 2 cameras"):
            pool.render(camera_id=2)
        assert pool.render(camera_id=1).shape == (1, 16, 16, 3)
