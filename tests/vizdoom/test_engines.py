"""Engine processes: their failures concern one environment, and nothing of them is left behind (conftest.py)."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError
from envpool.vizdoom import game
from envpool.vizdoom.leftovers import remove_leftovers
from tests.support.process import PATIENCE, wait_until
from tests.vizdoom.engines import engines, kill, leftovers

ROOT = Path(__file__).parents[2]


def make(num_envs: int = 2, **options: Any) -> Any:
    small = {"stack_num": 1, "img_height": 20, "img_width": 20}
    return envpool.make_gymnasium("Basic-v1", num_envs=num_envs, num_threads=2, seed=3, **small, **options)


def idle(num_envs: int = 2) -> np.ndarray:
    return np.zeros((num_envs, 3))


def test_a_killed_engine_is_an_error_that_names_the_env() -> None:
    with make() as pool:
        first, _ = pool.reset()
        before = engines()
        assert len(before) == 2
        kill(before[0])
        with pytest.raises(
            EnvStepError, match=r"env [01]: the ViZDoom engine was killed by signal 9 \(Killed\)"
        ) as error:
            pool.step(idle())
        assert len(error.value.failures) == 1
        pool.recv()
        pool.step(idle())  # starts another engine
        assert len(engines()) == 2 and before[1] in engines() and before[0] not in engines()
        again, _ = pool.reset(seed=3)
        assert np.array_equal(first, again)


def test_a_killed_engine_is_restarted() -> None:
    with make(on_error="restart", autoreset_mode="same_step") as pool:
        pool.reset()
        kill(engines()[0])
        _, _, _, truncated, info = pool.step(idle())
        assert truncated.sum() == 1
        assert [text for text in info["error"] if text] == ["the ViZDoom engine was killed by signal 9 (Killed)"]
        assert len(engines()) == 2
        pool.step(idle())


#: Where the lock is in a queue, see queue.h.
LOCK_AT = 48


def die_with_locks() -> None:
    """Lock both queues of an engine in a process that ends without unlocking them."""
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if "ViZDoomMQ" in line]
    assert len(maps) == 2
    lock = ctypes.CDLL(None).pthread_mutex_lock
    child = os.fork()
    if child == 0:
        for addresses, *_ in maps:
            lock(ctypes.c_void_p(int(addresses.partition("-")[0], 16) + LOCK_AT))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_an_engine_that_dies_with_the_lock_of_a_queue() -> None:
    with make(num_envs=1) as pool, ThreadPoolExecutor(1) as executor:
        pool.reset()
        (engine,) = engines()
        os.kill(engine, signal.SIGSTOP)
        step = executor.submit(pool.step, idle(1))
        time.sleep(0.1)  # so that the step waits for an answer
        die_with_locks()
        kill(engine)
        with pytest.raises(EnvStepError, match="was killed by signal 9"):
            step.result(PATIENCE)
        pool.recv()
        pool.step(idle(1))


@pytest.mark.slow
def test_an_engine_that_does_not_answer_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game, "PATIENCE", 10.0)
    with make(num_envs=1) as pool:
        pool.reset()
        (stopped,) = engines()
        os.kill(stopped, signal.SIGSTOP)
        with pytest.raises(EnvStepError, match="env 0: the ViZDoom engine did not answer for 10 seconds"):
            pool.step(idle(1))
        assert engines() == []
        pool.recv()
        pool.step(idle(1))
        assert len(engines()) == 1


def test_an_engine_that_was_killed_between_episodes_is_started_anew() -> None:
    with make(num_envs=1) as pool:
        first, _ = pool.reset()
        kill(engines()[0])
        again, _ = pool.reset(seed=3)
        assert np.array_equal(first, again)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("#!/bin/sh\necho some library is missing >&2\nexit 3\n", "exited with status 3: some library is missing"),
        ("#!/no/such/interpreter\n", "could not be executed"),
        ("#!/bin/sh\nkill -SEGV $$\n", r"was killed by signal 11 \(Segmentation fault\)"),
    ],
)
def test_an_engine_that_does_not_start(program: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    path.write_text(program)
    path.chmod(0o755)
    with make(vzd_path=str(path)) as pool, pytest.raises(EnvStepError, match=text):
        pool.reset()


def test_a_process_without_standard_files(tmp_path: Path) -> None:
    """The files of an engine then have the numbers of the standard files."""
    engine, text = tmp_path / "engine", tmp_path / "text"
    engine.write_text("#!/bin/sh\necho some library is missing\nexit 3\n")
    engine.chmod(0o755)
    code = f"""
import os, envpool
pool = envpool.make_gymnasium("Basic-v1", vzd_path={str(engine)!r})
os.closerange(0, 3)
try:
    pool.reset()
except envpool.errors.EnvStepError as error:
    text = str(error)
open({str(text)!r}, "w").write(text)
pool.close()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=PATIENCE)
    assert "env 0: the ViZDoom engine exited with status 3: some library is missing" in text.read_text()


