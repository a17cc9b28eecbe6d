"""``envpool spec``."""

import numpy as np
import pytest

import envpool
from envpool.cli.main import main
from envpool.cli.parsing import read_options
from envpool.cli.spec import bound, ranges, sections
from envpool.cli.text import refilled
from envpool.config.option_texts import entries, option_texts
from envpool.registration import registry
from envpool.tasks.spec import spec_class_of
from tests.cli.command import run_command
from tests.support import plugin


def test_shows_the_groups_of_players():
    plugin.load()
    spec = envpool.make_spec("Crowd-v0", places=3, groups=True)
    words = [line.split() for line in "\n".join(sections(spec, {})).splitlines()]
    assert ["hunters", "0,", "1", "-"] in words
    assert ["prey", "2", "obs", "(6,)"] in words
    assert ["info:players.id", "int32", "(-1,)"] in [line[:3] for line in words]
    text = "\n".join(sections(envpool.make_spec("MPE/simple_spread-v3", N=9), {}))
    assert "0 to 8" in text and "gymnasium spaces of one player\n" in text and "dm_env specs of one player\n" in text
    grid = "\n".join(sections(envpool.make_spec("MPE/simple_spread-v3", players="grid"), {}))
    assert "gymnasium spaces of one env\n" in grid
    one_player = "\n".join(sections(envpool.make_spec("CartPole-v1"), {}))
    assert "\nplayers\n" not in one_player


def test_ranges():
    assert ranges([0, 1, 3, 5, 6, 7, 9]) == "0, 1, 3, 5 to 7, 9" and ranges(range(128)) == "0 to 127"


