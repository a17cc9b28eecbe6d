"""Options, styles and seeds of dm_control's tasks."""

import sys

import dm_env
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.mujoco.dmc.upstream import load
from envpool.sampling.sequences import make_actions


def test_frame_stack():
    options = {"num_envs": 2, "seed": 5, "max_episode_steps": 6}
    with (
        envpool.make_gymnasium("FishSwim-v1", **options) as plain,
        envpool.make_gymnasium("FishSwim-v1", frame_stack=3, **options) as stacked,
    ):
        assert stacked.observation_space["upright"].shape == (3,)
        assert stacked.observation_space["velocity"].shape == (3, 13)
        actions = make_actions(plain.action_space, "random", 20, 2)
        kept: list[dict[str, np.ndarray]] = []
        for t in range(20):
            if t == 0:
                obs, many = plain.reset()[0], stacked.reset()[0]
            else:
                obs, *_, info = plain.step(actions[t])
                many = stacked.step(actions[t])[0]
            is_first = t == 0 or info["elapsed_step"][0] == 0
            kept = [obs] * 3 if is_first else [*kept[1:], obs]
            for name, array in many.items():
                np.testing.assert_array_equal(array, np.stack([k[name] for k in kept], axis=1))


def test_dm_style():
    """The names, shapes and specs of upstream, and its discount of 1 at the time limit."""
    upstream = load("HumanoidWalk-v1", 0, 1000)
    with envpool.make_dm("HumanoidWalk-v1", num_envs=2, max_episode_steps=2) as pool:
        first = pool.reset()
        names = list(upstream.observation_spec())
        assert [n for n in first.observation._fields if n not in ("env_id", "players")] == names
        for name, spec in upstream.observation_spec().items():
            assert getattr(pool.observation_spec(), name).shape == spec.shape
            assert getattr(first.observation, name).shape == (2, *spec.shape)
            assert getattr(first.observation, name).dtype == np.float64
        theirs, ours = upstream.action_spec(), pool.action_spec()
        assert theirs.shape == ours.shape
        assert (theirs.minimum == ours.minimum).all()
        assert (theirs.maximum == ours.maximum).all()
        action = np.zeros((2, *theirs.shape))
        for step_type, discount in ((dm_env.StepType.MID, 1), (dm_env.StepType.LAST, 1), (dm_env.StepType.FIRST, 1)):
            step = pool.step(action)
            assert step.step_type.tolist() == [step_type] * 2
            assert step.discount.tolist() == [discount] * 2


def test_controls_without_limits():
    space = envpool.make_spec("LqrLqr62-v1").action_space
    assert space.shape == (2,)
    assert (space.low == -1e10).all()
    assert (space.high == 1e10).all()


def test_gym_style_has_a_dict_space():
    spec = envpool.make_spec("CheetahRun-v1")
    assert list(spec.observation_space) == ["position", "velocity"]
    assert spec.action_space.shape == (6,)
    assert spec.config.frame_skip == 1
    assert spec.config.max_episode_steps == 1000


def test_lqr_terminates_with_discount_0():
    """The optimal control brings the masses to rest, in as many steps as upstream and with the same bits."""
    from dm_control.suite import lqr_solver

    env = load("LqrLqr21-v1", 3, 100_000)
    gain = lqr_solver.solve(env)[1]
    with envpool.make_dm("LqrLqr21-v1", num_envs=1, env_seed=[3], max_episode_steps=100_000) as pool:
        theirs, ours = env.reset(), pool.reset()
        while not theirs.last():
            state = np.concatenate([theirs.observation["position"], theirs.observation["velocity"]])
            action = gain @ state
            theirs, ours = env.step(action), pool.step(action[None])
            assert ours.observation.position.tobytes() == theirs.observation["position"].tobytes()
            assert ours.reward[0] == np.float32(theirs.reward)
            assert ours.discount[0] == theirs.discount
        assert theirs.discount == 0
        assert ours.last().all()


@pytest.mark.parametrize("task_id", ["LqrLqr62-v1", "FingerSpin-v1", "ReacherHard-v1"])
def test_a_new_seed_gives_the_env_of_that_seed(task_id):
    """A seed also restores springs and the other parts of a model that earlier episodes changed."""
    options = {"num_envs": 2, "max_episode_steps": 5}
    with (
        envpool.make_gymnasium(task_id, seed=1, **options) as used,
        envpool.make_gymnasium(task_id, seed=7, **options) as fresh,
    ):
        actions = make_actions(used.action_space, "random", 20, 2)
        used.reset()
        for t in range(13):
            used.step(actions[t])
        expected, got = fresh.reset()[0], used.reset(seed=7)[0]
        for t in range(20):
            for name, array in expected.items():
                assert got[name].tobytes() == array.tobytes()
            expected, got = fresh.step(actions[t])[0], used.step(actions[t])[0]


def test_no_debug_info_without_the_option():
    with envpool.make_gymnasium("FishSwim-v1", num_envs=1) as pool:
        assert set(pool.reset()[1]) == {"env_id", "players", "elapsed_step"}


def test_an_unknown_task_name_is_refused():
    with pytest.raises(ConfigError, match=r"task_name must be one of 'swingup', 'swingup_sparse'.*, got 'fly'"):
        envpool.make_spec("AcrobotSwingup-v1", task_name="fly")


def test_without_dm_control_the_text_has_the_command_that_installs_it(monkeypatch):
    for name in [n for n in sys.modules if n.split(".")[0] == "dm_control"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dm_control", None)
    with pytest.raises(ImportError, match=r"pip install 'envpool-cython\[dmc\]'"):
        envpool.make_gym("WalkerWalk-v1", num_envs=1)
