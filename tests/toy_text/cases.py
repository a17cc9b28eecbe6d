"""Cases of toy text for the conformance tests: exactness and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.support.oracles.frames import STEPS, rendered, resized, scaled_smoothly
from tests.support.oracles.gymnasium_oracle import Upstream, reference
from tests.support.oracles.trajectory import Trajectory
from tests.toy_text.rules import CatchRules, NChainRules
from tests.toy_text.upstream import guided_actions, upstream_of

#: Every way to run a pool; the first one is used for the quick comparisons of options.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1},
    {"num_threads": 8},
    {"num_threads": 2, "batch_size": 5},
    {"num_threads": 8, "batch_size": 1},
    {"autoreset_mode": "same_step"},
    {"autoreset_mode": "disabled"},
]

#: Every task id that upstream has, at least under another version, with options.
SHORT = {"max_episode_steps": 60}
TASKS: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {}),
    ("FrozenLake8x8-v1", {}),
    ("Taxi-v3", {}),
    ("Taxi-v4", {}),
    ("CliffWalking-v0", SHORT),
    ("CliffWalking-v1", SHORT),
    ("tabular/CliffWalking-v0", SHORT),
    ("CliffWalkingSlippery-v1", SHORT),
    ("Blackjack-v1", {}),
    ("tabular/Blackjack-v0", {}),
]

ONE_START = ["FFFF", "HSGF"]
MANY_STARTS = ["SFS", "HSG", "FFF", "SSS", "FHF"]
NO_GOAL = ["FSF"]

#: Task, options of the pool, and upstream's options where they differ.
OPTIONS: list[tuple[str, dict[str, Any], dict[str, Any] | None]] = [
    ("FrozenLake-v1", {"is_slippery": False}, None),
    ("FrozenLake-v1", {"success_rate": 0.0}, None),
    ("FrozenLake-v1", {"success_rate": 0.7}, None),
    ("FrozenLake-v1", {"success_rate": 1.0}, None),
    ("FrozenLake-v1", {"success_rate": 0.1, "is_slippery": False}, None),
    ("FrozenLake-v1", {"reward_schedule": (3.3, -1, -0.01)}, None),
    ("FrozenLake-v1", {"reward_schedule": [2, 0.5, 1e-3]}, None),
    ("FrozenLake-v1", {"map_name": "8x8"}, None),
    ("FrozenLake8x8-v1", {"map_name": "4x4"}, None),
    ("FrozenLake-v1", {"size": 8}, {"map_name": "8x8"}),
    ("FrozenLake8x8-v1", {"size": 4}, {"map_name": "4x4"}),
    ("FrozenLake-v1", {"desc": ONE_START}, None),
    ("FrozenLake-v1", {"desc": MANY_STARTS}, None),
    ("FrozenLake-v1", {"desc": MANY_STARTS, "map_name": "8x8", "size": 8}, {"desc": MANY_STARTS}),
    ("FrozenLake-v1", {"desc": NO_GOAL, "max_episode_steps": 20}, None),
    ("FrozenLake-v1", {"desc": [list(row) for row in ONE_START]}, None),
    ("Taxi-v4", {"is_rainy": True}, None),
    ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.35}, None),
    ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.0}, None),
    ("Taxi-v4", {"is_rainy": True, "rainy_probability": 1.0}, None),
    ("Taxi-v4", {"fickle_passenger": True}, None),
    ("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 1.0}, None),
    ("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 0.0}, None),
    ("Taxi-v3", {"is_rainy": True, "fickle_passenger": True, "fickle_probability": 0.9}, None),
    ("CliffWalking-v1", {"is_slippery": True, "max_episode_steps": 60}, None),
    ("CliffWalkingSlippery-v1", {"is_slippery": False, "max_episode_steps": 60}, None),
    ("Blackjack-v1", {"natural": True}, None),
    ("Blackjack-v1", {"sab": False}, None),
    ("Blackjack-v1", {"natural": True, "sab": False}, None),
]


@dataclass(frozen=True)
class GuidedUpstream(Upstream):
    """An upstream environment with a table of transitions, in which a walker mostly knows the way."""

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        actions = guided_actions(self, case.steps, case.num_envs, case.seed)
        return actions, case.seeds, reference(self, actions, case.seeds)

    def actions_of(self, case: Any) -> None:
        """Return None: a walker acts on what upstream returns."""


def guided(upstream: Upstream) -> GuidedUpstream:
    """Return an oracle whose walkers mostly know the way."""
    return GuidedUpstream(upstream.id, upstream.kwargs, info=upstream.info)


def assert_walkers_arrive(expected: Trajectory) -> None:
    """Assert that walkers reached the end often."""
    assert expected.arrays["terminated"].sum() >= 20


class FickleRides:
    """Asserts that passengers changed their destination exactly where the options allow it: only on board."""

    def __init__(self, options: Mapping[str, Any]):
        self.is_fickle = options.get("fickle_passenger", False) and options.get("fickle_probability", 0.3) > 0

    def __call__(self, expected: Trajectory) -> None:
        assert expected.arrays["terminated"].sum() >= 5
        destination = expected.arrays["obs"] % 4
        has_changed = (np.diff(destination, axis=0) != 0) & (expected.arrays["elapsed_step"][1:] > 0)
        assert has_changed.any() == self.is_fickle


def tabular() -> Iterator[ExactnessCase]:
    """Yield the comparisons with Gymnasium."""
    for task_id, options in TASKS:
        upstream, text = upstream_of(task_id, options), describe(options)
        case = ExactnessCase(task_id, upstream, text, options, num_envs=20, steps=250, runs=RUNS)
        yield case
        if "Blackjack" not in task_id:
            yield replace(
                case, oracle=guided(upstream), actions="guided", seed=5, min_episodes=0, verify=assert_walkers_arrive
            )
    for task_id, options, kwargs in OPTIONS:
        upstream, text = upstream_of(task_id, options if kwargs is None else kwargs), describe(options)
        case = ExactnessCase(task_id, upstream, text, options, num_envs=8, steps=200, runs=RUNS[:1])
        yield case
        if task_id.startswith("Taxi"):
            yield replace(
                case,
                oracle=guided(upstream),
                actions="guided",
                num_envs=20,
                steps=250,
                seed=5,
                min_episodes=0,
                verify=FickleRides(options),
            )
    # 50,000 steps of every task, 10,000 of every option.
    rows = [(t, o, o, 50) for t, o in TASKS] + [(t, o, o if k is None else k, 10) for t, o, k in OPTIONS]
    for task_id, options, kwargs, num_envs in rows:
        upstream = upstream_of(task_id, kwargs)
        case = ExactnessCase(
            task_id,
            upstream,
            f"{describe(options)}-long",
            options,
            num_envs=num_envs,
            steps=1000,
            runs=[RUNS[0], RUNS[3]],
            is_slow=True,
        )
        yield replace(case, is_recorded=True)
        yield replace(case, actions="sticky", is_recorded=True)
        if "Blackjack" not in task_id:
            yield replace(case, oracle=guided(upstream), actions="guided", seed=5, min_episodes=0)


# ---- values of single environments -------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnArguments(Upstream):
    """Upstream environments of which environment i has row i of some arguments.

    Attributes
    ----------
    rows : mapping of str to sequence
        Values by the names of the arguments, one for each environment.
    """

    rows: Mapping[str, Any] = field(default_factory=dict)

    def start(self, seed: int) -> Any:
        own = {name: rows[seed % 1000] for name, rows in self.rows.items()}
        return replace(self, kwargs=dict(self.kwargs) | own, rows={}).start(seed) if self.rows else super().start(seed)

    def actions_of(self, case: Any) -> Any:
        return super().actions_of(replace(case, options={k: v for k, v in case.options.items() if k not in self.rows}))


NUM_OWN = 12
OWN_MAPS = [generate_random_map(size=5, p=0.75, seed=i) for i in range(NUM_OWN - 1)] + [
    ["SFSFF", "FFFHF"] + ["GFFFS"] * 3
]
SHARES = [float(p) for p in np.linspace(0, 1, NUM_OWN)]
#: Task, options of all environments, arguments of which each environment has its own.
OWN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("FrozenLake-v1", {}, {"desc": OWN_MAPS, "success_rate": SHARES}),
    ("FrozenLake-v1", {"is_slippery": False}, {"desc": OWN_MAPS}),
    ("FrozenLake8x8-v1", {}, {"success_rate": SHARES}),
    ("Taxi-v4", {"is_rainy": True}, {"rainy_probability": SHARES}),
    (
        "Taxi-v4",
        {"is_rainy": True, "fickle_passenger": True},
        {"rainy_probability": SHARES[::-1], "fickle_probability": SHARES},
    ),
    ("Taxi-v4", {"fickle_passenger": True}, {"fickle_probability": SHARES}),
]


def own_arguments(task_id: str, options: Mapping[str, Any], rows: Mapping[str, Any]) -> OwnArguments:
    """Return the oracle of environments with arguments of their own."""
    return OwnArguments.of(upstream_of(task_id, options | upstream_map(task_id, rows)), rows=rows)


def upstream_map(task_id: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the argument by which upstream chooses the map of a task, unless each environment has its own."""
    return {"map_name": "8x8"} if "8x8" in task_id and "desc" not in rows else {}


