"""Saved states of ViZDoom, which restoring plays again; tests/conformance has the comparisons of every scenario."""

from __future__ import annotations

import copy
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError, StateError
from envpool.verify.records import leaves
from envpool.vizdoom.wheel import package_folder
from tests.support.process import wait_until
from tests.support.saved import body_of, core_at, forged, refused, sealed, snapshot_at
from tests.vizdoom.cases import BUFFERS, MULTIPLAYER
from tests.vizdoom.config_files import written
from tests.vizdoom.engines import engines, kill

TASK = "DeadlyCorridor-v1"
SMALL = {"stack_num": 2, "img_height": 20, "img_width": 20}
MAPS = str(package_folder() / "scenarios" / "basic.wad")
#: The generator before the engine, the scenario, and a digest.
HEAD = struct.Struct("<2512sQQ")
#: Bytes of the row that stands for a reset.
RESET = b"\xff"


def make(task_id: str = TASK, num_envs: int = 1, **options: Any) -> Any:
    return envpool.make_gymnasium(task_id, num_envs=num_envs, **{"seed": 3, **SMALL, **options})


def actions_of(pool: Any, steps: int, seed: int = 0) -> np.ndarray:
    """Return random actions: pressed buttons, or indices of combined actions."""
    rng, space = np.random.default_rng(seed), pool.action_space
    if hasattr(space, "n"):
        return rng.integers(0, space.n, (steps, pool.num_envs)).astype(np.int32)
    return rng.integers(0, 2, (steps, pool.num_envs, space.shape[-1])).astype(np.float64)


def play(pool: Any, steps: int, seed: int = 0, actions: Any = None) -> list[Any]:
    """Return the results of steps as bytes."""
    return [rows_of(pool.step(a)) for a in (actions_of(pool, steps, seed) if actions is None else actions)]


def rows_of(results: Any) -> list[tuple[str, bytes]]:
    parts = [leaves(nest, f"{k}") for k, nest in enumerate(results)]
    return [(name, array.tobytes()) for part in parts for name, array in part]


def assert_continues(pool: Any, states: Any, expected: list[Any], seed: int) -> None:
    """Assert that a pool continues from states with the expected results of random steps."""
    pool.set_state(states)
    assert pool.get_state() == states
    assert play(pool, len(expected), seed) == expected


