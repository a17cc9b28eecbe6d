"""``envpool list``."""

import pytest

import envpool
from envpool.cli.list import matching
from envpool.cli.main import main
from envpool.errors import ConfigError, UnknownTaskError
from envpool.registration import registry
from envpool.tasks.entries import family_of
from tests.cli.command import run_command
from tests.support.python import run_python


def listed(text):
    """Return the rows below the headers."""
    lines = text.splitlines()
    assert lines[0].split() == ["id", "family", "max_episode_steps"]
    return [line.split() for line in lines[1:]]


def test_a_table_that_was_imported_before_keeps_its_place():
    code = "import envpool.box2d.registration, envpool; print(*envpool.list_all_envs(), sep='\\n')"
    assert run_python(code).stdout == run_python(code.replace("envpool.box2d.registration, ", "")).stdout


def test_lists_every_task_in_order():
    done = run_command("list")
    assert (done.returncode, done.stderr) == (0, "")
    # Other tests of this process may have registered tasks of their own.
    own = [i for i in envpool.list_all_envs() if registry.find(i).import_path.startswith("envpool.")]
    assert [row[0] for row in listed(done.stdout)] == own


def test_a_narrow_terminal(monkeypatch, capsys):
    assert main(["list", "simple_s"]) == 0
    rows = listed(capsys.readouterr().out)
    monkeypatch.setenv("COLUMNS", "30")
    assert main(["list", "simple_s"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 30
    assert text.split() == [word for row in rows for word in row]


@pytest.mark.parametrize("pattern", ["CartPole-v1", "cartpole-V1", "C*Pole-v1", "c?rtpole-v[1]"])
def test_pattern(pattern, capsys):
    assert main(["list", pattern]) == 0
    assert ["CartPole-v1", "classic_control", "500"] in listed(capsys.readouterr().out)


def test_glob_means_the_whole_id_and_substring_a_part():
    assert matching("phys2d/Cart*-v1") == ["phys2d/CartPole-v1"]
    assert set(matching("CartPole-v1")) == {"CartPole-v1", "phys2d/CartPole-v1"}
    assert matching("CartPole-v[1]") == ["CartPole-v1"]


@pytest.mark.parametrize(
    ("pattern", "families"),
    [("mujoco", {"mujoco.gym", "mujoco.dmc", "mujoco.robotics"}), ("Classic_C*", {"classic_control"})],
)
def test_a_family(pattern, families, capsys):
    assert main(["list", pattern]) == 0
    rows = listed(capsys.readouterr().out)
    assert {row[1] for row in rows} == families and len(rows) > 5
    with pytest.raises(UnknownTaskError):
        matching("mujoco")  # other commands take ids only


def test_no_match_names_the_nearest(capsys):
    assert main(["list", "CartPoll-v1"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "CartPole-v1" in captured.err


def test_columns_are_aligned(capsys):
    assert main(["list", "*CartPole-v*"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({line.index("classic_control") for line in lines[1:]} | {lines[0].index("family")}) == 1
    assert len({len(line) for line in lines}) == 1


@pytest.fixture
def foreign_task():
    """A task of another package that cannot be imported."""
    registry.register("Foreign-v0", "no_such_package.envs", env="Foreign")
    yield "Foreign-v0"
    del registry.tasks["Foreign-v0"]


def test_family_that_cannot_be_loaded_is_listed(foreign_task, capsys):
    assert main(["list", foreign_task]) == 0
    assert listed(capsys.readouterr().out) == [[foreign_task, "no_such_package.envs", "-"]]


@pytest.mark.parametrize(
    ("module", "env", "text"),
    [
        ("tests.cli.no_module", "X", "No module named 'tests.cli.no_module'"),
        ("tests.cli.command", "Nope", "env of the registered task Wrong-v0 must be the name of a class .* not have"),
        (
            "tests.cli.command",
            "run_command",
            "must be the name of a class in tests.cli.command, got 'run_command', whi",
        ),
        ("wrong_module", "X", r"Wrong-v0 cannot be made, since .* wrong_module raises ZeroDivisionError\('division"),
    ],
)
def test_a_wrong_task_of_a_plugin(module, env, text, tmp_path, monkeypatch, capsys):
    """It is listed like one whose module is missing, and `make` says what is wrong."""
    (tmp_path / "wrong_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.register("Wrong-v0", module, env=env)
    try:
        assert main(["list", "Wrong"]) == 0
        assert listed(capsys.readouterr().out) == [["Wrong-v0", module, "-"]]
        with pytest.raises((ImportError, ConfigError), match=text):
            envpool.make_gymnasium("Wrong-v0")
    finally:
        del registry.tasks["Wrong-v0"]


def test_an_option_of_a_registration_that_does_not_exist():
    registry.register("Wrong-v0", "envpool.classic_control.cartpole", env="CartPole", foo=3)
    try:
        with pytest.raises(TypeError, match="the environment registered as 'Wrong-v0' has no option 'foo'"):
            envpool.make_gymnasium("Wrong-v0")
    finally:
        del registry.tasks["Wrong-v0"]


def test_family_of_this_package():
    assert family_of(registry.find("CartPole-v1")) == "classic_control"
