"""Write an image with a frame of tasks of several families, after some random steps.

    python examples/gallery.py out/gallery.png

This example needs the extras ``render`` and ``dmc``. Tasks that cannot be rendered on this machine, e.g. MuJoCo tasks
without OpenGL, are left out.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import envpool
from envpool.evaluation.tiling import Tiling, tiled

TASKS = ("CartPole-v1", "Taxi-v4", "LunarLander-v3", "HalfCheetah-v5", "CheetahRun-v1", "Breakout-v5")
STEPS = 60
HEIGHT, WIDTH = 240, 320


def frame_of(task):
    """Return a frame of a task, uint8 (HEIGHT, WIDTH, 3)."""
    with envpool.make_gymnasium(task, render_mode="rgb_array", render_height=HEIGHT, render_width=WIDTH) as env:
        env.reset()
        for _ in range(STEPS):
            env.step(env.sample_actions())
        return env.render()[0]


def main(argv=None):
    """Write the image."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path, help="the .png file to write")
    path = parser.parse_args(argv).file
    frames = {}
    for task in TASKS:
        try:
            frames[task] = frame_of(task)
        except ImportError as error:
            print(f"{task} is left out: {error}", file=sys.stderr)
    if not frames:
        sys.exit("no task can be rendered on this machine; see the messages above")

    from PIL import Image

    gallery = tiled(np.stack(list(frames.values())), list(frames), Tiling(len(frames), HEIGHT, WIDTH))
    Image.fromarray(gallery).save(path)
    print(f"{path}: {', '.join(frames)}")


if __name__ == "__main__":
    main()
