"""Compare ``render()`` of MuJoCo tasks with the time that libmujoco itself needs for the same frames.

    python benchmarks/mujoco_frames.py [--quick]

Both draw 64 simulations of HalfCheetah-v5 on one thread with EGL: the pool as users call it, and a loop in C with one
OpenGL context (plain_frames.c). They take turns in one process. Figures are CPU time, and the ratio is the median over
the turns. A ratio below 1.05 means that the pool is within 5 % of libmujoco.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["MUJOCO_GL"] = "egl"

import envpool  # noqa: E402
from envpool.mujoco.base import LIBRARY, package_folder  # noqa: E402
from envpool.mujoco.gym.options import ASSETS  # noqa: E402

NUM_ENVS = 64


class PlainLoop:
    """The loop in C."""

    def __init__(self, height, width):
        folder = package_folder()
        library = Path(tempfile.mkdtemp(prefix="envpool-benchmark-")) / "plain_frames.so"
        places = [f"-I{folder / 'include'}", f"-I{ROOT / 'envpool' / 'mujoco' / 'base'}", f"-L{folder}"]
        command = ["cc", "-O3", "-shared", "-fPIC", str(ROOT / "benchmarks" / "plain_frames.c"), "-o", str(library)]
        subprocess.run([*command, *places, f"-l:{LIBRARY}", f"-Wl,-rpath,{folder}"], check=True)
        self.native = ctypes.CDLL(str(library))
        self.native.plain_frames_new.restype = ctypes.c_void_p
        lookat = (ctypes.c_double * 3)(0.0, 0.0, 0.6)
        file = str(ASSETS / "half_cheetah.xml").encode()
        state = self.native.plain_frames_new(file, NUM_ENVS, height, width, lookat, ctypes.c_double(4.0))
        self.state = ctypes.c_void_p(state)
        assert self.state, "libmujoco, EGL or the model cannot be used"
        self.shape = (NUM_ENVS, height, width, 3)

    def draw(self):
        """Return the frames of all simulations."""
        pixels = np.empty(self.shape, np.uint8)
        self.native.plain_frames_draw(self.state, pixels.ctypes.data_as(ctypes.c_void_p))
        return pixels


def timed(draw):
    """Return the CPU time of one call, in seconds."""
    start = time.process_time()
    draw()
    return time.process_time() - start


def compare(height, width, turns):
    """Return the median times of the pool and of the loop in seconds, and the median of their ratios."""
    plain = PlainLoop(height, width)
    size = {"render_height": height, "render_width": width}
    with envpool.make_gymnasium(
        "HalfCheetah-v5", num_envs=NUM_ENVS, num_threads=1, render_mode="rgb_array", **size
    ) as pool:
        pool.reset()
        ids = np.arange(NUM_ENVS)
        draws = [lambda: pool.render(ids), plain.draw]
        for draw in draws:
            draw()
        times = [[timed(draw) for draw in draws] for _ in range(turns)]
    return median(a for a, _ in times), median(b for _, b in times), median(a / b for a, b in times)


def main():
    """Measure all sizes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="measure few turns and one size")
    quick = parser.parse_args().quick
    print("size       pool (ms per frame)   libmujoco  ratio")
    for height, width in [(84, 84)] if quick else [(84, 84), (240, 320), (480, 480)]:
        ours, plain, ratio = compare(height, width, 3 if quick else 9)
        print(
            f"{height}x{width:<6} {1e3 * ours / NUM_ENVS:20.2f} {1e3 * plain / NUM_ENVS:10.2f} {ratio:6.3f}", flush=True
        )


if __name__ == "__main__":
    main()
