"""``make_mujoco``: pools of a user's MuJoCo model whose task is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from envpool.mujoco.declared.declaration import Actuators, BatchFunction, declare, is_text
from envpool.mujoco.declared.expressions import Expression
from envpool.mujoco.declared.terms import Cost, Observe, Reset, Reward, Terminate
from envpool.pools.classes import open_pool
from envpool.pools.env_pool import EnvPool
from envpool.tasks.entries import TaskEntry
from envpool.tasks.resolve import resolve_entry

Parts = Sequence[Expression | Observe]


def make_mujoco(
    xml: str | PathLike[str],
    observation: Parts | Mapping[str, Parts],
    reward: Sequence[Expression | Reward | Cost] = (),
    termination: Sequence[Terminate] = (),
    reset: Sequence[Reset] = (),
    action: Actuators | None = None,
    frame_skip: int = 1,
    *,
    info: Mapping[str, Expression] | None = None,
    terms: bool = False,
    conventions: str = "gymnasium",
    assets: Mapping[str, bytes] | None = None,
    function: BatchFunction | None = None,
    env_type: str = "gymnasium",
    **options: Any,
) -> EnvPool:
    """Return a pool of environments of a MuJoCo model whose task is declared.

    Parameters
    ----------
    xml : str or path
        Path of the XML file; or XML text, which begins with ``<``.
    observation : sequence of Expression or Observe, or mapping of str to such sequences
        The observation: the concatenated values, float64. A mapping makes a dict of arrays.
    reward : sequence of Reward, Cost or Expression
        The reward is the sum of the rewards from left to right, minus the sum of the costs from left to right.
    termination : sequence of Terminate
        The episode terminates if one of them holds.
    reset : sequence of Reset
        The resets, which run in this order when an episode begins, after MuJoCo has set the initial state.
    action : Actuators, optional
        Which controls the action sets; by default all.
    frame_skip : int
        Number of simulation steps in a step.
    info : mapping of str to Expression, optional
        Info arrays.
    terms : bool
        If True, ``info["terms"]`` has the weighted value of each reward and each (negative) cost by name, and for each
        termination 1 if it holds, otherwise 0. All are 0 after a reset.
    conventions : {"gymnasium", "dm_control"}
        Whose conventions apply. With Gymnasium's, quantities that are derived from positions are one simulation step
        older than the positions, random numbers are those of ``np.random.default_rng(seed)``, and unstable physics
        raises an EnvStepError. With dm_control's, these quantities are up to date, random numbers are those of
        ``np.random.RandomState(seed)``, and every warning of MuJoCo raises an EnvStepError.
    assets : mapping of str to bytes, optional
        Contents of the files that an XML text names, by these names.
    function : BatchFunction, optional
        A Python function that completes each step, for tasks that expressions cannot describe.
    env_type : {"gymnasium", "gym", "dm"}
        API style of the pool.
    **options
        The options of ``envpool.make`` that every MuJoCo task has, such as ``num_envs``, ``seed``,
        ``max_episode_steps``, ``frame_stack``, ``from_pixels``, ``render_mode`` and the parameters of the model.

    Returns
    -------
    EnvPool
        The pool.

    Raises
    ------
    ConfigError
        MuJoCo cannot load the model, or a term is invalid; the message names the term and the XML element.
    TypeError
        An argument has a wrong type, or an option does not exist.
    """
    if "declaration" in options:
        raise TypeError("make_mujoco has no option 'declaration'")
    declaration = declare(
        xml, observation, reward, termination, reset, action, info, terms, conventions, assets, function
    )
    env = "DeclaredSuite" if conventions == "dm_control" else "Declared"
    name = "mujoco" if is_text(declaration.xml) else Path(declaration.xml).stem
    own = {"declaration": declaration}
    entry = TaskEntry(name, "envpool.mujoco.declared.task", env, None, None, None, own)
    return open_pool(*resolve_entry(entry, env_type, {"frame_skip": frame_skip, **options}))
