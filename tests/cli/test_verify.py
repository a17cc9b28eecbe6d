"""``envpool verify``."""

import re
import subprocess
import tomllib
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import envpool
from envpool._support.requirements import parse, requirements
from envpool.classic_control.cartpole import CartPole
from envpool.cli.main import main
from envpool.errors import EnvStepError
from envpool.registration import registry
from envpool.verify import lookup, play
from envpool.verify.gymnasium_oracle import GymnasiumOracle
from envpool.verify.lookup import oracle_of
from tests.cli.command import COMMAND, run_command
from tests.support import plugin
from tests.support.python import environment
from tests.support.tasks import WITHOUT_MAPS

__all__ = ["CartPole"]  # This module is a plug-in: the task below names it.

ROOT = Path(__file__).parents[2]
OWN = [i for i in envpool.list_all_envs() if registry.find(i).import_path.startswith("envpool.")]
OWN_RULES = {"ApplePicker-v0", "ApplePickerDeterministic-v0", "Catch-v0", "NChain-v0"}
WITHOUT_UPSTREAM = {*OWN_RULES, *WITHOUT_MAPS}
TASK = "Altered-v0"


def one_line(text):
    return " ".join(text.split())


class Altered(GymnasiumOracle):
    """CartPole of which each record is changed by a function of step, env and values."""

    change = staticmethod(lambda step, env, values: values)
    started = 0

    def start(self, seed):
        player, env, steps = super().start(seed), Altered.started, iter(range(10**6))
        record = player.record
        player.record = lambda action: Altered.change(next(steps), env, record(action))
        Altered.started += 1
        return player


def upstream_of(task_id):
    """Return the oracle of the task of this module."""
    Altered.started = 0
    return Altered("CartPole-v1", packages=("gymnasium",))


@pytest.fixture(autouse=True)
def altered_task():
    registry.register(TASK, __name__, env="CartPole", max_episode_steps=500, reward_threshold=475.0)
    yield
    del registry.tasks[TASK]


def at(step, env, change):
    """Return a change of the values of one record."""
    return staticmethod(lambda s, e, values: change(dict(values)) if (s, e) == (step, env) else values)


def with_one_bit(values):
    """Flip the lowest bit of one element of the observation."""
    obs = values["obs"].copy()
    obs.view(np.uint32)[2] ^= 1
    return values | {"obs": obs}


