"""Missions of MiniGrid as bytes, as text and as numbers."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import envpool
from envpool.errors import ConfigError
from envpool.minigrid import decode_mission
from envpool.pools.styles.texts import Texts
from tests.minigrid.cases import TASKS

#: Number of missions of the levels that have several.
COUNTS = {
    "MiniGrid-Fetch-5x5-N2-v0": 60,
    "MiniGrid-GoToDoor-5x5-v0": 6,
    "MiniGrid-GoToObject-6x6-N2-v0": 18,
    "MiniGrid-KeyCorridorS3R1-v0": 6,
    "MiniGrid-BlockedUnlockPickup-v0": 6,
    "MiniGrid-UnlockPickup-v0": 6,
    "MiniGrid-LockedRoom-v0": 30,
}


@pytest.mark.parametrize("task_id", [i for i in TASKS if i.startswith("MiniGrid")])
def test_numbers_tell_missions_apart(task_id: str) -> None:
    numbers: dict[str, set[int]] = {}
    with envpool.make_gymnasium(task_id, num_envs=100, seed=5) as pool:
        for _ in range(6):
            obs, info = pool.reset()
            for text, number in zip(decode_mission(obs["mission"]), info["mission_id"], strict=True):
                numbers.setdefault(text, set()).add(int(number))
    assert all(len(found) == 1 for found in numbers.values())
    assert len(set.union(*numbers.values())) == len(numbers)
    assert min(set.union(*numbers.values())) >= 0
    if task_id in COUNTS:
        assert len(numbers) == COUNTS[task_id]


def test_long_missions_are_cut() -> None:
    with envpool.make_gymnasium("MiniGrid-DoorKey-5x5-v0", num_envs=2, mission_bytes=7) as pool:
        obs, _ = pool.reset()
    assert obs["mission"].shape == (2, 7)
    assert decode_mission(obs["mission"]).tolist() == ["use the", "use the"]
    assert decode_mission(obs["mission"][0]) == "use the"


def test_shapes_of_decoded_missions() -> None:
    rows = np.frombuffer(b"ab\0c\0\0", np.uint8).reshape(1, 2, 3)
    found = decode_mission(rows)
    assert found.shape == (1, 2)
    assert found.tolist() == [["ab", "c"]]
    assert decode_mission(rows[:, :0]).shape == (1, 0)


@pytest.mark.parametrize("value", ["go", np.zeros(3), np.uint8(4)])
def test_what_is_no_mission(value: object) -> None:
    with pytest.raises(TypeError, match="must be an array of uint8"):
        decode_mission(value)


# ---- the option mission="text" ---------------------------------------------------------------------------------------

TASK = "BabyAI-GoToLocal-v0"
FETCH = "MiniGrid-Fetch-5x5-N2-v0"


def pools(task_id: str = TASK, **options: Any) -> tuple[Any, Any]:
    """Return a pool with texts, and the same with bytes."""
    return tuple(
        envpool.make_gymnasium(task_id, num_envs=6, seed=3, mission=kind, **options) for kind in ("text", "bytes")
    )


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_texts_are_the_decoded_bytes(mode: str) -> None:
    texts, plain = pools(FETCH, autoreset_mode=mode, max_steps=4)
    rng = np.random.default_rng(0)
    with texts, plain:
        found, expected = texts.reset(), plain.reset()
        for _ in range(12):
            assert isinstance(found[0]["mission"], Texts)
            assert found[0]["mission"] == decode_mission(expected[0]["mission"]).tolist()
            assert found[0]["mission"][1] in texts.observation_space["mission"]
            if "final_obs" in found[-1]:
                assert np.array_equal(found[-1]["final_obs"]["mission"].rows, expected[-1]["final_obs"]["mission"])
            done = np.flatnonzero(expected[2] | expected[3]) if len(expected) > 2 else []
            if mode == "disabled" and len(done):
                found, expected = texts.reset(done), plain.reset(done)
                assert found[0]["mission"] == decode_mission(expected[0]["mission"]).tolist()
            actions = rng.integers(0, 7, 6)
            found, expected = texts.step(actions), plain.step(actions)


def test_space_of_texts() -> None:
    space = envpool.make_spec(TASK, mission="text", mission_bytes=30).observation_space["mission"]
    assert isinstance(space, gymnasium.spaces.Text)
    assert space.max_length == 30
    assert "go to a red ball" in space and "Go!" not in space and "a" * 31 not in space
    assert isinstance(envpool.make_spec(TASK).observation_space["mission"], gymnasium.spaces.Box)


def test_partial_batches_and_finished_episodes() -> None:
    with envpool.make_gymnasium(FETCH, num_envs=6, batch_size=2, mission="text", max_steps=3) as pool:
        pool.async_reset()
        obs = pool.recv()[0]
        assert len(obs["mission"]) == 2 and obs["mission"][0].endswith(("key", "ball"))
        obs = pool.recv(min_ready=1)[0]
        assert all(text.endswith(("key", "ball")) for text in obs["mission"])
    statistics = {"episode_statistics": True, "finished_episodes": True}
    with envpool.make_gymnasium(FETCH, num_envs=6, mission="text", max_steps=1, **statistics) as pool:
        pool.reset()
        obs, *_, info = pool.step(np.zeros(6, np.int32))
        assert info["finished"]["final_obs"]["mission"] == obs["mission"]


def test_held_texts_keep_their_batch() -> None:
    with envpool.make_gymnasium(FETCH, num_envs=6, mission="text") as pool:
        missions = pool.reset()[0]["mission"]
        before = list(missions)
        for _ in range(8):
            pool.reset()
        assert list(missions) == before


def test_rollouts_record_bytes() -> None:
    texts, plain = pools()
    with texts, plain:
        first = texts.reset()[0]
        rollout = envpool.Rollout(texts, 3)
        rollout.begin(first)
        for _ in range(3):
            rollout.step(np.zeros(6, np.int32))
        mission = rollout.finish().obs["mission"]
        assert mission.dtype == np.uint8 and mission.shape[:2] == (3, 6)
        assert decode_mission(mission[0]).tolist() == list(first["mission"])
        assert np.array_equal(mission[0], plain.reset()[0]["mission"])


def test_decode_mission_takes_texts() -> None:
    texts, plain = pools()
    with texts, plain:
        assert np.array_equal(decode_mission(texts.reset()[0]["mission"]), decode_mission(plain.reset()[0]["mission"]))


def test_pickled_pools_return_texts() -> None:
    with envpool.make_gymnasium(TASK, num_envs=2, mission="text") as pool:
        obs, _ = pool.reset()
        with pickle.loads(pickle.dumps(pool)) as other:
            assert other.step(np.zeros(2, np.int32))[0]["mission"] == obs["mission"]


def test_flat_observations_contain_the_letters_anyway() -> None:
    texts, plain = pools(observation="flat")
    with texts, plain:
        assert np.array_equal(texts.reset()[0], plain.reset()[0])
        assert texts.observation_space == plain.observation_space


@pytest.mark.parametrize("style", [{"env_type": "gym", "gym_api": "legacy"}, {"env_type": "dm"}])
def test_other_styles_refuse_texts(style: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"mission='text' makes mission text.*leave it out"):
        envpool.make(TASK, mission="text", **style)


def test_a_single_env_returns_str() -> None:
    mine, theirs = gymnasium.make(f"envpool/{TASK}", mission="text"), gymnasium.make(TASK)
    obs, expected = mine.reset(seed=3)[0], theirs.reset(seed=3)[0]
    assert type(obs["mission"]) is str and obs["mission"] == expected["mission"]
    assert obs in mine.observation_space and mine.step(0)[0] in mine.observation_space
    check_env(mine.unwrapped, skip_render_check=True)


def test_gymnasiums_vector_envs_refuse_texts() -> None:
    with pytest.raises(ConfigError, match=r"which only envpool\.make_gymnasium and gymnasium\.make return"):
        gymnasium.make_vec(f"envpool/{TASK}", num_envs=2, mission="text")


def test_texts_are_not_cast() -> None:
    with pytest.raises(ConfigError, match=r"^float32_obs must be False with mission='text', got True$"):
        envpool.make_gymnasium(TASK, mission="text", float32_obs=True)
    with envpool.make_gymnasium(TASK, mission="text", observation="flat", float32_obs=True) as pool:
        assert pool.reset()[0].dtype == np.float32
