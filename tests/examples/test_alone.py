"""Each example is one file that can be copied; runs with the seeds 1, 2, ... have no environments in common."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

import envpool
from tests.examples.load import FOLDER, load
from tests.support.process import PATIENCE
from tests.support.python import environment

PROGRAMS = {path.stem: path for path in sorted(Path(FOLDER).glob("*.py"))}
CLEANRL = {path.stem: path for path in sorted((Path(FOLDER) / "cleanrl").glob("*.py"))}
#: What a program may import besides Python's own modules: packages that pip installs.
PACKAGES = {"PIL", "envpool", "gymnasium", "jax", "matplotlib", "numpy", "pettingzoo", "torch"}
#: Programs for a library that only the environment of its client has; tests/clients runs them.
CLIENTS = {
    "rl_games_ppo": "rl_games",
    "rllib_ppo": "ray",
    "sb3_ppo": "stable_baselines3",
    "tianshou_ppo": "tianshou",
}

#: A tiny run of each program. Those whose value is True train, and show on stderr how far they are.
TINY = {
    "async_ppo": ("--num-envs 4 --num-steps 16 --total-timesteps 128", True),
    "connect_four": ("--num-envs 4 --num-steps 8 --updates 1 --games 2 --hidden 8", True),
    "curriculum": ("--total-timesteps 8192 --evaluate-every 1 --episodes 2", True),
    "custom_env": ("--num-envs 4 --num-steps 16 --total-timesteps 128", True),
    "domain_randomization": ("--total-timesteps 4096 --episodes 1", True),
    "dqn": ("--num-envs 4 --total-timesteps 128 --learning-starts 64", True),
    "gallery": ("gallery.png", False),
    "jax_ppo": ("--num-envs 4 --num-steps 16 --total-timesteps 64 --updates-per-call 1", True),
    "mappo": ("--num-envs 4 --total-timesteps 208 --episodes 0", True),
    "ppo": ("--num-envs 4 --num-steps 16 --total-timesteps 128 --save policy.pt", True),
    "ppo_atari": ("--num-envs 2 --num-steps 16 --total-timesteps 64 --epochs 1 --minibatches 1", True),
    "ppo_recurrent": ("--num-envs 4 --num-steps 32 --total-timesteps 256", True),
    "random_shooting": ("--games 2 --rollouts 4 --horizon 3 --max-steps 5", True),
    "robot_arm": ("--num-envs 4 --num-steps 16 --total-timesteps 128 --save policy.pt", True),
    "rock_paper_scissors": ("--updates 2", False),
    "sac": ("--num-envs 4 --total-timesteps 64 --random-steps 32", True),
    "sac_her": ("--num-envs 2 --total-timesteps 102 --random-steps 50 --updates-per-step 0.1", True),
}


def test_every_program_is_run():
    assert set(PROGRAMS) == set(TINY) | set(CLIENTS)


def imported(path):
    """Return the first names of all modules that a file imports, also within functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("" if node.level else node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("name", [*PROGRAMS, *CLEANRL])
def test_a_program_imports_installed_packages_only(name):
    found = imported((PROGRAMS | CLEANRL)[name]) - sys.stdlib_module_names
    assert found <= PACKAGES | {CLIENTS.get(name, "envpool")}


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_copy_runs_in_an_empty_folder(name, tmp_path):
    words, shows_progress = TINY[name]
    shutil.copy(PROGRAMS[name], tmp_path)
    done = subprocess.run(
        [sys.executable, f"{name}.py", *words.split()],
        cwd=tmp_path,
        env=environment() | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if shows_progress:  # stderr is no terminal here, but a pipe
        assert " of " in done.stderr.splitlines()[-1] and " %)" in done.stderr, done.stderr


class Made(Exception):
    """A program has made its pool: the seed and the number of environments."""


@pytest.fixture
def seeds_of(monkeypatch):
    """Return a function that returns the seeds of the environments which a program's `call` makes."""

    def make(task, **options):
        raise Made(options["seed"], options["num_envs"])

    def seeds(call):
        with pytest.raises(Made) as made:
            call()
        first, count = made.value.args
        return set(range(first, first + count))

    for name in ("make_gymnasium", "make_python"):
        monkeypatch.setattr(envpool, name, make)
    return seeds


@pytest.mark.parametrize(
    "name",
    ["async_ppo", "custom_env", "dqn", "mappo", "ppo", "ppo_atari", "ppo_recurrent", "robot_arm", "sac", "sac_her"],
)
def test_runs_with_several_seeds_share_no_environments(name, seeds_of):
    example = load(name)
    found = [seeds_of(lambda: example.train(example.Args(seed=seed))) for seed in (1, 2, 3)]  # noqa: B023
    assert len(set.union(*found)) == 3 * example.Args().num_envs


@pytest.mark.parametrize("name", ["curriculum", "domain_randomization"])
def test_comparisons_with_several_seeds_share_no_environments(name, seeds_of):
    example = load(name)
    found = [seeds_of(lambda: example.train(example.parse_args(["--seed", seed]), True)) for seed in "123"]  # noqa: B023
    assert len(set.union(*found)) == 3 * example.NUM_ENVS


def test_runs_in_jax_share_no_environments(seeds_of):
    example = load("jax_ppo")
    found = [seeds_of(lambda: example.train(example.parse_args(["--seed", seed]))) for seed in "123"]  # noqa: B023
    assert len(set.union(*found)) == 3 * 64


@pytest.mark.parametrize("name", CLEANRL)
def test_runs_in_the_style_of_cleanrl_share_no_environments(name, seeds_of, monkeypatch):
    monkeypatch.syspath_prepend(CLEANRL[name].parent)
    program = load(name)
    monkeypatch.setattr(program, "SummaryWriter", MagicMock())
    main = program.main
    found = [seeds_of(lambda: main(["--seed", seed, "--num-envs", "4", "--no-cuda"])) for seed in "123"]  # noqa: B023
    assert len(set.union(*found)) == 3 * 4