def own() -> Iterator[ExactnessCase]:
    """Yield the comparisons of environments with arguments of their own."""
    for task_id, options, rows in OWN:
        case = ExactnessCase(
            task_id,
            own_arguments(task_id, options, rows),
            f"own {' and '.join(rows)}-{describe(options)}",
            dict(options) | dict(rows),
            actions="sticky",
            num_envs=NUM_OWN,
            steps=200,
            runs=RUNS,
        )
        yield case
        yield replace(case, actions="random", steps=2000, is_slow=True, is_recorded=True)


# ---- Catch and NChain, against their rules in plain Python -----------------------------------------------------------


def assert_wins_and_losses(expected: Trajectory) -> None:
    """Assert that balls were caught and missed."""
    assert set(np.unique(expected.arrays["reward"])) == {-1.0, 0.0, 1.0}


def assert_default_chain(expected: Trajectory) -> None:
    """Assert that only the time limit of 1000 steps ended episodes, and that all rewards appeared."""
    assert expected.arrays["truncated"][1000].all()
    assert not expected.arrays["terminated"].any()
    assert set(np.unique(expected.arrays["reward"])) == {0.0, 2.0, 10.0}


BOARDS: list[dict[str, int]] = [
    {},
    {"height": 2, "width": 1},
    {"height": 2, "width": 4},
    {"height": 7},
    {"width": 8},
    {"height": 40, "width": 30},
    {"max_episode_steps": 5},
    {"max_episode_steps": 9},
]
CHAINS: list[dict[str, Any]] = [
    {},
    {"n": 1},
    {"n": 2, "slip": 0.5},
    {"n": 40, "slip": 0.01},
    {"slip": 0.0},
    {"slip": 1.0},
    {"small": -0.1, "large": 0.3},
    {"small": 1, "large": 1e9},
]


