"""Options of the command line that are the fields of a dataclass."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def option(default: Any, text: str, parse: Callable[[str], Any] | None = None, **more: Any) -> Any:
    """Return a field of a dataclass of options.

    Parameters
    ----------
    default : object
        The default.
    text : str
        The help text.
    parse : callable, optional
        Converts the text of the command line, by default the type of the default.
    **more
        Further arguments of ``argparse.ArgumentParser.add_argument``.
    """
    return field(default=default, metadata={"help": text, "type": parse or type(default), "more": more})


def checked(kind: Callable[[str], Any], is_allowed: Callable[[Any], bool], text: str, what: str) -> Any:
    """Return the number that a text stands for, or raise an ArgumentTypeError that says what is needed."""
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and is_allowed(value)):
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return value


def positive(text: str) -> int:
    """Return a positive integer."""
    return int(checked(int, lambda value: value >= 1, text, "a positive integer"))


def natural(text: str) -> int:
    """Return an integer that is 0 or more."""
    return int(checked(int, lambda value: value >= 0, text, "an integer of 0 or more"))


def number(text: str) -> float:
    """Return a finite float."""
    return float(checked(float, lambda value: True, text, "a finite number"))


def positive_number(text: str) -> float:
    """Return a positive float."""
    return float(checked(float, lambda value: value > 0, text, "a positive number"))


def natural_number(text: str) -> float:
    """Return a float that is 0 or more."""
    return float(checked(float, lambda value: value >= 0, text, "a number of 0 or more"))


def share(text: str) -> float:
    """Return a float from 0 to 1."""
    return float(checked(float, lambda value: 0 <= value <= 1, text, "a number from 0 to 1"))


def json_object(text: str) -> str:
    """Return a text that is a JSON object."""
    try:
        is_object = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise argparse.ArgumentTypeError(f"{text} is not a JSON object, such as '{{\"noop_max\": 10}}'")
    return text


@dataclass(frozen=True)
class RunArgs:
    """Options of a training run, which do not depend on the algorithm."""

    task: str = option("CartPole-v1", "task id, see envpool.list_all_envs()")
    options: str = option("{}", "further options of the task as JSON, e.g. '{\"noop_max\": 10}'", json_object)
    seed: int = option(1, "seed of the network, the sampling and the environments", natural)
    seeds: int = option(1, "number of runs, with the seeds seed, seed + 1, ...; the plot shows their mean", positive)
    num_envs: int = option(64, "environments in the pool", positive)
    total_timesteps: int = option(1_000_000, "largest number of environment steps", natural)
    torch_threads: int = option(1, "threads of torch; networks this small run fastest on one", positive)
    env_threads: int = option(0, "threads of the pool; 0 for its default", natural)
    target: float | None = option(
        None, "mean return of 100 episodes at which to stop; exit with an error if it is never reached", number
    )
    plot: str | None = option(None, "write the learning curve to this PNG file", str)


@dataclass(frozen=True)
class PolicyArgs:
    """Options for the policy after the training."""

    save: str | None = option(None, "write the policy to this file at the end, or after Ctrl-C", str)
    eval: str | None = option(
        None,
        "play 100 episodes with the likeliest actions after the training; with a FILE, do only that, with its policy",
        str,
        nargs="?",
        const="",
        metavar="FILE",
    )
    capture_video: str | None = option(
        None, "write a video of the policy to this .mp4 or .gif file after the training", str
    )


def parse_args(argv: Sequence[str] | None, args_class: type[T]) -> T:
    """Return the command line as an object of a dataclass whose fields `option` has made.

    The first line of the docstring of its module describes the program.

    Parameters
    ----------
    argv : sequence of str or None
        The command line; None for the arguments of the process.
    args_class : type
        The dataclass. A field whose default is False becomes a flag.
    """
    about = sys.modules[args_class.__module__].__doc__ or ""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    for f in fields(args_class):  # type: ignore[arg-type]
        flag, text = f"--{f.name.replace('_', '-')}", f.metadata["help"]
        if f.default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            text += "" if f.default is None else f" (default: {f.default})"
            parser.add_argument(flag, type=f.metadata["type"], default=f.default, help=text, **f.metadata["more"])
    return args_class(**vars(parser.parse_args(argv)))
