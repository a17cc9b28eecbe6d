"""A picture of one task of each family, after some random steps.

    python examples/gallery.py out/gallery.png

It needs the extras ``render`` and ``dmc``. What cannot be drawn here, e.g. MuJoCo's tasks without OpenGL, is left out.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import envpool
from envpool.cli.watch.picture import Tiling, tiled
from envpool.cli.watch.policy import random_policy

TASKS = ("CartPole-v1", "Taxi-v4", "LunarLander-v3", "HalfCheetah-v5", "CheetahRun-v1", "Breakout-v5")
STEPS = 60
HEIGHT, WIDTH = 240, 320


def picture_of(task):
    """Return the picture of a task, uint8 (HEIGHT, WIDTH, 3)."""
    with envpool.make_gymnasium(task, render_mode="rgb_array", render_height=HEIGHT, render_width=WIDTH) as env:
        act = random_policy(env.spec)
        obs, _ = env.reset()
        for _ in range(STEPS):
            obs, *_ = env.step(act(obs))
        return env.render()[0]


def main(argv=None):
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path, help="a .png file")
    path = parser.parse_args(argv).file
    pictures = {}
    for task in TASKS:
        try:
            pictures[task] = picture_of(task)
        except ImportError as error:
            print(f"{task} is left out: {error}", file=sys.stderr)
    if not pictures:
        sys.exit("nothing can be drawn here")

    from PIL import Image

    whole = tiled(np.stack(list(pictures.values())), list(pictures), Tiling(len(pictures), HEIGHT, WIDTH))
    Image.fromarray(whole).save(path)
    print(f"{path}: {', '.join(pictures)}")


if __name__ == "__main__":
    main()