# ---- agreement -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task_id", "upstream"),
    [
        ("CartPole-v1", "gymnasium's CartPole-v1"),
        ("Acrobot-v1", "gymnasium's Acrobot-v1"),
        ("Taxi-v3", "gymnasium's Taxi-v4"),
        ("LunarLander-v2", "gymnasium's LunarLander-v2 (gymnasium 0.29.1), made of version 3"),
        ("Ant-v3", "gymnasium's Ant-v4 without contact forces"),
        ("Pusher-v4", "gymnasium's Pusher-v4"),
        ("CheetahRun-v1", "dm_control's suite, cheetah run"),
        ("MinAtar/Breakout-v1", "gymnasium's MinAtar/Breakout-v1"),
        ("MiniGrid-DoorKey-8x8-v0", "gymnasium's MiniGrid-DoorKey-8x8-v0"),
        ("Pong-v5", "gymnasium's ALE/Pong-v5 under AtariPreprocessing"),
        ("Backgammon-v5", "gymnasium's ALE/Backgammon-v5 under AtariPreprocessing"),
    ],
)
def test_every_family_agrees(task_id, upstream, capsys):
    assert main(["verify", task_id, "--steps", "30", "--num-envs", "2", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"{task_id}: equals {upstream}" in " ".join(" ".join(lines).split())
    assert any(line.startswith("  seed 3: 2 envs, 30 steps each, ") for line in lines)
    assert lines[-1] == "every bit agrees (1 task)"
    assert max(map(len, lines)) <= 80


def test_the_command_names_what_it_compared():
    done = run_command("verify", "--steps", "20", "--seed", "5", "--seed", "6", "CartPole-v1", "Taxi-v4")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    for part in (
        "seed 5: 4 envs, 20 steps each",
        "seed 6: 4 envs",
        "info:action_mask",
        "compared with gymnasium 1.4.0",
    ):
        assert part in text
    assert text.endswith("every bit agrees (2 tasks)")


def test_steps_beyond_one_drawing_of_actions(monkeypatch, capsys):
    monkeypatch.setattr(play, "DRAWN_AT_ONCE", 7)
    assert main(["verify", "CartPole-v1", "--steps", "45", "--num-envs", "3"]) == 0
    episodes = re.search(r"3 envs, 45 steps each, (\d+) episodes ended", capsys.readouterr().out)
    assert int(episodes[1]) > 0


def required(group):
    """Return what a dependency group of pyproject.toml requires."""
    return parse(tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"][group])[""]


def test_every_task_has_an_upstream_or_is_known_to_have_none():
    found = {task_id: oracle_of(task_id) for task_id in OWN}
    assert {task_id for task_id, oracle in found.items() if oracle is None} == WITHOUT_UPSTREAM
    known = {r.name for extra in ("", "verify", "render") for r in requirements()[extra]}
    known |= {r.name for r in required("test")}
    known |= {"minigrid", "nle", "procgen-mirror", "gym3"}  # which the extra cannot name: see pyproject.toml
    known.add("gfootball")  # which needs another gym than the tests: tests/gfootball compares with it
    known.add("opencv-python")  # which some users have in place of opencv-python-headless
    assert {name for oracle in found.values() if oracle for name in oracle.packages} <= known


@pytest.mark.parametrize(
    "task_id",
    [
        pytest.param(task_id, marks=pytest.mark.sweep if k % 4 else pytest.mark.slow)
        for k, task_id in enumerate(i for i in OWN if i not in WITHOUT_UPSTREAM and not i.startswith("gfootball/"))
    ],
)
def test_every_task_agrees(task_id):
    assert main(["verify", task_id, "--steps", "60", "--num-envs", "1", "--seed", "7"]) == 0


def test_the_versions_are_those_of_the_tests():
    found = [*requirements()["mujoco"], *required("test"), *required("test-alone")]
    tested = {r.name: r.versions for r in found if "==" in r.versions}
    verified = {r.name: r.versions for r in requirements()["verify"] if "==" in r.versions}
    assert {"gymnasium", "ale-py", "box2d", "dm_control", "MinAtar"} <= verified.keys()
    assert verified.items() <= tested.items()


# ---- differences -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_one_bit, [r"field +obs\[2\]", r"upstream +\S+ \(bits 0x[0-9a-f]{8}\)", r"envpool +\S+ \(bits 0x"]),
        (lambda v: v | {"reward": np.float32(0.5)}, ["field +reward\n", r"upstream +0\.5 \(bits 0x3f000000\)"]),
        (lambda v: v | {"reward": -np.float32(0)}, [r"upstream +-0\.0 \(bits 0x80000000\)", r"envpool +1\.0"]),
        (lambda v: v | {"terminated": np.bool_(True)}, ["field +terminated\n", "upstream +True\n", "envpool +False\n"]),
        (lambda v: v | {"truncated": np.bool_(True)}, ["field +truncated\n", "upstream +True\n", "envpool +False\n"]),
        (lambda v: v | {"elapsed_step": np.int32(99)}, ["field +elapsed_step\n", "upstream +99\n", "envpool +7\n"]),
        (lambda v: v | {"obs": v["obs"][:3]}, [r"field +obs\n", r"shapes \(3,\) and \(4,\)"]),
        (lambda v: v | {"obs": v["obs"].astype(float)}, [r"field +obs\n", "types float64 and float32"]),
        (lambda v: v | {"info:more": np.int32(1)}, ["field +info:more\n", "the pool has no array of this name"]),
        (lambda v: {k: x for k, x in v.items() if k != "obs"}, ["field +obs\n", "upstream has no array of this name"]),
    ],
)
def test_the_first_difference_is_named(change, expected, monkeypatch, capsys):
    monkeypatch.setattr(Altered, "change", at(7, 1, change))
    assert main(["verify", TASK, "--steps", "20", "--num-envs", "3", "--seed", "40"]) == 1
    out = capsys.readouterr().out
    assert f"{TASK}: DIFFERS from gymnasium's CartPole-v1" in out
    assert "seed 40: the first difference is at step 7, env 1 (its seed is 41)\n" in out
    for part in expected:
        assert re.search(part, out), part
    assert out.endswith(f"\ndifferent (1 of 1 task): {TASK}\n")


def test_entries_of_info_that_were_never_compared(monkeypatch, capsys):
    oracle = GymnasiumOracle("CartPole-v1", info={"distance": "distnace"})
    monkeypatch.setattr(f"{__name__}.upstream_of", lambda task_id: oracle)
    assert main(["verify", TASK, "--steps", "20"]) == 1
    assert "reason upstream's info never had what the oracle maps to it" in one_line(capsys.readouterr().out)


def test_an_oracle_of_another_type(monkeypatch):
    monkeypatch.setattr(f"{__name__}.upstream_of", lambda task_id: "CartPole-v1")
    with pytest.raises(TypeError, match=r"upstream_of\('Altered-v0'\) must return an Oracle or None, got 'Cart"):
        oracle_of(TASK)


def test_a_difference_in_the_first_observation(monkeypatch, capsys):
    monkeypatch.setattr(Altered, "change", at(0, 2, with_one_bit))
    assert main(["verify", TASK, "--steps", "5", "--num-envs", "3"]) == 1
    assert "the first difference is at step 0, env 2" in capsys.readouterr().out


def test_other_tasks_are_compared_after_a_difference(monkeypatch, capsys):
    monkeypatch.setattr(Altered, "change", at(2, 0, with_one_bit))
    assert main(["verify", TASK, "CartPole-v0", "--steps", "5", "--seed", "0", "--seed", "1"]) == 1
    out = capsys.readouterr().out
    assert "CartPole-v0: equals" in out
    assert out.count("the first difference") == 1  # The second seed of the task that differs is left out.
    assert out.endswith(f"different (1 of 2 tasks): {TASK}\n")


def test_a_pool_with_another_rule_is_found(monkeypatch, capsys):
    oracle = GymnasiumOracle("CartPole-v1", options={"sutton_barto_reward": True}, packages=("gymnasium",))
    monkeypatch.setattr(f"{__name__}.upstream_of", lambda task_id: oracle)
    assert main(["verify", TASK, "--steps", "5"]) == 1
    out = capsys.readouterr().out
    assert "with sutton_barto_reward=True\n" in out
    assert re.search(r"step 1, env 0 .*\n +field +reward\n", out)


class FailingPool:
    """A pool whose environment 2 fails in its fourth step."""

    def __init__(self, *args, **options):
        self.pool, self.steps = envpool.make_gymnasium(*args, **options), 0
        self.reset = self.pool.reset

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.pool.close()

    def step(self, actions):
        self.steps += 1
        if self.steps == 4:
            raise EnvStepError({2: "it was asked to fail"})
        return self.pool.step(actions)


def test_an_environment_that_fails_differs(monkeypatch, capsys):
    monkeypatch.setattr(play, "make_gymnasium", FailingPool)
    assert main(["verify", TASK, "--steps", "9", "--num-envs", "3"]) == 1
    out = capsys.readouterr().out
    assert "step 4, env 2" in out and "the environment failed: it was asked to fail" in out


def test_other_versions_are_named(monkeypatch, capsys):
    monkeypatch.setattr(
        "envpool._support.requirements.Requirement.allows", lambda self, version: self.name != "gymnasium"
    )
    assert main(["verify", "CartPole-v1", "--steps", "3"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "envpool equals other versions: gymnasium==1.4.0; to install them, run: pip install 'envpool-cython[verify]'"
        in text
    )


# ---- tasks that cannot be compared -----------------------------------------------------------------------------------


def fail(error):
    """Return a function that raises an error."""

    def call(*args):
        raise error

    return call


#: The line in which it is raised.
LINE_OF_FAILURE = fail.__code__.co_firstlineno + 4


@pytest.mark.parametrize(
    ("task_id", "seed", "error"),
    [
        ("CartPole-v1", 2**64 - 2, ""),
        ("CartPole-v1", 2**64 - 1, "seed must be at most 18446744073709551614"),
        ("CartpoleSwingup-v1", 2**32 - 2, ""),
        ("CartpoleSwingup-v1", 2**32, "seed must be between 0 and 4294967295"),
    ],
)
def test_every_seed_of_the_task_can_be_compared(capsys, task_id, seed, error):
    status = main(["verify", task_id, "--steps", "5", "--num-envs", "2", "--seed", str(seed)])
    out = capsys.readouterr().out
    if error:
        assert status == 2 and f"{task_id} cannot be compared: {error}" in " ".join(out.split())
    else:
        assert status == 0 and f"seed {seed}: 2 envs, 5 steps each" in out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["Catch-v0"], ["Catch-v0 cannot be compared: it has no upstream implementation"]),
        (["Cat*h-v0"], ["no task is left to compare"]),
        (["CartPole-v7"], ["CartPole-v7 is not supported", "CartPole-v1"]),
        (["CartPo?-v7"], ["no task matches 'CartPo?-v7'"]),
    ],
)
def test_mistakes(arguments, parts, capsys):
    assert main(["verify", *arguments]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert all(part in error for part in parts), error


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "TASK"),
        (["CartPole-v1", "--steps", "0"], "--steps: must be an integer of at least 1, got '0'"),
        (["CartPole-v1", "--num-envs", "-1"], "--num-envs: must be an integer of at least 1, got '-1'"),
        (["CartPole-v1", "--seed", "1", "--seed", "x"], "--seed: must be an integer between 0 and 2**64 - 1, got 'x'"),
        (["CartPole-v1", "--seed", str(2**64)], "got '18446744073709551616'"),
    ],
)
def test_bad_usage(arguments, text, capsys):
    with pytest.raises(SystemExit) as status:
        main(["verify", *arguments])
    assert status.value.code == 2
    assert text in capsys.readouterr().err


