"""What a family contributes to the conformance tests: tables of cases in its ``tests/<family>/cases.py``.

A table is a module-level list with one of these names:

- ``EXACTNESS``, of `ExactnessCase`: pools return the bits of upstream environments.
- ``FRAMES``, of `FrameCase`: pools render the frames of upstream environments.
- ``UNDISTURBED``, of `UndisturbedCase`: rendering changes no later result.
- ``STATES``, of `StateCase`: envs continue exactly from saved states.
- ``SPECS``, of `SpecCase`: options, spaces and arrays of a task.
- ``SPACES``, of `SpacesCase`: spaces that depend on options.
- ``BAD_OPTIONS``, of `BadOption`: option values that are refused.

A family may split its tables over ``cases.py`` and ``specs.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.selection import ABSENT
from tests.support.oracles.frames import STEPS, Size, assert_same_frames
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory

TESTS = Path(__file__).resolve().parents[1]


def describe(options: Mapping[str, Any]) -> str:
    """Return options in the form that test ids use, e.g. ``"size=8-is_slippery=False"``."""
    return "-".join(f"{name}={value}" for name, value in options.items())


@dataclass(frozen=True)
class ExactnessCase:
    """One comparison of pools with upstream environments, bit for bit.

    Attributes
    ----------
    task_id : str
        The pool's task.
    oracle : CaseOracle
        Plays the upstream environments.
    label : str
        Distinguishes the case from others of the same task in test ids.
    options : mapping
        Task options of the pool.
    actions : str
        A mode of `envpool.sampling.sequences.make_actions`, or a name for what the oracle does itself.
    num_envs : int
        Environment i has the seed ``1000 * seed + i``.
    steps : int
        Records of each environment after its first reset; the resets between episodes count.
    seed : int
        Seed of the environments and actions.
    runs : sequence of mapping
        Pool options (num_threads, batch_size, autoreset_mode); one pool is run for each, upstream only once.
    min_episodes : int
        Number of episodes that must end, as `CaseOracle.count_episodes` counts them.
    ignored : sequence of str
        Arrays that are not compared.
    verify : callable, optional
        Called with upstream's trajectory; asserts that it contains what the case is for.
    is_slow : bool
        Whether the test has the mark ``slow``.
    is_recorded : bool
        Whether pools are compared with what `tests.golden` recorded of upstream.
    """

    task_id: str
    oracle: CaseOracle
    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    actions: str = "random"
    num_envs: int = 16
    steps: int = 300
    seed: int = 0
    runs: Sequence[Mapping[str, Any]] = ({},)
    min_episodes: int = 1
    ignored: Sequence[str] = ()
    verify: Callable[[Trajectory], None] | None = None
    is_slow: bool = False
    is_recorded: bool = False

    @property
    def seeds(self) -> list[int]:
        """Seeds of the environments."""
        return [1000 * self.seed + i for i in range(self.num_envs)]

    def __str__(self) -> str:
        return "-".join(filter(None, [self.task_id, self.actions, self.label]))


@dataclass(frozen=True)
class FrameCase:
    """One comparison of the frames of a pool with those of upstream environments, pixel by pixel.

    Attributes
    ----------
    task_id : str
        The pool's task.
    make_upstream : callable
        Called with `size`; see `tests.support.oracles.frames.compare`.
    label : str
        Distinguishes the case from others of the same task in test ids.
    size : (int, int), optional
        Height and width; None stands for the default of the task.
    options : mapping
        Options for `tests.support.oracles.frames.compare`.
    is_slow : bool
        Whether the test has the mark ``slow``.
    """

    task_id: str
    make_upstream: Callable[[Size | None], Any]
    label: str = ""
    size: Size | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False

    def check(self) -> None:
        """Raise AssertionError when a pixel differs."""
        self.compare()

    def compare(self) -> None:
        """Raise AssertionError when a pixel differs after the steps of the options."""
        assert_same_frames(self.task_id, self.make_upstream, size=self.size, **{"steps": STEPS, **self.options})

    def __str__(self) -> str:
        size = "x".join(map(str, self.size)) if self.size else ""
        return "-".join(filter(None, [self.task_id, size, self.label]))


@dataclass(frozen=True)
class UndisturbedCase:
    """A task, its options and the mode of its actions, for pools of which one renders and the other does not."""

    task_id: str
    options: Mapping[str, Any] = field(default_factory=dict)
    actions: str = "random"
    steps: int = 60
    is_slow: bool = False

    def __str__(self) -> str:
        return "-".join(filter(None, [self.task_id, describe(self.options), self.actions]))


@dataclass(frozen=True)
class StateCase:
    """A task whose envs can be saved.

    Attributes
    ----------
    task_id : str
        The task.
    options : mapping
        Options of the pool.
    actions : str
        A mode of `envpool.sampling.sequences.make_actions`.
    has_frames : bool
        Whether the task can be rendered.
    label : str
        Distinguishes the case from others of the same task in test ids.
    modes : sequence of str
        Auto-reset modes.
    limit : int
        Time limit of the episodes, in steps. The last state is saved in the fourth episode of each env or later.
    after : int
        Number of steps that are compared after a restore.
    outlives_seed : bool
        Whether something of an env outlives a new seed, as upstream: the state of an env that was never reset, its
        seed, then starts the same episodes only in an env that was never reset.
    is_slow : bool
        Whether the tests have the mark ``slow``.
    """

    task_id: str
    options: Mapping[str, Any] = field(default_factory=dict)
    actions: str = "random"
    has_frames: bool = True
    label: str = ""
    modes: Sequence[str] = ("next_step", "same_step", "disabled")
    limit: int = 40
    after: int = 500
    outlives_seed: bool = False
    is_slow: bool = False

    @property
    def before(self) -> int:
        """Number of steps before the last state is saved."""
        return 3 * self.limit + 3 * self.limit // 4

    @property
    def saved(self) -> Sequence[int]:
        """Steps before which states are saved: in the middle of episodes, and next to the end of one."""
        return (0, 17 * self.limit // 40, self.limit - 1, self.limit, self.before)

    @property
    def frames(self) -> Sequence[int]:
        """Steps after which frames are compared."""
        if not self.has_frames:
            return ()
        return (
            self.before + 1,
            self.before + self.limit - 1,
            self.before + self.limit + 1,
            self.before + self.after - 1,
        )

    def __str__(self) -> str:
        return "-".join(filter(None, [self.task_id, describe(self.options), self.actions, self.label]))


#: The dtype of an array and its shape in an array spec, e.g. ``(numpy.float32, [-1, 2])``.
Array = tuple[Any, Sequence[int]]


@dataclass(frozen=True)
class SpecCase:
    """What the spec of a task contains.

    Attributes
    ----------
    task_id : str
        The task.
    upstream_id : str, optional
        Id of the task in Gymnasium's registry with the same time limit and reward threshold.
    max_episode_steps : int
        Time limit in steps.
    reward_threshold : float, optional
        None stands for a task without a reward threshold.
    state : mapping of str to Array
        The observation and info arrays of the task, without those that every task has; None is not checked.
    action : Array, optional
        The action array; None is not checked.
    options : mapping, optional
        Options of the task, with their defaults; None is not checked.
    has_more_options : bool
        Whether the task may have options that `options` does not list.
    """

    task_id: str
    upstream_id: str | None = None
    max_episode_steps: int = 0
    reward_threshold: float | None = None
    state: Mapping[str, Array] | None = None
    action: Array | None = None
    options: Mapping[str, Any] | None = None
    has_more_options: bool = False
    is_slow: bool = False

    def __str__(self) -> str:
        return self.task_id


@dataclass(frozen=True)
class SpacesCase:
    """A task with options, and its spaces.

    Attributes
    ----------
    task_id : str
        The task.
    spaces : callable
        Returns an object with the expected ``observation_space`` and ``action_space``, e.g. an upstream environment. A
        space that is None is not compared.
    options : mapping
        Options of the task.
    """

    task_id: str
    spaces: Callable[[], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False

    def __str__(self) -> str:
        return "-".join(filter(None, [self.task_id, describe(self.options)]))


@dataclass(frozen=True)
class BadOption:
    """Options that are refused, the type of the exception, and regular expressions that its text matches."""

    task_id: str
    options: Mapping[str, Any]
    error: type[Exception]
    parts: Sequence[str]
    is_slow: bool = False

    def __str__(self) -> str:
        return f"{self.task_id}-{describe(self.options)}"[:80]


def families() -> list[str]:
    """Return the folders below tests/ that contribute cases, e.g. ``"mujoco/gym"``."""
    found = {str(path.parent.relative_to(TESTS)) for path in TESTS.glob("**/cases.py")}
    return sorted(found - {"conformance", *ABSENT})


def marks_of(case: Any, family: str) -> list[pytest.MarkDecorator]:
    """Return the marks of the tests of a case."""
    golden = [pytest.mark.golden] if getattr(case, "is_recorded", False) else []
    return [pytest.mark.slow if case.is_slow else pytest.mark.drawn(family), *golden]


def table(name: str) -> list[Any]:
    """Return the cases of one table of every family, as parameters of a test with an id that names family and task.

    A run takes a few cases of each family unless it is told otherwise, see `tests.selection`.
    """
    rows = []
    for family in families():
        found: list[Any] = []
        for module in ("cases", "specs"):
            if (TESTS / family / f"{module}.py").exists():
                found += getattr(import_module(f"tests.{family.replace('/', '.')}.{module}"), name, [])
        ids = [f"{family}-{case}" for case in found]
        repeated = {i for i in ids if ids.count(i) > 1 and name != "BAD_OPTIONS"}
        assert not repeated, f"several cases of the table {name} have the id {sorted(repeated)[0]}: give them labels"
        rows += [pytest.param(case, id=i, marks=marks_of(case, family)) for i, case in zip(ids, found, strict=True)]
    return rows
