"""The conformant VectorEnv: equal to gymnasium's own vector env."""

import contextlib
import functools
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.spaces import Dict, MultiDiscrete
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import envpool
from envpool.errors import (
    ActionError,
    ConfigError,
    EnvIdError,
    EnvStepError,
    EnvTimeoutError,
    PoolClosedError,
    PoolStateError,
    UnknownTaskError,
)
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import WAIT
from tests.support.gate import Gate, eventually
from tests.support.python import output_of
from tests.support.results import leaves
from tests.support.tasks import task_params
from tests.support.vector_envs import NUM_ENVS, make, same_batches, synthetic, upstream, zero_actions

# ---- ids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["import envpool, gymnasium", "import gymnasium, envpool"])
def test_ids_are_known_when_both_packages_are_imported(order):
    code = f"{order}\nprint(gymnasium.make_vec('envpool/Catch-v0', num_envs=2))"
    assert output_of(code) == "EnvPoolVectorEnv(envpool/Catch-v0, num_envs=2)\n"


def test_gymnasium_imports_envpool_by_the_id():
    code = "import gymnasium\nprint(gymnasium.make_vec('envpool:envpool/Catch-v0', num_envs=2))"
    assert output_of(code) == "EnvPoolVectorEnv(envpool/Catch-v0, num_envs=2)\n"


def test_every_task_whose_id_gymnasium_allows_has_one():
    ids = envpool.list_all_envs()
    names = {f"envpool/{t.replace('/', '-')}" for t in ids}
    assert len(names) == len(ids)
    assert names <= set(gymnasium.registry)


def test_a_slash_becomes_a_hyphen():
    envs = gymnasium.make_vec("envpool/MinAtar-Breakout-v1", num_envs=2)
    assert envs.single_observation_space.shape == (10, 10, 4)
    assert envs.pool.spec.task_id == "MinAtar/Breakout-v1"
    envs.close()


def test_a_task_that_is_registered_later():
    with pytest.raises(gymnasium.error.NameNotFound):
        make("LateCartPole-v1")
    envpool.register("LateCartPole-v1", "envpool.classic_control.cartpole", env="CartPole", max_episode_steps=7)
    try:
        assert make("LateCartPole-v1").pool.config["max_episode_steps"] == 7
    finally:
        envpool.registration.registry.tasks.pop("LateCartPole-v1")
        gymnasium.registry.pop("envpool/LateCartPole-v1")


@pytest.mark.parametrize("mode", [None, "vector_entry_point", gymnasium.VectorizeMode.VECTOR_ENTRY_POINT])
def test_make_vec(mode):
    envs = gymnasium.make_vec("envpool/CartPole-v1", num_envs=3, vectorization_mode=mode, max_episode_steps=9, seed=3)
    assert type(envs) is EnvPoolVectorEnv and isinstance(envs, VectorEnv) and envs.unwrapped is envs
    assert envs.num_envs == 3
    assert envs.spec.id == "envpool/CartPole-v1" and envs.spec.kwargs["max_episode_steps"] == 9
    assert envs.render_mode is None and envs.closed is False
    again = gymnasium.make_vec(envs.spec)
    assert again.num_envs == 3 and again.pool.config == envs.pool.config
    for e in (envs, again):
        e.close()
        e.close()
        assert e.closed
    with pytest.raises(PoolStateError, match="closed"):
        envs.reset()


def test_failing_to_make_one_is_one_error(monkeypatch):
    """Gymnasium before 1.3 has a destructor that closes what was not made."""
    monkeypatch.setattr(VectorEnv, "__del__", lambda self: self.close(), raising=False)
    unraisable = []
    monkeypatch.setattr("sys.unraisablehook", unraisable.append)
    for make_one in (lambda: make(foo=3), lambda: make(batch_size=1), lambda: envpool.make_vec(lambda: 3, 2)):
        with pytest.raises((TypeError, ConfigError)) as caught:
            make_one()
        del caught
    assert unraisable == []