@pytest.mark.parametrize(
    ("options", "size"), [({}, 7 * 8), ({"use_combined_action": True}, 1), ({"episodic_life": True}, 7 * 8)]
)
def test_a_state_grows_with_what_the_engine_plays(options: dict[str, Any], size: int) -> None:
    with make(max_episode_steps=5, **options) as pool:
        pool.reset()
        start = pool.get_state().nbytes
        for t in range(1, 5):
            play(pool, 1)
            assert pool.get_state().nbytes == -(-(start + t * size) // 8) * 8 or size == 1
        play(pool, 2)  # the episode ends, and another one starts in the same engine
        assert pool.get_state().nbytes >= start + 6 * size


def test_other_engines_and_envs() -> None:
    """A state of a later episode is restored in new engines, in engines that have played, and in a pool that copies."""
    with make(num_envs=2, max_episode_steps=9, **dict.fromkeys(BUFFERS, True)) as pool:
        pool.reset()
        for before in (3, 11):
            play(pool, before, before)
            states = pool.get_state()
            expected = play(pool, 20, 1)
            assert_continues(pool, states, expected, 1)
            with make(num_envs=2, max_episode_steps=9, seed=8, **dict.fromkeys(BUFFERS, True)) as other:
                assert_continues(other, states, expected, 1)
        pool.set_state(states)
        with copy.deepcopy(pool) as other:
            assert play(other, 20, 1) == expected
        with make(num_envs=5, max_episode_steps=9, **dict.fromkeys(BUFFERS, True)) as other:
            other.set_state(states[1], 3)
            other.copy_state([3, 3, 3], [0, 4, 2])
            assert all(other.get_state(i) == states[1] for i in (0, 2, 3, 4))


@pytest.mark.slow
def test_the_smoke_of_rockets() -> None:
    """Some of its pixels depend on whether the game is the first one of its engine."""
    options: dict[str, Any] = {"num_envs": 2, "stack_num": 1, "img_height": 240, "img_width": 320}
    with make("RocketBasic-v1", **options) as pool, make("RocketBasic-v1", **options, seed=9) as other:
        pool.reset()
        for before in (40, 120, 120):
            play(pool, before, before)
            states = pool.get_state()
            expected = play(pool, 60, 1)
            assert_continues(other, states, expected, 1)
            assert_continues(pool, states, expected, 1)
            with make("RocketBasic-v1", **options, seed=9) as fresh:
                assert_continues(fresh, states, expected, 1)


@pytest.mark.parametrize(
    ("task_id", "options"),
    [
        ("Cig-v1", {"game_args": MULTIPLAYER}),
        ("Cig-v1", {"game_args": MULTIPLAYER, "episodic_life": True}),
        ("Basic-v1", {"episodic_life": True}),
        ("Cig-v1", {"automap": True}),
    ],
)
def test_several_games_of_an_engine(task_id: str, options: dict[str, Any]) -> None:
    """A state repeats what its engine has played, in multiplayer games and in games of several episodes as well."""
    with make(task_id, max_episode_steps=8, **options) as pool, make(task_id, max_episode_steps=8, **options) as other:
        pool.reset()
        for before in (4, 13, 5):
            play(pool, before, before)
            pool.reset()
            play(pool, 3, 3)
            states = pool.get_state()
            expected = play(pool, 12, 1)
            assert_continues(other, states, expected, 1)
            assert_continues(pool, states, expected, 1)
        size = pool.get_state().nbytes
        pool.reset(seed=5)
        if "game_args" in options:  # the seed has started another engine
            assert pool.get_state().nbytes < size
        else:
            with pytest.raises(StateError, match=r"env 0 could not be saved: reset\(seed=...\) has seeded it again"):
                pool.get_state()
            pool.set_state(states)
            assert pool.get_state() == states


def test_games_with_other_players_have_no_state() -> None:
    """One pool hosts a game that the other one joins; each step waits for the step of the other engine."""
    port = 5000 + os.getpid() % 5000
    with (
        make("Cig-v1", game_args=f"-host 2 -port {port} -deathmatch") as host,
        make("Cig-v1", game_args=f"-join 127.0.0.1:{port}") as guest,
        ThreadPoolExecutor(2) as executor,
    ):
        list(executor.map(lambda pool: pool.reset(), (host, guest)))
        for pool in (host, guest):
            with pytest.raises(StateError, match="env 0 could not be saved: its game has other players, whose actions"):
                pool.get_state()


def test_delta_buttons(tmp_path: Path) -> None:
    """Their numbers are repeated exactly, also infinite ones and those of combined actions."""
    path = written(tmp_path, "available_buttons = { TURN_LEFT_RIGHT_DELTA MOVE_FORWARD_BACKWARD_DELTA ATTACK }")
    options = {"cfg_path": path, "wad_path": MAPS}
    with make("VizdoomCustom-v1", **options) as pool, make("VizdoomCustom-v1", **options, seed=9) as other:
        pool.reset()
        numbers = np.random.default_rng(0).normal(0, 5, (60, 1, 3))
        numbers[7] = [[np.inf, -0.0, 1.0]]
        play(pool, 0, actions=numbers[:30])
        states = pool.get_state()
        expected = play(pool, 0, actions=numbers[30:])
        other.set_state(states)
        assert play(other, 0, actions=numbers[30:]) == expected
    combined = {"use_combined_action": True, "delta_button_config": {"TURN_LEFT_RIGHT_DELTA": (200, -9.0, 9.0)}}
    with make("VizdoomCustom-v1", **options, **combined) as pool:
        assert pool.action_space.n == 400
        pool.reset()
        play(pool, 20)
        states = pool.get_state()
        assert_continues(pool, states, play(pool, 20, 1), 1)


def test_a_changed_configuration_file(tmp_path: Path) -> None:
    text = "available_buttons = { MOVE_LEFT ATTACK }\nliving_reward = {}\n"
    with make("VizdoomCustom-v1", cfg_path=written(tmp_path, text.replace("{}", "1")), wad_path=MAPS) as pool:
        pool.reset()
        states = pool.get_state()
    with make("VizdoomCustom-v1", cfg_path=written(tmp_path, text.replace("{}", "2")), wad_path=MAPS) as pool:
        pool.reset()
        refused(pool, states, "the configuration file of the scenario has changed since it was saved")


def test_recordings(tmp_path: Path) -> None:
    """The games that a state repeats are recorded like others, under the next numbers of the environment."""
    with make(lmp_save_dir=str(tmp_path), max_episode_steps=6) as pool:
        pool.reset()
        play(pool, 9)  # the second step of the second episode
        states = pool.get_state()
        expected = play(pool, 6, 1)  # the last step is in the third episode
        assert_continues(pool, states, expected, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"env_0_{i}.lmp" for i in (1, 2, 4, 5)]
    assert (tmp_path / "env_0_1.lmp").read_bytes() == (tmp_path / "env_0_4.lmp").read_bytes()


# ---- forged states ---------------------------------------------------------------------------------------------------


def test_forged_numbers_and_actions() -> None:
    with make(max_episode_steps=20, automap=True) as pool:
        pool.reset()
        play(pool, 5)
        state = pool.get_state()
        for offset, value in [
            (0, bytes(2496)),
            (2496, struct.pack("<i", -1)),
            (2496, struct.pack("<i", 625)),
            (2500, struct.pack("<i", 2)),
            (2504, struct.pack("<d", np.nan)),
            (HEAD.size + 56, struct.pack("<d", np.nan)),
        ]:
            refused(pool, forged(state, offset, value))
        refused(pool, forged(state, 2512, b"12345678"), "the configuration file of the scenario has changed")
        for rows in (0.5, 100_001):
            refused(pool, resized(state, HEAD.size + int(rows * 56)))
        refused(pool, resized(state, HEAD.size - 8))
        refused(pool, resized(state, 0))


def resized(state: Any, size: int) -> Any:
    """Return a state whose snapshot is cut off or filled up with zeros."""
    body = body_of(state)
    struct.pack_into("<q", body, 16, size)
    body = body[: snapshot_at(state)] + body[snapshot_at(state) :][:size].ljust(size, b"\0")
    return sealed(body + bytes(-len(body) % 8))


@pytest.mark.parametrize("index", [8, 255])
def test_forged_combined_actions(index: int) -> None:
    """The index 6 stands for a reset, and 7 for one that gives a game up."""
    with make("Basic-v1", use_combined_action=True) as pool:
        pool.reset()
        play(pool, 5)
        refused(pool, forged(pool.get_state(), HEAD.size + 3, bytes([index])))


def test_an_episode_that_ends_before_its_last_action_is_refused() -> None:
    """In the middle of a restore: the environment has no state then, and its next step starts an episode."""
    with make() as pool, make(num_envs=2) as other:
        pool.reset()
        other.reset()
        while not pool.step(np.ones((1, 7)))[2][0]:
            pass
        state = pool.get_state()
        body = body_of(state)
        body[core_at(state) + 12] = 0  # nothing is pending
        with pytest.raises(StateError, match=r"env 1 could not be restored, .*: it has values that get_state"):
            other.set_state(sealed(body), 1)
        with pytest.raises(StateError, match="env 1 has no state"):
            other.get_state()
        assert play(other, 5)
        size = struct.unpack_from("<q", bytes(state), 16)[0]
        with pytest.raises(StateError, match=r"env 0 could not be restored, .*: it has values that get_state"):
            other.set_state(resized(state, size + 56), 0)
        other.set_state(state, 1)
        assert other.get_state(1) == state


def test_an_episode_that_does_not_repeat_itself_is_refused() -> None:
    options = {"episodic_life": True, "max_episode_steps": 30}
    with make(**options) as pool:
        pool.reset()
        play(pool, 8)
        state = pool.get_state()
        pressed = bytes(state)[snapshot_at(state) + HEAD.size + 56 * 2 + 7]
        forgeries = [
            forged(state, 2520, b"12345678"),
            forged(state, HEAD.size + 56 * 2, struct.pack("<d", 0.0 if pressed else 1.0) * 7),
            forged(state, HEAD.size + 56, RESET * 56),
        ]
        for forgery in forgeries:
            with pytest.raises(StateError, match="the same seed and actions did not lead to the same game"):
                pool.set_state(forgery)
            play(pool, 1)
            assert pool.get_state().nbytes < state.nbytes  # a new episode, and not one more life of the forged game
        pool.set_state(state)
        assert pool.get_state() == state


@pytest.mark.sweep
def test_a_history_that_is_too_long() -> None:
    with make("Basic-v1", use_combined_action=True, max_episode_steps=10_000, frame_skip=1) as pool:
        pool.reset()
        play(pool, 100_001)
        with pytest.raises(StateError, match="env 0 could not be saved: its engine has taken more than 100000 steps"):
            pool.get_state()


def test_a_copy_whose_source_has_no_state() -> None:
    """The other target of the call becomes a copy of its source."""
    with make("Basic-v1", num_envs=4) as pool:
        pool.reset()
        pool.reset([0], seed=5)
        with pytest.raises(
            StateError, match=r"env 0 could not be copied to env 2, .*: reset\(seed=...\) has seeded it"
        ):
            pool.copy_state([0, 1], [2, 3])
        assert pool.get_state(1) == pool.get_state(3)


@pytest.mark.parametrize("rounds", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_random_bytes_never_crash(rounds: int) -> None:
    rng = np.random.default_rng(0)
    restored = 0
    with make(max_episode_steps=12, automap=True) as pool:
        pool.reset()
        play(pool, 18)
        genuine = pool.get_state()
        start, end = snapshot_at(genuine), len(bytes(genuine)) - 8
        for _ in range(rounds):
            body = body_of(genuine)
            for at in rng.integers(start if rng.random() < 0.3 else start + 2496, end, rng.integers(1, 4)):
                body[at] = rng.integers(0, 256) if rng.random() < 0.5 else rng.integers(0, 2)
            try:
                pool.set_state(sealed(body))
                restored += 1
            except StateError:
                pass
            play(pool, 1)
    assert restored < rounds


# ---- engines that fail -----------------------------------------------------------------------------------------------


def test_an_engine_that_was_killed_is_started_by_a_restore() -> None:
    with make() as pool:
        pool.reset()
        play(pool, 5)
        states = pool.get_state()
        expected = play(pool, 10, 1)
        pool.set_state(states)
        kill(engines()[0])
        assert pool.get_state() == states  # which needs no engine
        assert_continues(pool, states, expected, 1)
        kill(engines()[0])
        with pytest.raises(EnvStepError):
            play(pool, 1)
        pool.recv()
        with pytest.raises(StateError, match="env 0 has no state, since its last step failed"):
            pool.get_state()
        assert_continues(pool, states, expected, 1)


def test_an_engine_that_is_killed_while_a_state_is_restored() -> None:
    """The other environment of the same call is restored."""
    options: dict[str, Any] = {"num_envs": 2, "max_episode_steps": 10_000, "frame_skip": 1}
    with make("MyWayHome-v1", **options) as pool, ThreadPoolExecutor(1) as executor:
        pool.reset()
        play(pool, 500)
        states = pool.get_state()

        def is_restored(i: int) -> bool:
            try:
                return bool(pool.get_state(i) == states[i])
            except StateError:
                return False

        earlier = set(engines())
        restoring = executor.submit(pool.set_state, states)
        wait_until(lambda: len(engines()) == 2 and not earlier & set(engines()))
        kill(engines()[0])
        text = r"env [01] could not be restored, and its next step starts an episode: the ViZDoom engine was killed by"
        with pytest.raises(StateError, match=text):
            restoring.result()
        assert sorted(map(is_restored, range(2))) == [False, True]
        play(pool, 1)
        pool.set_state(states)
        assert pool.get_state() == states


def test_engines_that_do_not_start(tmp_path: Path) -> None:
    """A state is restored as soon as the engine can be started again."""
    engine = tmp_path / "engine"
    engine.symlink_to(package_folder() / "vizdoom")
    with make("Basic-v1", vzd_path=str(engine)) as pool, make("Basic-v1", vzd_path=str(engine)) as other:
        pool.reset()
        states = pool.get_state()
        engine.unlink()
        engine.write_text("#!/bin/sh\necho some library is missing >&2\nexit 3\n")
        engine.chmod(0o755)
        with pytest.raises(StateError, match=r"env 0 could not be restored, .* status 3: some library is missing"):
            other.set_state(states)
        engine.unlink()
        engine.symlink_to(package_folder() / "vizdoom")
        other.set_state(states)
        assert other.get_state() == states
