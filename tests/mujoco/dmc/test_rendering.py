"""The default size of frames of dm_control's suite, and cameras that a model does not have."""

from __future__ import annotations

import pytest

import envpool
from envpool.errors import RenderError


def test_default_size() -> None:
    assert envpool.make_spec("PointMassEasy-v1").frame_size == (240, 320)


def test_no_such_camera() -> None:
    with envpool.make_dm("CheetahRun-v1", render_mode="rgb_array", render_width=16, render_height=16) as pool:
        pool.reset()
        with pytest.raises(RenderError, match="camera_id must be between -1 and 1, got 2: the model has 2 cameras"):
            pool.render(camera_id=2)
        assert pool.render(camera_id=1).shape == (1, 16, 16, 3)
