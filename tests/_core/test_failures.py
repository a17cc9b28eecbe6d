"""on_error="restart": the text of a failed env comes with its row, in every API style, and nothing is raised.

test_execute.py compares whole pools with a model; the tests here are about the texts and about envs that fail again.
"""

import gc

import numpy as np
import pytest

from envpool.errors import ConfigError, EnvIdError, EnvStepError
from tests.support import plugin
from tests.support.checked_pool import FAIL

TEXT = "was asked to fail at step 1 of episode 1 (env {})"
NO_START = "failed to start an episode at step 0 of episode 0 (env {})"


def make(style="gymnasium", **options):
    return plugin.make(style, **{"num_envs": 4, "num_threads": 2, "on_error": "restart", "episode_length": 0} | options)


def texts(info):
    """Return the texts of an info by env id."""
    if "error" not in info:
        assert "_error" not in info
        return {}
    assert info["error"].dtype == object and info["_error"].dtype == np.bool_
    assert [text is not None for text in info["error"]] == info["_error"].tolist()
    return {int(i): text for i, text in zip(info["env_id"], info["error"], strict=True) if text is not None}


def actions(*failing, n=4):
    return np.where(np.isin(np.arange(n), failing), FAIL, 0).astype(np.int32)


# ---- API styles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("style", "options"), [("gymnasium", {}), ("gym", {}), ("gym", {"gym_api": "legacy"})])
def test_info(style, options):
    with make(style, **options) as pool:
        pool.reset()
        batch = pool.step(actions(1, 3))
        assert texts(batch[-1]) == {1: TEXT.format(1), 3: TEXT.format(3)}
        assert batch[-1]["_error"].tolist() == [False, True, False, True]
        assert batch[1].tolist() == [1, 0, 1 + 2 / 1024, 0]
        assert not batch[0][[1, 3]].any()
        ended = batch[2] if len(batch) == 4 else batch[3]
        assert ended.tolist() == [False, True, False, True]
        batch = pool.step(actions())
        assert texts(batch[-1]) == {}
        assert batch[-1]["elapsed_step"].tolist() == [2, 0, 2, 0]


def test_dm():
    with make("dm") as pool:
        assert pool.reset().observation.error == {}
        step = pool.step(actions(2))
        assert step.observation._fields[-1] == "error"
        assert step.observation.error == {2: TEXT.format(2)}
        assert step.step_type.tolist() == [1, 1, 2, 1]
        again = pool.step(actions())
        assert again.observation.error == {}
        assert step.observation.error
        assert again.step_type.tolist() == [1, 1, 0, 1]
    with plugin.make("dm", num_envs=1) as pool:
        assert "error" not in pool.reset().observation._fields


def test_legacy_gym_has_no_place_for_texts_of_resets():
    with make("gym", gym_api="legacy", fail_reset=0) as pool:
        obs = pool.reset()
        assert not obs.any()
        assert texts(pool.step(actions())[-1]) == {}
    with make("gym", gym_api="legacy", gym_reset_return_info=True, fail_reset=0) as pool:
        assert set(texts(pool.reset()[1])) == {0, 1, 2, 3}


# ---- when ------------------------------------------------------------------------------------------------------------


def test_async_pools():
    with make(num_envs=6, batch_size=2) as pool:
        pool.async_reset()
        assert [texts(pool.recv()[-1]) for _ in range(3)] == [{}, {}, {}]
        pool.send(actions(1, 4, n=6))
        found = {}
        for _ in range(3):
            *_, info = pool.recv()
            found |= texts(info)
            assert set(texts(info)) == set(info["env_id"]) & {1, 4}
        assert found == {1: TEXT.format(1), 4: TEXT.format(4)}


@pytest.mark.parametrize("batch_size", [6, 2], ids=["sync", "async"])
def test_partial_batches(batch_size):
    with make(num_envs=6, batch_size=batch_size) as pool:
        pool.reset(np.arange(6))
        pool.send(actions(1, 4, n=6))
        assert texts(pool.recv(env_id=[5, 4])[-1]) == {4: TEXT.format(4)}
        assert texts(pool.recv(env_id=[0])[-1]) == {}
        assert texts(pool.recv(min_ready=3)[-1]) == {1: TEXT.format(1)}
        assert texts(pool.reset([4, 1])[1]) == {}


@pytest.mark.parametrize("batch_size", [4, 2], ids=["sync", "async"])
def test_resets_of_some_envs(batch_size):
    with make(batch_size=batch_size, fail_reset=0) as pool:
        _, info = pool.reset(np.array([2, 0]))
        assert texts(info) == {2: NO_START.format(2), 0: NO_START.format(0)}
        assert info["env_id"].tolist() == [2, 0]
        assert texts(pool.reset([2, 3])[1]) == {3: NO_START.format(3)}


def test_a_dropped_row_takes_its_text_along():
    with make() as pool:
        pool.reset()
        pool.send(actions(0))
        assert texts(pool.reset()[1]) == {}
        assert texts(pool.step(actions())[-1]) == {}


