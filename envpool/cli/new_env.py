"""Write a project with a native environment that works, as a starting point: its source, its build and its test.

The environment is a copy of RandomWalk, which `envpool docs native_env` explains. No file is overwritten.
"""

from __future__ import annotations

import argparse
import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from envpool._support.shipped import shipped
from envpool.errors import ConfigError

HELP = "write a project with a native environment"

#: Names that the module of a project cannot have, since its build or its test import them.
TAKEN = {
    *("envpool", "numpy", "np", "cython", "libc", "cpython", "setuptools", "setup", "pytest"),
    *("gymnasium", "dm_env", "cloudpickle", "packaging", "typing_extensions"),  # imported by envpool
    *keyword.kwlist,
    *sys.stdlib_module_names,
}
#: Names that the code of the example has or imports, beside the name of its class.
USED = {"Walker", "WALKERS", "Config", "ConfigError", "EnvDefinition", "Field"}

TEST = '''"""RandomWalk gives the same results in every API style, and its results depend only on seeds and actions."""

import numpy as np
import pytest

import envpool
{imports}from envpool.verify.rows import check_rows

TASK = "RandomWalk-v0"
OPTIONS = {{"gym": {{"gym_api": "gymnasium"}}, "gymnasium": {{}}, "dm": {{}}}}


def rollout(env_type, seed):
    """Return the observations of 3 environments in 200 steps with random actions: int32 (201, 3)."""
    rng = np.random.default_rng(0)
    with envpool.make(TASK, env_type, num_envs=3, seed=seed, **OPTIONS[env_type]) as pool:
        results = [pool.reset()]
        results += [pool.step(rng.integers(0, 2, 3, dtype=np.int32)) for _ in range(200)]
    return np.stack([result.observation.obs if env_type == "dm" else result[0] for result in results])


@pytest.mark.parametrize("env_type", OPTIONS)
def test_results_depend_only_on_seeds_and_actions(env_type):
    assert np.array_equal(rollout(env_type, seed=1), rollout("gymnasium", seed=1))
    assert not np.array_equal(rollout(env_type, seed=1), rollout(env_type, seed=2))


def test_episodes_end_with_a_reward():
    with envpool.make_gymnasium(TASK, num_envs=2, size=5, slip=0.0) as pool:
        assert pool.reset()[0].tolist() == [2, 2]
        pool.step(np.array([0, 1], np.int32))
        obs, reward, terminated, truncated, info = pool.step(np.array([0, 1], np.int32))
        assert obs.tolist() == [0, 4] and reward.tolist() == [0, 1]
        assert terminated.all() and not truncated.any() and not info["slipped"].any()


def test_every_step_writes_everything():
    """The pool fills the memory of rows, rewards and ends before each call; what a step leaves out shows."""
    check_rows(TASK, steps=300)


def test_frames():
    with envpool.make_gymnasium(TASK, render_mode="rgb_array", render_height=8, render_width=70) as pool:
        pool.reset()
        frame = pool.render()[0]
    assert frame.shape == (8, 70, 3) and frame.sum() == 8 * 10 * 3 * 255


@pytest.mark.parametrize(("option", "value"), [("size", 2), ("slip", 1.5)])
def test_options_are_checked(option, value):
    with pytest.raises(envpool.errors.ConfigError, match=f"{{option}} must be"):
        envpool.make_spec(TASK, **{{option: value}})
'''

TITLE = '"""RandomWalk: a walk along a row of cells. `envpool docs native_env` explains each part of this file."""'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool new-env``."""
    add = parser.add_argument
    add("name", metavar="NAME", type=class_name, help="class in CamelCase, e.g. GridRace; its task is GridRace-v0")
    add("folder", metavar="FOLDER", nargs="?", type=Path, help="folder of the project (default: ./<name_of_the_env>)")


def run(arguments: argparse.Namespace) -> None:
    """Write the project, and say what to do next."""
    from envpool.registration import registry

    module = module_name(arguments.name)
    if registry.has(f"{arguments.name}-v0"):
        raise ConfigError(f"the task {arguments.name}-v0 is already registered: choose another name")
    folder = arguments.folder if arguments.folder is not None else Path(module)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"FOLDER must be a folder, got the file {folder}: choose another name")
    files = project_files(module, folder)
    check_new(files)
    write(files, arguments.name)
    print("Build and test, with a C compiler and `pip install setuptools cython pytest`:")
    print(f"  cd {shlex.quote(str(folder))} && python setup.py build_ext --inplace && python -m pytest")
    print("Replace its state, reset, step, write, draw, fields and options; `envpool docs native_env` explains each.")


def class_name(text: str) -> str:
    """Return the name of an environment's class, or raise ArgumentTypeError."""
    if not re.fullmatch(r"([A-Z][a-z0-9]*)+", text):
        raise argparse.ArgumentTypeError(f"NAME must be CamelCase, such as GridRace, got {text!r}")
    if module_name(text) in TAKEN:
        raise argparse.ArgumentTypeError(f"NAME must not be {text}: another module is called {module_name(text)}")
    if text in USED:
        raise argparse.ArgumentTypeError(f"NAME must not be {text}: the project's code has another {text}")
    return text


def module_name(name: str) -> str:
    """Return the module of a class: ``"GridRace"`` gives ``"grid_race"``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def source_text() -> str:
    """Return the source of the example, with a docstring that fits a copy."""
    source = (example() / "random_walk.pyx").read_text(encoding="utf-8")
    return TITLE + source[source.index("\n") :]


def example() -> Path:
    """Return the folder of the example."""
    return shipped("examples") / "out_of_tree_env"


def project_files(module: str, folder: Path) -> dict[Path, str]:
    """Return the files of a project and their texts."""
    imports = "import random_walk  # noqa: F401 - registers the task\n"
    return {
        folder / "setup.py": (example() / "setup.py").read_text(encoding="utf-8"),
        folder / "pyproject.toml": (example() / "pyproject.toml").read_text(encoding="utf-8"),
        folder / f"{module}.pyx": source_text(),
        folder / f"test_{module}.py": TEST.format(imports=imports),
    }


def check_new(files: Mapping[Path, str]) -> None:
    """Raise ConfigError if a file exists."""
    for path in files:
        if path.exists():
            raise ConfigError(f"{path} already exists: choose another name or folder")


def write(files: Mapping[Path, str], name: str) -> None:
    """Write files for the class `name` instead of RandomWalk, and print their paths."""
    module = module_name(name)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = text.replace("RandomWalk", name).replace("random_walk", module).replace("random-walk", module)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
