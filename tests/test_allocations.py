"""Blocks of memory are freed by the counterpart of what allocated them, once: AddressSanitizer's allocator checks it.

Its library replaces malloc, operator new and their counterparts, and checks calls such as memcpy, also in code that was
not compiled for it.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.process import PATIENCE
from tests.support.python import environment

#: At least one task of each family but Procgen, whose library binds its symbols in a way that the sanitizer refuses.
TASKS = (
    "CartPole-v1",
    "Taxi-v3",
    "LunarLander-v3",
    "CarRacing-v3",
    "Pong-v5",
    "HalfCheetah-v5",
    "CheetahRun-v1",
    "FetchReach-v4",
    "MinAtar/Breakout-v1",
    "MiniGrid-DoorKey-8x8-v0",
    "MPE/simple_tag-v3",
    "NetHackScore-v0",
    "Basic-v1",
    "ApplePicker-v0",
)

PLAY = """
import os, sys, envpool
os.environ.pop("LD_PRELOAD")  # ViZDoom's engines are processes of their own
def play(pool):
    pool.reset()
    for _ in range(60):
        pool.step(pool.sample_actions())
    pool.set_state(pool.get_state())
    pool.step(pool.sample_actions())
for num_threads in (0, 2):
    with envpool.make_gymnasium(sys.argv[1], num_envs=3, seed=1, num_threads=num_threads, max_episode_steps=25) as pool:
        play(pool)
left_open = envpool.make_gymnasium(sys.argv[1], num_envs=3, seed=1)
play(left_open)
"""


def library(name: str) -> str:
    """Return the path of a library of the compiler."""
    return subprocess.check_output(["cc", f"-print-file-name={name}"], text=True).strip()


def fixed_layout() -> list[str]:
    """Return the beginning of a command that runs without address randomisation, where containers do not forbid it.

    Not all layouts of memory that the kernel may choose leave room for the sanitizer.
    """
    prefix = ["setarch", "-R"]
    return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else []


@pytest.mark.drawn("all")
@pytest.mark.parametrize("task_id", TASKS)
def test_every_family(task_id: str) -> None:
    # The sanitizer replaces operator new only if libstdc++ is loaded with it.
    env = environment(
        LD_PRELOAD=f"{library('libasan.so')}:{library('libstdc++.so.6')}", ASAN_OPTIONS="detect_leaks=0:exitcode=99"
    )
    command = [*fixed_layout(), sys.executable, "-X", "faulthandler", "-c", PLAY, task_id]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "AddressSanitizer" not in done.stderr, done.stderr[-4000:]
