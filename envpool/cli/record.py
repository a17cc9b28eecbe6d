"""Play a policy, and write a video or a dataset of it.

The name of FILE determines the format: .mp4 or .gif, a video of all envs side by side; .npz or .hdf5, a dataset; a
folder such as cartpole-expert-v0, a dataset in the format of Minari. TASK is a task id, or any other id of gymnasium.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from envpool.cli.option_defaults import defaults_of
from envpool.cli.parsing import add_option_argument, positive_int, read_options, refuse_options, seed
from envpool.cli.progress import Progress
from envpool.cli.watch.policy import add_policy_arguments, policy_of
from envpool.config.options import POOL_DEFAULTS
from envpool.evaluation.encoder import FORMATS
from envpool.evaluation.playing import seeds_of
from envpool.evaluation.pools import open_task
from envpool.evaluation.record import STEPS, record

HELP = "write a video or a dataset of a policy"
SEED = POOL_DEFAULTS["seed"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool record``."""
    add = parser.add_argument
    add("task", metavar="TASK", help="task id, see `envpool list`, or any other id of gymnasium")
    add("out", metavar="FILE", type=Path, help="what to write: .mp4, .gif, .npz, .hdf5, or a folder NAME-v0")
    add_policy_arguments(parser)
    add("--num-envs", metavar="N", type=positive_int, default=4, help="number of envs (default: 4)")
    add("--episodes", metavar="N", type=positive_int, help="episodes of a dataset (default: one per env)")
    add(
        "--steps",
        metavar="N",
        type=positive_int,
        help=f"steps of a dataset, over all envs; or of each env in a video (default: {STEPS})",
    )
    add("--frames-once", action="store_true", help="store each frame of stacked observations once (.npz, .hdf5)")
    add("--fps", metavar="N", type=positive_int, help="frames per second of a video (default: real time)")
    add("--seed", metavar="N", type=seed, default=SEED, help=f"env i gets the seed N + i (default: {SEED})")
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the file, and say what it contains."""
    refuse_options(arguments.options, {"num_envs": "--num-envs", "seed": "--seed"})
    options = read_options(arguments.options, defaults_of(arguments.task))
    if arguments.out.suffix in FORMATS:
        options = {"render_mode": "rgb_array"} | options
    seeds = seeds_of(arguments.seed, arguments.num_envs) or []
    progress = Progress()
    with open_task(arguments.task, arguments.num_envs, seeds, **options) as pool:
        try:
            result = record(
                pool,
                policy_of(arguments),
                arguments.out,
                episodes=arguments.episodes,
                steps=arguments.steps,
                frames_once=arguments.frames_once,
                fps=arguments.fps,
                progress=lambda done, total: progress(f"{done} of {total}"),
            )
        finally:
            progress.clear()
    mean = f", mean return {result.mean_return:.4g}" if result.episodes else ""
    print(f"{result.path}: {result.steps} steps, {result.episodes} episodes{mean}")