def test_gymnasiums_own_id_pointed_here(monkeypatch):
    """Gymnasium's own tests of vector_entry_point would use it like this."""
    spec = gymnasium.registry["CartPole-v1"]
    monkeypatch.setattr(spec, "vector_entry_point", functools.partial(EnvPoolVectorEnv, "CartPole-v1"))
    envs = gymnasium.make_vec("CartPole-v1", num_envs=2)
    assert type(envs) is EnvPoolVectorEnv and envs.spec.id == "CartPole-v1"
    assert envs.pool.config["max_episode_steps"] == 500
    obs, info = envs.reset(seed=1)
    assert info == {} and obs in envs.observation_space


# ---- what comes back -------------------------------------------------------------------------------------------------


#: Tasks whose observations leave the bounds that upstream gave them.
BEYOND_BOUNDS = ("LunarLander-v2", "LunarLanderContinuous-v2")


@pytest.mark.parametrize("task_id", task_params())
def test_spaces(task_id):
    if envpool.make_spec(task_id).num_players:
        with pytest.raises(
            ConfigError, match=r"a VectorEnv does not support tasks with .*: use envpool.make_gymnasium"
        ):
            make(task_id.replace("/", "-"))
        with pytest.raises(ConfigError, match=r"gymnasium.make does not support tasks .*: use envpool.make_gymnasium"):
            gymnasium.make(f"envpool/{task_id.replace('/', '-')}")
        return
    task_id = task_id.replace("/", "-")
    envs = make(task_id, num_envs=3)
    assert envs.observation_space == gymnasium.vector.utils.batch_space(envs.single_observation_space, 3)
    assert envs.action_space == gymnasium.vector.utils.batch_space(envs.single_action_space, 3)
    envs.action_space.seed(1)
    obs, _ = envs.reset(seed=5)
    for _ in range(30):
        assert obs in envs.observation_space or task_id in BEYOND_BOUNDS
        actions = envs.action_space.sample()
        assert actions in envs.action_space
        obs, reward, terminated, truncated, _ = envs.step(actions)
        assert (reward.dtype, reward.shape) == (np.float32, (3,))
        assert terminated.dtype == truncated.dtype == np.bool_ and terminated.shape == truncated.shape == (3,)


@pytest.mark.parametrize("limit", [3, 20])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_equals_gymnasiums_vector_env(mode, limit):
    mine, theirs = make(autoreset_mode=mode, max_episode_steps=limit), upstream(mode=mode, max_episode_steps=limit)
    assert mine.metadata["autoreset_mode"] is mode
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(mine, name) == getattr(theirs, name)
    got, expected = mine.reset(seed=11), theirs.reset(seed=11)
    same_batches(got[:1], expected[:1])
    assert mine.np_random_seed == theirs.np_random_seed
    theirs.action_space.seed(0)
    episodes = 0
    for _ in range(200):
        action = theirs.action_space.sample()
        got, expected = mine.step(action.copy()), theirs.step(action.copy())
        same_batches(got, expected)
        assert data_equivalence(got[4], expected[4])
        ended = got[2] | got[3]
        episodes += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            got, expected = (e.reset(options={"reset_mask": ended.copy()}) for e in (mine, theirs))
            same_batches(got[:1], expected[:1])
            assert data_equivalence(got[1], expected[1])
    assert episodes > 20


def test_seeds():
    mine, theirs = make(autoreset_mode="disabled"), upstream(mode=AutoresetMode.DISABLED)
    assert mine.np_random_seed == (42, 43, 44, 45)
    mask = np.array([False, True, True, False])
    for seed, options in (
        (7, None),
        ([5, 1, 9, 1], None),
        ([3, None, 4, None], None),
        (20, mask),
        ([1, 2, None, 4], mask),
    ):
        got, expected = (
            e.reset(seed=seed, options=None if options is None else {"reset_mask": options}) for e in (mine, theirs)
        )
        same_batches(got[:1], expected[:1])
        assert mine.np_random_seed == theirs.np_random_seed
    got, expected = mine.reset(), theirs.reset()
    same_batches(got[:1], expected[:1])


@pytest.mark.parametrize("seed", [[1, 2], (), [1, 2, 3, 4, 5], -1, 2**64])
def test_bad_seeds(seed):
    envs = make(autoreset_mode="disabled")
    envs.reset()
    for options in (None, {"reset_mask": np.ones(4, bool)}):
        with pytest.raises(ConfigError, match="seed"):
            envs.reset(seed=seed, options=options)


