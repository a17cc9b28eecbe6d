"""What type checkers know: the first pages' examples pass ``mypy --strict``; mistakes are found without a run."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from envpool.config.options import SHARED_OPTIONS, WORDS
from envpool.config.task_options import CommonOptions, Options
from tests.support.process import PATIENCE

ROOT = Path(__file__).parents[1]

#: Code of a user. A comment is the error that mypy must report for the line; lines without one are right.
CODE = """
from typing import Any, assert_type

import gymnasium
import numpy as np

import envpool

with envpool.make("Pong-v5", "gymnasium", num_envs=4, stack_num=2, render_mode="rgb_array") as env:
    assert_type(env, envpool.GymnasiumEnvPool)
    assert_type(env.num_envs, int)
    assert_type(env.action_space, gymnasium.Space[Any])
    assert_type(env.reset(), tuple[Any, dict[str, Any]])
    assert_type(env.recv(reset=True), tuple[Any, dict[str, Any]])
    obs, reward, terminated, truncated, info = env.step([0, 1, 2, 3])
    assert_type(reward[terminated | truncated].tolist(), Any)
    *_, info = env.recv(min_ready=2, timeout=0.5)
    obs, reward, terminated, truncated, info, more = env.step([0])  # Need more than 5 values to unpack
    env.stp([0])  # has no attribute "stp"
    env.reset(seeds=3)  # Unexpected keyword argument "seeds"

dm = envpool.make("CheetahRun-v1", env_type="dm", seed=None, body_mass=np.ones((1, 8)))
assert_type(dm, envpool.DMEnvPool)
assert_type(envpool.make_dm("CheetahRun-v1"), envpool.DMEnvPool)
spec = envpool.make_spec("CheetahRun-v1", frame_stack=2, num_workers=3, clip_reward=True)
assert_type(spec, envpool.EnvSpec)
assert_type(spec.config.num_envs, int)
assert_type(spec.config.step_timeout, float | None)
assert_type(spec.config.from_pixels, Any)
assert_type(spec.config._asdict(), Any)
assert_type(envpool.make(spec, "dm", seed=3), envpool.DMEnvPool)
observation, done, *rest = envpool.make_gym("CartPole-v1", gym_api="legacy").step([1])
envpool.make("CartPole-v1", "gym").action_space.sample()

envpool.make("CartPole-v1", "gymnasim")  # No overload variant of "make" matches
envpool.make("CartPole-v1")  # No overload variant of "make" matches
envpool.make("CartPole-v1", "gymnasium", n_envs=3)  # Unexpected keyword argument "n_envs"
envpool.make_gymnasium("CartPole-v1", n_envs=3)  # Unexpected keyword argument "n_envs"
envpool.make_gymnasium("Pong-v5", stack_nun=3)  # Unexpected keyword argument "stack_nun"
envpool.make_gymnasium("CartPole-v1", num_envs="3")  # incompatible type "str"
spec.config.num_envs.foo  # "int" has no attribute "foo"
envpool.make_gymnasium("CartPole-v1", autoreset_mode="sametime")  # incompatible type
envpool.make_spec("CartPole-v1", num_env=3)  # Unexpected keyword argument "num_env"

own: dict[str, Any] = {"an_option_of_mine": 3}
envpool.make("MyEnv-v0", "gymnasium", num_envs=3, **own)
"""


def mypy(folder, *files):
    """Run ``mypy --strict`` as a user with an installed envpool does; return its lines by (file, line number)."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary", *files]
    done = subprocess.run(
        [*command, "--cache-dir", str(ROOT / ".mypy_cache" / "users")],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {}
    for line in done.stdout.splitlines():
        name, number, kind, text = line.split(":", 3)
        if kind.strip() == "error":
            found.setdefault((name, int(number)), []).append(text)
    return found


@pytest.mark.slow
def test_first_pages_and_mistakes(tmp_path):
    pages = (ROOT / "README.md").read_text() + (ROOT / "docs" / "start.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", pages, re.MULTILINE | re.DOTALL)
    for i, block in enumerate(blocks):
        (tmp_path / f"page{i}.py").write_text(block)
    (tmp_path / "user.py").write_text(CODE)
    found = mypy(tmp_path, "user.py", *(f"page{i}.py" for i in range(len(blocks))))
    wanted = {
        ("user.py", number): line.partition("# ")[2] for number, line in enumerate(CODE.splitlines(), 1) if "# " in line
    }
    assert len(wanted) > 10
    assert found.keys() == wanted.keys(), found
    for place, text in wanted.items():
        assert any(text in error for error in found[place]), found[place]


def test_type_checkers_know_every_option_by_all_of_its_words():
    assert list(CommonOptions.__annotations__) == list(SHARED_OPTIONS)
    assert set(WORDS) <= set(Options.__annotations__)


def test_the_options_of_tasks_are_up_to_date():
    script = runpy.run_path(str(ROOT / "scripts" / "task_options.py"))
    assert script["FILE"].read_text() == script["render"](), "run python scripts/task_options.py"
