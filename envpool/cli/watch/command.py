"""Watch a policy in several envs at once, in a window or in a file.

Each tile shows the step and the return of its env's current episode.
"""

from __future__ import annotations

import argparse
import itertools
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from envpool.cli.parsing import add_option_argument, positive_int, read_options
from envpool.cli.watch.output import check_output, open_output
from envpool.cli.watch.policy import load_policy
from envpool.cli.watch.tiling import Tiling, tiled
from envpool.registration import make_gymnasium, registry

HELP = "show a policy in several envs"
STEPS = 300  # default length of a file, in steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool watch``."""
    parser.add_argument("task", metavar="TASK", help="task id, see `envpool list`")
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        default="random",
        help="random (the default), or FILE.py:function, a function that takes the observations of all envs and "
        "returns their actions",
    )
    parser.add_argument("--num-envs", metavar="N", type=positive_int, default=4, help="number of envs (default: 4)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write all steps to an .mp4 or .gif file, or the last step to a .png file (default: open a window)",
    )
    parser.add_argument(
        "--steps", metavar="N", type=positive_int, help=f"number of steps (default: {STEPS}; no limit in a window)"
    )
    parser.add_argument(
        "--fps", metavar="N", type=positive_int, help="frames per second (default: the frame rate of the task)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=42, help="env i gets the seed N + i (default: 42)")
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Show or write the frames."""
    check_output(arguments.out)
    with make_pool(arguments) as pool:
        act = load_policy(arguments.policy, pool.spec)
        fps = arguments.fps or pool.metadata["render_fps"]
        steps = arguments.steps or (STEPS if arguments.out else None)
        with closing(open_output(arguments.out, f"envpool watch {arguments.task}", fps)) as output:
            for frame in tiled_frames(pool, act, steps):
                output.add(frame)
    if arguments.out:
        print(f"{arguments.out}: {steps} steps of {arguments.num_envs} envs, {fps} frames per second")


def make_pool(arguments: argparse.Namespace) -> Any:
    """Return the pool to watch."""
    task = registry.find(arguments.task)
    defaults = registry.spec_class(task).gen_config._field_defaults
    options = {"num_envs": arguments.num_envs, "seed": arguments.seed} | read_options(arguments.options, defaults)
    return make_gymnasium(arguments.task, render_mode="rgb_array", **options)


def tiled_frames(pool: Any, act: Any, steps: int | None) -> Any:
    """Yield a tiled frame of all envs after the reset and after each step; without `steps`, forever."""
    ids = pool.all_env_ids
    obs, _ = pool.reset()
    episode_return, elapsed = np.zeros(len(ids)), np.zeros(len(ids), int)
    tiling = None
    for k in itertools.count():
        frames = pool.render(ids)
        if tiling is None:
            tiling = Tiling(*frames.shape[:3])
        captions = [f"step {e}  return {r:.4g}" for e, r in zip(elapsed, episode_return, strict=True)]
        yield tiled(frames, captions, tiling)
        if k == steps:
            return
        obs, reward, _, _, info = pool.step(act(obs))
        elapsed = info["elapsed_step"]
        episode_return = np.where(elapsed == 0, 0.0, episode_return + reward)
