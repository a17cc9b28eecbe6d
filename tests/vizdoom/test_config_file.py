"""Configuration files are read as the vizdoom package reads them, and errors name the line."""

from __future__ import annotations

from pathlib import Path

import pytest
import vizdoom

import envpool
from envpool.errors import ConfigError
from envpool.vizdoom.config_file import read_scenario
from envpool.vizdoom.names import BUTTONS, FORMAT_NUMBERS, RESOLUTIONS, VARIABLES
from tests.vizdoom.config_files import written

FOLDER = Path(vizdoom.scenarios_path)


def test_names_are_those_of_the_package() -> None:
    for names, enum in ((BUTTONS, vizdoom.Button), (VARIABLES, vizdoom.GameVariable)):
        assert {name: i for i, name in enumerate(names)} == {k: int(v.value) for k, v in enum.__members__.items()}
    assert {f"RES_{name}" for name in RESOLUTIONS} == set(vizdoom.ScreenResolution.__members__)
    assert {name: int(vizdoom.ScreenFormat.__members__[name].value) for name in FORMAT_NUMBERS} == FORMAT_NUMBERS


@pytest.mark.parametrize("name", vizdoom.configs)
def test_files_of_the_package(name: str) -> None:
    game = vizdoom.DoomGame()
    game.load_config(str(FOLDER / name))
    found = read_scenario(FOLDER / name)
    assert found.buttons == [button.name for button in game.get_available_buttons()]
    assert found.variables == [variable.name for variable in game.get_available_game_variables()]
    assert found.screen_size == (game.get_screen_width(), game.get_screen_height())
    assert found.screen_format == game.get_screen_format().name
    assert found.start_tic == game.get_episode_start_time()
    assert found.skill == game.get_doom_skill()
    assert " ".join(found.arguments) == game.get_game_args()
    for key, value in (
        ("livingreward", game.get_living_reward()),
        ("deathpenalty", game.get_death_penalty()),
        ("mapexitreward", game.get_map_exit_reward()),
    ):
        assert found.rewards.get(key, 0.0) == value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("render_hudd = true", "line 2: unknown key 'renderhudd'; did you mean 'renderhud'"),
        ("render_hud = maybe", "line 2: renderhud must be true or false, got 'maybe'"),
        ("render_hud", "line 2: an entry must be 'key = value', got 'render_hud'"),
        ("screen_resolution = RES_1X1", "line 2: screenresolution must be one of 160X120"),
        ("screen_format = DOOM_256_COLORS8", "line 2: screenformat must be one of CRCGCB"),
        ("doom_skill = -1", "line 2: doomskill must be an integer"),
        (
            "available_game_variables = { HEALTHY }",
            "line 2: each name in availablegamevariables must be one of KILLCOUNT",
        ),
        ("available_buttons = { ATTACK", "line 2: the list has no closing brace"),
        ("available_buttons = HEALTH }", "line 2: availablebuttons must be a list in braces, got 'HEALTH }'"),
        ("episode_start_time = 1000001", "line 2: episodestarttime must be at most 1000000 tics, got '1000001'"),
        ("death_penalty = nan", "line 2: deathpenalty must be a finite number, got 'nan'"),
        ("map_exit_reward = -inf", "line 2: mapexitreward must be a finite number, got '-inf'"),
        ("living_reward = much", "line 2: livingreward must be a finite number, got 'much'"),
    ],
)
def test_errors_name_the_line(line: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"available_buttons = {{ ATTACK }}\n{line}\n")
    with pytest.raises(ConfigError, match=message):
        envpool.make_spec("VizdoomCustom-v1", cfg_path=path)


def test_lists_may_be_appended_to_and_span_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path, "availableButtons = {\n attack\n# comment\n MoveLeft }\nAVAILABLE_BUTTONS += { USE ATTACK }\n"
    )
    assert read_scenario(Path(path)).buttons == ["ATTACK", "MOVE_LEFT", "USE"]
    assert envpool.make_spec("VizdoomCustom-v1", cfg_path=path).action_space.shape == (3,)


def test_no_buttons(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no available_buttons"):
        envpool.make_spec("VizdoomCustom-v1", cfg_path=written(tmp_path, "# nothing\n"))


def test_rewards_that_are_not_computed(tmp_path: Path) -> None:
    path = written(tmp_path, "available_buttons = { ATTACK }\nkill_reward = 1\n")
    envpool.make_spec("VizdoomCustom-v1", cfg_path=path)
    with pytest.raises(ConfigError, match="scenario_reward=True does not support killreward"):
        envpool.make_spec("VizdoomCustom-v1", cfg_path=path, scenario_reward=True)
