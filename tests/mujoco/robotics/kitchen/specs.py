"""Cases of FrankaKitchen for the conformance tests: options with their defaults, and bad options."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.mujoco.robotics.kitchen_config import TASKS
from envpool.mujoco.robotics.model_folder import assets
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.mujoco.robotics.kitchen.cases import TASK
from tests.mujoco.robotics.upstream import upstream_of

SIZES = {"bottom burner": 2, "top burner": 2, "light switch": 2, "slide cabinet": 1, "hinge cabinet": 2}
SIZES |= {"microwave": 1, "kettle": 7}
STEPS = ("tasks_to_complete", "step_task_completions", "episode_task_completions")
SPECS = [
    SpecCase(
        TASK,
        max_episode_steps=280,
        state={
            "obs:observation": (np.float64, [59]),
            **{f"obs:desired_goal.{name}": (np.float64, [size]) for name, size in SIZES.items()},
            **{f"obs:achieved_goal.{name}": (np.float64, [size]) for name, size in SIZES.items()},
            **{f"info:{name}": (np.float64, [len(TASKS)]) for name in STEPS},
        },
        action=(np.float64, [-1, 9]),
        options={
            "frame_skip": 40,
            "frame_stack": 1,
            "tasks_to_complete": None,
            "terminate_on_tasks_completed": True,
            "remove_task_when_completed": True,
            "robot_noise_ratio": 0.01,
            "object_noise_ratio": 0.0005,
            "max_episode_steps": 280,
        },
        has_more_options=True,
    )
]


def spaces(**options: Any) -> SpacesCase:
    """Return a comparison with upstream's spaces."""
    return SpacesCase(TASK, lambda: upstream_of(TASK, options).make(), options)


SPACES = [spaces(), spaces(tasks_to_complete=["kettle", "microwave"])]

WITHOUT_KITCHEN = str(assets() / "point" / "point.xml")
BAD: list[tuple[dict[str, Any], str]] = [
    ({"tasks_to_complete": ["oven"]}, r"tasks_to_complete must be a list of .*'bottom burner', .*, got \['oven'\]"),
    ({"tasks_to_complete": []}, r"tasks_to_complete must be .*, got \[\]"),
    ({"tasks_to_complete": "kettle"}, "tasks_to_complete must be .*, got 'kettle'"),
    ({"tasks_to_complete": 3}, "tasks_to_complete must be .*, got 3"),
    ({"tasks_to_complete": [["kettle"]]}, r"tasks_to_complete must be .*, got \[\['kettle'\]\]"),
    ({"robot_noise_ratio": -1.0}, r"robot_noise_ratio must be between 0\.0 and 1e100.*, got -1\.0"),
    ({"object_noise_ratio": float("nan")}, r"object_noise_ratio must be .*, got nan"),
    ({"xml_file": WITHOUT_KITCHEN}, "point.xml' has 2 positions, 2 velocities and 2 actuators, this task needs 30, 29"),
]
BAD_OPTIONS = [BadOption(TASK, options, ConfigError, [text]) for options, text in BAD]