def test_shows_all_options_and_arrays():
    done = run_command("spec", "CartPole-v1", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    words = [line.split() for line in done.stdout.splitlines()]
    spec = envpool.make_spec("CartPole-v1")
    assert words[0] == ["CartPole-v1"]
    for name, value in spec.config._asdict().items():
        rows = [line for line in words if line[:1] == [name]]
        is_hidden = name in ("max_num_players", "gym_reset_return_info", "players", "observe", "illegal_actions")
        assert name in spec.param_spec or any(repr(value) in row for row in rows) != is_hidden, name
    for name in ("render_mode", "render_env_id", "render_width", "render_height", "render_camera_id", "gym_api"):
        assert any(line[:1] == [name] and len(line) > 5 for line in words), name
    assert ["num_envs", "int", "1", "at", "least", "1", "number", "of", "environments"] in [line[:9] for line in words]
    assert "`" not in done.stdout.partition("options of this task")[2] and "](" not in done.stdout
    for name, param in spec.param_spec.items():
        row = next(line for line in words if line[:3] == [name, "float64", "()"])
        assert f"{param.default:.6g}" == row[3]
        assert " ".join(row).endswith(f" {param.unit} {param.text}")
    assert ["length", "float64", "()", "0.5", "1e-06", "to", "1e+06", "m"] in [line[:8] for line in words]
    for name, array in (spec.state_array_spec | spec.action_array_spec).items():
        assert [name, str(array.dtype)] in [line[:2] for line in words]
    assert ["action_space", "Discrete(2)"] in words
    assert ["obs", "float32", "(4,)"] in [line[:3] for line in words]
    assert "action_spec()" in done.stdout
    assert "observation_spec().obs" in done.stdout


def test_option_is_shown_with_its_default(capsys):
    assert main(["spec", "CartPole-v1", "--option", "max_episode_steps=7", "--option", "sutton_barto_reward=true"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith("max_episode_steps int 7 (default 500) at least 1 number of steps") for line in lines)
    assert any(line.startswith("sutton_barto_reward bool True (default False) - if True") for line in lines)
    assert not any(line.startswith("num_envs") for line in lines)
    assert main(["spec", "Pong-v5", "--option", "render_mode=human", "--option", "stack_num=2"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith("render_mode str or None 'human' (default None)") for line in lines)
    assert "stack_num int 2 (default 4) - number of frames in an observation, 1 to 1024" in lines
    assert "task str 'pong' - name of the game, e.g. \"ms_pacman\"" in lines


def test_options_of_every_task_are_shown_on_request(capsys):
    assert main(["spec", "CartPole-v1", "--option", "num_workers=2"]) == 0
    text = capsys.readouterr().out
    names = [line.split()[0] for line in text.partition("\n\n`envpool spec CartPole-v1 --all`")[0].splitlines() if line]
    assert names.index("sutton_barto_reward") < names.index("num_threads") < names.index("max_episode_steps")
    assert not {"num_envs", "render_mode", "frame_stack", "gym_api"} & set(names)
    assert main(["spec", "CartPole-v1", "--all", "--option", "num_workers=2"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line]
    assert names.index("max_episode_steps") < names.index("num_envs") < names.index("render_mode") < names.index("obs")
    assert names.count("num_threads") == 1 and "num_workers" not in names


def test_options_without_an_effect_are_not_shown(capsys):
    assert main(["spec", "HumanoidStandup-v5", "--all"]) == 0
    text = capsys.readouterr().out
    assert "uph_cost_weight" not in text and "max_num_players" not in text
    assert "impact_cost_weight" in text and "num_envs" in text


def test_max_num_players_is_shown_where_it_chooses_the_number(capsys):
    assert main(["spec", "Basic-v1", "--all"]) == 0
    assert "\n  max_num_players " in capsys.readouterr().out
    assert main(["spec", "MPE/simple_tag-v3", "--all"]) == 0
    assert "\n  max_num_players " not in capsys.readouterr().out


def test_gym_reset_return_info_is_shown_in_the_legacy_style(capsys):
    assert main(["spec", "CartPole-v1", "--all", "--option", "gym_api=legacy"]) == 0
    assert "\n  gym_reset_return_info " in capsys.readouterr().out


def test_an_id_that_only_gymnasium_has_names_make_python(capsys):
    for command in ("spec", "verify", "watch", "bench"):
        assert main([command, "GymV21Environment-v0"]) == 2
        assert "envpool.make_python('GymV21Environment-v0'" in capsys.readouterr().err


def test_options_of_players_are_shown_for_tasks_with_players(capsys):
    shown = {}
    for task in ("CartPole-v1", "MPE/simple_tag-v3", "ConnectFour-v0"):
        assert main(["spec", task, "--all"]) == 0
        names = [line.split()[:1] for line in capsys.readouterr().out.splitlines()]
        shown[task] = [name for name in ("players", "observe", "illegal_actions") if [name] in names]
    assert shown == {
        "CartPole-v1": [],
        "MPE/simple_tag-v3": ["players"],
        "ConnectFour-v0": ["players", "observe", "illegal_actions"],
    }


@pytest.mark.parametrize("width", [60, 80, 120])
def test_options_are_wrapped_to_the_terminal(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["spec", "Pong-v5", "--all", "--preset", "dqn"]) == 0
    options, _, rest = capsys.readouterr().out.partition("options of this task")[2].partition("observation and info")
    assert max(map(len, options.splitlines())) <= width
    words = " ".join(options.split())
    assert "one frame less if FIRE is pressed as well" in words and "emulated frames per step" in words
    assert "gymnasium spaces" in rest


@pytest.mark.parametrize("task", ["CartPole-v1", "Pong-v5", "HalfCheetah-v5", "MPE/simple_spread-v3"])
def test_all_sections_are_wrapped_to_the_terminal(monkeypatch, capsys, task):
    """Only a word that is longer than the terminal's width may exceed it."""
    assert main(["spec", task, "--all"]) == 0
    words = capsys.readouterr().out.split()
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["spec", task, "--all"]) == 0
    text = capsys.readouterr().out
    assert not [line for line in text.splitlines() if len(line) > 60 and len(line.split()) > 1]
    assert {"dm_env", "gymnasium", *(word for word in words if word.startswith(("obs", "info:")))} <= {*text.split()}


def test_paragraphs_and_lists_stay_apart():
    lines = [
        *("One two three", "four.", "", "- five six seven", "  eight", "- nine", "", "Name", "----", "a : int"),
        *("    ten eleven twelve", "| a | b | c | d |"),
    ]
    assert refilled("\n".join(lines), 14).splitlines() == [
        *("One two three", "four.", "", "- five six", "  seven eight", "- nine", "", "Name", "----", "a : int"),
        *("    ten eleven", "    twelve", "| a | b | c | d |"),
    ]


def test_parameters_whose_default_is_that_of_the_model(capsys):
    assert main(["spec", "Ant-v5", "--option", "density=1.5"]) == 0
    text = capsys.readouterr().out
    rows = {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if line.startswith("  ")}
    for name in ("gravity", "body_mass", "body_inertia", "dof_damping"):
        assert "from the model" in rows[name] and "None" not in rows[name], rows[name]
    assert "1.5 (default 0 from the model)" in rows["density"]


def test_every_option_of_every_environment_is_described():
    seen = set()
    for task in registry.tasks.values():
        if task.import_path.startswith("envpool.") and task.env not in seen:
            seen.add(task.env)
            definition = spec_class_of(task).definition
            missing = [name for name in definition.options if not option_texts(definition).get(name)]
            assert not missing, (task.env, missing)


def test_parameters_are_shown_with_their_defaults(capsys):
    assert main(["spec", "Acrobot-v1", "--option", "gravity=3.5", "--option", "AVAIL_TORQUE=[-1, 0, 2]"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    text = "acceleration by gravity"
    assert f"gravity float64 () 3.5 (default 9.8) -1000 to 1000 m/s^2 {text}" in lines
    assert "AVAIL_TORQUE float64 (3,) [-1, 0, 2] (default [-1, 0, 1]) -1000 to 1000 N m torque of each action" in lines
    assert main(["spec", "FrozenLake8x8-v1"]) == 0
    assert "desc uint8 (8, 8) 70 to 83 70 to 83 - map" in " ".join(capsys.readouterr().out.split())
    assert main(["spec", "Blackjack-v1"]) == 0
    assert "parameters" not in capsys.readouterr().out


def test_distributions_are_shown_with_the_parameters(capsys):
    main(["spec", "CartPole-v1", "--option", "randomize={'length': ('uniform', 1, 2)}"])
    out = capsys.readouterr().out
    assert "0.5  (drawn: ('uniform', 1, 2))" in out and out.count("drawn: ") == 1


@pytest.mark.parametrize(
    ("task", "name"),
    [("Pendulum-v1", "version"), ("CoinrunEasy-v0", "use_easy_jump"), ("gfootball/academy_empty_goal-v1", "render")],
)
def test_options_without_effect_are_not_shown(task, name, capsys):
    assert name in spec_class_of(registry.find(task)).definition.options
    assert main(["spec", task]) == 0
    assert f"\n  {name} " not in capsys.readouterr().out


@pytest.mark.parametrize("task", ["Pendulum-v1", "FrozenLake-v1", "phys2d/CartPole-v0"])
def test_other_tasks(task, capsys):
    assert main(["spec", task]) == 0
    assert capsys.readouterr().out.splitlines()[0] == task


def test_unknown_task_names_the_nearest_on_stderr(capsys):
    assert main(["spec", "CartPole-v7"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "CartPole-v1" in captured.err


def test_values_get_the_type_of_their_default():
    defaults = {"path": "a", "steps": 3, "rate": 0.5, "flag": True, "seeds": []}
    pairs = [("path", "12"), ("steps", "4"), ("rate", "1e-3"), ("flag", "FALSE"), ("seeds", "[1, 2]"), ("new", "x y")]
    pairs += [("key", "{[]: 1}"), ("deep", "-" * 20_000 + "1")]
    assert read_options(pairs, defaults) == {
        "path": "12",
        "steps": 4,
        "rate": 1e-3,
        "flag": False,
        "seeds": [1, 2],
        "new": "x y",
        "key": "{[]: 1}",
        "deep": "-" * 20_000 + "1",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-np.inf, "-inf"),
        (3, "3"),
        (False, "False"),
        (np.full((3, 5), 2.0), "2"),
        (np.array([1.0, -0.5]), "[1, -0.5]"),
        (np.arange(40), "0 to 39"),
    ],
)
def test_bound(value, text):
    assert bound(value) == text


def test_descriptions_are_those_of_the_docstring():
    options = "a, b : int\n    First line,\n    second. More.\n\nc : str\n    Of c.\n"
    doc = f"An env.\n\nOptions\n-------\n{options}\nNotes\n-----\nd : int\n    No."
    assert dict(entries(doc)) == {"a": "first line, second. More", "b": "first line, second. More", "c": "of c"}
    assert dict(entries("No options.")) == {}
