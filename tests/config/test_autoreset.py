"""The three auto-reset modes around the end of an episode, and equality with gymnasium's own vector env."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import envpool
from envpool.errors import ConfigError, EnvIdError

NAMES = {
    "next_step": AutoresetMode.NEXT_STEP,
    "same_step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def make(mode, num_envs=1, limit=3, **options):
    return envpool.make_gymnasium(
        "CartPole-v1", num_envs=num_envs, max_episode_steps=limit, autoreset_mode=mode, **options
    )


def table(pool, calls):
    """Return (reward, terminated, truncated, elapsed_step) of env 0 for some calls of step()."""
    rows = []
    for k in range(calls):
        _, reward, terminated, truncated, info = pool.step(np.array([k % 2]))
        rows.append((reward[0], bool(terminated[0]), bool(truncated[0]), int(info["elapsed_step"][0])))
    return rows


def test_next_step_without_a_reset():
    with make("next_step") as pool:
        assert table(pool, 6) == [
            (0, False, False, 0),
            (1, False, False, 1),
            (1, False, False, 2),
            (1, False, True, 3),
            (0, False, False, 0),
            (1, False, False, 1),
        ]


def test_next_step_after_a_reset():
    with make("next_step") as pool:
        assert pool.reset()[1]["elapsed_step"].tolist() == [0]
        assert table(pool, 5) == [
            (1, False, False, 1),
            (1, False, False, 2),
            (1, False, True, 3),
            (0, False, False, 0),
            (1, False, False, 1),
        ]


def test_next_step_ignores_the_action_of_a_reset():
    with make("next_step") as pool, make("next_step") as other:
        first, second = pool.step(np.array([0])), other.step(np.array([1]))
        assert first[0].tobytes() == second[0].tobytes()
        with make("next_step") as refused:
            refused.step(np.array([99]))
            with pytest.raises(ValueError, match="got 99"):
                refused.step(np.array([99]))


def test_same_step():
    with make("same_step") as pool:
        assert table(pool, 6) == [
            (0, False, False, 0),
            (1, False, False, 1),
            (1, False, False, 2),
            (1, False, True, 0),
            (1, False, False, 1),
            (1, False, False, 2),
        ]


def test_same_step_final_arrays():
    with make("same_step") as pool, make("next_step") as other:
        pool.reset()
        other.reset()
        for k in range(3):
            got, expected = pool.step(np.array([k % 2])), other.step(np.array([k % 2]))
        info = got[4]
        assert info["_final_obs"].dtype == info["_final_info"].dtype == np.bool_
        assert info["_final_obs"].tolist() == info["_final_info"].tolist() == [True]
        assert info["final_obs"].tobytes() == expected[0].tobytes()
        assert info["final_obs"].dtype == np.float32
        assert info["final_info"]["elapsed_step"].tolist() == [3]
        assert got[0].tobytes() == other.step(np.array([0]))[0].tobytes()
        info = pool.step(np.array([0]))[4]
        assert info["_final_obs"].tolist() == [False]
        assert info["final_obs"].tolist() == [[0, 0, 0, 0]]


def test_disabled():
    with make("disabled", num_envs=2) as pool:
        with pytest.raises(EnvIdError, match=r"env 0 has no running episode .* call reset\(env_id\)"):
            pool.step(np.array([0, 0]))
        pool.reset()
        for k in range(3):
            truncated = pool.step(np.array([k % 2, 1]))[3]
        assert truncated.tolist() == [True, True]
        pool.reset(np.array([1]))
        with pytest.raises(EnvIdError, match="env 0 has no running episode"):
            pool.step(np.array([0, 0]))
        assert pool.step(np.array([0]), np.array([1]))[4]["elapsed_step"].tolist() == [1]
        pool.reset(options={"reset_mask": np.array([True, False])})
        assert pool.step(np.array([0, 0]))[4]["elapsed_step"].tolist() == [1, 2]


def test_terminated_and_truncated_may_both_be_true():
    """The time limit does not hide that the pole fell in the same step, as upstream."""
    with make("next_step", limit=2**31 - 1) as pool:
        pool.reset()
        steps = 1
        while not pool.step(np.array([1]))[2][0]:
            steps += 1
    with make("next_step", limit=steps) as pool:
        pool.reset()
        for _ in range(steps):
            _, _, terminated, truncated, _ = pool.step(np.array([1]))
        assert terminated[0] and truncated[0]


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("limit", [3, 20, 500])
def test_equals_gymnasiums_vector_env(mode, limit):
    upstream = gymnasium.make_vec(
        "CartPole-v1",
        num_envs=4,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": NAMES[mode]},
        max_episode_steps=limit,
    )
    rng = np.random.default_rng(0)
    episodes = 0
    with make(mode, num_envs=4, limit=limit, seed=11) as pool:
        assert pool.reset()[0].tobytes() == upstream.reset(seed=11)[0].tobytes()
        for _ in range(300):
            action = rng.integers(0, 2, 4)
            got, expected = pool.step(action), upstream.step(action)
            for mine, theirs in zip(got[:4], expected[:4], strict=True):
                assert mine.tobytes() == theirs.astype(mine.dtype).tobytes()
            ended = got[2] | got[3]
            episodes += ended.sum()
            if mode == "same_step":
                assert got[4]["_final_obs"].tolist() == ended.tolist()
                for i in np.flatnonzero(ended):
                    assert got[4]["final_obs"][i].tobytes() == expected[4]["final_obs"][i].tobytes()
    assert episodes > 20


def test_disabled_equals_gymnasiums_vector_env():
    upstream = gymnasium.make_vec(
        "CartPole-v1",
        num_envs=4,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED},
    )
    rng = np.random.default_rng(0)
    with make("disabled", num_envs=4, limit=500, seed=11) as pool:
        assert pool.reset()[0].tobytes() == upstream.reset(seed=11)[0].tobytes()
        for _ in range(300):
            action = rng.integers(0, 2, 4)
            got, expected = pool.step(action), upstream.step(action)
            for mine, theirs in zip(got[:4], expected[:4], strict=True):
                assert mine.tobytes() == theirs.astype(mine.dtype).tobytes()
            mask = got[2] | got[3]
            if mask.any():
                mine, theirs = (env.reset(options={"reset_mask": mask})[0] for env in (pool, upstream))
                assert mine.tobytes() == theirs[mask].tobytes()


@pytest.mark.parametrize("style", ["next_step", "same_step"])
def test_async_pools_reset_too(style):
    with make(style, num_envs=4, batch_size=2, num_threads=2) as pool:
        pool.async_reset()
        seen = set()
        for _ in range(60):
            *_, truncated, info = pool.recv()
            seen |= set(zip(truncated.tolist(), info["elapsed_step"].tolist(), strict=True))
            pool.send(np.zeros(2, int), info["env_id"])
    last = (True, 3) if style == "next_step" else (True, 0)
    assert seen == {(False, 0), (False, 1), (False, 2), last}


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        *((name, name) for name in NAMES),
        *((mode, name) for name, mode in NAMES.items()),
        ("NEXT_STEP", "next_step"),
        ("NextStep", "next_step"),
        ("same-step", "same_step"),
    ],
)
def test_spellings(given, canonical):
    with make(given) as pool:
        assert pool.config["autoreset_mode"] == canonical
        assert pool.metadata["autoreset_mode"] is NAMES[canonical]


@pytest.mark.parametrize("bad", ["never", "", None, 1, True])
def test_unknown_modes(bad):
    with pytest.raises(ConfigError, match="autoreset_mode must be one of"):
        make(bad)
