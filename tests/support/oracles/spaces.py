"""Comparing spaces with upstream's."""

from __future__ import annotations

from typing import Any

import gymnasium


def assert_same_space(ours: gymnasium.Space[Any], theirs: gymnasium.Space[Any]) -> None:
    """Assert that two spaces are equal, with bounds bit for bit, while gymnasium accepts bounds that are close."""
    assert ours == theirs
    assert ours.shape == theirs.shape
    if isinstance(ours, gymnasium.spaces.Box) and isinstance(theirs, gymnasium.spaces.Box):
        assert ours.dtype == theirs.dtype
        assert ours.low.tobytes() == theirs.low.tobytes()
        assert ours.high.tobytes() == theirs.high.tobytes()