def test_a_glob_passes_over_tasks_without_upstream(capsys):
    assert main(["verify", "C?t*h-v0", "C?rtPole-v0", "--steps", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Catch-v0 is skipped: it has no upstream implementation")
    assert out.endswith("every bit agrees (1 task)\n")


def test_a_glob_names_what_is_missing_and_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(f"{__name__}.upstream_of", fail(ImportError("No module named 'simulator'")))
    assert main(["verify", "Alter*", "CartPole-v1", "--steps", "3"]) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert (
        f"{TASK} cannot be compared" in out
        and "(No module named 'simulator'); run: pip install 'envpool-cython[verify]'" in out
    )
    assert "every bit agrees (1 task) 1 task could not be compared: Altered-v0" in out


def test_a_difference_weighs_more_than_a_missing_package(monkeypatch, capsys):
    oracle = GymnasiumOracle("CartPole-v1", options={"sutton_barto_reward": True})
    monkeypatch.setattr(f"{__name__}.upstream_of", lambda task_id: oracle)
    real = lookup.upstream_function

    def missing(module):
        return fail(ImportError("gone")) if "pendulum" in module else real(module)

    monkeypatch.setattr(lookup, "upstream_function", missing)
    assert main(["verify", TASK, "Pendulum-v?", "--steps", "3"]) == 1


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ImportError("No module named 'simulator'"), "run: pip install 'envpool-cython[verify]'"),
        (
            ValueError("no such thing"),
            f"its upstream environment failed (ValueError: no such thing), at {__file__}, line {LINE_OF_FAILURE}, "
            "in call: raise error",
        ),
    ],
)
def test_an_upstream_that_cannot_start(error, text, monkeypatch, capsys):
    monkeypatch.setattr(Altered, "start", fail(error))
    assert main(["verify", TASK, "--steps", "3"]) == 2
    assert text in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("error", [FloatingPointError("overflow"), gymnasium.error.ResetNeeded("overflow")])
