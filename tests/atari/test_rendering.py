"""The largest frames of Atari tasks."""

from __future__ import annotations

import pytest

import envpool
from envpool.errors import ConfigError


def test_size_limit() -> None:
    with pytest.raises(ConfigError, match=r"render_height must be between 1 and 4096 pixels, .* got 4097"):
        envpool.make_gymnasium("Pong-v5", render_mode="rgb_array", render_height=4097)
