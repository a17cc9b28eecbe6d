"""Pictures of Gymnasium's MuJoCo tasks equal ``rgb_array``."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from tests.mujoco.gym.upstream import IDS, upstream_of
from tests.support.oracles.frames import Size, assert_same_pictures
from tests.support.oracles.gymnasium_oracle import Upstream

SMALL = (48, 64)
#: Tasks with a camera of each kind.
FEW = ["HalfCheetah-v5", "Humanoid-v4", "InvertedDoublePendulum-v4", "InvertedDoublePendulum-v5", "Swimmer-v3"]


def make(task_id: str, size: Size | None, **kwargs: Any) -> Any:
    """Return gymnasium's env."""
    oracle = upstream_of(task_id)
    if size:
        kwargs |= {"height": size[0], "width": size[1]}
    return Upstream(oracle.id, {**oracle.kwargs, "render_mode": "rgb_array", **kwargs}, oracle.prepare).make()


def assert_same(task_id: str, upstream: dict[str, Any] | None = None, **options: Any) -> None:
    """Assert that no pixel differs from gymnasium's with these arguments."""
    assert_same_pictures(task_id, lambda size: make(task_id, size, **(upstream or {})), seeds=[5], **options)


@pytest.mark.parametrize("task_id", FEW)
def test_small(task_id: str) -> None:
    assert_same(task_id, size=SMALL, steps=(0, 3, 30))


def test_default_size() -> None:
    assert envpool.make_spec("Reacher-v5").frame_size == (480, 480)
    assert_same("Reacher-v5", steps=(0, 30))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, SMALL])
@pytest.mark.parametrize("task_id", IDS)
def test_all(task_id: str, size: Size | None) -> None:
    assert_same(task_id, size=size)


def test_larger_than_the_models_buffer() -> None:
    """Gymnasium enlarges it, from 640 x 480."""
    assert_same("Ant-v5", size=(40, 700), steps=(0,))


def test_camera_of_the_model() -> None:
    assert_same("HalfCheetah-v5", {"camera_id": 0}, size=SMALL, steps=(0, 3), camera=0)


def test_camera_stays_where_the_first_picture_put_it() -> None:
    """Gymnasium's looks at the middle of what is there when it first draws."""
    assert_same("Swimmer-v5", size=SMALL, steps=(20, 90))
