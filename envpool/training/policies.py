"""Saving, restoring and evaluating the policy of a training program, and recording a video of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from os.path import relpath
from pathlib import Path
from typing import Any

import envpool
from envpool._support.files import replaced
from envpool.training.checkpoint import read
from envpool.training.runs import make_pool

#: Seed of evaluations, far from the seeds of training, and their number of episodes.
EVALUATION_SEED, EPISODES = 1_000_000, 100
#: Keys of the file of a policy.
KEYS = {"task", "options", "hidden", "networks", "scale"}


def use(args: Any, agent: Any, is_interrupted: bool, script: str) -> None:
    """Do with a policy what the options ask for; after Ctrl-C only save it.

    Parameters
    ----------
    args : RunArgs and PolicyArgs
        The options of the program, which has an option `hidden`, too.
    agent : torch.nn.Module
        The policy: ``best(obs)`` returns the likeliest actions, and the attributes of ``scale`` are arrays.
    is_interrupted : bool
        True if Ctrl-C has stopped the training.
    script : str
        The program, which has a function ``load(path)``.
    """
    given = json.loads(args.options)
    if args.save:
        save(args.save, agent, args.task, args.options, args.hidden)
        words = [word for name, value in given.items() for word in ("--option", f"{name}={value}")]
        command = ["watch", args.task, *words, "--policy", f"{relpath(script)}:load", "--load", args.save]
        print("to watch it: envpool " + shlex.join(command))
    if args.eval is not None and not is_interrupted:
        evaluate(agent, args.task, given)
    if args.capture_video and not is_interrupted:
        with make_pool(args.task, **{"num_envs": 4, "render_mode": "rgb_array"} | given) as pool:
            envpool.record(pool, agent.best, args.capture_video)


def evaluate(agent: Any, task: str, given: dict[str, Any]) -> None:
    """Print the mean return of the likeliest actions on a task with the options `given`."""
    result = envpool.evaluate(agent.best, task, EPISODES, EVALUATION_SEED, num_envs=EPISODES, **given)
    print(f"{task}: mean return {result.mean:.1f} of the likeliest actions over {len(result)} episodes")


def evaluate_file(path: str, agent_class: Callable[..., Any]) -> None:
    """Evaluate the policy of a file, see `restore`; exit with a message if there is no such file."""
    if not Path(path).is_file():
        raise SystemExit(f"--eval: the file {path!r} does not exist")
    evaluate(*restore(path, agent_class))


def save(path: str, agent: Any, task: str, options: str, hidden: int) -> None:
    """Write a policy to a file; a file that has this name stays intact until the new one is complete.

    Parameters
    ----------
    path : str
        The file, from which `restore` makes the policy again.
    agent : torch.nn.Module
        The policy, see `use`.
    task, options : str
        Id and options of the task, the options as JSON.
    hidden : int
        Units in a hidden layer.
    """
    import torch

    content = {"task": task, "options": options, "hidden": hidden, "networks": agent.state_dict()}
    content["scale"] = {name: torch.as_tensor(x, dtype=torch.float64) for name, x in vars(agent.scale).items()}
    with replaced(Path(path)) as file:
        torch.save(content, file)


def restore(path: str, agent_class: Callable[..., Any]) -> tuple[Any, str, dict[str, Any]]:
    """Return the policy of a file that `save` has written, its task, and the options of the task.

    Parameters
    ----------
    path : str
        The file.
    agent_class : callable
        ``agent_class(pool, hidden)`` makes an untrained policy for a pool of the task.
    """
    content = read(path, "a policy", KEYS, map_location="cpu", weights_only=True)
    options = json.loads(content["options"])
    with make_pool(content["task"], **options) as env:
        agent = agent_class(env, content["hidden"])
    agent.load_state_dict(content["networks"])
    if content["scale"].keys() != vars(agent.scale).keys():
        raise SystemExit(f"{path} was written by another version of this example: train the policy again")
    vars(agent.scale).update({name: x.numpy() for name, x in content["scale"].items()})
    return agent, content["task"], options
