"""The declaration of a task: an immutable value that can be printed, compared and pickled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fsdecode
from typing import Any

from envpool._core.definition import POOL_FIELDS
from envpool._support.ending import released
from envpool._support.text import shown
from envpool.config.checks import check_choice, flag
from envpool.errors import ConfigError
from envpool.mujoco.declared.expressions import Expression, Node, wrap
from envpool.mujoco.declared.quantities import Objects
from envpool.mujoco.declared.sizes import check_size
from envpool.mujoco.declared.terms import Cost, Observe, Reset, Reward, Terminate

CONVENTIONS = ("gymnasium", "dm_control")

#: The most arrays of an observation (ENVPOOL_MAX_FIELDS).
MAX_ARRAYS = 64

#: The most characters of a path; a longer text without "<" is not the path of a file.
MAX_PATH = 4096

#: Entries of info that belong to the pool, to `terms`, or to the option debug_info.
RESERVED = {*(name.removeprefix("info:").partition(".")[0] for name in POOL_FIELDS), "terms", "qpos0", "qvel0"}


@dataclass(frozen=True)
class Asset:
    """A file that the XML text names; printed with a digest in place of its bytes."""

    name: str
    data: bytes = field(repr=False)
    digest: str = ""


@dataclass(frozen=True)
class Actuators(Node):
    """An action that consists of the controls of actuators.

    Attributes
    ----------
    of : str, int, tuple or None
        The actuators, in the order of the action; None for all. The controls of others stay as the reset left them.
    normalized : bool
        If True, actions are in [-1, 1] and map linearly to the ranges of the controls.
    """

    of: Objects = None
    normalized: bool = False


@dataclass(frozen=True)
class BatchFunction:
    """A Python function that completes each step, for all environments that a thread steps together.

    Attributes
    ----------
    function : callable
        It is called with the values of `inputs` as keyword arguments, arrays (n,) of scalars and (n, size) of vectors,
        and returns a dict of arrays. ``"reward"`` (n,) is added to the reward, ``"terminated"`` (n,) terminates
        episodes in addition to the terminations, and other entries are the parts `Computed` of the observation.
    inputs : tuple of (str, Expression)
        The arguments; a dict is accepted, too.
    """

    function: Callable[..., Mapping[str, Any]]
    inputs: tuple[tuple[str, Expression], ...]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {shown(self.function)}")
        given = list(self.inputs.items()) if isinstance(self.inputs, Mapping) else self.inputs
        if not isinstance(given, (list, tuple)) or not all(isinstance(k, (list, tuple)) and len(k) == 2 for k in given):
            raise TypeError(f"inputs must be a mapping of names to expressions, got {shown(self.inputs)}")
        inputs = tuple((checked("input", k), wrap(value, f"inputs[{k!r}]")) for k, value in given)
        check_distinct("inputs", [name for name, _ in inputs])
        object.__setattr__(self, "inputs", inputs)

    def release(self) -> None:
        """Forget the function, at the end of the program."""
        object.__setattr__(self, "function", released)

    def __repr__(self) -> str:
        function = self.function
        name = f"{function.__module__}.{getattr(function, '__qualname__', type(function).__qualname__)}"
        return f"BatchFunction(function={name}, inputs={self.inputs!r})"


@dataclass(frozen=True)
class Declaration:
    """A task: a model, and the terms that describe what is computed. `declare` makes it from what users write.

    Attributes
    ----------
    xml : str
        Path of the XML file, or XML text, which begins with ``<``.
    observation : tuple of (str, tuple of Observe)
        The arrays of the observation by name; the name is empty if the observation is one array.
    reward : tuple of (Reward or Cost)
        The rewards and costs.
    termination : tuple of Terminate
        The terminations.
    reset : tuple of Reset
        The parts of a reset.
    action : Actuators
        The meaning of actions.
    info : tuple of (str, Expression)
        Info arrays by name.
    terms : bool
        If True, info contains the value of each term.
    conventions : {"gymnasium", "dm_control"}
        Whose order of a step, random numbers and default camera are used.
    assets : tuple of Asset
        Files that the XML text names.
    function : BatchFunction or None
        The Python function that completes each step.
    """

    xml: str
    observation: tuple[tuple[str, tuple[Observe, ...]], ...]
    reward: tuple[Reward | Cost, ...] = ()
    termination: tuple[Terminate, ...] = ()
    reset: tuple[Reset, ...] = ()
    action: Actuators = Actuators()
    info: tuple[tuple[str, Expression], ...] = ()
    terms: bool = False
    conventions: str = "gymnasium"
    assets: tuple[Asset, ...] = ()
    function: BatchFunction | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.observation) <= MAX_ARRAYS:
            raise ConfigError(f"observation must have 1 to {MAX_ARRAYS} arrays, got {len(self.observation)}")
        for argument in ("observation", "reward", "termination", "reset", "info"):
            check_size(argument, getattr(self, argument))
        check_size("function", self.function.inputs if self.function else ())


def declare(
    xml: Any,
    observation: Any,
    reward: Any = (),
    termination: Any = (),
    reset: Any = (),
    action: Any = None,
    info: Mapping[str, Any] | None = None,
    terms: bool = False,
    conventions: str = "gymnasium",
    assets: Mapping[str, bytes] | None = None,
    function: BatchFunction | None = None,
) -> Declaration:
    """Return the declaration of a task; `envpool.make_mujoco` describes the arguments.

    Raises
    ------
    ConfigError
        A value is not allowed, or a name occurs twice.
    TypeError
        An argument has a wrong type.
    """
    check_choice("conventions", conventions, CONVENTIONS)
    if action is not None and not isinstance(action, Actuators):
        raise TypeError(f"action must be Actuators(...) or None, got {shown(action)}")
    if function is not None and not isinstance(function, BatchFunction):
        raise TypeError(f"function must be BatchFunction(...) or None, got {shown(function)}")
    xml = checked_xml(xml)
    if assets and not is_text(xml):
        raise ConfigError("assets are only available for an XML text; put the files next to the file that xml names")
    if info is not None and not isinstance(info, Mapping):
        raise TypeError(f"info must be a mapping of names to expressions, got {shown(info)}")
    if isinstance(observation, Mapping):
        observed = tuple((checked("observation", k), observations(v, k)) for k, v in observation.items())
    else:
        observed = (("", observations(observation, "")),)
    rewards = tuple(
        Reward(item) if isinstance(item, Expression) else instance("reward", k, item, (Reward, Cost, Expression))
        for k, item in enumerate(items("reward", reward))
    )
    terminations = tuple(
        instance("termination", k, item, (Terminate,)) for k, item in enumerate(items("termination", termination))
    )
    resets = tuple(instance("reset", k, item, (Reset,)) for k, item in enumerate(items("reset", reset)))
    reports = tuple((checked("info", key), wrap(value, f"info[{key!r}]")) for key, value in (info or {}).items())
    for key, _ in reports:
        if key in RESERVED:
            raise ConfigError(f"a name of info must not be {shown(key)}, which is reserved; use another name")
    rewards = tuple(named(item, f"reward_{k}") for k, item in enumerate(rewards))
    terminations = tuple(named(item, f"termination_{k}") for k, item in enumerate(terminations))
    names = [checked("term", item.name) for item in (*rewards, *terminations)]
    check_distinct("terms", names, "; give each a name: name=...")
    return Declaration(
        xml,
        observed,
        rewards,
        terminations,
        resets,
        action or Actuators(),
        reports,
        flag("terms", terms),
        conventions,
        checked_assets(assets),
        function,
    )


def is_text(xml: str) -> bool:
    """Return whether a model is XML text instead of the path of a file."""
    return xml.lstrip().startswith("<")


def checked_xml(xml: Any) -> str:
    """Return the path of a file or an XML text, or raise an error that says why it can be neither."""
    if not isinstance(xml, (str, PathLike)):
        raise TypeError(f"xml must be a path or an XML text, got {shown(xml)}")
    text = fsdecode(xml).removeprefix("\ufeff")
    check_encodable("xml", text)
    if not is_text(text) and (not text.strip() or "\n" in text or len(text) > MAX_PATH):
        raise ConfigError(f"xml must be the path of a file, or an XML text that begins with '<', got {shown(text)}")
    return text


def check_encodable(what: str, text: str) -> None:
    """Raise ConfigError unless C can read a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{what} must be encodable as UTF-8, got {shown(text)}") from None
    if "\0" in text:
        raise ConfigError(f"{what} must not contain a NUL character, got {shown(text)}")


