"""The tasks return gymnasium's bits: every id, with its options, in pools of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import envpool
from tests.mujoco.gym.upstream import FIRST_VERSION, IDS, unstable_cheetah, upstream_of, without_contact_forces
from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact, reference
from tests.support.oracles.pool_runner import assert_pools_equal, run_pool

ASYNC = {"num_threads": 2, "batch_size": 1}


@pytest.mark.parametrize("task_id", IDS)
def test_task(task_id: str) -> None:
    limit = {"max_episode_steps": 80}
    runs = [{"num_threads": 2}, ASYNC]
    assert_exact(task_id, upstream_of(task_id, limit), num_envs=2, steps=200, options=limit, runs=runs, min_episodes=2)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_task_for_long(task_id: str) -> None:
    limit = {"max_episode_steps": 300}
    runs = [
        {"num_threads": 2},
        ASYNC,
        {"num_threads": 2, "autoreset_mode": "same_step"},
        {"num_threads": 1, "autoreset_mode": "disabled"},
    ]
    upstream = upstream_of(task_id, limit)
    assert_exact(task_id, upstream, actions="sticky", num_envs=2, steps=1010, options=limit, runs=runs, min_episodes=6)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [i for i in IDS if i.endswith("v5")])
def test_default_time_limit(task_id: str) -> None:
    limit = envpool.make_spec(task_id).config.max_episode_steps
    assert_exact(task_id, upstream_of(task_id), num_envs=1, steps=max(3 * limit, 2000) + 3, min_episodes=3)


@pytest.mark.parametrize("mode", ["out_of_range", "non_finite"])
@pytest.mark.parametrize("task_id", ["Ant-v5", "HalfCheetah-v4", "Hopper-v5", "Humanoid-v5", "Pusher-v4", "Reacher-v5"])
def test_actions_out_of_range(task_id: str, mode: str) -> None:
    """MuJoCo clips controls, and takes zeros when one is not finite; the cost of such an action is upstream's too."""
    limit = {"max_episode_steps": 40}
    assert_exact(
        task_id, upstream_of(task_id, limit), actions=mode, num_envs=3, steps=90, options=limit, min_episodes=2
    )


@dataclass(frozen=True)
class Case:
    """A task with options, in the pool's words and in upstream's."""

    task_id: str
    options: dict[str, Any]
    upstream: dict[str, Any] = field(default_factory=dict)  # where upstream's names or values differ

    def __str__(self) -> str:
        return "-".join([self.task_id, *(f"{k}={v}" for k, v in self.options.items())])


def same(task_id: str, **options: Any) -> Case:
    """Return a case whose options have the same names and values on both sides."""
    return Case(task_id, options, options)


