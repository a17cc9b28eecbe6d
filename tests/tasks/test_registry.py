"""The first use of the task table: what it loads, several threads at once, interruptions, and ids that are taken."""

import os
import threading
from pathlib import Path

import pytest

import envpool
from envpool.errors import ConfigError, PoolStateError, UnknownTaskError
from envpool.pools.classes import pool_class
from envpool.tasks import registry as module
from envpool.tasks.absent import absent_tasks, similar_family
from envpool.tasks.entries import table, tables
from envpool.tasks.registry import EnvRegistry
from envpool.tasks.spec import spec_class
from tests.support.process import is_asleep, wait_until
from tests.support.python import output_of

CARTPOLE = "envpool.classic_control.cartpole"

# ---- threads ---------------------------------------------------------------------------------------------------------


def in_threads(count, call):
    """Call a function on several threads that start at the same time; return the results or exceptions."""
    barrier, found = threading.Barrier(count), []

    def run():
        barrier.wait()
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads_wait_until_all_families_are_loaded(monkeypatch):
    mine, threads, found = EnvRegistry(), [], []
    load = module.import_module

    def load_when_others_wait(name):
        others = [thread for thread in threads if thread is not threading.current_thread()]
        wait_until(lambda: all(not t.is_alive() or (t.native_id and is_asleep(t.native_id)) for t in others))
        monkeypatch.setattr(module, "import_module", load)
        return load(name)

    monkeypatch.setattr(module, "import_module", load_when_others_wait)
    threads += [threading.Thread(target=lambda: found.append(list(mine.tasks))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own = list(EnvRegistry().tasks)
    assert found == [own] * 4 and len(own) > 600


FIRST_USE = """
import logging, sys
import envpool
from tests.tasks.test_registry import in_threads

found = in_threads(8, lambda: envpool.make_gymnasium("Taxi-v4"))
print({getattr(type(pool), "__name__", pool) for pool in found}, len({type(pool) for pool in found}))
"""


def test_first_pools_on_eight_threads():
    assert output_of(FIRST_USE) == "{'TaxiGymnasiumEnvPool'} 1\n"


DIRECT_IMPORT = """
import importlib, threading
import envpool
from envpool.tasks import entries
from tests.support.process import is_asleep, wait_until

table, at_table = entries.table, threading.Event()

def gated(name):
    if name == "envpool.toy_text.registration":
        at_table.set()
        wait_until(lambda: loader.native_id and is_asleep(loader.native_id))
    return table(name)

entries.table = gated
loader = threading.Thread(target=lambda: print("Taxi-v4" in envpool.list_all_envs()))
user = threading.Thread(target=importlib.import_module, args=["envpool.toy_text.registration"])
user.start()
at_table.wait()
loader.start()
loader.join()
user.join()
"""


def test_a_table_that_another_thread_is_importing():
    """The thread that loads the families waits for that import, which must not wait for the registry."""
    assert output_of(DIRECT_IMPORT) == "True\n"


def test_classes_are_made_once():
    class Plain:
        options = {}

        @staticmethod
        def build(config):
            return envpool.make_spec("CartPole-v1").capsule

    def make():
        cls = spec_class(Plain)
        return cls, pool_class(cls, "gymnasium")

    assert len(set(in_threads(8, make))) == 1


# ---- interrupts ------------------------------------------------------------------------------------------------------


INTERRUPTS = """
import envpool
from envpool.tasks import entries

entries_of, calls, missed = entries.entries_of, 0, 0

def interrupted(*args, **kwargs):
    global calls
    calls += 1
    if calls in (1, 60, 200, 500, 700):
        raise KeyboardInterrupt
    return entries_of(*args, **kwargs)

entries.entries_of = interrupted
while True:
    try:
        print(missed, *envpool.list_all_envs())
        break
    except KeyboardInterrupt:
        missed += 1
"""


def test_interrupted_loading_starts_again():
    missed, *tasks = output_of(INTERRUPTS).split()
    assert missed == "5"
    assert tasks == list(EnvRegistry().tasks)


def test_loading_fails_as_a_whole(monkeypatch):
    mine, load = EnvRegistry(), module.import_module

    def failing(name):
        if name == "envpool.minigrid.registration":
            raise MemoryError
        return load(name)

    monkeypatch.setattr(module, "import_module", failing)
    for call in (mine.list_all_envs, lambda: mine.find("CartPole-v1"), lambda: mine.register("A-v0", "a", env="A")):
        with pytest.raises(MemoryError):
            call()
    monkeypatch.undo()
    assert mine.list_all_envs() == list(EnvRegistry().tasks)


def test_tasks_asked_for_by_the_loading_thread(monkeypatch):
    """A signal handler or a finalizer may run while the families are loaded."""
    mine, load = EnvRegistry(), module.import_module

    def asking(name):
        with pytest.raises(PoolStateError, match="this thread is loading the table of tasks"):
            mine.find("CartPole-v1")
        return load(name)

    monkeypatch.setattr(module, "import_module", asking)
    assert "CartPole-v1" in mine.list_all_envs()


def test_an_interrupted_listener_undoes_the_registration():
    mine, interrupts = EnvRegistry(), [KeyboardInterrupt]

    def listener(ids):
        if interrupts:
            raise interrupts.pop()

    mine.on_register(listener)
    with pytest.raises(KeyboardInterrupt):
        mine.register("New-v0", CARTPOLE, env="CartPole", aliases=["New-v1"])
    assert not mine.has("New-v0") and not mine.has("New-v1")
    mine.register("New-v0", CARTPOLE, env="CartPole", aliases=["New-v1"])
    assert mine.list_all_envs()[-2:] == ["New-v0", "New-v1"]


def test_a_table_that_is_executed_again_starts_empty():
    for _ in range(2):
        register = table("tests.a_table")
        register("One-v0", CARTPOLE, env="CartPole")
        with pytest.raises(ConfigError, match="'One-v0' is already registered"):
            register("One-v0", CARTPOLE, env="CartPole")
    del tables["tests.a_table"]


def test_a_fork_waits_for_the_registry():
    code = """
import os, threading
from envpool.tasks.registry import registry
from tests.support.process import is_asleep, wait_until

held, forking = threading.Event(), threading.Event()

def hold():
    with registry._lock:
        held.set()
        forking.wait()
        wait_until(lambda: is_asleep(os.getpid()))  # the main thread
        assert child is None, "the fork did not wait"

child = None
threading.Thread(target=hold).start()
held.wait()
forking.set()
child = os.fork()
if child == 0:
    os._exit("CartPole-v1" not in registry.tasks)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert output_of(code) == "0\n"


# ---- ids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["elsewhere", CARTPOLE])
@pytest.mark.parametrize("aliases", [(), ["Mine-v0"]])
def test_ids_of_the_families_are_taken_from_the_start(place, aliases):
    mine = EnvRegistry()
    with pytest.raises(ConfigError, match="'CartPole-v1' is already registered"):
        mine.register("CartPole-v1", place, env="CartPole", aliases=aliases)
    assert mine.list_all_envs() == list(EnvRegistry().tasks)
    assert mine.find("CartPole-v1").config["max_episode_steps"] == 500


@pytest.mark.parametrize("aliases", [5, iter(["New-v1"]), "abc", "", [3], [None], b"abc"])
def test_aliases_are_a_sequence_of_ids(aliases):
    mine = EnvRegistry()
    with pytest.raises(TypeError, match="aliases must be a sequence of task ids"):
        mine.register("New-v0", CARTPOLE, env="CartPole", aliases=aliases)
    assert not mine.has("New-v0")


@pytest.mark.parametrize("aliases", [["New-v0"], ["New-v1", "New-v1"]])
def test_ids_are_given_once(aliases):
    with pytest.raises(ConfigError, match="aliases must differ from 'New-v0' and from each other, got"):
        EnvRegistry().register("New-v0", CARTPOLE, env="CartPole", aliases=aliases)


@pytest.mark.parametrize("name", ["", "New v0", "New-v0\n", "\0"])
def test_ids_are_words(name):
    for ids in ((name, ()), ("New-v0", (name,))):
        with pytest.raises(ConfigError, match="a task id must have characters, and no spaces or line breaks, got"):
            EnvRegistry().register(ids[0], CARTPOLE, env="CartPole", aliases=ids[1])


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("task_id", 3, "a str"),
        ("task_id", None, "a str"),
        ("import_path", object, "a str"),
        ("env", 3, f"the name of a class in {CARTPOLE}"),
        ("spec_cls", object, f"the name of a class in {CARTPOLE}"),
    ],
)
def test_types_of_names(name, value, text):
    arguments = {"task_id": "New-v0", "import_path": CARTPOLE, "env": "CartPole"} | {name: value}
    with pytest.raises(TypeError, match=f"{name} must be {text}"):
        EnvRegistry().register(**arguments)


@pytest.mark.parametrize("task_id", ["gymnasium:CartPole-v1", "envpool:envpool/CartPole-v1", "ale_py:ALE/Pong-v5"])
def test_no_native_task_becomes_a_python_pool(task_id):
    for call in (envpool.make_gymnasium, envpool.make_vec):
        with pytest.raises(UnknownTaskError, match=r"did you mean .*(CartPole-v1|Pong-v5)"):
            call(task_id)


def test_no_native_task_of_a_plugin_becomes_a_python_pool(monkeypatch):
    """Gymnasium knows an id which a plug-in has natively, and which is asked for before plug-ins are loaded."""
    task = "MountainCar-v7"

    def load(attempt):
        if task not in envpool.registration.registry.tasks:
            envpool.register(task, CARTPOLE, env="CartPole")

    monkeypatch.setattr("envpool.tasks.registry.load_plugins", load)
    monkeypatch.setattr("envpool.registration.is_known_to_gymnasium", lambda task_id: True)
    try:
        with envpool.make_gymnasium(task) as pool:
            assert type(pool).__name__ == "CartPoleGymnasiumEnvPool"
    finally:
        del envpool.registration.registry.tasks[task]


@pytest.mark.parametrize(
    ("task_id", "is_task", "family"),
    [
        ("Snake-v1", "is a task", "jumanji"),
        ("Jumanji/Sudoku-very-easy-v0", "is a task", "jumanji"),
        ("highway-fast-v0", "is a task", "highway"),
        ("ParkingActionRepeat-v0", "is a task", "highway"),
        ("Go9x9-v1", "is a task", "pgx"),
        ("MetaWorld/PickPlaceWall-v3", "is a task", "mujoco.metaworld"),
        ("MyoSuite/myoSarcHandPose3Fixed-v0", "is a task", "mujoco.myosuite"),
        ("myoChallengeBaodingP1-v1", "is a task", "mujoco.myosuite"),
        ("MuJoCoPlayground/Go1Getup-v1", "is a task", "mujoco.playground"),
        ("merge-v9", "is named like a task", "highway"),
        ("Jumanji/Foo-v9", "is named like a task", "jumanji"),
        ("Jumanji/Tetris-v9", "is named like a task", "jumanji"),
        ("jumanji/Snake-v1", "is named like a task", "jumanji"),
        ("MetaWorld/Foo-v3", "is named like a task", "mujoco.metaworld"),
        ("MyoSuite/x", "is named like a task", "mujoco.myosuite"),
        ("MuJoCoPlayground/Nope-v7", "is named like a task", "mujoco.playground"),
    ],
)
def test_tasks_that_only_envpool_has(task_id, is_task, family):
    for call in (envpool.make_spec, envpool.make_gymnasium, envpool.make_vec):
        with pytest.raises(UnknownTaskError, match=rf"{is_task} of EnvPool 1\.2\.5, family {family}, that") as error:
            call(task_id)
        assert "did you mean" not in str(error.value)


def test_tasks_that_gymnasium_may_have_as_well():
    """The installed minigrid may have registered them."""
    assert absent_tasks()["MiniGrid-WFC-MazeSimple-v0"] == "minigrid"


def test_absent_tasks():
    """EnvPool 1.2.5 has 1,651 ids, this package 634 of them."""
    assert len(absent_tasks()) == 1651 - 634
    assert absent_tasks().keys().isdisjoint(envpool.list_all_envs())


def test_another_version_of_a_task_that_both_have():
    assert similar_family("Backgammon-v9") == "pgx"
    with pytest.raises(UnknownTaskError, match=r"Backgammon-v9 is not supported, did you mean Backgammon-v5"):
        envpool.make_spec("Backgammon-v9")


@pytest.mark.parametrize("task_id", ["Snak-v1", "CartPole-v7", "Go-v1", "My-v0", "My/Chess-v1", "", "/"])
def test_tasks_that_envpool_does_not_have_either(task_id):
    assert similar_family(task_id) is None
    assert task_id not in absent_tasks()


def test_tasks_of_a_family():
    names = envpool.list_all_envs(family="classic_control")
    assert names[0] == "CartPole-v0" and "phys2d/CartPole-v1" in names and "Catch-v0" not in names
    assert set(envpool.list_all_envs(family="mujoco.dmc")) < set(envpool.list_all_envs("mujoco"))
    assert envpool.list_all_envs(family=None) == envpool.list_all_envs()
    for family in ("classic", "mujoco.d", "", 3):
        with pytest.raises(ConfigError, match=r"family must be one of .*'classic_control', .*'mujoco\.dmc'.*, got "):
            envpool.list_all_envs(family)


def test_all_tables_are_found():
    root = Path(envpool.__file__).parent
    files = sorted(root.rglob("*/registration.py"))
    assert module.family_tables() == [
        ".".join(("envpool", *file.relative_to(root).with_suffix("").parts)) for file in files
    ]


def test_folders_that_may_not_be_read(monkeypatch):
    """For example, the ``__pycache__`` of another user."""
    scan, found = os.scandir, module.family_tables()

    def refusing(folder):
        if folder.endswith("_core"):
            raise PermissionError
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    assert module.family_tables() == found


FIRST_POOL = """
import sys, gymnasium, numpy
loaded = set(sys.modules)
import envpool
envpool.make_gymnasium("CartPole-v1", num_envs=1).close()
print(*set(sys.modules) - loaded)
"""


def test_what_a_first_pool_does_without():
    """Modules that take milliseconds to import, and that only some programs need."""
    rare = {"pathlib", "importlib.abc", "importlib.metadata", "envpool.pools.pickling", "envpool.pools.statistics"}
    rare |= {f"envpool.transforms.{name}" for name in ("actions", "normalization", "observations", "rows", "wrapped")}
    loaded = set(output_of(FIRST_POOL).split())
    assert loaded >= {"envpool.pools.env_pool", "envpool.transforms.plan"}
    assert rare & loaded == set()
