"""Tasks, specs and options: EnvPool's names, shapes and defaults, and what is refused."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import ale_py
import numpy as np
import pytest
from ale_py import roms

import envpool
from envpool.atari import roms as own_roms
from envpool.atari.registration import GAMES
from envpool.errors import ConfigError

DEFAULTS = {
    "max_episode_steps": 27000,
    "stack_num": 4,
    "frame_skip": 4,
    "noop_max": 30,
    "zero_discount_on_life_loss": False,
    "episodic_life": False,
    "reward_clip": False,
    "use_fire_reset": True,
    "img_height": 84,
    "img_width": 84,
    "mode": -1,
    "difficulty": -1,
    "full_action_space": False,
    "repeat_action_probability": 0.0,
    "use_inter_area_resize": True,
    "gray_scale": True,
}


def test_tasks() -> None:
    mine = [t for t in envpool.list_all_envs() if envpool.registration.registry.find(t).env == "Atari"]
    assert len(mine) == len(GAMES) == 104
    assert [mine[GAMES.index(g)] for g in ("pong", "ms_pacman", "tic_tac_toe_3d", "up_n_down", "et", "pitfall2")] == [
        "Pong-v5",
        "MsPacman-v5",
        "TicTacToe3d-v5",
        "UpNDown-v5",
        "Et-v5",
        "Pitfall2-v5",
    ]


def test_defaults() -> None:
    for game in ("pong", "ms_pacman"):
        config = envpool.make_spec("".join(p.capitalize() for p in game.split("_")) + "-v5").config
        assert config.task == game
        assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS


def test_arrays() -> None:
    spec = envpool.make_spec("Pong-v5", stack_num=3, img_height=90, img_width=70, gray_scale=False)
    state = {k: (v.dtype, v.shape) for k, v in spec.state_array_spec.items() if k.startswith("obs") or k[5:] in INFO}
    assert state == {
        "obs": (np.uint8, [9, 90, 70]),
        "info:lives": (np.int32, [-1]),
        "info:reward": (np.float32, [-1]),
        "info:terminated": (np.int32, [-1]),
        "info:ram": (np.uint8, [128]),
    }
    assert envpool.make_spec("Pong-v5").observation_space.shape == (4, 84, 84)
    assert spec.action_array_spec["action"].dtype == np.int32


INFO = ("lives", "reward", "terminated", "ram")


def test_classes_under_envpools_names() -> None:
    from envpool.atari import AtariDMEnvPool, AtariEnvSpec, AtariGymnasiumEnvPool

    assert AtariEnvSpec is type(envpool.make_spec("Pong-v5"))
    assert AtariDMEnvPool.__name__ == "AtariDMEnvPool"
    assert AtariGymnasiumEnvPool.__name__ == "AtariGymnasiumEnvPool"


@pytest.mark.parametrize("game", GAMES)
def test_actions_are_ales(game: str) -> None:
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(game))
    task_id = "".join(part.capitalize() for part in game.split("_")) + "-v5"
    assert envpool.make_spec(task_id).action_space.n == len(ale.getMinimalActionSet())
    assert envpool.make_spec(task_id, full_action_space=True).action_space.n == len(ale.getLegalActionSet())
    for name, values in (("mode", ale.getAvailableModes()), ("difficulty", ale.getAvailableDifficulties())):
        for value in values:
            envpool.make_spec(task_id, **{name: value})
        with pytest.raises(ConfigError, match=f"{name} of {game} must be -1"):
            envpool.make_spec(task_id, **{name: max(values) + 1})


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"stack_num": 0}, ConfigError, "stack_num must be between 1 and 1024, got 0"),
    ({"stack_num": -4}, ConfigError, "stack_num must be between 1 and 1024, got -4"),
    ({"frame_skip": 0}, ConfigError, "frame_skip must be between 1 and 10000, got 0"),
    ({"noop_max": -1}, ConfigError, "noop_max must be between 0 and 10000, got -1"),
    ({"img_height": 0}, ConfigError, "img_height must be between 1 and 4096, got 0"),
    ({"img_width": 0}, ConfigError, "img_width must be between 1 and 4096, got 0"),
    ({"img_width": 2**40}, ConfigError, "img_width must be between 1 and 4096, got 1099511627776"),
    ({"mode": 77}, ConfigError, r"mode of pong must be -1 \(default\) or one of 0, 1"),
    ({"mode": -2}, ConfigError, "mode of pong must be -1"),
    ({"difficulty": 4}, ConfigError, "difficulty of pong must be -1"),
    ({"task": "ping"}, ConfigError, "task must be one of adventure"),
    ({"task": "combat"}, ConfigError, "task must be one of .*, got 'combat'"),
    ({"task": "../pong"}, ConfigError, "task must be one of .*, got '../pong'"),
    ({"repeat_action_probability": 1.5}, ConfigError, "repeat_action_probability must be between 0 and 1, got 1.5"),
    ({"repeat_action_probability": float("nan")}, ConfigError, "repeat_action_probability must be .*, got nan"),
    ({"gray_scale": "yes"}, TypeError, "gray_scale must be of type bool"),
    ({"stack_num": 4.0}, TypeError, "stack_num must be of type int"),
]


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        envpool.make("Pong-v5", "gymnasium", **options)


def test_unknown_game() -> None:
    with pytest.raises(KeyError, match="Pog-v5 is not supported, did you mean Pong-v5"):
        envpool.make_spec("Pog-v5")


@pytest.mark.parametrize("change", ["empty", "short", "one bit", "missing", "folder", "another game"])
def test_rom_that_is_not_the_rom(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_roms, "rom_folder", lambda: tmp_path)
    rom = Path(roms.get_rom_path("pong")).read_bytes()
    wrong = {
        "empty": b"",
        "short": rom[:100],
        "one bit": bytes([rom[0] ^ 1]) + rom[1:],
        "another game": Path(roms.get_rom_path("breakout")).read_bytes(),
    }
    if change in wrong:
        (tmp_path / "pong.bin").write_bytes(wrong[change])
        text = hashlib.md5(wrong[change], usedforsecurity=False).hexdigest()
    elif change == "folder":
        (tmp_path / "pong.bin").mkdir()
        text = "cannot be read"
    else:
        text = "cannot be read"
    with pytest.raises(ConfigError, match=text):
        envpool.make("Pong-v5", "gymnasium")


def test_without_ale_py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_roms, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install ale-py"):
        envpool.make("Pong-v5", "gymnasium")


def test_build_without_ale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(envpool.atari, "native", raising=False)
    monkeypatch.setitem(sys.modules, "envpool.atari.env", None)
    with pytest.raises(ImportError, match=r"not in this build of envpool.*zlib1g-dev"):
        envpool.make("Pong-v5", "gymnasium")
    envpool.make("CartPole-v1", "gymnasium").close()
    assert "Pong-v5" in envpool.list_all_envs()
