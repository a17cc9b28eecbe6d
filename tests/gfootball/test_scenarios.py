"""Scenarios: upstream's files and a user's own, dicts, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.gfootball.scenario_files import read_file
from envpool.gfootball.scenarios import UPSTREAM, Player, scenario_from
from tests.gfootball.recording import CONTROLLABLE

CUSTOM = "gfootball/custom-v1"
FILE = """
from . import *

def build_scenario(builder):
    builder.config().game_duration = 30
    builder.config().deterministic = False
    builder.config().end_episode_on_score = True
    first, second = (Team.e_Left, Team.e_Right) if builder.EpisodeNumber() % 2 == 0 else (Team.e_Right, Team.e_Left)
    builder.SetBallPosition(0.1, 0.0)
    builder.SetTeam(first)
    builder.AddPlayer(-1.0, 0.0, e_PlayerRole_GK)
    builder.AddPlayer(0.0, 0.0, e_PlayerRole_CM, lazy=True)
    builder.SetTeam(second)
    builder.AddPlayer(-1.0, 0.0, e_PlayerRole_GK, controllable=False)
    builder.AddPlayer(-0.2, 0.1, e_PlayerRole_CB)
"""


def written(folder: Path, text: str) -> Path:
    """Return the path of a file with a text."""
    path = folder / "own_scenario.py"
    path.write_text(text)
    return path


def test_a_file_is_built_for_each_episode(tmp_path: Path) -> None:
    modules = set(sys.modules)
    first, second = read_file(written(tmp_path, FILE))
    assert set(sys.modules) == modules
    assert first.ball == (0.1, 0.0) and first.game_duration == 30 and first.end_episode_on_score
    assert first.right_team == second.left_team == (Player(-1, 0, "GK"), Player(0, 0, "CM", lazy=True))
    assert first.left_team == second.right_team == (Player(-1, 0, "GK", controllable=False), Player(-0.2, 0.1, "CB"))


def test_a_dict_is_the_same_scenario(tmp_path: Path) -> None:
    given = {
        "ball": (0.1, 0),
        "game_duration": 30,
        "end_episode_on_score": True,
        "left_team": [(-1, 0, "GK", False, False), {"x": -0.2, "y": 0.1, "role": "e_PlayerRole_CB"}],
        "right_team": [(-1, 0, 0), (0, 0, "cm", True)],
    }
    assert scenario_from(given, "scenario") == read_file(written(tmp_path, FILE))[0]


def test_an_empty_team_gets_a_goalkeeper() -> None:
    assert scenario_from({}, "scenario").right_team == (Player(-1.0, 0.42, "GK", lazy=True),)


def test_upstreams_module_names_are_found(tmp_path: Path) -> None:
    text = FILE.replace("from . import *", "import gfootball_engine as libgame\nfrom gfootball.scenarios import *")
    text = text.replace("e_PlayerRole_CM", "libgame.e_PlayerRole.e_PlayerRole_CM")
    assert read_file(written(tmp_path, text)) == read_file(written(tmp_path, FILE))


def test_the_table_agrees_with_the_recorded_numbers_of_players() -> None:
    found = {name: [v[0].controllable(team) for team in ("left_team", "right_team")] for name, v in UPSTREAM.items()}
    assert found == {name: list(counts) for name, counts in CONTROLLABLE.items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("build_scenario = 5", r"own_scenario.py must define build_scenario\(builder\)"),
        ("def build_scenario(", "own_scenario.py' cannot be read: .*never closed"),
        ("1 / 0", "own_scenario.py failed: ZeroDivisionError: division by zero"),
        (FILE.replace("game_duration", "game_durations"), "no setting 'game_durations'; did you mean 'game_duration'"),
        (FILE.replace("SetTeam(first)", "SetTeam(7)"), "team must be Team.e_Left or Team.e_Right, got 7"),
        (FILE.replace("(-0.2, 0.1,", "(-0.2, 0.5,"), "AddPlayer: y must be between -0.42 and 0.42, got 0.5"),
        (FILE.replace("e_PlayerRole_CB", "99"), "AddPlayer: role must be one of GK, .*, got 99"),
        (FILE.replace("(0.1, 0.0)", "(None, 0.0)"), "SetBallPosition: x must be a finite number, got None"),
        (
            "import random\n" + FILE.replace("-0.2, 0.1", "random.random() / 3, 0.1"),
            "repeat with EpisodeNumber.*random positions are not supported",
        ),
        (
            FILE.replace(
                "config().deterministic = False", "config().right_team_difficulty = builder.EpisodeNumber() % 2"
            ),
            "right_team_difficulty must not depend on the episode",
        ),
        (
            FILE.replace(", controllable=False", "") + "    builder.config().control_all_players = True\n",
            "left_agents must be 0 or 2, since the scenario sets control_all_players, got 1",
        ),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        envpool.make_spec(CUSTOM, scenario=written(tmp_path, text))


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ((0, 0, "CM", "no"), "lazy must be True or False, got 'no'"),
        ({"x": 0, "y": 0, "role": "CM", "controllable": "False"}, "controllable must be True or False, got 'False'"),
        ((0, 0, 5.7), "role must be one of GK, .*, got 5.7"),
        ((0, 0, True), "role must be one of GK, .*, got True"),
        ((True, 0, "CM"), "x must be a finite number, got True"),
    ],
)
def test_players_that_are_refused(player: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        envpool.make_spec(CUSTOM, scenario={"left_team": [(-1, 0, "GK"), player]})


def test_a_file_that_makes_a_pool_of_a_file(tmp_path: Path) -> None:
    inner = written(tmp_path, FILE)
    outer = tmp_path / "outer.py"
    first = f"import envpool\nenvpool.make_spec('gfootball/custom-v1', scenario={str(inner)!r})\n"
    outer.write_text(first + FILE)
    assert envpool.make_spec(CUSTOM, scenario=outer).config.scenario == outer


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing.py' cannot be read: .*No such file"):
        envpool.make_spec(CUSTOM, scenario=str(tmp_path / "nothing.py"))


def test_a_pool_of_a_file(tmp_path: Path) -> None:
    """Sides are exchanged from episode to episode, and the duration of the scenario truncates episodes."""
    path = written(tmp_path, FILE.replace("end_episode_on_score = True", "end_episode_on_score = False"))
    with envpool.make_gymnasium(
        CUSTOM, num_envs=1, scenario=path, representation="raw", autoreset_mode="disabled"
    ) as pool:
        for episode in (2, 3):
            obs, info = pool.reset()
            assert info["episode_number"] == [episode] and info["steps_left"] == [31]
            assert obs["left_team_roles"][0].tolist() == [0, 5 if episode % 2 == 0 else 1]
            for step in range(1, 32):
                obs, _, terminated, truncated, info = pool.step(np.zeros(1, np.int32))
                assert not terminated[0] and truncated[0] == (step == 31)
                assert info["steps_left"] == [31 - step]


def test_a_shorter_time_limit(tmp_path: Path) -> None:
    path = written(tmp_path, FILE)
    spec = envpool.make_spec(CUSTOM, scenario=path, max_episode_steps=10)
    assert spec.config.max_episode_steps == 10
    with envpool.make_gymnasium(CUSTOM, num_envs=1, scenario=path, max_episode_steps=10) as pool:
        _, info = pool.reset()
        assert info["steps_left"] == [10]
