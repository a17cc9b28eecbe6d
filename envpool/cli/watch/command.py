"""Watch a policy in several envs at once, in a file or in a window.

The line above each tile shows the step and the return of its env's current episode.
"""

from __future__ import annotations

import argparse
import itertools
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.cli.guard import INTERRUPTED
from envpool.cli.parsing import add_option_argument, positive_int, read_options, refuse_options, seed
from envpool.cli.progress import Progress
from envpool.cli.watch.output import Output, check_output, open_output
from envpool.cli.watch.policy import add_policy_arguments, load_policy
from envpool.config.options import POOL_DEFAULTS
from envpool.config.render_options import TRACK
from envpool.errors import ConfigError
from envpool.evaluation.tiling import Tiling, tiled
from envpool.pools.classes import open_pool
from envpool.registration import find_native
from envpool.tasks.resolve import resolve, spec_for
from envpool.tasks.spec import spec_class_of

HELP = "show a policy in several envs"
SEED = POOL_DEFAULTS["seed"]
STEPS = 300  # default length of a file, in steps
PROGRESS = 0.1  # seconds between two updates of the progress line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool watch``."""
    parser.add_argument("task", metavar="TASK", help="task id, see `envpool list`")
    add_policy_arguments(parser)
    parser.add_argument("--num-envs", metavar="N", type=positive_int, default=4, help="number of envs (default: 4)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write all steps to an .mp4 or .gif file, or the last step to a .png file (default: TASK.mp4)",
    )
    parser.add_argument("--window", action="store_true", help="open a window instead of writing a file")
    parser.add_argument(
        "--steps", metavar="N", type=positive_int, help=f"number of steps (default: {STEPS}; no limit in a window)"
    )
    parser.add_argument("--fps", metavar="N", type=positive_int, help="frames per second (default: real time)")
    parser.add_argument(
        "--seed", metavar="N", type=seed, default=SEED, help=f"env i gets the seed N + i (default: {SEED})"
    )
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> int | None:
    """Show or write the frames; return the exit status, or None for 0."""
    path = output_path(arguments)
    check_output(path)
    with make_pool(arguments) as pool:
        act = load_policy(arguments.policy, pool, arguments.load)
        fps = arguments.fps or pool.spec.real_time_fps
        camera = None if any(name == "render_camera_id" for name, _ in arguments.options) else TRACK
        steps = arguments.steps or (STEPS if path else None)
        output = open_output(path, f"envpool watch {arguments.task}", fps)
        is_complete = True
        with closing(output):
            try:
                play(pool, act, camera, steps, output)
            except KeyboardInterrupt:
                if path is None or not output.count:
                    raise
                is_complete = False
    if path is None:
        return None
    done = f"{steps} steps" if is_complete else f"stopped by Ctrl-C after {output.count - 1} of {steps} steps"
    print(f"{path}: {done} of {arguments.num_envs} envs, {fps} frames per second")
    return None if is_complete else INTERRUPTED


def output_path(arguments: argparse.Namespace) -> Path | None:
    """Return the file to write, or None for a window."""
    if not arguments.window:
        return arguments.out or Path(arguments.task.replace("/", "-") + ".mp4")
    if arguments.out:
        raise ConfigError("--window shows the envs instead of writing a file: leave out --window or --out")
    return None


def play(pool: Any, act: Any, camera: Any, steps: int | None, output: Output) -> None:
    """Add the frames of some steps to an output; without `steps`, until an exception."""
    progress, due = Progress(), 0.0
    try:
        for frame in tiled_frames(pool, act, camera, steps):
            output.add(frame)
            if time.monotonic() >= due:
                due = time.monotonic() + PROGRESS
                progress(f"step {output.count - 1}" + (f" of {steps}" if steps else ""))
    finally:
        progress.clear()


def make_pool(arguments: argparse.Namespace) -> Any:
    """Return the pool to watch."""
    refuse_options(arguments.options, {"num_envs": "--num-envs", "seed": "--seed", "render_mode": "--window or --out"})
    task = find_native(arguments.task)
    defaults = spec_class_of(task).gen_config._field_defaults
    options = {"num_envs": arguments.num_envs, "seed": arguments.seed} | read_options(arguments.options, defaults)
    spec = spec_for(arguments.task, options)
    if spec.controlled == "alternate":
        raise ConfigError("controlled must name players here, such as 0, got 'alternate'")
    if spec.num_players and options.setdefault("players", "grid") != "grid":
        raise ConfigError(f"players must be 'grid' here, or left out, got {shown(options['players'])}")
    return open_pool(*resolve(arguments.task, "gymnasium", options | {"render_mode": "rgb_array"}))


def tiled_frames(pool: Any, act: Any, camera: Any, steps: int | None) -> Any:
    """Yield a tiled frame of all envs after the reset and after each step; without `steps`, forever.

    `camera` is the argument `camera_id` of ``render``.
    """
    ids = pool.all_env_ids
    obs, _ = pool.reset()
    episode_return, elapsed = np.zeros(len(ids)), np.zeros(len(ids), int)
    tiling = None
    for k in itertools.count():
        frames = pool.render(ids, camera)
        if tiling is None:
            tiling = Tiling(*frames.shape[:3])
        captions = [f"step {e}  return {r:.4g}" for e, r in zip(elapsed, episode_return, strict=True)]
        yield tiled(frames, captions, tiling)
        if k == steps:
            return
        obs, reward, _, _, info = pool.step(act(obs))
        elapsed = info["elapsed_step"]
        reward = reward.reshape(len(ids), -1).sum(axis=1)  # of all players
        episode_return = np.where(elapsed == 0, 0.0, episode_return + reward)
