"""The family returns gymnasium's bits: every task and option, whoever acts, in pools of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.box2d.upstream import Policy, Walk, constant, follow, land, play, random
from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact
from tests.support.oracles.pool_runner import run_pool
from tests.support.oracles.trajectory import compare


@dataclass(frozen=True)
class Case:
    """A task with options, who acts in it, and how many steps 25 envs need for 200 episodes."""

    task_id: str
    upstream_id: str
    policy: Policy
    steps: int
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        policy = getattr(self.policy, "__qualname__", type(self.policy).__name__).partition(".")[0]
        return "-".join([self.task_id, *(f"{k}={v}" for k, v in self.options.items()), policy])

    @property
    def upstream(self) -> Upstream:
        info = {"lap_finished": "lap_finished"} if self.task_id.startswith("CarRacing") else {}
        return Upstream(self.upstream_id, self.options, info=info)

    def check(self, num_envs: int, steps: int, min_episodes: int, **pool_options: Any) -> None:
        """Compare `num_envs` envs over so many steps."""
        seeds = [1000 + i for i in range(num_envs)]
        actions, expected = play(self.upstream, self.policy, seeds, steps)
        actual = run_pool(self.task_id, actions, seeds, **self.options, **pool_options)
        if "Blind" in self.upstream_id:
            del expected.arrays["obs"], actual.arrays["obs"]
        differences = compare(expected, actual)
        assert differences.total == 0, str(differences)
        assert expected.num_episodes >= min_episodes, expected.num_episodes


LANDER, LANDER2, LANDER_C = "LunarLander-v3", "LunarLander-v2", "LunarLanderContinuous-v3"
V2 = "envpool-test/LunarLanderV2"
WIND = {"enable_wind": True}
LANDERS = [
    Case(LANDER, LANDER, random(), 900),
    Case(LANDER, LANDER, land, 3200),
    Case(LANDER, LANDER, constant(2), 1600),
    Case(LANDER, LANDER, random(), 900, WIND),
    Case(LANDER, LANDER, land, 3200, WIND | {"wind_power": 20.0, "turbulence_power": 2.0}),
    Case(LANDER, LANDER, random(), 1400, {"gravity": -3.0}),
    Case(LANDER_C, LANDER_C, random(), 1100),
    Case(LANDER_C, LANDER_C, land, 2600),
    Case(LANDER_C, LANDER_C, constant(0.3, -0.7), 900),
    Case(LANDER_C, LANDER_C, random(), 1100, WIND),
    Case(LANDER2, V2, random(), 900),
    Case(LANDER2, V2, land, 3200, WIND),
    Case("LunarLanderContinuous-v2", V2, random(), 1100, {"continuous": True}),
]
WALKER, HARDCORE = "BipedalWalker-v3", "BipedalWalkerHardcore-v3"
WALKERS = [
    Case(WALKER, WALKER, random(), 4200),
    Case(WALKER, WALKER, Walk(), 7400),
    Case(WALKER, WALKER, constant(1, -0.5, -1, 0.5), 1400),
    Case(HARDCORE, HARDCORE, random(), 6600),
    Case(HARDCORE, HARDCORE, Walk(), 3200),
    Case(HARDCORE, HARDCORE, constant(1, -0.5, -1, 0.5), 1600),
]
BLIND = "envpool-test/BlindCar"
SHORT = {"max_episode_steps": 120}
DISCRETE = {"continuous": False}
CARS = [
    Case("CarRacing-v3", BLIND, random(), 1000, SHORT),
    Case("CarRacing-v3", BLIND, follow, 1000, SHORT | {"lap_complete_percent": 0.1}),
    Case("CarRacing-v3", BLIND, constant(0.05, 0.8, 0.0), 1000, SHORT),
    Case("CarRacing-v3", BLIND, random(), 1000, SHORT | DISCRETE),
    Case("CarRacing-v3", BLIND, follow, 1000, SHORT | DISCRETE),
    Case("CarRacing-v3", BLIND, random(), 1000, SHORT | {"domain_randomize": True}),
    Case("CarRacing-v2", BLIND + "V2", random(), 1000, SHORT),
]
PICTURES = [
    Case("CarRacing-v3", "CarRacing-v3", follow, 0, {"max_episode_steps": 40}),
    Case("CarRacing-v3", "CarRacing-v3", random(), 0, {"max_episode_steps": 40, "domain_randomize": True} | DISCRETE),
    Case("CarRacing-v2", "envpool-test/CarRacingV2", random(), 0, {"max_episode_steps": 40}),
]


@pytest.mark.parametrize("case", LANDERS, ids=str)
def test_lander(case: Case) -> None:
    case.check(8, 250, 4, num_threads=2)


@pytest.mark.parametrize("case", WALKERS, ids=str)
def test_walker(case: Case) -> None:
    case.check(4, 200, 0, num_threads=2)


@pytest.mark.parametrize("case", CARS, ids=str)
def test_car(case: Case) -> None:
    case.check(2, 250, 4, num_threads=2)


@pytest.mark.parametrize("case", PICTURES, ids=str)
def test_picture_of_car(case: Case) -> None:
    case.check(1, 85, 2)


@pytest.mark.slow
@pytest.mark.parametrize("case", LANDERS + WALKERS + CARS, ids=str)
def test_two_hundred_episodes(case: Case) -> None:
    case.check(25, case.steps, 200, num_threads=2)


@pytest.mark.slow
def test_whole_laps() -> None:
    """Cars that come around: the lap ends the episode, as termination or as truncation, and begins another."""
    for task_id, upstream_id in (("CarRacing-v3", BLIND), ("CarRacing-v2", BLIND + "V2")):
        case = Case(task_id, upstream_id, follow, 0, {"lap_complete_percent": 0.8, "max_episode_steps": 4000})
        case.check(3, 4000, 3, num_threads=2)


@pytest.mark.parametrize("task_id", [LANDER, WALKER])
def test_threads_batches_and_autoreset_styles(task_id: str) -> None:
    limit = {"max_episode_steps": 30}
    runs: list[dict[str, Any]] = [
        {"num_threads": n, "autoreset_mode": m} for n in (1, 3) for m in ("next_step", "same_step", "disabled")
    ]
    runs += [{"num_threads": 2, "batch_size": b} for b in (1, 5, 19)]
    assert_exact(task_id, Upstream(task_id, limit), num_envs=20, steps=70, options=limit, runs=runs)


@pytest.mark.parametrize("num_envs", [1, 2, 5, 9, 33])
def test_numbers_of_envs(num_envs: int) -> None:
    """Lanes that are full, in part empty, and several sets of them."""
    limit = {"max_episode_steps": 25}
    assert_exact(WALKER, Upstream(WALKER, limit), actions="sticky", num_envs=num_envs, steps=60, options=limit)


@pytest.mark.parametrize("mode", ["out_of_range", "non_finite"])
def test_odd_throttles(mode: str) -> None:
    """NaN leaves an engine of the lander off."""
    assert_exact(LANDER_C, Upstream(LANDER_C), actions=mode, num_envs=8, steps=250, runs=[{"num_threads": 2}])


def test_torques_out_of_range() -> None:
    assert_exact(WALKER, Upstream(WALKER), actions="out_of_range", num_envs=4, steps=200, min_episodes=0)


def test_seeding_anew_keeps_the_world() -> None:
    """As with upstream's reset(seed=...), episodes depend a little on those before."""
    import gymnasium

    import envpool

    env = gymnasium.make(WALKER)
    with envpool.make_gymnasium(WALKER, num_envs=1, seed=3) as pool:
        for seed in (3, 3, 11):
            theirs, _ = env.reset(seed=seed)
            ours, _ = pool.reset(seed=seed)
            for _ in range(40):
                assert np.array_equal(ours[0], theirs)
                theirs = env.step(np.float32([0.3, -0.4, 0.5, 0.6]))[0]
                ours = pool.step(np.float32([[0.3, -0.4, 0.5, 0.6]]))[0]
