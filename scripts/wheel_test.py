"""What a user does first with an installed wheel; scripts/wheel runs it in a folder and an environment of its own."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np

import envpool

MOST_BYTES = 15_000_000  # of the installed files


def main() -> None:
    """Check the size, play a few steps of a task of each family that needs no extra, and call the command."""
    assert "site-packages" in envpool.__file__, envpool.__file__
    files = metadata.files("envpool-cython") or []
    size = sum(Path(str(file.locate())).stat().st_size for file in files if file.suffix != ".pyc")
    assert size <= MOST_BYTES, size
    for task in ("CartPole-v1", "Taxi-v4", "LunarLander-v3", "Ant-v5", "Pong-v5", "MinAtar/Breakout-v1"):
        with envpool.make_gymnasium(task, num_envs=4, seed=1) as pool:
            pool.reset()
            for _ in range(10):
                pool.step(np.array([pool.action_space.sample() for _ in range(4)]))
    with envpool.make_gymnasium("CartPole-v1", num_envs=4) as pool:
        pool.xla()
    script = Path(sys.executable).with_name("envpool")
    listed = subprocess.run([script, "list"], capture_output=True, text=True, check=True).stdout
    assert "MiniGrid" in listed
    subprocess.run([script, "bench", "CartPole-v1", "--seconds", "0.2"], check=True)
    print(f"{len(files)} files, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
