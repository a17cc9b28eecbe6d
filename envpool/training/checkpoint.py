"""Checkpoints of a training run, from which the run continues bit for bit, also after it was killed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from envpool._support.files import replaced
from envpool._support.text import shown

#: Options that may differ between the run that wrote a checkpoint and the run that continues it.
MAY_DIFFER = {
    *("checkpoint", "checkpoint_every", "env_threads", "plot", "target"),
    *("save", "eval", "capture_video", "tensorboard"),
}
#: The parts of a checkpoint.
KEYS = {"args", "env", "normalization", "agent", "optimizer", "generator", "objects", "progress"}


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
        Objects that change in the run: a `Sampler`, a ``numpy.random.Generator``, or any object with attributes, which
        are saved. An attribute that is one of these objects itself is left out.
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
        "objects": {name: state_of(name, value, objects) for name, value in objects.items()},
        "progress": progress,
    }
    path = Path(args.checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        torch.save(content, file)


def load(args: Any, env: Any, agent: Any, optimizer: Any, objects: Mapping[str, Any]) -> dict[str, Any] | None:
    """Restore everything that was passed to `save`, and torch's generator, and return the further values as a dict.

    Return None if there is no file yet, and exit with a message, before anything is restored, if the file cannot be
    used. The file is pickled: only load checkpoints that you trust.
    """
    if not args.checkpoint or not Path(args.checkpoint).exists():
        return None
    import torch

    content = read(args.checkpoint, "a checkpoint", KEYS, weights_only=False)
    given = relevant(args)
    for part, names in (("args", given), ("objects", objects)):
        if content[part].keys() != names.keys():
            raise SystemExit(
                f"{args.checkpoint} was written by another program, or another version of it, with the {part} "
                f"{sorted(content[part])} instead of {sorted(names)}: name another file to start again"
            )
    changed = [f"--{n.replace('_', '-')} {v}" for n, v in content["args"].items() if given[n] != v]
    if changed:
        raise SystemExit(
            f"{args.checkpoint} was written with other options: pass {' '.join(changed)} to continue it, or name "
            "another file to start again"
        )
    env.set_state(content["env"])
    if content["normalization"]:
        env.normalization.set(content["normalization"])  # after the states, which restart the discounted rewards
    agent.load_state_dict(content["agent"])
    optimizer.load_state_dict(content["optimizer"])
    torch.set_rng_state(content["generator"])
    for name, value in objects.items():
        restore_state(value, content["objects"][name])
    progress: dict[str, Any] = content["progress"]
    return progress


def read(path: str, kind: str, keys: set[str], **options: Any) -> dict[str, Any]:
    """Return the dict in a file that ``torch.save`` has written, or exit with a message.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        The kind of file, for the message.
    keys : set of str
        The keys of the dict.
    **options
        Options of ``torch.load``.
    """
    import torch

    try:
        content = torch.load(path, **options)
        reason = "it has other content"
    except Exception as error:  # unpickling damaged bytes can raise anything
        content, reason = None, str(error).partition("\n")[0] or type(error).__name__
    if not isinstance(content, dict) or content.keys() != keys:
        raise SystemExit(f"{path} is not {kind} that this program can read, or is damaged: {reason}")
    return content


def relevant(args: Any) -> dict[str, Any]:
    """Return the options on which the result of a run depends."""
    return {name: value for name, value in asdict(args).items() if name not in MAY_DIFFER}


def state_of(name: str, value: Any, objects: Mapping[str, Any]) -> Any:
    """Return the state of an object for `restore_state`, without the attributes that are among `objects`."""
    owner = owner_of(value)
    if hasattr(owner, "__setstate__"):
        return owner.__getstate__()
    if not hasattr(owner, "__dict__"):
        raise TypeError(f"objects[{name!r}] must have attributes or a __setstate__, got {shown(value)}")
    return {name: v for name, v in vars(owner).items() if all(v is not other for other in objects.values())}


def restore_state(value: Any, state: Any) -> None:
    """Put an object into a state that `state_of` has returned."""
    owner = owner_of(value)
    if hasattr(owner, "__setstate__"):
        owner.__setstate__(state)
    else:
        vars(owner).update(state)


def owner_of(value: Any) -> Any:
    """Return the object that has the state of another one: a NumPy generator keeps its state in its bit generator."""
    return getattr(value, "bit_generator", value)