WEIGHTS = {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.02}
SHOWN = {"exclude_current_positions_from_observation": False}
CASES = [
    same("Ant-v5", healthy_reward=2.5, contact_cost_weight=0.01, frame_skip=3, **WEIGHTS, **SHOWN),
    same("Ant-v5", healthy_z_range=(0.5, 0.9), contact_force_range=(-0.3, 0.2), main_body="front_left_leg"),
    same("Ant-v5", include_cfrc_ext_in_observation=False, terminate_when_unhealthy=False, main_body=3),
    same("Ant-v4", use_contact_forces=True, terminate_when_unhealthy=False, healthy_z_range=(0.5, 0.9)),
    Case(
        "Ant-v4",
        {"use_contact_force": True, "contact_force_min": -0.5, "healthy_z_min": 0.5},
        {"use_contact_forces": True, "contact_force_range": (-0.5, 1.0), "healthy_z_range": (0.5, 1.0)},
    ),
    same("Ant-v3", reset_noise_scale=0.3, **SHOWN),
    same("HalfCheetah-v5", frame_skip=2, **WEIGHTS, **SHOWN),
    same("HalfCheetah-v4", **WEIGHTS, **SHOWN),
    same("Hopper-v5", healthy_state_range=(-2.0, 1.5), healthy_reward=0.1, frame_skip=1, **WEIGHTS, **SHOWN),
    same("Hopper-v5", healthy_z_range=(0.9, 1.4), healthy_angle_range=(-0.1, 0.05), terminate_when_unhealthy=False),
    same("Hopper-v4", healthy_z_range=(1.1, 1.4), terminate_when_unhealthy=False),
    Case(
        "Hopper-v4",
        {"healthy_z_min": 1.1, "healthy_angle_max": 0.1, "healthy_state_min": -3.0},
        {"healthy_z_range": (1.1, np.inf), "healthy_angle_range": (-0.2, 0.1), "healthy_state_range": (-3.0, 100.0)},
    ),
    same("Humanoid-v5", contact_cost_weight=1e-3, contact_cost_range=(0.01, 0.5), healthy_reward=1.5, **WEIGHTS),
    same("Humanoid-v5", healthy_z_range=(1.3, 1.45), terminate_when_unhealthy=False, frame_skip=2, **SHOWN),
    same("Humanoid-v5", include_cinert_in_observation=False, include_cfrc_ext_in_observation=False),
    same("Humanoid-v5", include_cvel_in_observation=False, include_qfrc_actuator_in_observation=False),
    same("Humanoid-v4", healthy_z_range=(1.3, 1.45), terminate_when_unhealthy=False, **SHOWN),
    Case("Humanoid-v5", {"contact_cost_max": 1e-5}, {"contact_cost_range": (-np.inf, 1e-5)}),
    same("HumanoidStandup-v5", uph_cost_weight=3.0, impact_cost_weight=0.1, frame_skip=2, **SHOWN),
    same("HumanoidStandup-v5", ctrl_cost_weight=0.2),
    same("HumanoidStandup-v5", impact_cost_range=(0.2, 0.3), impact_cost_weight=1e-3, reset_noise_scale=0.2),
    same("HumanoidStandup-v5", include_cinert_in_observation=False, include_cvel_in_observation=False),
    same("HumanoidStandup-v5", include_qfrc_actuator_in_observation=False, include_cfrc_ext_in_observation=False),
    same("InvertedDoublePendulum-v5", healthy_reward=3.0, reset_noise_scale=0.4, frame_skip=2),
    same("InvertedPendulum-v5", reset_noise_scale=0.15, frame_skip=3),
    same("Pusher-v5", reward_near_weight=0.2, reward_dist_weight=3.0, reward_control_weight=0.7, frame_skip=2),
    same("Reacher-v5", reward_dist_weight=0.3, reward_control_weight=1.7, frame_skip=3),
    same("Swimmer-v5", frame_skip=2, **WEIGHTS, **SHOWN),
    same("Swimmer-v4", **WEIGHTS, **SHOWN),
    same("Walker2d-v5", healthy_z_range=(1.1, 1.3), healthy_angle_range=(-0.2, 0.1), healthy_reward=0.3, **WEIGHTS),
    same("Walker2d-v5", terminate_when_unhealthy=False, frame_skip=2, **SHOWN),
    same("Walker2d-v4", terminate_when_unhealthy=False, healthy_z_range=(1.1, 1.3)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_options(case: Case) -> None:
    limit = {"max_episode_steps": 45}
    upstream = upstream_of(case.task_id, case.upstream | limit)
    assert_exact(case.task_id, upstream, num_envs=2, steps=90, options=case.options | limit, min_episodes=2)


@pytest.mark.parametrize("task_id", ["Ant-v5", "Humanoid-v5", "HumanoidStandup-v5"])
def test_no_contact_forces(task_id: str) -> None:
    """post_constraint=False leaves contact forces at zero, as in versions before v4."""
    plain = upstream_of(task_id)
    upstream = Upstream(plain.id, plain.kwargs, without_contact_forces, info=plain.info)
    assert_exact(task_id, upstream, num_envs=2, steps=60, options={"post_constraint": False}, min_episodes=0)


@pytest.mark.parametrize("run", [{}, {"num_threads": 2, "batch_size": 2}, {"autoreset_mode": "same_step"}], ids=str)
def test_stacked_frames(run: dict[str, Any]) -> None:
    """The last observations, oldest first; the first one of an episode fills the stack."""
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


@pytest.mark.parametrize("kind", FIRST_VERSION)
def test_reset_state(kind: str) -> None:
    """With debug_info an oracle can be put into the state in which an episode began."""
    task_id = f"{kind}-v5"
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
    """A file of the user's, with other numbers of bodies and joints."""
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
    """MuJoCo restarts a simulation that blows up, in the middle of a step and without a word; so upstream, so here."""
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
