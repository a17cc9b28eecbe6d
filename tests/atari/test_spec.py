"""Tasks, action sets and ROMs: EnvPool's names, and what is refused."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import ale_py
import numpy as np
import pytest
from ale_py import roms

import envpool
from envpool.atari import roms as own_roms
from envpool.atari.registration import GAMES
from envpool.errors import ConfigError


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


@pytest.mark.drawn("atari")
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
        with pytest.raises(ConfigError, match=f"{name} must be one of the integers -1.*, got {max(values) + 1}"):
            envpool.make_spec(task_id, **{name: max(values) + 1})


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
    with pytest.raises(ImportError, match=r"pip install 'envpool-cython\[atari\]'"):
        envpool.make("Pong-v5", "gymnasium")


def test_build_without_ale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(envpool.atari, "env", raising=False)
    monkeypatch.setitem(sys.modules, "envpool.atari.env", None)
    with pytest.raises(ImportError, match=r"not in this build of envpool.*zlib1g-dev"):
        envpool.make("Pong-v5", "gymnasium")
    envpool.make("CartPole-v1", "gymnasium").close()
    assert "Pong-v5" in envpool.list_all_envs()
