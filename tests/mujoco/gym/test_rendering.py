"""Pictures of Gymnasium's MuJoCo tasks equal ``rgb_array``."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from tests.mujoco.gym.upstream import IDS, upstream_of
from tests.mujoco.pictures import SEED, SMALL, Upstream, assert_same_pictures
from tests.oracles.gymnasium_oracle import Upstream as Oracle

#: Tasks with a camera of each kind.
FEW = ["HalfCheetah-v5", "Humanoid-v4", "InvertedDoublePendulum-v4", "InvertedDoublePendulum-v5", "Swimmer-v3"]


def make(task_id: str, height: int, width: int, **kwargs: Any) -> Upstream:
    """Return gymnasium's env."""
    oracle = upstream_of(task_id)
    kwargs |= {"render_mode": "rgb_array", "height": height, "width": width}
    env = Oracle(oracle.id, {**oracle.kwargs, **kwargs}, oracle.prepare).make()
    seeds = iter([SEED])

    def step(action: Any) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    return Upstream(lambda: env.reset(seed=next(seeds, None)), step, env.render, env.close)  # type: ignore[arg-type]


@pytest.mark.parametrize("task_id", FEW)
def test_small(task_id: str) -> None:
    assert_same_pictures(task_id, lambda h, w: make(task_id, h, w), SMALL, (0, 3, 30))


def test_default_size() -> None:
    assert envpool.make_spec("Reacher-v5").frame_size == (480, 480)
    assert_same_pictures("Reacher-v5", lambda h, w: make("Reacher-v5", h, w), None, (0, 3, 30))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, SMALL])
@pytest.mark.parametrize("task_id", IDS)
def test_all(task_id: str, size: tuple[int, int] | None) -> None:
    assert_same_pictures(task_id, lambda h, w: make(task_id, h, w), size)


def test_larger_than_the_models_buffer() -> None:
    """Wide pictures of a model that asks for 640 x 480."""
    assert_same_pictures("Ant-v5", lambda h, w: make("Ant-v5", h, w), (40, 700), (0,))


def test_camera_of_the_model() -> None:
    assert_same_pictures(
        "HalfCheetah-v5", lambda h, w: make("HalfCheetah-v5", h, w, camera_id=0), SMALL, (0, 3), render_camera_id=0
    )


def test_camera_stays_where_the_first_picture_put_it() -> None:
    """Gymnasium's looks at the middle of what is there when it first draws."""
    assert_same_pictures("Swimmer-v5", lambda h, w: make("Swimmer-v5", h, w), SMALL, (20, 90))
