"""ApplePicker: its beginnings, the map, frames, parameters, and states that cannot occur."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, StateError
from envpool.rlib.maps import ORCHARD
from tests.rlib.cases import TASKS, YARD
from tests.support.saved import CORE, body_of, core_at, make, sealed

UP, DOWN, LEFT, RIGHT = range(4)


def places(images: Any, channel: int) -> list[tuple[int, ...]]:
    """Return the pixels that are set in a channel of an image."""
    return [tuple(place) for place in np.argwhere(images[..., channel]).tolist()]


def reachable(grid: Any) -> int:
    """Return the number of tiles that an agent can reach from the first one that is free."""
    free = {(y, x) for y, row in enumerate(grid) for x, tile in enumerate(row) if tile == "."}
    found, border = set(), [min(free)]
    while border:
        y, x = border.pop()
        if (y, x) in free - found:
            found.add((y, x))
            border += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return len(found)


def test_every_tile_of_the_orchard_can_be_reached() -> None:
    assert {len(row) for row in ORCHARD} == {len(ORCHARD)} == {84}
    assert reachable(ORCHARD) == sum(row.count(".") for row in ORCHARD) == 6048


@pytest.mark.parametrize("task_id", TASKS)
def test_beginnings(task_id: str) -> None:
    """Only in the deterministic task do all episodes of a seed begin alike; environments differ in both."""
    with envpool.make_gymnasium(task_id, num_envs=5, seed=3) as pool:
        first, again = pool.reset()[0], pool.reset()[0]
        other = pool.reset(seed=9)[0]
        back = pool.reset(seed=3)[0]
    is_deterministic = "Deterministic" in task_id
    for i in range(5):
        assert np.array_equal(first[i], again[i]) == is_deterministic
        assert not np.array_equal(first[i], other[i])
        assert np.array_equal(first[i], back[i])
        assert len(places(first[i], 0)) == 1 and len(places(first[i], 1)) == 20
        blue = [(y, x) for y, row in enumerate(ORCHARD) for x, tile in enumerate(row) if tile == "#"]
        assert places(first[i], 2) == blue
        assert not set(places(first[i], 0) + places(first[i], 1)) & set(blue)
    assert len({image.tobytes() for image in first}) == 5


def test_apples_and_agents_are_on_every_free_tile_equally_often() -> None:
    with envpool.make_gymnasium("ApplePicker-v0", num_envs=4000, grid=YARD, num_objects=3) as pool:
        images = pool.reset()[0] > 0
    counts = images[..., :2].sum(0)
    free = ~images[0, ..., 2]
    assert not counts[~free].any()
    assert abs(counts[free, 0] - 4000 / 9).max() < 100  # five standard deviations
    assert abs(counts[free, 1] - 4000 / 3).max() < 150


def test_walls_and_rewards() -> None:
    with envpool.make_gymnasium("ApplePicker-v0", grid=[".."], num_objects=1, default_reward=-0.5) as pool:
        obs, _ = pool.reset()
        at = places(obs[0], 0)[0][1]
        for action in (UP, DOWN, LEFT if at == 0 else RIGHT):
            obs, reward, terminated, _, _ = pool.step(np.array([action]))
            assert (reward[0], terminated[0]) == (-0.5, False) and places(obs[0], 0) == [(0, at)]
        obs, reward, terminated, _, _ = pool.step(np.array([RIGHT if at == 0 else LEFT]))
        assert (reward[0], terminated[0]) == (1, True)
        assert obs[0].tolist() == [[[0, 0, 0], [255, 0, 0]][:: 1 if at == 0 else -1]]


@pytest.mark.parametrize("action", [-1, 4])
def test_there_are_four_actions(action: int) -> None:
    with envpool.make_gymnasium("ApplePicker-v0") as pool:
        pool.reset()
        with pytest.raises(ActionError):
            pool.step(np.array([action]))


@pytest.mark.parametrize("size", [(504, 504), (84, 84), (42, 42), (100, 150), (5, 1)])
def test_frames_show_the_observation(size: tuple[int, int]) -> None:
    options = {"render_height": size[0], "render_width": size[1]} if size != (504, 504) else {}
    with envpool.make_gymnasium("ApplePicker-v0", num_envs=3, render_mode="rgb_array", **options) as pool:
        obs, _ = pool.reset()
        for _ in range(5):
            frames = pool.render(range(3))
            assert frames.shape == (3, *size, 3)
            if size in ((504, 504), (84, 84)):
                assert np.array_equal(frames, obs.repeat(size[0] // 84, 1).repeat(size[1] // 84, 2))
            assert all(frame[..., 0].any() for frame in frames)
            obs = pool.step(np.array([UP, LEFT, RIGHT]))[0]


def test_number_of_apples_of_single_environments() -> None:
    with envpool.make_gymnasium("ApplePicker-v0", num_envs=3, num_objects=[1, 20, 300]) as pool:
        assert [len(places(image, 1)) for image in pool.reset()[0]] == [1, 20, 300]
        pool.set_params({"num_objects": 7}, [1])
        assert [len(places(image, 1)) for image in pool.reset()[0]] == [1, 7, 300]


#: Offsets of the number of apples, the reward, the agent, the apples that are left and their bitset in a snapshot.
NUM_OBJECTS, REWARD, AGENT, NUM_LEFT, APPLES = 40, 48, 56, 60, 64


@pytest.mark.parametrize(
    ("offset", "form", "value"),
    [
        (NUM_OBJECTS, "q", 0),
        (NUM_OBJECTS, "q", 9),
        (REWARD, "d", float("nan")),
        (REWARD, "d", 1e39),
        (AGENT, "i", -1),
        (AGENT, "i", 12),
        (AGENT, "i", 1),  # a blocked tile
        (NUM_LEFT, "i", 0),
        (NUM_LEFT, "i", 2),
        (APPLES, "Q", 1 << 1),  # on a blocked tile
        (APPLES, "Q", 1 << 12),  # past the last tile
    ],
)
def test_states_that_cannot_occur(offset: int, form: str, value: float) -> None:
    with make("ApplePicker-v0", grid=YARD, num_objects=1) as pool:
        obs, _ = pool.reset()
        before = pool.get_state()
        body = body_of(before[1])
        snapshot = core_at(before[1]) + CORE.size
        ((row, column),) = places(obs[1], 0)
        assert struct.unpack_from("<qdii", body, snapshot + NUM_OBJECTS) == (1, 0.0, 4 * row + column, 1)
        struct.pack_into(f"<{form}", body, snapshot + offset, value)
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before
