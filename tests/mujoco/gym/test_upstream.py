"""Gymnasium's environments as oracles."""

from __future__ import annotations

import gc

import numpy as np

from tests.mujoco.gym.cases import make_rendered

TASK = "InvertedPendulum-v5"


def test_frames_after_another_context_was_freed():
    env, other = make_rendered(TASK, (20, 24)), make_rendered(TASK, (20, 24))
    env.reset(seed=5)
    frame = env.render()
    assert frame.any()
    other.reset(seed=5)
    other.render()
    other.close()
    np.testing.assert_array_equal(env.render(), frame)
    del other
    gc.collect()
    np.testing.assert_array_equal(env.render(), frame)
    env.close()
