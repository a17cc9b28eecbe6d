"""The generators of MiniGrid, after resets and steps, against upstream's."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import envpool
from tests.minigrid.cases import LEVELS
from tests.minigrid.upstream import upstream_of
from tests.support.saved import CORE, core_at

PCG64 = struct.Struct("<QQQQII")


def generator_of(state: bytes) -> tuple[int, int, int, int | None]:
    """Return the generator in a saved state: state, increment, and the buffered half of a draw."""
    high, low, step_high, step_low, half, has_half = PCG64.unpack_from(bytes(state), core_at(state) + CORE.size)
    return high << 64 | low, step_high << 64 | step_low, has_half, half if has_half else None


def generator_of_upstream(env: Any) -> tuple[int, int, int, int | None]:
    """Return the same of an upstream environment."""
    state = env.unwrapped.np_random.bit_generator.state
    has_half = state["has_uint32"]
    return state["state"]["state"], state["state"]["inc"], has_half, state["uinteger"] if has_half else None


@pytest.mark.parametrize("task_id", LEVELS)
def test_generators_are_equal(task_id: str) -> None:
    player = upstream_of(task_id).start(11)
    rng = np.random.default_rng(0)
    with envpool.make_gymnasium(task_id, num_envs=1, seed=11) as pool:
        for t in range(40):
            action = rng.integers(pool.action_space.n)
            was_done = player.is_done
            player.is_done = t % 8 == 0 or was_done
            pool.reset() if t % 8 == 0 else pool.step(np.array([action]))
            player.record(action)
            assert generator_of(pool.get_state(0)) == generator_of_upstream(player.env), f"after step {t}"
    player.close()