def test_an_upstream_that_fails_in_a_step(error, monkeypatch, capsys):
    monkeypatch.setattr(Altered, "change", at(2, 0, fail(error)))
    assert main(["verify", TASK, "CartPole-v1", "--steps", "3"]) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert f"its upstream environment failed ({type(error).__name__}: overflow), at {__file__}, line " in out
    assert ": raise error" in out and "pip install" not in out
    assert "CartPole-v1: equals" in out


def test_an_upstream_that_fails_in_a_library(monkeypatch, capsys):
    """The report names the line of the library, and the line of the user that called it."""
    monkeypatch.setattr(Altered, "change", at(2, 0, lambda *args: np.reshape(np.zeros(3), (2, 2))))
    assert main(["verify", TASK, "--steps", "3"]) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert "(ValueError: cannot reshape array of size 3 into shape (2,2)), at numpy/" in out
    assert f", called at {__file__}, line " in out and "np.reshape(np.zeros(3), (2, 2))" in out


@pytest.mark.parametrize(("module", "task_id"), [("Box2D", "LunarLander-v3"), ("dm_control", "CheetahRun-v1")])
def test_a_package_that_is_not_installed(module, task_id, tmp_path):
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('No module named {module}', name='{module}')\n")
    done = subprocess.run(
        [*COMMAND, "verify", task_id, "--steps", "2"], capture_output=True, text=True, env=environment(tmp_path)
    )
    assert done.returncode == 2
    assert "pip install 'envpool-cython[verify]'" in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr


def test_opencv_is_named(monkeypatch, capsys):
    monkeypatch.setattr("envpool.atari.upstream.find_spec", lambda name: None)
    assert main(["verify", "Pong-v5", "--steps", "2"]) == 2
    assert "needs OpenCV, which is not installed: pip install opencv-python" in one_line(capsys.readouterr().out)


def test_a_plug_in_without_upstream(capsys):
    plugin.load()
    assert oracle_of("Synthetic-v0") is None
    assert main(["verify", "Synthetic-v0"]) == 2
    assert "Synthetic-v0 cannot be compared: it has no upstream implementation" in capsys.readouterr().err
