"""All of gymnasium's vector wrappers work on the conformant VectorEnv as they do on gymnasium's own vector env."""

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode

from tests.support.vector_envs import NUM_ENVS, make, same_batches, synthetic, upstream, zero_actions

#: Wrapper name: task, arguments. Each is compared with the same wrapper around each env.
EQUIVALENT = {
    "FlattenObservation": ("CartPole-v1", {}),
    "ReshapeObservation": ("CartPole-v1", {"shape": (2, 2)}),
    "RescaleObservation": (
        "CartPole-v1",
        {"min_obs": np.array([0, -np.inf, 0, -np.inf]), "max_obs": np.array([1, np.inf, 1, np.inf])},
    ),
    "DtypeObservation": ("CartPole-v1", {"dtype": np.float64}),
    "ClipAction": ("MountainCarContinuous-v0", {}),
    "RescaleAction": ("MountainCarContinuous-v0", {"min_action": np.float32(-2), "max_action": np.float32(2)}),
    "ClipReward": ("CartPole-v1", {"min_reward": -0.25, "max_reward": 0.75}),
}


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
@pytest.mark.parametrize("name", EQUIVALENT)
def test_a_wrapper_around_all_equals_wrappers_around_each(name, mode):
    task_id, arguments = EQUIVALENT[name]
    if mode is AutoresetMode.SAME_STEP and name.endswith("Observation"):  # gymnasium refuses it for its own, too
        with pytest.raises(ValueError, match="Expected autoreset_mode to be NEXT_STEP or DISABLED"):
            getattr(wrappers.vector, name)(make(task_id, autoreset_mode=mode), **arguments)
        return
    mine = getattr(wrappers.vector, name)(make(task_id, autoreset_mode=mode), **arguments)
    theirs = upstream(task_id, mode, wrappers=(lambda env: getattr(wrappers, name)(env, **arguments),))
    assert mine.observation_space == theirs.observation_space and mine.action_space == theirs.action_space
    same_batches(mine.reset(seed=3)[:1], theirs.reset(seed=3)[:1])
    theirs.action_space.seed(0)
    for _ in range(60):
        action = theirs.action_space.sample()
        got, expected = mine.step(action.copy()), theirs.step(action.copy())
        same_batches(got, expected)
        assert got[0] in mine.observation_space


def double(x):
    return 2 * x


OTHERS = {
    "TransformObservation": lambda e: wrappers.vector.TransformObservation(e, func=double),
    "VectorizeTransformObservation": lambda e: wrappers.vector.VectorizeTransformObservation(
        e, wrappers.TransformObservation, func=double, observation_space=None
    ),
    "NormalizeObservation": wrappers.vector.NormalizeObservation,
    "NormalizeReward": wrappers.vector.NormalizeReward,
    "TransformAction": lambda e: wrappers.vector.TransformAction(e, func=lambda a: 1 - a),
    "VectorizeTransformAction": lambda e: wrappers.vector.VectorizeTransformAction(
        e, wrappers.TransformAction, func=lambda a: 1 - a, action_space=Discrete(2)
    ),
    "TransformReward": lambda e: wrappers.vector.TransformReward(e, func=double),
    "VectorizeTransformReward": lambda e: wrappers.vector.VectorizeTransformReward(
        e, wrappers.TransformReward, func=double
    ),
    "DictInfoToList": wrappers.vector.DictInfoToList,
    "RecordEpisodeStatistics": wrappers.vector.RecordEpisodeStatistics,
}


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
@pytest.mark.parametrize("name", OTHERS)
def test_a_wrapper_does_the_same_as_around_gymnasiums_own(name, mode):
    options = {"max_episode_steps": 12}
    if mode is AutoresetMode.SAME_STEP and name.endswith("Observation"):
        for envs in (make(autoreset_mode=mode), upstream(mode=mode)):
            with pytest.raises(ValueError, match="Expected autoreset_mode to be NEXT_STEP or DISABLED"):
                OTHERS[name](envs)
        return
    mine, theirs = OTHERS[name](make(autoreset_mode=mode, **options)), OTHERS[name](upstream(mode=mode, **options))
    assert mine.observation_space == theirs.observation_space
    assert repr(mine) == f"<{name}, {mine.unwrapped!r}>"
    same_batches(mine.reset(seed=3)[:1], theirs.reset(seed=3)[:1])
    theirs.action_space.seed(0)
    ended = 0
    for _ in range(60):
        action = theirs.action_space.sample()
        got, expected = mine.step(action.copy()), theirs.step(action.copy())
        same_batches((got[0], *got[2:4]), (expected[0], *expected[2:4]))
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-6)
        ended += (got[2] | got[3]).sum()
        if name == "RecordEpisodeStatistics" and "episode" in expected[4]:
            for k in "rl":
                np.testing.assert_array_equal(got[4]["episode"][k], expected[4]["episode"][k])
            np.testing.assert_array_equal(got[4]["_episode"], expected[4]["_episode"])
        elif name == "DictInfoToList":
            np.testing.assert_equal(got[4], expected[4])
            assert mode is AutoresetMode.SAME_STEP or got[4] == [{}] * NUM_ENVS
    assert ended > 10


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GrayscaleObservation", {}),
        ("ResizeObservation", {"shape": (35, 45)}),
        ("ReshapeObservation", {"shape": (48, 576)}),
    ],
)
@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_wrappers_of_images(name, arguments, mode):
    """The task has images with the colours on the last axis; gymnasium's own version of it would take seconds."""
    envs = getattr(wrappers.vector, name)(make("CarRacing-v3", num_envs=2, autoreset_mode=mode), **arguments)
    single = getattr(wrappers, name)(gymnasium.make("envpool/CarRacing-v3"), **arguments)
    assert envs.single_observation_space == single.observation_space
    obs, _ = envs.reset(seed=3)
    for i in range(2):
        np.testing.assert_array_equal(obs[i], single.reset(seed=3 + i)[0])
    action = envs.action_space.sample()
    obs, *_ = envs.step(action)
    assert obs in envs.observation_space
    np.testing.assert_array_equal(obs[1], single.step(action[1])[0])


def test_filter_observation():
    envs = synthetic()
    key = next(iter(envs.single_observation_space))
    filtered = wrappers.vector.FilterObservation(envs, filter_keys=[key])
    obs, _ = filtered.reset()
    assert list(obs) == [key] and obs in filtered.observation_space
    assert filtered.step(zero_actions(envs))[0] in filtered.observation_space


def test_torch_conversion():
    torch = pytest.importorskip("torch")
    envs = wrappers.vector.NumpyToTorch(make())
    obs, _ = envs.reset(seed=1)
    assert isinstance(obs, torch.Tensor)
    obs, reward, terminated, truncated, _ = envs.step(torch.zeros(NUM_ENVS, dtype=torch.int64))
    assert all(isinstance(x, torch.Tensor) for x in (obs, reward, terminated, truncated))


def test_statistics_survive_a_masked_reset():
    envs = wrappers.vector.RecordEpisodeStatistics(make(autoreset_mode="disabled"))
    envs.reset(seed=1)
    for _ in range(3):
        envs.step(np.zeros(NUM_ENVS, int))
    envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    assert envs.episode_lengths.tolist() == [0, 3, 3, 3]
