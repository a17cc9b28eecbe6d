"""The task table of dm_control's suite. The ids are EnvPool's."""

from __future__ import annotations

from typing import NamedTuple

from envpool.tasks.entries import table

register = table(__name__)

#: dm_control's time limit, in steps. In dm_control the tasks of lqr have no limit; here they have this one.
MAX_EPISODE_STEPS = 1000


def camel_case(name: str) -> str:
    """Return a name of dm_control as the ids spell it: ``"ball_in_cup"`` becomes ``"BallInCup"``."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


class DomainRow(NamedTuple):
    """One domain of the suite.

    Attributes
    ----------
    domain : str
        dm_control's name of the domain. The env definition is the class ``Dmc<Domain>``, spelled in camel case.
    tasks : tuple of str
        dm_control's names of the tasks.
    module : str
        Module of this package with the env definition, if it has another name than the domain.
    """

    domain: str
    tasks: tuple[str, ...]
    module: str = ""


DOMAINS = [
    DomainRow("acrobot", ("swingup", "swingup_sparse")),
    DomainRow("ball_in_cup", ("catch",)),
    DomainRow("cartpole", ("balance", "balance_sparse", "swingup", "swingup_sparse", "three_poles", "two_poles")),
    DomainRow("cheetah", ("run",)),
    DomainRow("dog", ("fetch", "run", "stand", "trot", "walk")),
    DomainRow("finger", ("spin", "turn_easy", "turn_hard")),
    DomainRow("fish", ("swim", "upright")),
    DomainRow("hopper", ("hop", "stand")),
    DomainRow("humanoid", ("run", "run_pure_state", "stand", "walk")),
    DomainRow("humanoid_CMU", ("run", "stand", "walk"), module="humanoid"),
    DomainRow("lqr", ("lqr_2_1", "lqr_6_2")),
    DomainRow("manipulator", ("bring_ball", "bring_peg", "insert_ball", "insert_peg"), module="planar_arm"),
    DomainRow("pendulum", ("swingup",)),
    DomainRow("point_mass", ("easy", "hard")),
    DomainRow("quadruped", ("escape", "fetch", "run", "walk")),
    DomainRow("reacher", ("easy", "hard")),
    DomainRow("stacker", ("stack_2", "stack_4"), module="planar_arm"),
    DomainRow("swimmer", ("swimmer6", "swimmer15")),
    DomainRow("walker", ("run", "stand", "walk")),
]

#: Domain, task and time limit of each task, in the form of EnvPool's table of this name.
dmc_mujoco_envs = [(row.domain, task, MAX_EPISODE_STEPS) for row in DOMAINS for task in row.tasks]

for row in DOMAINS:
    for task in row.tasks:
        register(
            f"{camel_case(row.domain)}{camel_case(task)}-v1",
            f"envpool.mujoco.dmc.{row.module or row.domain}",
            env=f"Dmc{camel_case(row.domain)}",
            task_name=task,
            max_episode_steps=MAX_EPISODE_STEPS,
        )
