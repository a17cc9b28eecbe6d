"""Cases of Box2D for the conformance tests: exactness and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.box2d.played import DEFAULT, compare_frames, slide
from tests.box2d.upstream import BLIND, V2, Constant, Policy, Walk, follow, land, play, random
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.support.oracles.frames import STEPS, Size
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory

LANDER, LANDER2, LANDER_C = "LunarLander-v3", "LunarLander-v2", "LunarLanderContinuous-v3"
WALKER, HARDCORE = "BipedalWalker-v3", "BipedalWalkerHardcore-v3"
CAR, CAR2 = "CarRacing-v3", "CarRacing-v2"


def name_of(policy: Policy) -> str:
    """Return the name of a policy for test ids."""
    return getattr(policy, "__qualname__", type(policy).__name__).partition(".")[0]


def upstream_of(task_id: str, upstream_id: str, options: dict[str, Any]) -> Upstream:
    """Return the oracle of a task."""
    return Upstream(upstream_id, options, info={"lap_finished": "lap_finished"} if "CarRacing" in task_id else {})


# ---- exactness -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PolicyUpstream(Upstream):
    """An upstream environment in which a policy acts."""

    make_policy: Callable[[], Policy] = random

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        if self.actions_of(case) is not None:
            return super().play(case)
        actions, expected = play(self, self.make_policy(), case.seeds, case.steps)
        return actions, case.seeds, expected

    def actions_of(self, case: Any) -> Any:
        """Return the actions of a constant policy, or None: others act on what upstream returns."""
        policy = self.make_policy()
        if not isinstance(policy, Constant):
            return None
        dtype = policy.action.dtype if policy.action.ndim else np.int32
        return np.full((case.steps, case.num_envs, *policy.action.shape), policy.action, dtype)


#: A task, its id upstream, what makes the policy, the steps that 25 environments need for 200 episodes, and options.
Row = tuple[str, str, Callable[[], Policy], int, dict[str, Any]]
WIND = {"enable_wind": True}
LANDERS: list[Row] = [
    (LANDER, LANDER, random, 900, {}),
    (LANDER, LANDER, lambda: land, 3200, {}),
    (LANDER, LANDER, lambda: Constant(2), 1600, {}),
    (LANDER, LANDER, random, 900, WIND),
    (LANDER, LANDER, lambda: land, 3200, WIND | {"wind_power": 20.0, "turbulence_power": 2.0}),
    (LANDER, LANDER, random, 1600, {"gravity": -3.0}),
    (LANDER_C, LANDER_C, random, 1100, {}),
    (LANDER_C, LANDER_C, lambda: land, 2600, {}),
    (LANDER_C, LANDER_C, lambda: Constant(0.3, -0.7), 900, {}),
    (LANDER_C, LANDER_C, random, 1100, WIND),
    (LANDER2, V2, random, 900, {}),
    (LANDER2, V2, lambda: land, 3200, WIND),
    ("LunarLanderContinuous-v2", V2, random, 1100, {"continuous": True}),
]
WALKERS: list[Row] = [
    (WALKER, WALKER, random, 4500, {}),
    (WALKER, WALKER, Walk, 7400, {}),
    (WALKER, WALKER, lambda: Constant(1, -0.5, -1, 0.5), 1400, {}),
    (HARDCORE, HARDCORE, random, 6600, {}),
    (HARDCORE, HARDCORE, Walk, 3200, {}),
    (HARDCORE, HARDCORE, lambda: Constant(1, -0.5, -1, 0.5), 1600, {}),
]
SHORT = {"max_episode_steps": 120}
DISCRETE = {"continuous": False}
#: Without frames, which take upstream most of the time.
CARS: list[Row] = [
    (CAR, BLIND, random, 1000, SHORT),
    (CAR, BLIND, lambda: follow, 1000, SHORT | {"lap_complete_percent": 0.1}),
    (CAR, BLIND, lambda: Constant(0.05, 0.8, 0.0), 1000, SHORT),
    (CAR, BLIND, random, 1000, SHORT | DISCRETE),
    (CAR, BLIND, lambda: follow, 1000, SHORT | DISCRETE),
    (CAR, BLIND, random, 1000, SHORT | {"domain_randomize": True}),
    (CAR2, BLIND + "V2", random, 1000, SHORT),
]
LAP = {"lap_complete_percent": 0.8, "max_episode_steps": 4000}
LAPS: list[Row] = [(CAR, BLIND, lambda: follow, 0, LAP), (CAR2, BLIND + "V2", lambda: follow, 0, LAP)]
FORTY = {"max_episode_steps": 40}
CARS_WITH_FRAMES: list[Row] = [
    (CAR, CAR, lambda: follow, 0, FORTY),
    (CAR, CAR, random, 0, FORTY | {"domain_randomize": True} | DISCRETE),
    (CAR2, "envpool-test/CarRacingV2", random, 0, FORTY),
]


def played(
    row: Row, label: str, num_envs: int, steps: int, min_episodes: int, num_threads: int = 2, is_slow: bool = False
) -> ExactnessCase:
    """Return the comparison of a pool with an upstream environment in which a policy acts."""
    task_id, upstream_id, make_policy, _, options = row
    upstream = upstream_of(task_id, upstream_id, options)
    is_random, is_constant = make_policy is random, isinstance(make_policy(), Constant)
    if not (is_slow and is_random):  # what the policy draws depends on when episodes end
        upstream = PolicyUpstream(upstream.id, upstream.kwargs, info=upstream.info, make_policy=make_policy)
    return ExactnessCase(
        task_id,
        upstream,
        "-".join(filter(None, [describe(options), label])),
        options,
        actions=name_of(make_policy()),
        num_envs=num_envs,
        steps=steps,
        seed=1,
        runs=[{"num_threads": num_threads}],
        min_episodes=min_episodes,
        ignored=["obs"] if upstream_id.startswith(BLIND) else [],
        is_slow=is_slow,
        is_recorded=is_slow and (is_random or is_constant),
    )


def exactness() -> Iterator[ExactnessCase]:
    """Yield every comparison with Gymnasium."""
    yield from (played(row, "", 8, 250, 4) for row in LANDERS)
    yield from (played(row, "", 4, 200, 0) for row in WALKERS)
    yield from (played(row, "", 2, 250, 4) for row in CARS)
    yield from (played(row, "with frames", 1, 85, 2, num_threads=1) for row in CARS_WITH_FRAMES)
    for row in LANDERS + WALKERS + CARS:
        yield played(row, "200 episodes", 25, row[3], 200, is_slow=True)
    # A finished lap ends the episode, as termination or as truncation, and starts another episode.
    yield from (played(row, "whole laps", 3, 4000, 3, is_slow=True) for row in LAPS)

    runs: list[dict[str, Any]] = [
        {"num_threads": n, "autoreset_mode": m} for n in (1, 3) for m in ("next_step", "same_step", "disabled")
    ]
    runs += [{"num_threads": 2, "batch_size": b} for b in (1, 5, 19)]
    limit: dict[str, Any] = {"max_episode_steps": 30}
    for task_id in (LANDER, WALKER):
        upstream = Upstream(task_id, limit)
        yield ExactnessCase(
            task_id, upstream, "threads, batches and auto-reset modes", limit, num_envs=20, steps=70, runs=runs
        )
    for num_envs in (1, 2, 5, 9, 33):  # Lanes that are full, lanes that are partly empty, and several sets of lanes.
        limit = {"max_episode_steps": 25}
        label = f"num_envs={num_envs}"
        yield ExactnessCase(
            WALKER, Upstream(WALKER, limit), label, limit, actions="sticky", num_envs=num_envs, steps=60
        )
    for mode in ("out_of_range", "non_finite"):  # NaN leaves an engine of the lander off.
        upstream = Upstream(LANDER_C)
        yield ExactnessCase(LANDER_C, upstream, actions=mode, num_envs=8, steps=250, runs=[{"num_threads": 2}])
    yield ExactnessCase(WALKER, Upstream(WALKER), actions="out_of_range", num_envs=4, steps=200, min_episodes=0)
    # Two episodes in the same world; the camera comes down on the car in the first second.
    rows: list[tuple[dict[str, Any], str, int]] = [
        ({}, "sticky", 80),
        ({}, "out_of_range", 80),
        ({"domain_randomize": True}, "sticky", 80),
        ({"domain_randomize": True}, "out_of_range", 80),
        (DISCRETE, "sticky", 120),
    ]
    for more, mode, steps in rows:
        options = {**more, "max_episode_steps": 60}
        upstream = upstream_of(CAR, CAR, options)
        yield ExactnessCase(CAR, upstream, describe(options), options, actions=mode, num_envs=1, steps=steps)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayedFrameCase(FrameCase):
    """A comparison of frames of several sizes, while a policy acts in the upstream environment.

    Attributes
    ----------
    upstream_id : str
        Id of the upstream environment.
    make_policy : callable
        Returns a fresh policy.
    seeds, moments : sequence of int
        Seeds, and the steps after which frames are compared.
    sizes : sequence of (int, int)
        Heights and widths of the frames.
    """

    upstream_id: str = ""
    make_policy: Callable[[], Policy] = random
    seeds: Sequence[int] = (1,)
    moments: Sequence[int] = STEPS
    sizes: Sequence[Size] = field(default_factory=lambda: [DEFAULT])

    def check(self) -> None:
        """Raise AssertionError when a pixel differs."""
        policy = self.make_policy()
        for seed in self.seeds:
            compare_frames(self.task_id, self.upstream_id, policy, dict(self.options), seed, self.moments, self.sizes)


#: A task, its id upstream, what makes the policy, and options.
RENDERED: list[tuple[str, str, Callable[[], Policy], dict[str, Any]]] = [
    (LANDER2, V2, lambda: random(2), {}),
    (LANDER, LANDER, lambda: random(3), {}),
    ("LunarLanderContinuous-v2", V2, lambda: random(4), {"continuous": True}),
    (LANDER_C, LANDER_C, lambda: random(5), {}),
    (WALKER, WALKER, Walk, {}),
    (HARDCORE, HARDCORE, lambda: random(6), {}),
    (CAR2, "envpool-test/CarRacingV2", lambda: follow, {}),
    (CAR, CAR, lambda: slide, {}),
]
RENDERED_LONG = [
    *RENDERED,
    (LANDER, LANDER, lambda: land, {}),
    (LANDER, LANDER, lambda: Constant(2), {"enable_wind": True, "gravity": -5.0}),
    (LANDER2, V2, lambda: land, {}),
    (WALKER, WALKER, lambda: random(7), {}),
    (HARDCORE, HARDCORE, Walk, {}),
    (CAR, CAR, lambda: random(8), {"domain_randomize": True, "continuous": False}),
]
SIZES: list[Size] = [(1, 1), (84, 84), (400, 599), (401, 600), (500, 480), (700, 1100)]


def frames() -> Iterator[FrameCase]:
    """Yield every comparison with Gymnasium."""

    def case(row: Any, label: str, **more: Any) -> FrameCase:
        task_id, upstream_id, make_policy, options = row
        label = "-".join(filter(None, [describe(options), name_of(make_policy()), label]))
        return PlayedFrameCase(
            task_id, lambda size: None, label, None, options, upstream_id=upstream_id, make_policy=make_policy, **more
        )

    for row in RENDERED:
        yield case(row, "", sizes=[DEFAULT, (300, 500)])
    for row in (RENDERED[1], RENDERED[4], RENDERED[7]):
        for size in SIZES:
            yield case(row, "x".join(map(str, size)), seeds=[3], moments=(0, 2), sizes=[size])
    yield case(RENDERED[7], "wheels leave marks", seeds=[5], moments=(0, 40, 80, 120))
    for row in RENDERED_LONG:
        # Some differences appear rarely, and then in every frame; others in few frames.
        is_car = row[0].startswith("CarRacing")
        seeds = range(10, 12 if is_car else 15)
        yield case(row, "many seeds", seeds=seeds, moments=(*STEPS, 170, 230), is_slow=True)
        yield case(row, "every frame", seeds=[15], moments=range(12 if is_car else 60), is_slow=True)
    for row, steps in ((RENDERED[4], 1100), (RENDERED_LONG[8], 900), (RENDERED_LONG[10], 900)):
        yield case(row, "whole walks and landings", moments=range(0, steps, 13), is_slow=True)


FRAMES = list(frames())
UNDISTURBED = [
    UndisturbedCase(task_id, {"max_episode_steps": 25}, mode)
    for task_id in (LANDER, LANDER2, HARDCORE, CAR)
    for mode in ("random", "sticky")
]

# ---- saved states ----------------------------------------------------------------------------------------------------

SAVED = [LANDER, LANDER2, LANDER_C, "LunarLanderContinuous-v2", WALKER, HARDCORE, CAR, CAR2]
SMALL_FRAMES = {"render_height": 40, "render_width": 60}
WINDY = {"enable_wind": True, "turbulence_power": 2.0}
MODES = ("next_step", "same_step", "disabled")


def state_case(task_id: str, options: dict[str, Any] | None = None, **more: Any) -> StateCase:
    """Return a case of a task, of which all but version 3 of LunarLander keep their world across episodes."""
    keeps_world = not task_id.startswith("LunarLander") or task_id.endswith("v2")
    return StateCase(task_id, SMALL_FRAMES | (options or {}), outlives_seed=keeps_world, **more)


STATES = [
    # Landers touch the ground after 70 steps or more.
    state_case(LANDER, label="short", modes=["same_step"], limit=110, after=120),
    state_case(LANDER2, WINDY, label="short", modes=["next_step"], limit=40, after=50),
    state_case(WALKER, label="short", modes=["disabled"], limit=30, after=60),
    state_case(HARDCORE, label="short", modes=["next_step"], limit=16, after=30, actions="sticky"),
    state_case(CAR, label="short", modes=["same_step"], limit=8, after=12, actions="sticky", has_frames=False),
    *(state_case(task_id, modes=[MODES[k % 3]], is_slow=True) for k, task_id in enumerate(SAVED)),
    *(
        state_case(task_id, label=f"limit={limit}", actions=actions, limit=limit, is_slow=True)
        for task_id, limit in ((LANDER, 150), (LANDER2, 150), (HARDCORE, 120))
        for actions in ("random", "sticky")
    ),
    state_case(CAR, {"domain_randomize": True}, actions="sticky", limit=120, modes=["next_step"], is_slow=True),
]
