"""Forged states of Procgen are refused, or played; and every state that the library writes is accepted."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, StateError
from envpool.registration import registry
from tests.procgen.forgery import forged, library_bytes
from tests.procgen.layout import ENTITY, Layout

TASKS = [task_id for task_id, entry in registry.tasks.items() if entry.env == "Procgen"]
#: One of them for each kind of state: what a game writes, and the rules between its fields.
QUICK = ["CoinrunEasy", "LeaperExtreme", "MazeMemory", "BossfightHard", "ChaserEasy", "PlunderEasy", "StarpilotHard"]
#: A task of each game. QUICK has the modes in which a state differs.
GAMES = [task_id for task_id in TASKS if task_id.endswith("Easy-v0")]
#: Options with which states are accepted, too.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_sequential_levels": True},
    {"use_monochrome_assets": True, "center_agent": False},
    {"restrict_themes": True, "use_backgrounds": False, "seed_rows": True},
]
NAN, HUGE, INFINITE = (struct.pack("<f", value) for value in (float("nan"), 1e30, float("inf")))


def word(value: int) -> bytes:
    return struct.pack("<i", value)


def make(task_id: str, **options: Any) -> Any:
    return envpool.make_gymnasium(task_id, **{"num_envs": 2, "num_threads": 1, "seed": 3, **options})


def check_accepted(task_id: str, steps: int, seed: int, every: int, **options: Any) -> None:
    """Play at random, and restore the states of every few steps to another pool."""
    pick = np.random.default_rng(seed)
    with make(task_id, num_envs=4, seed=seed, **options) as pool, make(task_id, num_envs=4, **options) as other:
        pool.reset()
        other.reset()
        actions = pick.integers(0, 15, 4)
        for step in range(steps):
            if step % every == 0:
                other.set_state(pool.get_state())
            if step % 97 == 96:
                pool.reset(np.array([step % 4]))
                continue
            actions = np.where(pick.random(4) < 0.4, pick.integers(0, 15, 4), actions)
            pool.step(actions.astype(np.int32))
        other.copy_state([0, 1], [2, 3])


@pytest.mark.parametrize("name", QUICK)
def test_states_of_the_library_are_accepted(name: str) -> None:
    check_accepted(f"{name}-v0", 60, 1, 6)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", GAMES)
def test_states_of_all_games_are_accepted(task_id: str) -> None:
    for seed, options in enumerate(OPTIONS):
        check_accepted(task_id, 400, seed, 5, **options)


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", TASKS)
def test_states_of_many_levels_are_accepted(task_id: str) -> None:
    for seed in range(100, 108):
        check_accepted(task_id, 1000, seed, 3, **OPTIONS[seed % 4])


# ---- single fields ---------------------------------------------------------------------------------------------------

#: The task, where its bytes are changed, what is put there, and the field that the error names.
Place = Callable[[Layout], int]
WRONG: list[tuple[str, Place, bytes, str]] = [
    ("MazeEasy-v0", lambda s: 0, word(1), "game_name"),
    ("MazeEasy-v0", lambda s: s.at["length"], word(-1), "game_name"),
    ("MazeEasy-v0", lambda s: s.at["length"], word(2**31 - 1), "game_name"),
    ("MazeEasy-v0", lambda s: 8, b"mine", "game_name"),
    ("MazeEasy-v0", lambda s: s.at["distribution_mode"], word(1), "distribution_mode"),
    ("MazeEasy-v0", lambda s: s.at["use_backgrounds"], word(0), "use_backgrounds"),
    ("MazeEasy-v0", lambda s: s.at["level_seed_high"], word(0), "level_seed_high"),
    ("MazeEasy-v0", lambda s: s.at["rand_gen_is_seeded"], word(0), "rand_gen"),
    ("MazeEasy-v0", lambda s: s.at["rand_gen"], word(-1), "rand_gen"),
    ("MazeEasy-v0", lambda s: s.at["rand_gen"], word(2**31 - 1), "rand_gen"),
    ("MazeEasy-v0", lambda s: s.at["rand_gen"] + 4, b"x", "rand_gen"),
    ("MazeEasy-v0", lambda s: s.at["rand_gen"] + 4, b"0" * 30, "rand_gen"),
    ("MazeEasy-v0", lambda s: s.at["timeout"], word(10**6), "timeout"),
    ("MazeEasy-v0", lambda s: s.at["cur_time"], word(500), "cur_time"),
    ("MazeEasy-v0", lambda s: s.at["episodes_remaining"], word(1), "episodes_remaining"),
    ("MazeEasy-v0", lambda s: s.at["current_level_seed"], word(-1), "current_level_seed"),
    ("MazeEasy-v0", lambda s: s.at["num_entities"], word(-1), "entities"),
    ("MazeEasy-v0", lambda s: s.at["num_entities"], word(2**31 - 1), "entities"),
    ("MazeEasy-v0", lambda s: s.entity(0, "x"), NAN, "x"),
    ("MazeEasy-v0", lambda s: s.entity(0, "x"), struct.pack("<f", -3), "x"),
    ("MazeEasy-v0", lambda s: s.entity(0, "vx"), HUGE, "vx"),
    ("MazeEasy-v0", lambda s: s.entity(0, "rx"), INFINITE, "rx"),
    ("MazeEasy-v0", lambda s: s.entity(0, "type"), word(1), "type"),
    ("MazeEasy-v0", lambda s: s.entity(0, "image_type"), word(99), "image_type"),
    ("MazeEasy-v0", lambda s: s.entity(0, "image_theme"), word(-1), "image_theme"),
    ("MazeEasy-v0", lambda s: s.entity(0, "image_theme"), word(1), "image_theme"),
    ("MazeEasy-v0", lambda s: s.entity(0, "grow_rate"), struct.pack("<f", 1.4), "grow_rate"),
    ("MazeEasy-v0", lambda s: s.at["background_index"], word(9), "background_index"),
    ("MazeEasy-v0", lambda s: s.at["use_procgen_background"], word(1), "use_procgen_background"),
    ("MazeEasy-v0", lambda s: s.at["step_rand_int"], word(-1), "step_rand_int"),
    ("MazeEasy-v0", lambda s: s.at["main_width"], word(10**9), "main_width"),
    ("MazeEasy-v0", lambda s: s.at["grid_height"], word(10**9), "grid height"),
    ("MazeEasy-v0", lambda s: s.at["cells"], word(3), "grid"),
    ("MazeEasy-v0", lambda s: s.grid, word(1000), "grid"),
    ("MazeEasy-v0", lambda s: s.extras + 8, word(0), "the end"),
    ("BossfightEasy-v0", lambda s: s.extras, word(0), "attack_modes"),
    ("BossfightEasy-v0", lambda s: s.extras, word(-1), "attack_modes"),
    ("BossfightEasy-v0", lambda s: len(s.data) - 72, word(0), "round_health"),
    ("BossfightEasy-v0", lambda s: s.entity(2, "type"), word(7), "image_type"),
    ("ChaserEasy-v0", lambda s: s.extras, word(2**30), "free_cells"),
    ("ChaserEasy-v0", lambda s: s.extras + 4, word(10**6), "free_cells"),
    ("ChaserEasy-v0", lambda s: s.entity(4, "x"), struct.pack("<f", 1.3), "x"),
    ("ChaserEasy-v0", lambda s: s.entity(4, "vx"), struct.pack("<f", 0.3), "vx"),
    ("CoinrunHard-v0", lambda s: s.extras, HUGE, "last_agent_y"),
    ("CoinrunHard-v0", lambda s: s.extras + 4, word(6), "wall_theme"),
    ("HeistHard-v0", lambda s: s.extras, word(7), "num_keys"),
    ("LeaperExtreme-v0", lambda s: s.extras + 4, word(-5), "road_lane_speeds"),
    ("PlunderEasy-v0", lambda s: len(s.data) - 40, word(0), "num_lanes"),
    ("PlunderEasy-v0", lambda s: len(s.data) - 28, word(0), "target_quota"),
    ("StarpilotHard-v0", lambda s: s.extras, word(-1), "spawners"),
    ("StarpilotHard-v0", lambda s: s.extras + 4 + 64, word(1), "fire_time"),
]


@pytest.fixture(scope="module")
def pools() -> Any:
    made: dict[str, Any] = {}
    yield made
    for pool in made.values():
        pool.close()


@pytest.mark.parametrize(("task_id", "place", "value", "name"), WRONG, ids=[f"{c[0]}-{c[3]}" for c in WRONG])
def test_errors_name_the_field(pools: Any, task_id: str, place: Place, value: bytes, name: str) -> None:
    if task_id not in pools:
        pools[task_id] = make(task_id)
        pools[task_id].reset()
    pool = pools[task_id]
    before = pool.get_state()
    data = bytearray(library_bytes(before[0]))
    pool.set_state(forged(before[0], bytes(data)), [1])
    pool.set_state(before)
    at = place(Layout(bytes(data)))
    assert data[at : at + len(value)] != value
    data[at : at + len(value)] = value
    with pytest.raises(StateError, match=f"the library cannot have written its field '{name}'; nothing was restored"):
        pool.set_state(forged(before[0], bytes(data)), [1])
    assert pool.get_state() == before


def test_truncated_states() -> None:
    with make("HeistEasy-v0") as pool:
        pool.reset()
        (state,) = pool.get_state([0])
        data = library_bytes(state)
        for size in (*range(1, 200), *range(200, len(data), 101), *range(len(data) - 130, len(data))):
            with pytest.raises(StateError):
                pool.set_state(forged(state, data[:size]), [1])
        with pytest.raises(StateError, match="the end"):
            pool.set_state(forged(state, data + bytes(4)), [1])


def test_states_without_an_agent_and_with_two() -> None:
    with make("MazeEasy-v0") as pool:
        pool.reset()
        (state,) = pool.get_state([0])
        data = library_bytes(state)
        layout = Layout(data)
        (at,) = layout.entities
        for count in (0, 2, 641):
            entities = word(count) + count * data[at : at + ENTITY]
            with pytest.raises(StateError, match="field 'entities'"):
                pool.set_state(forged(state, data[: at - 4] + entities + data[at + ENTITY :]), [1])


# ---- random forgeries ------------------------------------------------------------------------------------------------


def run_forgery(task_id: str, count: int, seed: int) -> None:
    """Run the program, whose last lines say with which state it ended if it did not reach its end."""
    command = [sys.executable, "-m", "tests.procgen.forgery", task_id, str(count), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert f"{task_id}: {count} forged states" in done.stdout


@pytest.mark.parametrize("task_id", ["BossfightEasy-v0", "CoinrunHard-v0"])
def test_forged_states_end_no_process(task_id: str) -> None:
    run_forgery(task_id, 30, 1)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", GAMES)
def test_forged_states_of_all_games_end_no_process(task_id: str) -> None:
    run_forgery(task_id, 300, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", TASKS)
def test_many_forged_states_end_no_process(task_id: str) -> None:
    run_forgery(task_id, 2000, 3)


# ---- generated images ------------------------------------------------------------------------------------------------


def test_generated_images_have_no_states() -> None:
    """The library ends the process when it should save such a state."""
    with make("CoinrunEasy-v0", use_generated_assets=True) as pool:
        pool.reset()
        for call in (pool.get_state, lambda: pool.copy_state([0], [1])):
            with pytest.raises(StateError, match="use_generated_assets=True has no snapshots"):
                call()
        pool.step(np.zeros(2, np.int32))
    with pytest.raises(ConfigError, match="seed_rows must be False with use_generated_assets=True"):
        make("CoinrunEasy-v0", use_generated_assets=True, seed_rows=True)