def test_a_text_survives_a_wait_that_is_interrupted():
    """A partial batch that was noted but not returned keeps its texts."""
    with make() as pool:
        pool.reset()
        pool.send(actions(0, 2))
        with pytest.raises(EnvIdError):
            pool.recv(env_id=[0, 9])
        with pytest.raises(ConfigError):
            pool.recv(min_ready=99)
        assert texts(pool.recv()[-1]) == {0: TEXT.format(0), 2: TEXT.format(2)}


def test_a_text_of_another_row_waits_for_its_own():
    with make(num_envs=6, batch_size=2, num_threads=1) as pool:
        pool.reset(np.arange(6))
        pool.send(actions(3, n=6))
        assert texts(pool.recv(env_id=[0, 1, 2])[-1]) == {}
        gc.collect()
        assert texts(pool.recv(env_id=[5, 4])[-1]) == {}
        assert texts(pool.recv(env_id=[3])[-1]) == {3: TEXT.format(3)}


# ---- envs that fail again and again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [0, 2], ids=["sync", "async"])
def test_resets_that_always_fail(batch_size):
    with make(batch_size=batch_size, fail_reset=0, fails_again=True) as pool:
        pool.reset(np.arange(4))
        for _ in range(5):
            pool.send(actions(), np.arange(4))
            obs, reward, terminated, truncated, info = pool.recv(env_id=range(4))
            assert texts(info) == {i: NO_START.format(i) for i in range(4)}
            assert truncated.all() and not terminated.any() and not reward.any() and not obs.any()
            assert not info["elapsed_step"].any()


def test_resets_that_always_fail_in_same_step_mode():
    """The step that ends the episode keeps its transition; the steps after it try to reset the env, and say so."""
    with make(autoreset_mode="same_step", episode_length=2, fail_reset=1, fails_again=True) as pool:
        pool.reset()
        pool.step(actions())
        obs, reward, terminated, truncated, info = pool.step(actions())
        assert set(texts(info)) == {0, 1, 2, 3}
        assert reward.all() and terminated.all() and not truncated.any() and not obs.any()
        assert info["_final_obs"].all() and info["final_obs"].any(axis=1).all()
        for _ in range(3):
            obs, reward, terminated, truncated, info = pool.step(actions())
            assert set(texts(info)) == {0, 1, 2, 3}
            assert truncated.all() and not terminated.any() and not reward.any() and not obs.any()


def test_a_failed_step_in_same_step_mode():
    with make(autoreset_mode="same_step") as pool:
        pool.reset()
        obs, reward, _, truncated, info = pool.step(actions(1))
        assert set(texts(info)) == {1}
        assert truncated.tolist() == [False, True, False, False]
        assert reward[1] == 0
        assert obs[1].any(), "the first observation of the next episode"
        assert info["_final_obs"].tolist() == [False, True, False, False]
        assert not info["final_obs"].any(), "nobody may look at the state of a failed env"
        *_, info = pool.step(actions())
        assert texts(info) == {}
        assert info["elapsed_step"].tolist() == [2, 1, 2, 2]


def test_resets_that_always_fail_in_disabled_mode():
    with make(autoreset_mode="disabled", fail_reset=0, fails_again=True) as pool:
        for _ in range(3):
            assert set(texts(pool.reset()[1])) == {0, 1, 2, 3}
            with pytest.raises(EnvIdError, match="has no running episode"):
                pool.step(actions())


def test_a_failed_step_in_disabled_mode():
    with make(autoreset_mode="disabled") as pool:
        pool.reset()
        assert set(texts(pool.step(actions(1))[-1])) == {1}
        with pytest.raises(EnvIdError, match="env 1 has no running episode"):
            pool.step(actions())
        assert texts(pool.reset([1])[1]) == {}
        assert texts(pool.step(actions())[-1]) == {}


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("who", ["odd_envs", "silent_status"])
def test_seedings_that_always_fail(mode, who):
    with make(autoreset_mode=mode, fail_seed=who, fails_again=True) as pool:
        for _ in range(3):
            obs, info = pool.reset()
            assert texts(info) == {i: f"could not be seeded at step 0 of episode 0 (env {i})" for i in (1, 3)}
            assert not obs[[1, 3]].any()
            assert obs[[0, 2]].any(axis=1).all()
        if mode != "disabled":
            assert set(texts(pool.step(actions())[-1])) == {1, 3}


def test_a_failed_seeding_is_repaired_by_the_next_reset():
    with make(fail_seed="odd_envs") as pool:
        assert set(texts(pool.reset()[1])) == {1, 3}
        *_, info = pool.step(actions())
        assert texts(info) == {}
        assert info["elapsed_step"].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("mode", "way_out"),
    [
        ("next_step", "the next step of a failed env resets it"),
        ("same_step", "a failed env has been reset"),
        ("disabled", r"reset\(env_id\) starts a new episode"),
    ],
)
def test_the_error_says_how_the_next_episode_starts(mode, way_out):
    with make(on_error="raise", autoreset_mode=mode) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=way_out):
            pool.step(actions(1))
