"""What a user does first with an installed wheel, with and without extras; scripts/wheel runs it in an empty folder."""

import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import envpool

MOST_BYTES = 22_000_000  # of the installed files; football has 3.8 million
#: Tasks, and the package that an extra installs for them.
TASKS = {
    "CartPole-v1": None,
    "Taxi-v4": None,
    "LunarLander-v3": None,
    "MinAtar/Breakout-v1": None,
    "Ant-v5": "mujoco",
    "Pong-v5": "ale_py",
}


def main() -> None:
    """Check the size, play a few steps of tasks whose packages are installed, and call the command.

    If Cython is installed, the project of ``envpool new-env`` is built and tested, too.
    """
    assert "site-packages" in envpool.__file__, envpool.__file__
    files = metadata.files("envpool-cython") or []
    size = sum(Path(str(file.locate())).stat().st_size for file in files if file.suffix != ".pyc")
    assert size <= MOST_BYTES, size
    for task, needs in TASKS.items():
        if needs and find_spec(needs) is None:
            try:
                envpool.make_spec(task)
            except ImportError as error:
                assert "pip install 'envpool-cython[" in str(error), error
                print(f"{task}: {error}")
                continue
            raise AssertionError(f"{task} was made without {needs}")
        with envpool.make_gymnasium(task, num_envs=4, seed=1) as pool:
            pool.reset()
            for _ in range(10):
                pool.step(np.array([pool.action_space.sample() for _ in range(4)]))
    if find_spec("jax"):
        with envpool.make_gymnasium("CartPole-v1", num_envs=4) as pool:
            pool.xla()
    script = Path(sys.executable).with_name("envpool")
    listed = subprocess.run([script, "list"], capture_output=True, text=True, check=True).stdout
    assert "MiniGrid" in listed
    subprocess.run([script, "doctor"], check=True)
    subprocess.run([script, "bench", "CartPole-v1", "--seconds", "0.2"], check=True)
    subprocess.run([script, "docs", "players#turns"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([script, "example", "ppo"], check=True)
    compile(Path("ppo.py").read_text(), "ppo.py", "exec")
    Path("ppo.py").unlink()
    if find_spec("Cython"):
        subprocess.run([script, "new-env", "GridRace"], check=True)
        for command in (["setup.py", "-q", "build_ext", "--inplace"], ["-m", "pytest", "-q"]):
            subprocess.run([sys.executable, *command], cwd="grid_race", check=True)
        shutil.rmtree("grid_race")
    print(f"{len(files)} files, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