def check_distinct(what: str, names: Sequence[str], remedy: str = "") -> None:
    """Raise ConfigError if a name occurs twice."""
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the names of {what} must differ, got {shown(name)} twice{remedy}")


def checked_assets(assets: Any) -> tuple[Asset, ...]:
    """Return the files that the XML text names, or raise a TypeError."""
    if assets is not None and not isinstance(assets, Mapping):
        raise TypeError(f"assets must be a mapping of names to bytes, got {shown(assets)}")
    for name, data in (assets or {}).items():
        if not isinstance(name, str) or not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"assets must be a mapping of names to bytes, got {shown(data)} for {shown(name)}")
        check_encodable("a name of assets", name)
    return tuple(Asset(name, bytes(data), digest(data)) for name, data in sorted((assets or {}).items()))


def digest(data: bytes) -> str:
    """Return a short digest of a file."""
    return hashlib.blake2b(bytes(data), digest_size=8).hexdigest()


def items(what: str, given: Any) -> Sequence[Any]:
    """Return the terms of an argument as a sequence; a single term stands for a list of one."""
    if isinstance(given, (Expression, Observe, Reward, Cost, Terminate, Reset)):
        return [given]
    if isinstance(given, (list, tuple)):
        return given
    raise TypeError(f"{what} must be a list of terms, got {shown(given)}")


def instance(what: str, position: int, item: Any, classes: tuple[type, ...]) -> Any:
    """Return a term, or raise a TypeError if it is not one of the classes."""
    if not isinstance(item, classes):
        wanted = " or ".join(cls.__name__ for cls in classes)
        raise TypeError(f"{what}[{position}] must be of type {wanted}, got {shown(item)}")
    return item


def observations(given: Any, key: str) -> tuple[Observe, ...]:
    """Return the parts of an array of the observation."""
    found = items("observation", given)
    where = f"observation[{shown(key)}]" if key else "observation"
    if not found:
        raise ConfigError(f"{where} must have at least one term, for example Qpos(), got none")
    terms = [
        Observe(item) if isinstance(item, Expression) else instance(where, k, item, (Observe, Expression))
        for k, item in enumerate(found)
    ]
    prefix = f"{key}_" if key else "observation_"
    return tuple(named(item, f"{prefix}{k}") for k, item in enumerate(terms))


def named(term: Any, default: str) -> Any:
    """Return a term whose name is not empty."""
    return term if term.name else replace(term, name=default)


def checked(what: str, name: Any) -> str:
    """Return a name of a term or an array, or raise a ConfigError if it cannot be a key."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(f"a name of {what} must be a Python identifier, got {shown(name)}")
    return name
