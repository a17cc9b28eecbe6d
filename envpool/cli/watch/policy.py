"""Policies of ``envpool watch``: random actions, or a function in a file."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envpool.errors import ConfigError, EnvPoolError
from envpool.sampling.sampler import Sampler

#: Takes the observations of all envs and returns their actions.
Policy = Callable[[Any], Any]


class PolicyError(EnvPoolError):
    """The code of the policy raised an exception, whose traceback was printed."""


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments ``--policy`` and ``--load`` to the parser of a command."""
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        default="random",
        help="random (the default), or FILE.py:function, a function that takes the observations of all envs and "
        "returns their actions",
    )
    parser.add_argument(
        "--load", metavar="SAVED", help="call the function of --policy with SAVED, e.g. a file; it returns the policy"
    )


def policy_of(arguments: argparse.Namespace) -> Policy | str:
    """Return the policy that ``--policy`` and ``--load`` name; "random" stays a text."""
    if arguments.policy == "random" and arguments.load is None:
        return "random"
    return load_policy(arguments.policy, None, arguments.load)


def load_policy(text: str, pool: Any, saved: str | None = None) -> Policy:
    """Return the policy that the argument ``--policy`` names.

    Parameters
    ----------
    text : str
        ``"random"``, or ``"FILE.py:function"``. The file can import modules from its folder.
    pool : EnvPool or None
        The pool that the policy acts in, for random actions.
    saved : str, optional
        The argument ``--load``. With it, the function is called with `saved` and returns the policy; without it, the
        function is the policy.

    Returns
    -------
    callable
        Takes the observations of all envs and returns their actions. If the code of the policy raises an exception, its
        traceback is printed on stderr, and a PolicyError is raised.

    Raises
    ------
    ConfigError
        If `text` has neither form, or the file or the function does not exist.
    PolicyError
        The file could not be executed, or the function could not load the policy.
    """
    if text == "random":
        if saved is not None:
            raise ConfigError("--load needs a function that loads the file: pass --policy FILE.py:function as well")
        return random_policy(pool)
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise ConfigError(f"--policy must be random or FILE.py:function, got {text!r}")
    if not Path(path).is_file():
        raise ConfigError(f"--policy: the file {path!r} does not exist")
    with traceback_shown(f"{path} could not be executed", path):
        module = execute(Path(path))
    function = getattr(module, name, None)
    if not callable(function):
        raise ConfigError(f"--policy: {path} has no function {name!r}")
    policy = function
    if saved is not None:
        with traceback_shown(f"{text} could not load {saved}", path):
            policy = function(saved)
        if not callable(policy):
            raise ConfigError(f"--policy: {text} must return a function if --load is given, got {policy!r}")

    def act(observations: Any) -> Any:
        with traceback_shown(text, path):
            return policy(observations)

    return act


def execute(path: Path) -> Any:
    """Import a file as the module that ``import`` in its folder would give; return the module."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # classes of the module can be pickled
    spec.loader.exec_module(module)
    return module


@contextmanager
def traceback_shown(what: str, path: str) -> Iterator[None]:
    """Print the traceback of an exception from the file at `path` on, and raise a PolicyError."""
    try:
        yield
    except (Exception, SystemExit) as error:
        tb = error.__traceback__
        while tb is not None and Path(tb.tb_frame.f_code.co_filename).resolve() != Path(path).resolve():
            tb = tb.tb_next
        traceback.print_exception(type(error), error, tb)
        raise PolicyError(f"--policy: {what}: {type(error).__name__}, see above") from error


def random_policy(pool: Any) -> Policy:
    """Return a policy that draws random actions, the same sequence in every run."""
    sampler = Sampler(0)
    return lambda observations: pool.sample_actions(sampler)
