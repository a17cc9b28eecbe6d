"""Checkpoints of a training run, from which the run continues bit for bit, also after it was killed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from envpool._support.files import replaced

#: Options that may differ between the run that wrote a checkpoint and the run that continues it.
MAY_DIFFER = {
    *("checkpoint", "checkpoint_every", "env_threads", "plot", "target"),
    *("save", "eval", "capture_video", "tensorboard"),
}


def save(args: Any, env: Any, agent: Any, optimizer: Any, objects: Mapping[str, Any], **progress: Any) -> None:
    """Write the checkpoint `args.checkpoint`.

    The file is written under another name and then renamed, so that a run that is killed meanwhile leaves the previous
    checkpoint intact.

    Parameters
    ----------
    args : dataclass
        The options of the run.
    env, agent, optimizer : EnvPool, torch.nn.Module, torch.optim.Optimizer
        No action may be in flight in the pool.
    objects : dict of str to object
        Objects whose attributes change in the run. An attribute that is one of these objects itself is left out.
    **progress
        Further values, which `load` returns.
    """
    import torch

    content = {
        "args": relevant(args),
        "env": env.get_state(),
        "normalization": env.normalization and env.normalization.get(),
        "agent": agent.state_dict(),
        "optimizer": optimizer.state_dict(),
        "generator": torch.get_rng_state(),
        "objects": {name: attributes(value, objects) for name, value in objects.items()},
        "progress": progress,
    }
    path = Path(args.checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        torch.save(content, file)


def load(args: Any, env: Any, agent: Any, optimizer: Any, objects: Mapping[str, Any]) -> dict[str, Any] | None:
    """Restore everything that was passed to `save`, and torch's generator, and return the further values as a dict.

    Return None if there is no file yet. The file is pickled: only load checkpoints that you trust.
    """
    if not args.checkpoint or not Path(args.checkpoint).exists():
        return None
    import torch

    content = torch.load(args.checkpoint, weights_only=False)
    given = relevant(args)
    changed = [f"--{n.replace('_', '-')} {v}" for n, v in content["args"].items() if given[n] != v]
    if changed:
        raise SystemExit(
            f"{args.checkpoint} was written with other options: pass {' '.join(changed)} to continue it, or name "
            "another file to start anew"
        )
    env.set_state(content["env"])
    if content["normalization"]:
        env.normalization.set(content["normalization"])  # after the states, which restart the discounted rewards
    agent.load_state_dict(content["agent"])
    optimizer.load_state_dict(content["optimizer"])
    torch.set_rng_state(content["generator"])
    for name, value in objects.items():
        vars(value).update(content["objects"][name])
    progress: dict[str, Any] = content["progress"]
    return progress


def relevant(args: Any) -> dict[str, Any]:
    """Return the options on which the result of a run depends."""
    return {name: value for name, value in asdict(args).items() if name not in MAY_DIFFER}


def attributes(value: Any, objects: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object, except for those that are among `objects`."""
    return {name: v for name, v in vars(value).items() if all(v is not other for other in objects.values())}