def test_a_file_that_is_no_wad_is_reported(tmp_path: Path) -> None:
    (tmp_path / "no.wad").write_text("nothing")
    options = {"num_envs": 1, "iwad_path": str(tmp_path / "no.wad")}
    with make(**options) as pool, pytest.raises(EnvStepError, match="env 0: the ViZDoom engine"):
        pool.reset()


def test_engines_end_with_their_process() -> None:
    """Also if it is killed, and if the thread that started them ended before."""
    code = """
import threading, envpool
pool = envpool.make_gymnasium("Basic-v1", num_envs=2, num_threads=1)
thread = threading.Thread(target=pool.reset)
thread.start()
thread.join()
pool.step([[0.0] * 3] * 2)
print("ready", flush=True)
input()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        started = engines(process.pid)
        assert len(started) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not any(Path(f"/proc/{engine}").exists() for engine in started))
    assert leftovers(process.pid) == []


START = """
import sys, envpool
pool = envpool.make_gymnasium("Basic-v1", num_envs=1, vzd_path=sys.argv[1])
pool.reset()
"""


def test_a_process_that_is_killed_while_an_engine_starts(tmp_path: Path) -> None:
    """The next pool of any process removes what is left; it leaves alone what belongs to a living process."""
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexec sleep 1000\n")
    engine.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", START, str(engine)], env=environment) as process:
        wait_until(lambda: len(leftovers(process.pid)) == 3)
        make().close()
        assert len(leftovers(process.pid)) == 3
        process.kill()
    assert len(leftovers(process.pid)) == 3

    def is_clean() -> bool:
        make().close()
        return leftovers(process.pid) == []

    wait_until(is_clean)  # a child between vfork() and execve() may hold the lock a little longer


def test_names_that_cannot_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may have made them in ``/dev/shm``; they must not keep others from making pools."""
    monkeypatch.setattr(remove_leftovers.__module__ + ".SHARED_MEMORY", tmp_path)
    (tmp_path / f"ViZDoomMQDoom1_{0:016x}").mkdir()
    (tmp_path / f"ViZDoomMQDoom2_{0:016x}").touch()
    (tmp_path / f"ViZDoomSM2_{0:016x}").mkdir()
    remove_leftovers()
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == set()


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_an_engine_that_is_killed_while_it_starts(delay: float) -> None:
    """The fixture checks that nothing is left."""

    def kill_first() -> None:
        wait_until(lambda: len(engines()) == 1)
        time.sleep(delay)
        kill(engines()[0])

    with make(num_envs=1) as pool, ThreadPoolExecutor(1) as executor:
        killed = executor.submit(kill_first)
        with pytest.raises(EnvStepError, match="was killed by signal 9"):
            pool.reset()
            killed.result()
            pool.step(idle(1))


@pytest.mark.slow
def test_a_fork_has_engines_of_its_own() -> None:
    code = """
import os, sys, envpool
make = lambda: envpool.make_gymnasium("Basic-v1", num_envs=1, seed=3, stack_num=1, img_height=20, img_width=20)
pool = make()
first, _ = pool.reset()
if os.fork() == 0:
    own = make()
    assert (own.reset()[0] == first).all()
    own.step([[0.0] * 3])
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
pool.step([[0.0] * 3])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True, timeout=PATIENCE)


def play_and_kill(num_envs: int, num_steps: int, chance: float) -> tuple[int, int]:
    """Kill random engines while a pool is stepped. Return the numbers of kills and of reported failures."""
    rng = random.Random(0)
    kills = reported = 0
    with make(num_envs, on_error="restart") as pool:
        pool.reset()
        for _ in range(num_steps):
            if rng.random() < chance:
                kill(rng.choice(engines()))
                kills += 1
            obs, _, _, _, info = pool.step(np.array([[rng.randint(0, 1)] * 3 for _ in range(num_envs)]))
            assert obs.shape[0] == num_envs
            errors = [text for text in info.get("error", ()) if text]
            assert set(errors) <= {"the ViZDoom engine was killed by signal 9 (Killed)"}
            reported += len(errors)
    return kills, reported


@pytest.mark.slow
def test_random_kills() -> None:
    kills, reported = play_and_kill(4, 300, 0.05)
    assert kills > 5 and 0 < reported <= kills


@pytest.mark.sweep
def test_a_thousand_steps_with_kills() -> None:
    kills, reported = play_and_kill(8, 1000, 0.3)
    assert kills > 200 and 0 < reported <= kills


def test_a_lock_that_the_system_refuses(tmp_path: Path) -> None:
    """The error is that of the system, and not that of a name which another process took."""
    source, library = tmp_path / "flock.c", tmp_path / "flock.so"
    source.write_text("#include <errno.h>\nint flock(int file, int how) { errno = ENOLCK; return -1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    code = "import envpool; envpool.make_gymnasium('Basic-v1').reset()"
    variables = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run([sys.executable, "-c", code], env=variables, cwd=ROOT, capture_output=True, text=True)
    assert "for the ViZDoom engine: No locks available" in done.stderr