def plain_rules() -> Iterator[ExactnessCase]:
    """Yield the comparisons of tasks that Gymnasium does not have."""
    for options in BOARDS:
        has_both = options.get("width") != 1 and options.get("max_episode_steps") != 5
        yield ExactnessCase(
            "Catch-v0",
            CatchRules("Catch-v0", options),
            describe(options),
            options,
            num_envs=20,
            steps=250,
            runs=RUNS,
            min_episodes=20,
            verify=assert_wins_and_losses if has_both else None,
        )
    for actions in ("random", "sticky"):
        catch = ExactnessCase("Catch-v0", CatchRules("Catch-v0"), "long", actions=actions, runs=RUNS, is_slow=True)
        yield replace(catch, num_envs=50, steps=1000)
        yield replace(catch, task_id="NChain-v0", oracle=NChainRules("NChain-v0"), num_envs=25, steps=2000)
        for chain in CHAINS:
            options = {**chain, "max_episode_steps": 90}
            yield ExactnessCase(
                "NChain-v0",
                NChainRules("NChain-v0", options),
                describe(options),
                options,
                actions=actions,
                num_envs=20,
                steps=250,
                runs=RUNS,
            )
    yield ExactnessCase(
        "NChain-v0",
        NChainRules("NChain-v0"),
        "default time limit",
        num_envs=3,
        steps=1100,
        min_episodes=3,
        verify=assert_default_chain,
    )


