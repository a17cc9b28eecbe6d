"""Tasks of other packages: what a plug-in that fails, asks for tasks or is interrupted costs."""

import contextlib
import importlib.metadata
import sys
import threading
import types
import warnings

import pytest

from envpool.errors import ConfigError
from envpool.tasks import plugins
from envpool.tasks.plugins import Plugins
from envpool.tasks.registry import EnvRegistry
from tests.support.process import is_asleep, wait_until
from tests.support.python import run_python

CARTPOLE = "envpool.classic_control.cartpole"


@pytest.fixture
def mine(monkeypatch):
    """A registry with plug-ins of its own; `mine.announce(**functions)` announces them by name."""
    registry, own = EnvRegistry(), Plugins()
    monkeypatch.setattr("envpool.tasks.registry.load_plugins", own.load)

    def announce(**functions):
        package = types.ModuleType("plugins_of_a_test")
        vars(package).update(functions)
        monkeypatch.setitem(sys.modules, package.__name__, package)
        points = [
            importlib.metadata.EntryPoint(name, f"{package.__name__}:{name}", plugins.GROUP) for name in functions
        ]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)

    registry.announce = announce
    return registry


def adding(registry, *ids):
    """Return a plug-in that registers tasks."""

    def add():
        for task_id in ids:
            registry.register(task_id, CARTPOLE, env="CartPole")

    return add


def raising(error):
    def fail():
        raise error

    return fail


class Unprintable(Exception):
    def __str__(self):
        raise OSError


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3), GeneratorExit(), Unprintable()], ids=repr)
def test_a_failing_plugin_costs_its_own_tasks(mine, error):
    mine.announce(first=adding(mine, "First-v0"), broken=raising(error), last=adding(mine, "Last-v0"))
    with pytest.warns(UserWarning, match=r"'broken' \(plugins_of_a_test:broken\).*'envpool.envs' cannot be loaded"):
        found = mine.list_all_envs()
    assert found[-2:] == ["First-v0", "Last-v0"] and "CartPole-v1" in found
    assert mine.list_all_envs() == found, "it is tried once"


def test_the_tasks_of_a_plugin_that_fails_later_are_taken_back(mine):
    def half():
        adding(mine, "Half-v0")()
        raise RuntimeError("no")

    mine.announce(half=half, last=adding(mine, "Last-v0"))
    with pytest.warns(UserWarning, match="its tasks are missing"):
        assert not mine.has("Half-v0")
    assert mine.list_all_envs()[-1] == "Last-v0"


def test_a_plugin_without_a_function(mine, monkeypatch):
    point = importlib.metadata.EntryPoint("odd", "plugins_of_a_test:", plugins.GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    with pytest.warns(UserWarning, match="must be 'module' or 'module:function', got 'plugins_of_a_test:'"):
        mine.list_all_envs()


def test_a_plugin_may_ask_for_tasks(mine):
    seen = []

    def asking():
        seen.extend(mine.list_all_envs())
        assert not mine.has("Asking-v0")
        adding(mine, "Asking-v0")()

    mine.announce(first=adding(mine, "First-v0"), asking=asking)
    assert mine.list_all_envs() == [*seen, "Asking-v0"]
    assert "CartPole-v1" in seen and "First-v0" in seen


def test_an_interrupted_plugin_is_loaded_again(mine):
    interrupts = [KeyboardInterrupt]

    def slow():
        adding(mine, "Slow-v0")()
        if interrupts:
            raise interrupts.pop()
        adding(mine, "Slow-v1")()

    mine.announce(first=adding(mine, "First-v0"), slow=slow, last=adding(mine, "Last-v0"))
    with pytest.raises(KeyboardInterrupt):
        mine.list_all_envs()
    assert mine.list_all_envs()[-4:] == ["First-v0", "Slow-v0", "Slow-v1", "Last-v0"]
    with pytest.raises(ConfigError, match="'Slow-v0' is already registered"):
        mine.register("Slow-v0", CARTPOLE, env="CartPole")


def test_warnings_as_errors_do_not_block_the_registry(mine, recwarn):
    mine.announce(broken=raising(RuntimeError("no")), last=adding(mine, "Last-v0"))
    warnings.simplefilter("error")
    with pytest.raises(UserWarning, match="broken"):
        mine.list_all_envs()
    assert mine.list_all_envs()[-1] == "Last-v0"


def test_other_threads_wait_for_plugins(mine):
    started, waiting = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert waiting.wait(60)
        adding(mine, "Slow-v0")()

    mine.announce(slow=slow)
    found = []
    threads = [threading.Thread(target=lambda: found.append(mine.has("Slow-v0"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert started.wait(60)
    wait_until(lambda: all(is_asleep(thread.native_id) for thread in threads))
    waiting.set()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_a_thread_that_imports_a_plugin_does_not_wait_for_it(mine):
    """The loading thread may be waiting for this import."""
    started, done = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert done.wait(60)

    mine.announce(slow=slow)
    thread = threading.Thread(target=mine.list_all_envs)
    thread.start()
    assert started.wait(60)
    found = {"__name__": "plugins_of_a_test.tasks", "registry": mine}
    exec("tasks = registry.list_all_envs()", found)  # the code of a module
    done.set()
    thread.join()
    assert "CartPole-v1" in found["tasks"]


def test_metadata_that_cannot_be_read(tmp_path):
    """The plug-ins of all other packages are loaded, and the warning names the package."""
    (tmp_path / "theirs.py").write_text(f"""
import envpool
envpool.register("Theirs-v0", "{CARTPOLE}", env="CartPole")
""")
    texts = {
        "theirs": b"[envpool.envs]\ntheirs = theirs\n",
        "latin": b"[console_scripts]\nl\xe9on = latin:main\n",
        "halves": b"[envpool.envs]\nhalf\n",
    }
    for name, text in texts.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_bytes(text)
    done = run_python("import envpool; print(envpool.list_all_envs()[-1]); envpool.make_spec('CartPole-v1')", tmp_path)
    assert done.stdout == "Theirs-v0\n", done.stderr
    lines = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(lines) == 2
    for name in ("latin", "halves"):
        assert sum(f"the entry points of the package '{name}' cannot be read" in line for line in lines) == 1


def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent():
    own = Plugins()
    own._pending, own._loader = [], -1
    own.after_fork()
    own.load(contextlib.nullcontext)
    assert own._is_done
