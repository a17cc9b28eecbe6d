"""The info entry of Acrobot, which EnvPool has and Gymnasium does not."""

from __future__ import annotations

import numpy as np

import envpool


def test_info_has_the_angles() -> None:
    with envpool.make_gymnasium("Acrobot-v1", num_envs=3) as pool:
        obs, info = pool.reset()
        assert info["state"].shape == (3, 2)
        assert info["state"].dtype == np.float32
        np.testing.assert_allclose(np.cos(info["state"][:, 0]), obs[:, 0], atol=1e-6)
        np.testing.assert_allclose(np.sin(info["state"][:, 1]), obs[:, 3], atol=1e-6)