def test_a_mask_leaves_the_others_alone():
    envs = synthetic(autoreset_mode="disabled", episode_length=0)
    envs.reset(seed=1)
    envs.step(zero_actions(envs))
    before, *_ = envs.step(zero_actions(envs))
    copy = {k: v.copy() for k, v in flat(before).items()}
    mask = np.array([True, False, False, True])
    options = {"reset_mask": mask}
    obs, info = envs.reset(options=options)
    assert options["reset_mask"] is mask
    for k, v in flat(obs).items():
        assert (v[~mask] == copy[k][~mask]).all()
        np.testing.assert_array_equal(flat(before)[k], copy[k])
    for k, v in info.items():
        if k.startswith("_"):
            assert v.tolist() == mask.tolist()
    assert obs in envs.observation_space


def test_what_is_written_into_observations_does_not_come_back():
    """The observations of environments that a mask leaves alone are those of the environments."""
    options = {"num_envs": 3, "seed": 1, "autoreset_mode": "disabled"}
    with contextlib.closing(envpool.make_vec("CartPole-v1", **options)) as envs:
        mask = np.array([True, False, False])
        for call in (envs.reset, lambda: envs.step(np.zeros(3, int)), lambda: envs.reset(options={"reset_mask": mask})):
            obs = call()[0]
            expected = obs[1:].copy()
            obs[:] = 77
            assert np.array_equal(envs.reset(options={"reset_mask": mask})[0][1:], expected)


def test_infos_have_masks_at_every_level():
    envs = synthetic()
    for info in (envs.reset()[1], envs.step(zero_actions(envs))[4]):
        assert_masks(info)
        assert not {"env_id", "players"} & set(info)
    listed = wrappers.vector.DictInfoToList(envs)
    rows = listed.step(zero_actions(envs))[4]
    assert len(rows) == NUM_ENVS and all(set(row) == {k for k in info if k[0] != "_"} for row in rows)


def test_final_infos():
    envs = synthetic(autoreset_mode="same_step", episode_length=2)
    other = synthetic(autoreset_mode="next_step", episode_length=2)
    envs.reset()
    other.reset()
    envs.step(zero_actions(envs))
    other.step(zero_actions(envs))
    got, expected = envs.step(zero_actions(envs)), other.step(zero_actions(envs))
    info = got[4]
    assert info["_final_obs"].tolist() == info["_final_info"].tolist() == [True] * NUM_ENVS
    for i in range(NUM_ENVS):
        assert info["final_obs"][i] in envs.single_observation_space
        for k, v in flat(info["final_obs"][i]).items():
            np.testing.assert_array_equal(v, flat(expected[0])[k][i])
    assert data_equivalence(info["final_info"], expected[4])
    assert "final_obs" not in envs.step(zero_actions(envs))[4]


def test_actions_with_several_arrays_have_no_env_ids():
    envs = synthetic()
    space = envs.single_action_space
    assert not isinstance(space, Dict) or not {"env_id", "players"} & set(space)
    envs.action_space.seed(0)  # of the synthetic env's actions, some fail or wait
    obs, *_ = envs.reset(), envs.step(envs.action_space.sample())
    assert obs
    assert isinstance(envs.action_space, (Dict, MultiDiscrete, gymnasium.spaces.Box))


def assert_masks(info):
    assert info
    for k, v in info.items():
        if not k.startswith("_"):
            assert info["_" + k].dtype == np.bool_ and info["_" + k].tolist() == [True] * NUM_ENVS
            assert_masks(v) if isinstance(v, dict) else None


def flat(nest):
    return dict(leaves(nest))


# ---- mistakes --------------------------------------------------------------------------------------------------------


