"""Options of the tasks: EnvPool's ids and arrays, what is refused, rewards, recordings, combined actions."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool._support import wheels
from envpool.atari.resizing import resize
from envpool.errors import ConfigError
from envpool.vizdoom import wheel
from envpool.vizdoom.actions import combined_actions
from envpool.vizdoom.config_file import read_scenario
from envpool.vizdoom.game import INFOS, REWARDS, WEAPON_REWARDS
from envpool.vizdoom.names import BUTTONS, VARIABLES
from envpool.vizdoom.registration import ELSEWHERE
from tests.vizdoom.cases import TASKS
from tests.vizdoom.config_files import written

#: Number of combined actions and of channels in EnvPool 1.2.5.
ENVPOOL = {"Basic-v1": (6, 12), "Deathmatch-v1": (4536, 12), "Cig-v1": (108, 12), "RocketBasic-v1": (6, 4)}


def test_tasks_are_those_of_envpool() -> None:
    mine = [t for t in envpool.list_all_envs() if envpool.registration.registry.find(t).env == "ViZDoom"]
    assert mine == [*TASKS, "D1Basic-v1", "D2Navigation-v1", "D3Battle-v1", "D4Battle2-v1", "VizdoomCustom-v1"]
    assert len(mine) == 21


@pytest.mark.parametrize("task_id", ENVPOOL)
def test_arrays(task_id: str) -> None:
    num_actions, channels = ENVPOOL[task_id]
    spec = envpool.make_spec(task_id, use_combined_action=True)
    assert spec.observation_space.shape == (channels, 84, 84)
    assert int(spec.action_space.n) == num_actions  # type: ignore[attr-defined]
    assert [n[5:] for n in spec.state_array_spec if n.startswith("info:") and n[5:].isupper()] == sorted(INFOS)


def test_scenarios_that_the_package_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # hides what the user has fetched
    for scenario in ELSEWHERE:
        task_id = "".join(part.capitalize() for part in scenario.split("_")) + "-v1"
        with pytest.raises(ConfigError, match=rf"pass .*cfg_path='.../{scenario}.cfg', wad_path='.../{scenario}.wad'"):
            envpool.make_spec(task_id)
    with pytest.raises(ConfigError, match=r"cfg_path=\.\.\."):
        envpool.make_spec("VizdoomCustom-v1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frame_skip": 0}, "frame_skip must be between 1 and 10000"),
        ({"img_height": 5000}, "img_height must be between 1 and 4096"),
        ({"cfg_path": "/nowhere.cfg"}, "the configuration file '/nowhere.cfg' cannot be read"),
        ({"wad_path": "/nowhere.wad"}, "the file '/nowhere.wad' does not exist; pass wad_path="),
        ({"iwad_path": "/nowhere.wad"}, "the file '/nowhere.wad' does not exist; pass iwad_path="),
        ({"vzd_path": "/nowhere"}, "the file '/nowhere' does not exist; pass vzd_path="),
        ({"wad_path": "/"}, "the file '/' does not exist; pass wad_path="),
        ({"wad_path": "x" * 5000}, "does not exist; pass wad_path="),
        ({"cfg_path": "a\0b"}, "the configuration file .* cannot be read"),
        ({"map_id": "two words"}, "map_id must be a word"),
        ({"map_id": "map01\t"}, "map_id must be a word"),
        ({"map_id": "map01;quit"}, "map_id must be a word"),
        ({"map_id": "m" * 65}, "map_id must be a word"),
        ({"map_id": "E1M1"}, r"map_id must be the name of a map in .*basic.wad \(map01, .*\), got 'E1M1'"),
        ({"cfg_path": "/dev/zero"}, "the configuration file '/dev/zero' cannot be read: it is not a regular file"),
        ({"delta_button_config": {"TURN_LEFT_RIGHT_DELTA": (2, 1, 0)}}, "must be the number of values"),
        ({"map_id": "\ud800"}, "map_id must be a word"),
        ({"lmp_save_dir": "/nowhere"}, "lmp_save_dir must be an existing folder"),
        ({"game_variables": ("HEALTHY",)}, "got 'HEALTHY'"),
        ({"game_variables": "HEALTH"}, "game_variables must be a tuple"),
        ({"game_variables": 5}, "game_variables must be a tuple .* got 5"),
        (
            {"game_variables": VARIABLES},
            f"at most 40 names besides the default ones, got {len(VARIABLES) - 16}",
        ),
        ({"reward_config": {"HEALTHY": (1, 1)}}, "must be the name of a vizdoom.GameVariable, got 'HEALTHY'"),
        ({"reward_config": {"HEALTH": (1, float("nan"))}}, r"reward_config\['HEALTH'\] must be two finite numbers"),
        ({"reward_config": {"HEALTH": (1, 1e39)}}, r"reward_config\['HEALTH'\] must be two finite numbers"),
        ({"reward_config": {"HEALTH": {"up": 1, "down": 2}}}, r"reward_config\['HEALTH'\] must be two finite numbers"),
        ({"selected_weapon_reward_config": {10: 1.0}}, "must map weapons, 0 to 9"),
        ({"delta_button_config": {"ATTACK": (2, 0, 1)}}, "must be one of LOOK_UP_DOWN_DELTA.*got 'ATTACK'"),
        ({"delta_button_config": {"TURN_LEFT_RIGHT_DELTA": (2.5, 0, 1)}}, "must be the number of values"),
        ({"game_args": "x " * 600}, r"game_args must have at most 4\d\d words, got 600"),
        ({"game_args": "a\0b"}, r"game_args must consist of printable words, got 'a\\x00b'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        envpool.make_spec("Basic-v1", **options)


def test_a_missing_or_different_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find", lambda name: wheels.Installed(Path("/"), "1.2.4"))
    text = r"vizdoom 1.2.4 is installed: pip install 'envpool-cython\[vizdoom\]'.*libstdc\+\+6"
    with pytest.raises(ImportError, match=text):
        envpool.make_gymnasium("Basic-v1")


def test_combined_actions_of_a_few_buttons(tmp_path: Path) -> None:
    buttons = ["TURN_LEFT", "ATTACK", "SPEED", "TURN_RIGHT", "SELECT_WEAPON2", "TURN_LEFT_RIGHT_DELTA"]
    table = combined_actions(buttons, True, {"TURN_LEFT_RIGHT_DELTA": (3, -1.0, 1.0)})
    turns = [(0, 0), (0, 1), (1, 0)]  # neither, right, left
    expected = [
        [left, attack, 1, right, weapon, delta]
        for attack, (left, right), weapon, delta in itertools.product((0, 1), turns, (0, 1), (-1, 0, 1))
    ]
    assert table.tolist() == expected
    spec = envpool.make_spec(
        "VizdoomCustom-v1",
        cfg_path=written(tmp_path, "available_buttons = { TURN_LEFT_RIGHT_DELTA }"),
        use_combined_action=True,
        delta_button_config={"TURN_LEFT_RIGHT_DELTA": (3.0, -1, 1)},
    )
    assert int(spec.action_space.n) == 3  # type: ignore[attr-defined]


def test_too_many_combined_actions(tmp_path: Path) -> None:
    path = written(tmp_path, f"available_buttons = {{ {' '.join(BUTTONS)} }}")
    with pytest.raises(ConfigError, match="at most 1000000 are allowed"):
        envpool.make_spec("VizdoomCustom-v1", cfg_path=path, use_combined_action=True)


def expected_reward(names: list[str], last: dict[str, float], now: dict[str, float]) -> np.float32:
    """Return EnvPool's reward for changes of game variables, apart from that for the selected weapon."""
    reward = np.float32(0)
    for name in names:
        gain, loss = (float(np.float32(x)) for x in REWARDS.get(name, (0, 0)))
        change = now[name] - last[name]
        change = min(change, {"DAMAGECOUNT": 200, "HITCOUNT": 5}.get(name, np.inf))
        if name == "HEALTH" and now[name] < 0:
            change = 0
        reward = np.float32(reward + np.float32(change * gain) if change >= 0 else reward - np.float32(change * loss))
    return reward


