"""The integer limits that stand for ``cumsum > random()``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.toy_text.utils import categorical_sample
from hypothesis import given
from hypothesis import strategies as st

from envpool.toy_text.tabular import grid_targets, limits_of, slipping

DRAWS = 2**53


class FixedDraw:
    """Replaces a generator by one whose next draw is known."""

    def __init__(self, draw: int):
        self.draw = draw

    def random(self) -> float:
        """Return the draw as numpy would."""
        return self.draw * (1.0 / DRAWS)


def upstream_index(probabilities: list[float], draw: int) -> int:
    """Return the index that upstream chooses."""
    generator: Any = FixedDraw(draw)
    return int(categorical_sample(probabilities, generator))


def index_of(limits: np.ndarray, draw: int) -> int:
    """Return the first index whose limit is above the draw, or 0 if there is none."""
    return int((draw < limits).argmax())


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=3),
    st.integers(0, DRAWS - 1),
    st.integers(-3, 3),
    st.integers(0, 2),
)
def test_limits_choose_as_upstream(probabilities: list[float], draw: int, offset: int, near: int) -> None:
    """Also for draws next to a limit, and for probabilities whose sum is not 1."""
    limits = limits_of(probabilities)
    close = int(limits[near % len(limits)]) + offset
    for candidate in (draw, min(max(close, 0), DRAWS - 1)):
        expected = upstream_index(probabilities, candidate)
        assert index_of(limits, candidate) == expected


@pytest.mark.parametrize("probabilities", [[1 / 3] * 3, [1.0], [0.0, 1.0, 0.0], [1 / 300] * 300])
def test_limits_of_used_probabilities(probabilities: list[float]) -> None:
    limits = limits_of(probabilities)
    for limit in limits:
        for draw in range(int(limit) - 2, min(int(limit) + 3, DRAWS)):
            if draw >= 0:
                assert index_of(limits, draw) == upstream_index(probabilities, draw)


def test_grid() -> None:
    targets = grid_targets(2, 3, ((-1, 0), (0, 1), (1, 0), (0, -1)))
    assert targets.tolist() == [[0, 1, 3, 0], [1, 2, 4, 0], [2, 2, 5, 1], [0, 4, 3, 3], [1, 5, 4, 3], [2, 5, 5, 4]]
    assert slipping(targets)[0].tolist() == [[0, 0, 1], [0, 1, 3], [1, 3, 0], [3, 0, 0]]