def test_mistakes():
    with pytest.raises(UnknownTaskError):
        EnvPoolVectorEnv("Nothing-v0")
    with pytest.raises(ConfigError, match=r"batch_size must be num_envs=4 in a VectorEnv, which steps all envs, got 2"):
        make(batch_size=2)
    with pytest.raises(ConfigError, match="render_mode must be one of"):
        make(render_mode="ansi")
    with pytest.raises(TypeError, match="has no option 'thread'"):
        make(thread=2)
    envs = make(autoreset_mode="disabled", max_episode_steps=1)
    with pytest.raises(PoolStateError, match=r"needs a reset\(\) first"):
        envs.step(np.zeros(4, int))
    with pytest.raises(ConfigError, match="needs a reset"):
        envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    envs.reset()
    with pytest.raises(ActionError, match=r"^actions must have the shape \(4,\), got \(3,\)$"):
        envs.step(np.zeros(3, int))
    envs.step(np.zeros(4, int))
    with pytest.raises(
        EnvIdError, match=r"^the episode of env 0 has ended: call reset\(options=\{'reset_mask': mask\}\)"
    ):
        envs.step(np.zeros(4, int))
    with pytest.raises(PoolStateError, match="needs a render mode"):
        envs.render()
    with pytest.raises(ConfigError, match="no reset option"):
        envs.reset(options={"lo": 1})


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        (np.array([True]), ConfigError),
        (np.array([[True] * 4]), ConfigError),
        (np.zeros(4, bool), ConfigError),
        (np.ones(4), TypeError),
        (np.ones(4, int), TypeError),
        ([True] * 4, TypeError),
    ],
)
def test_bad_masks(mask, error):
    envs = make()
    envs.reset()
    with pytest.raises(error, match=r"options\['reset_mask'\] must"):
        envs.reset(options={"reset_mask": mask})


# ---- failed envs -----------------------------------------------------------------------------------------------------

FAIL = 97


def failing(envs, *ids):
    """Return actions with which these envs fail."""
    actions = zero_actions(envs)
    actions["action"]["move"][list(ids)] = FAIL
    return actions


def assert_texts(info, *ids):
    """Assert that exactly these envs have a text, in gymnasium's form."""
    mask = np.isin(np.arange(NUM_ENVS), ids)
    assert info["_error"].tolist() == mask.tolist()
    assert info["error"].dtype == object and info["error"].shape == (NUM_ENVS,)
    assert [type(text) for text in info["error"]] == [str if m else type(None) for m in mask]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_texts_of_failed_envs(mode):
    envs = synthetic(autoreset_mode=mode, episode_length=0, on_error="restart")
    _, info = envs.reset()
    assert "error" not in info and "_error" not in info
    *_, truncated, info = envs.step(failing(envs, 1, 2))
    assert_texts(info, 1, 2)
    assert truncated.tolist() == [False, True, True, False]
    assert "_calls" in info and "__error" not in info
    if mode == AutoresetMode.DISABLED:
        envs.reset(options={"reset_mask": truncated})
    *_, info = envs.step(zero_actions(envs))
    assert "error" not in info and "_error" not in info


def test_texts_of_failed_resets():
    envs = synthetic(autoreset_mode="disabled", on_error="restart", fail_reset=0, fails_again=True)
    _, info = envs.reset()
    assert_texts(info, 0, 1, 2, 3)
    _, info = envs.reset(options={"reset_mask": np.array([False, True, True, False])})
    assert_texts(info, 1, 2)
    assert info["_calls"].tolist() == [False, True, True, False]
    assert "__error" not in info