def test_rewards_resized_stacks_and_combined_actions() -> None:
    """Compared with a pool that has the same seeds, and frames of the size of the screen."""
    common: dict[str, Any] = {"num_envs": 1, "seed": 8, "use_combined_action": True}
    full = {"stack_num": 1, "img_height": 240, "img_width": 320}
    names = [*read_scenario(wheel.package_folder() / "scenarios" / "deadly_corridor.cfg").variables, *INFOS]
    names = list(dict.fromkeys(names))
    rng = np.random.default_rng(1)
    with (
        envpool.make_gymnasium("DeadlyCorridor-v1", **common) as small,
        envpool.make_gymnasium("DeadlyCorridor-v1", **common, **full) as large,
    ):
        obs, last = small.reset()
        frame, _ = large.reset()
        stack = [frame[0]] * 4
        held, rewards = 1, set()
        for _ in range(30):
            action = rng.integers(0, int(small.action_space.n), 1)  # type: ignore[attr-defined]
            obs, reward, terminated, _, info = small.step(action)
            frame, *_ = large.step(action)
            stack = (
                [frame[0]] * 4 if info["elapsed_step"][0] == 0 else stack if terminated[0] else [*stack[1:], frame[0]]
            )
            planes = [resize(plane, 84, 84) for image in stack for plane in image]
            assert np.array_equal(obs[0], np.array(planes))
            if info["elapsed_step"][0] > 0:
                now = {name: float(info[name][0]) for name in names}
                weapon = info["SELECTED_WEAPON"][0]
                held = held + 1 if weapon == last["SELECTED_WEAPON"][0] else 1
                expected = expected_reward(names, {name: float(last[name][0]) for name in names}, now)
                if held >= 5 and info["SELECTED_WEAPON_AMMO"][0] > 0:
                    expected += np.float32(WEAPON_REWARDS[int(weapon)])
                assert reward[0] == expected
                rewards.add(float(reward[0]))
            else:
                held = 1
            last = info
        assert len(rewards) > 3


def test_recordings(tmp_path: Path) -> None:
    with envpool.make_gymnasium("Basic-v1", num_envs=1, lmp_save_dir=str(tmp_path), max_episode_steps=3) as pool:
        pool.reset()
        for _ in range(8):  # two resets
            pool.step(np.zeros((1, 3)))
    found = sorted(tmp_path.iterdir())
    assert [path.name for path in found] == ["env_0_1.lmp", "env_0_2.lmp"]
    assert all(path.read_bytes()[:4] == b"FORM" for path in found)


def test_rendering() -> None:
    options: dict[str, Any] = {"stack_num": 1, "img_height": 240, "img_width": 320, "render_mode": "rgb_array"}
    with envpool.make_gymnasium("Basic-v1", num_envs=1, **options) as pool:
        obs, _ = pool.reset()
        frames = pool.render()
        assert np.array_equal(np.asarray(frames)[0].transpose(2, 0, 1), obs[0])