EXACTNESS = [*tabular(), *own(), *plain_rules()]

# ---- frames ----------------------------------------------------------------------------------------------------------

LAKE = ["SFFHF", "FFGSF"]
RENDERED: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {}),
    ("FrozenLake8x8-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"desc": LAKE}),
    ("CliffWalking-v0", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalkingSlippery-v1", {}),
    ("Taxi-v3", {}),
    ("Taxi-v4", {"is_rainy": True, "fickle_passenger": True}),
    ("Blackjack-v1", {}),
]
#: Height and width: out of proportion, and without a whole number of pixels for each cell.
SIZES = [(100, 150), (600, 301)]
#: Name, seeds, steps, and whether the test is slow.
ROUNDS: list[tuple[str, tuple[int, ...], Any, bool]] = [
    ("short", (0, 1, 2), STEPS, False),
    ("full", (0, 1, 2, 1000, 1001, 1002), range(101), True),
]


def set_lake(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Set the size of frames of FrozenLake."""
    inner: Any = env.unwrapped
    inner.window_size, inner.cell_size = (width, height), (width // inner.ncol, height // inner.nrow)


def set_cliff(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Set the size of frames of CliffWalking, whose cells are squares, as the width of a cell scales its images."""
    inner: Any = env.unwrapped
    side = min(height // 4, width // 12)
    inner.window_size, inner.cell_size = (width, height), (side, side)


def large_lake(rows: int, columns: int) -> list[str]:
    """Return a map of a lake."""
    middle = ["FH" * (columns // 2) + "F" * (columns % 2)] * (rows - 2)
    return ["S" + "F" * (columns - 1), *middle, "F" * (columns - 1) + "G"]


def frames() -> Iterator[FrameCase]:
    """Yield every comparison with Gymnasium; where upstream has no other size, its frames are scaled smoothly."""
    for task_id, options in RENDERED:
        upstream = upstream_of(task_id, options)
        if task_id.startswith("FrozenLake"):
            make = rendered(upstream, set_lake)
        elif task_id.startswith("CliffWalking"):
            make = rendered(upstream, set_cliff)
        else:
            make = resized(rendered(upstream), scaled_smoothly)
        for name, seeds, steps, is_slow in ROUNDS:
            for size in [None, *SIZES]:
                how = {
                    "options": options,
                    "seeds": seeds,
                    "steps": steps,
                    "renders_always": task_id.startswith("Taxi"),
                }
                yield FrameCase(task_id, make, f"{describe(options)}-{name}", size, how, is_slow)
    blackjack = rendered(upstream_of("Blackjack-v1", {}))
    # All cards, sums and usable aces appear in this many hands.
    hands = {"seeds": range(40), "steps": range(8), "mode": "sticky"}
    yield FrameCase("Blackjack-v1", blackjack, "every card", None, hands)
    for rows, columns in ((3, 40), (70, 7), (2, 600)):  # Upstream's frames have 512 pixels a side at most.
        options = {"desc": large_lake(rows, columns)}
        make = rendered(upstream_of("FrozenLake-v1", options))
        # In cells narrower than a pixel, upstream leaves the walker of the frame before.
        how = {"options": options, "steps": (0, 9) if columns <= 512 else (9,), "seeds": (0,)}
        yield FrameCase("FrozenLake-v1", make, f"map of {rows}x{columns}", None, how)


FRAMES = list(frames())
UNDISTURBED = [UndisturbedCase(task_id, options) for task_id, options in [*RENDERED, ("Catch-v0", {})]]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [
    *(StateCase(task_id) for task_id, _ in TASKS),
    StateCase("Catch-v0"),
    StateCase("NChain-v0", has_frames=False),
    StateCase("FrozenLake-v1", {"desc": MANY_STARTS}),
    StateCase("Taxi-v4", {"is_rainy": True, "fickle_passenger": True, "fickle_probability": 0.9}),
]
