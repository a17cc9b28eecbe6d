"""Play episodes with a policy, and print a table of their returns and lengths.

The number of episodes of each env is fixed beforehand, so that short episodes are not preferred. TASK is a task id,
or any other id of gymnasium for Python environments.
"""

from __future__ import annotations

import argparse
import json
from inspect import signature
from pathlib import Path

from envpool._support.files import check_output, write_text
from envpool.cli.option_defaults import defaults_of
from envpool.cli.parsing import add_option_argument, positive_int, read_options, refuse_options, seed
from envpool.cli.progress import Progress
from envpool.cli.watch.policy import add_policy_arguments, policy_of
from envpool.evaluation.evaluate import MAX_STEPS, SEED, evaluate

#: Arguments that are not left to ``--option``: the parameters of `evaluate`, and the seeds of environments.
OWN: dict[str, str | None] = dict.fromkeys(signature(evaluate).parameters) | {
    "num_envs": "--num-envs",
    "episodes": "--episodes",
    "video": "--video",
    "max_steps": "--max-steps",
    "policy": "--policy",
    **dict.fromkeys(("seed", "seeds", "env_seed"), "--seed"),
}
HELP = "returns and lengths of a policy's episodes, with confidence intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool evaluate``."""
    add = parser.add_argument
    add("task", metavar="TASK", help="task id, see `envpool list`, or any other id of gymnasium")
    add_policy_arguments(parser)
    add("--episodes", metavar="N", type=positive_int, default=100, help="number of episodes (default: 100)")
    add("--num-envs", metavar="N", type=positive_int, help="number of envs (default: 32, at most the episodes)")
    add("--seed", metavar="N", type=seed, default=SEED, help=f"env i gets the seed N + i (default: {SEED})")
    add("--video", metavar="FILE", type=Path, help="write FILE-best, -median and -worst, .mp4 or .gif files")
    add("--json", metavar="FILE", type=Path, help="write the table and all episodes to FILE")
    add(
        "--max-steps",
        metavar="N",
        type=positive_int,
        default=MAX_STEPS,
        help="fail if an episode has more steps (to truncate it: --option max_episode_steps=N)",
    )
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Play the episodes, print the table and write the files."""
    refuse_options(arguments.options, OWN)
    if arguments.json is not None:
        check_output(arguments.json)
    progress = Progress()
    try:
        result = evaluate(
            policy_of(arguments),
            arguments.task,
            arguments.episodes,
            arguments.seed,
            num_envs=arguments.num_envs,
            video=arguments.video,
            max_steps=arguments.max_steps,
            progress=lambda done, total: progress(f"episode {done} of {total}"),
            **read_options(arguments.options, defaults_of(arguments.task)),
        )
    finally:
        progress.clear()
    print(result)
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(result.to_dict(), indent=1) + "\n")
