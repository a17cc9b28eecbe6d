"""Gymnasium's MuJoCo tasks: stacked frames, reset states, the user's own models, simulations that diverge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from tests.mujoco.gym.upstream import FIRST_VERSION, unstable_cheetah, upstream_of
from tests.support.oracles.gymnasium_oracle import assert_exact, reference
from tests.support.oracles.pool_runner import assert_pools_equal, run_pool


@pytest.mark.parametrize("run", [{}, {"num_threads": 2, "batch_size": 2}, {"autoreset_mode": "same_step"}], ids=str)
def test_stacked_frames(run: dict[str, Any]) -> None:
    """A stack has the last observations, oldest first; the first observation of an episode fills it."""
    actions = np.random.default_rng(0).uniform(-1, 1, (50, 3, 3))
    limit = {"max_episode_steps": 20}
    plain = run_pool("Hopper-v5", actions, [1, 2, 3], **limit)
    stacked = run_pool("Hopper-v5", actions, [1, 2, 3], **limit, **run, frame_stack=4)
    rows, expected = plain.arrays["obs"], np.zeros((51, 3, 4, 11))
    for t in range(51):
        for i in range(3):
            for k in range(4):
                expected[t, i, 3 - k] = rows[t - min(k, plain.arrays["elapsed_step"][t, i]), i]
    assert stacked.arrays["obs"].tobytes() == expected.tobytes()
    assert plain.num_episodes >= 6


@pytest.mark.parametrize("name", FIRST_VERSION)
def test_reset_state(name: str) -> None:
    """With debug_info=True, upstream can be put into the state in which an episode began."""
    task_id = f"{name}-v5"
    limit = {"max_episode_steps": 20}
    actions = np.random.default_rng(0).uniform(-0.4, 0.4, (30, 2, *envpool.make_spec(task_id).action_space.shape))
    found = run_pool(task_id, actions, [5, 6], debug_info=True, **limit).arrays
    env: Any = upstream_of(task_id).make().unwrapped
    second = 1 + int(np.argmax((found["terminated"] | found["truncated"])[:, 0]))
    env.reset(seed=0)
    for t in (0, second):
        env.data.time = 0
        env.data.qacc_warmstart[:] = 0
        env.data.ctrl[:] = 0
        env.set_state(found["info:qpos0"][t, 0], found["info:qvel0"][t, 0])
        np.testing.assert_array_equal(env.step(actions[t, 0])[0], found["obs"][t + 1, 0])
        assert (found["info:qpos0"][t + 1, 0] == found["info:qpos0"][t, 0]).all()


def test_user_model(tmp_path: Any) -> None:
    """The user's own model works, with other numbers of bodies and joints."""
    model = tmp_path / "worm.xml"
    model.write_text(
        """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="9 9 1"/>
        <body name="head" pos="0 0 .5"><freejoint/><geom size=".1"/>
        <body pos=".3 0 0"><joint axis="0 0 1"/><geom type="capsule" size=".05" fromto="-.2 0 0 .1 0 0"/>
        </body></body></worldbody><actuator><motor joint="bend" ctrlrange="-2 1" ctrllimited="true"/></actuator>
        </mujoco>""".replace('<joint axis="0 0 1"/>', '<joint name="bend" axis="0 0 1"/>')
    )
    for task_id, more in (("Ant-v5", {"main_body": "head"}), ("HalfCheetah-v5", {}), ("Swimmer-v5", {})):
        options = {"xml_file": str(model), "max_episode_steps": 40, **more}
        kwargs = options if task_id == "Ant-v5" else {k: v for k, v in options.items() if k != "main_body"}
        assert_exact(task_id, upstream_of(task_id, kwargs), num_envs=2, steps=100, options=options, min_episodes=2)
    assert envpool.make_spec("Ant-v5", xml_file=str(model)).action_space.low.tolist() == [-2.0]


@pytest.mark.filterwarnings("ignore:.*settotalmass.* is deprecated:UserWarning")
def test_unstable_simulation(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """MuJoCo silently restarts a diverging simulation in the middle of a step, upstream and here."""
    monkeypatch.chdir(tmp_path)
    options = {"xml_file": unstable_cheetah(tmp_path), "max_episode_steps": 50}
    upstream = upstream_of("HalfCheetah-v5", options)
    actions = np.random.default_rng(0).uniform(-1, 1, (80, 2, 6))
    expected = reference(upstream, actions, [0, 1])
    assert (np.abs(expected.arrays["info:x_velocity"]) > 100).any()
    for path in tmp_path.glob("MUJOCO_LOG*"):
        path.unlink()
    capfd.readouterr()
    assert_pools_equal(expected, "HalfCheetah-v5", actions, [0, 1], **options)
    assert not list(tmp_path.glob("MUJOCO_LOG*"))
    assert capfd.readouterr() == ("", "")
