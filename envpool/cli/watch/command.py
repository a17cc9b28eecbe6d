"""Watch a policy in several envs at once, in a window or in a file; return and step of the episode stand on each."""

from __future__ import annotations

import argparse
import itertools
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from envpool.cli.parsing import add_option_argument, positive_int, read_options
from envpool.cli.watch.picture import Tiling, tiled
from envpool.cli.watch.policy import load_policy
from envpool.cli.watch.video import check_output, open_output
from envpool.registration import make_gymnasium, registry

HELP = "show a policy in several envs"
STEPS = 300  # of a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool watch``."""
    parser.add_argument("task", metavar="TASK", help="id of a task, see `envpool list`")
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        default="random",
        help="random (the default), or FILE.py:function: takes the observations of all envs, returns their actions",
    )
    parser.add_argument("--num-envs", metavar="N", type=positive_int, default=4, help="how many envs (default: 4)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="a .mp4 or .gif of all steps, or a .png of the last one (default: a window)",
    )
    parser.add_argument(
        "--steps", metavar="N", type=positive_int, help=f"how many steps (default: {STEPS}, in a window no end)"
    )
    parser.add_argument(
        "--fps", metavar="N", type=positive_int, help="pictures a second (default: the task's own speed)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=42, help="env i has the seed N + i (default: 42)")
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Show or write the pictures."""
    check_output(arguments.out)
    with make_pool(arguments) as pool:
        act = load_policy(arguments.policy, pool.spec)
        fps = arguments.fps or pool.metadata["render_fps"]
        steps = arguments.steps or (STEPS if arguments.out else None)
        with closing(open_output(arguments.out, f"envpool watch {arguments.task}", fps)) as output:
            for picture in pictures(pool, act, steps):
                output.add(picture)
    if arguments.out:
        print(f"{arguments.out}: {steps} steps of {arguments.num_envs} envs, {fps} pictures a second")


def make_pool(arguments: argparse.Namespace) -> Any:
    """Return the pool to watch."""
    task = registry.find(arguments.task)
    defaults = registry.spec_class(task).gen_config._field_defaults
    options = {"num_envs": arguments.num_envs, "seed": arguments.seed} | read_options(arguments.options, defaults)
    return make_gymnasium(arguments.task, render_mode="rgb_array", **options)


def pictures(pool: Any, act: Any, steps: int | None) -> Any:
    """Yield a picture of all envs after the reset and after each step."""
    ids = pool.all_env_ids
    obs, _ = pool.reset()
    episode_return, elapsed = np.zeros(len(ids)), np.zeros(len(ids), int)
    tiling = None
    for k in itertools.count():
        frames = pool.render(ids)
        if tiling is None:
            tiling = Tiling(*frames.shape[:3])
        texts = [f"step {e}  return {r:.4g}" for e, r in zip(elapsed, episode_return, strict=True)]
        yield tiled(frames, texts, tiling)
        if k == steps:
            return
        obs, reward, _, _, info = pool.step(act(obs))
        elapsed = info["elapsed_step"]
        episode_return = np.where(elapsed == 0, 0.0, episode_return + reward)