def test_the_form_of_the_texts_is_that_of_gymnasium():
    """Gymnasium makes such an entry of the infos of single envs."""

    class Failing(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Discrete(2)

        def __init__(self, fails=False):
            self.fails = fails

        def reset(self, *, seed=None, options=None):
            return 0, {"error": "broken"} if self.fails else {}

    theirs = gymnasium.vector.SyncVectorEnv([Failing, lambda: Failing(True)]).reset()[1]
    envs = make("Synthetic-v0", num_envs=2, on_error="restart", fail_seed="odd_envs")
    mine = envs.reset()[1]
    for key in ("error", "_error"):
        assert (mine[key].dtype, mine[key].shape) == (theirs[key].dtype, theirs[key].shape)
    assert mine["_error"].tolist() == theirs["_error"].tolist()
    assert mine["error"][0] is theirs["error"][0] is None
    assert type(mine["error"][1]) is type(theirs["error"][1]) is str


def test_after_a_step_that_takes_too_long_reset_waits_for_the_env():
    gate = Gate()
    envs = make("Synthetic-v0", step_timeout=0.05, episode_length=0, num_threads=2)
    eventually(envs.reset)
    gate.close()
    try:
        for call in (lambda: envs.step(np.full(NUM_ENVS, WAIT)), envs.reset):
            with pytest.raises(EnvTimeoutError):
                BackgroundCall(call).finish()
    finally:
        gate.open()
    assert eventually(envs.reset)[0][:, 0].tolist() == list(range(NUM_ENVS))
    envs.close()


# ---- closed environments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_reset", [False, True])
def test_a_closed_vector_env_raises_what_gymnasiums_does(is_reset):
    envs = make(render_mode="rgb_array")
    if is_reset:
        envs.reset()
    envs.close()
    for call in (envs.reset, lambda: envs.step(np.zeros(4, int)), envs.render):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="is closed"):
            call()
        with pytest.raises(PoolClosedError, match="is closed"):
            call()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.pool.send(np.zeros(4, int))


def test_the_error_of_a_closed_pool_can_be_pickled():
    error = pickle.loads(pickle.dumps(PoolClosedError("the pool is closed")))
    assert isinstance(error, gymnasium.error.ClosedEnvironmentError) and str(error) == "the pool is closed"


# ---- lists of frames -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_lists_of_frames_equal_gymnasiums(mode):
    def sub_env():
        return gymnasium.make("envpool/CartPole-v1", render_mode="rgb_array_list", max_episode_steps=3)

    gymnasiums = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
    theirs = SyncVectorEnv([sub_env] * 2, autoreset_mode=gymnasiums[mode])
    options = {"render_mode": "rgb_array_list", "max_episode_steps": 3, "autoreset_mode": mode}
    ours = gymnasium.make_vec("envpool/CartPole-v1", 2, **options)
    assert ours.render_mode == theirs.render_mode == "rgb_array_list"
    assert "rgb_array_list" in ours.metadata["render_modes"]
    for envs in (ours, theirs):
        envs.reset(seed=3)
    for step in range(9):
        for envs in (ours, theirs):
            envs.step(np.array([1, 0]))
        if step in (1, 2, 7):
            a, b = ours.render(), theirs.render()
            assert [len(frames) for frames in a] == [len(frames) for frames in b]
            np.testing.assert_equal([frames[-1] for frames in a], [frames[-1] for frames in b])
        if step == 4:
            np.testing.assert_equal(ours.call("render"), theirs.call("render"))
    ours.reset(options={"reset_mask": np.array([True, False])})
    assert [len(frames) for frames in ours.render()] == [1, 1]
    assert ours.render() == ([], [])
    ours.close()
    theirs.close()
    with pytest.raises(PoolClosedError):
        ours.render()


@pytest.mark.parametrize("on_error", ["raise", "restart"])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_failed_env_begins_a_new_list_of_frames(mode, on_error):
    options = {"render_mode": "rgb_array_list", "autoreset_mode": mode, "on_error": on_error}
    envs = gymnasium.make_vec("envpool/BipedalWalker-v3", 2, **options)
    envs.reset()
    actions = np.zeros((2, 4), np.float32)
    actions[1] = np.nan
    with contextlib.nullcontext() if on_error == "restart" else pytest.raises(EnvStepError):
        *_, truncated, _ = envs.step(actions)
        assert truncated.tolist() == [False, True]
    if mode == "disabled":
        envs.reset(options={"reset_mask": np.array([False, True])})
    else:
        envs.step(np.zeros((2, 4), np.float32))
    lengths = {"next_step": [3, 1], "same_step": [3, 2], "disabled": [2, 1]}
    assert [len(frames) for frames in envs.render()] == lengths[mode]
    envs.close()


def test_envs_whose_resets_fail_have_no_frames():
    envs = synthetic(render_mode="rgb_array_list", on_error="restart", fail_reset=0, fails_again=True)
    envs.reset()
    envs.step(zero_actions(envs))
    assert envs.render() == ([],) * NUM_ENVS
