"""Cases of MinAtar for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envpool.minatar.registration import GAMES
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.minatar.players import PlayedUpstream
from tests.minatar.upstream import frames_of, upstream_of
from tests.support.oracles.frames import STEPS
from tests.support.oracles.trajectory import Trajectory

TASKS = [f"MinAtar/{name}-v{version}" for name in GAMES for version in (0, 1)]
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1, "autoreset_mode": "same_step"},
    {"num_threads": 8, "autoreset_mode": "disabled"},
    {"num_threads": 2, "batch_size": 5},
]
#: Options that upstream takes, too.
OPTIONS: list[dict[str, Any]] = [
    {"sticky_action_prob": 0.0},
    {"sticky_action_prob": 1.0},
    {"sticky_action_prob": 0.7, "difficulty_ramping": False},
    {"max_episode_steps": 30},
]
#: Steps of 50 envs, in which 200 episodes end. An episode of Freeway has 2501 steps and a reset.
LONG = {"MinAtar/Freeway-v1": 4 * 2502}
STILL = {"sticky_action_prob": 0.0}


class Played:
    """Asserts that players got far: the longest episode, and the largest reward of a step."""

    def __init__(self, steps: int, reward: int = 1):
        self.steps, self.reward = steps, reward

    def __call__(self, expected: Trajectory) -> None:
        assert expected.arrays["elapsed_step"].max() >= self.steps
        assert expected.arrays["reward"].max() >= self.reward


#: What players without sticky actions reach in 1,200 steps. After 918 steps, Asterix gets no harder.
FAR = {
    "MinAtar/Asterix-v1": Played(930),
    "MinAtar/Breakout-v1": Played(1000),
    "MinAtar/Freeway-v1": Played(1000),
    "MinAtar/Seaquest-v1": Played(500, reward=2),
    "MinAtar/SpaceInvaders-v1": Played(250),
}


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with MinAtar."""
    for task_id in TASKS:
        upstream, is_endless = upstream_of(task_id), "Freeway" in task_id
        yield ExactnessCase(task_id, upstream, runs=RUNS, min_episodes=0 if is_endless else 10)
        if task_id in FAR:  # 200 episodes of a game: v0 has other actions only
            yield ExactnessCase(
                task_id,
                upstream,
                "200 episodes",
                num_envs=50,
                steps=LONG.get(task_id, 2500),
                runs=[RUNS[3]] if is_endless else [RUNS[0], RUNS[3]],
                min_episodes=200,
                is_slow=True,
                is_recorded=True,
            )
        for options in OPTIONS:
            yield ExactnessCase(
                task_id,
                upstream_of(task_id, options),
                describe(options),
                options,
                num_envs=8,
                steps=200,
                min_episodes=0,
            )
        played = PlayedUpstream.of(upstream)
        if task_id in FAR:
            yield ExactnessCase(
                task_id, played, "played", actions="players", num_envs=2, steps=400, runs=RUNS[:1], min_episodes=0
            )
            yield ExactnessCase(
                task_id,
                PlayedUpstream.of(upstream, kwargs=STILL),
                f"{describe(STILL)}-played",
                STILL,
                actions="players",
                num_envs=8,
                steps=1200,
                seed=1,
                min_episodes=0,
                verify=FAR[task_id],
                is_slow=True,
                is_recorded=True,
            )
        yield ExactnessCase(
            task_id,
            played,
            "played long",
            actions="players",
            num_envs=8,
            steps=3000,
            min_episodes=0,
            is_slow=True,
            is_recorded=True,
        )
    # The action set of the other version.
    for name, is_minimal in (("Breakout-v0", True), ("SpaceInvaders-v1", False)):
        options = {"use_minimal_action_set": is_minimal}
        other = upstream_of(f"MinAtar/{name[:-1]}{int(is_minimal)}")
        yield ExactnessCase(f"MinAtar/{name}", other, describe(options), options)


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

#: Height and width: whole numbers of pixels for each cell, other sizes, and fewer pixels than cells.
SIZES = [None, (320, 320), (84, 84), (37, 501), (4, 7)]


def frames() -> Iterator[FrameCase]:
    """Yield the comparisons with upstream's frames."""
    for task_id in TASKS:
        for size in SIZES:
            yield FrameCase(task_id, frames_of(task_id), "", size, {"seeds": range(8), "steps": (*STEPS, 55, 80)})
        yield FrameCase(task_id, frames_of(task_id), "every step", None, {"seeds": range(8), "steps": range(400)})


FRAMES = list(frames())
UNDISTURBED = [UndisturbedCase(task_id) for task_id in TASKS]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [StateCase(task_id) for task_id in TASKS]
