"""The commands in the pages are true: the programs accept them, and the tasks that they name exist."""

import argparse
import runpy
import sys
from fnmatch import fnmatchcase
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

import envpool
from envpool import adapters
from envpool.cli.list import matching
from envpool.cli.main import COMMANDS, make_parser
from envpool.cli.parsing import read_options
from envpool.tasks.registry import registry
from tests.support.pages import ROOT, commands

#: Packages that only the environments of clients have; the examples for them import them before they parse.
CLIENT_PACKAGES = {"rl_games", "ray", "stable_baselines3", "tianshou"}


def cases(*starts):
    """Return the commands with these starts as parameters of a test."""
    return [pytest.param(words, id=f"{page.name}:{line}") for page, line, words in commands(*starts)]


@pytest.mark.parametrize("words", cases("envpool "))
def test_the_command_envpool_accepts(words):
    if len(words) == 2:  # the name of a command, in a sentence
        assert words[1] in (*COMMANDS, "--help", "fetch-<family>")
        return
    try:
        arguments = make_parser().parse_args(words[1:])
    except SystemExit as stop:
        assert stop.code == 0, "the text above says what the parser does not accept"  # 0: --help
        return
    if words[1] == "list":
        assert arguments.pattern == "[PATTERN]" or matching(arguments.pattern, with_families=True)
    options = read_options(getattr(arguments, "options", None) or [], {})
    for task in getattr(arguments, "tasks", None) or [getattr(arguments, "task", "TASK")]:
        known = arguments.imports or any(fnmatchcase(name, task) for name in envpool.list_all_envs())
        assert known or task in ("TASK", "TASK..."), f"there is no task {task}"
        if options:
            envpool.make_spec(task, **options)


class Parsed(Exception):
    """A script has parsed its command line."""


class FakeClass(type):
    """A class that has every attribute: another such class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return FakeClass(name, (), {})


class FakePackages:
    """Finds the packages of clients if they are not installed: each name in them is a fake class."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in CLIENT_PACKAGES else None

    def create_module(self, spec):
        return ModuleType(spec.name)

    def exec_module(self, module):
        module.__path__ = []
        module.__getattr__ = lambda name: FakeClass(name, (), {})


@pytest.fixture
def parsing_scripts(monkeypatch):
    """Make scripts raise Parsed once they have parsed their command line."""

    def parse_args(parser, args=None, namespace=None):
        _, unknown = parser.parse_known_args(args, namespace)
        assert not unknown, unknown
        raise Parsed

    before = set(sys.modules)
    # Without tasks of examples, which a script registers, even if the tests of the example have done so.
    own = {task: entry for task, entry in registry.tasks.items() if entry.import_path.startswith("envpool.")}
    monkeypatch.setattr(registry, "_tasks", own)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_args)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, FakePackages()])
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in CLIENT_PACKAGES:
            del sys.modules[name]
        elif name.startswith("envpool.adapters."):
            del sys.modules[name]
            vars(adapters).pop(name.removeprefix("envpool.adapters."), None)


def scripts():
    """Return the commands that run a Python file; one without arguments may have no parser, and is not run."""
    found = cases("python examples/", "python benchmarks/", "scripts/compare")
    return [case for case in found if len(case.values[0]) > 2 or case.values[0][0] == "python"]


@pytest.mark.parametrize("words", scripts())
def test_scripts_accept(words, parsing_scripts, monkeypatch):
    words = words[1:] if words[0] == "python" else words
    file = ROOT / words[0]
    assert file.is_file()
    if words[1:]:
        monkeypatch.setattr(sys, "argv", words)
        monkeypatch.syspath_prepend(file.parent)
        with pytest.raises((Parsed, SystemExit)) as stopped:
            runpy.run_path(str(file), run_name="__main__")
        assert stopped.type is Parsed or stopped.value.code == 0


def test_commands_are_found():
    """So that the tests above cannot pass because no command is recognised."""
    shown = {" ".join(words) for _, _, words in commands("envpool ", "python ", "scripts/")}
    for command in (
        "envpool watch CartPole-v1 --num-envs 4 --steps 300 --out cartpole.mp4",  # in a notebook
        "envpool spec Pong-v5 --preset dqn",  # broken at the end of a line of prose
        "python examples/ppo.py --task CartPole-v1 --checkpoint out/run.pt",  # before a comment
    ):
        assert command in shown
    assert any(command.endswith("--json docs/data/compare.json") for command in shown)
    assert any("CarRacing-v3 --num-envs 64 --num-threads 2 --compare" in command for command in shown)  # two lines
