"""Shared parts of the env definitions of mazes: their options, and the rewards of batches of goals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.mujoco.robotics.goal_pools import GoalEnvDefinition
from envpool.mujoco.robotics.maze_models import MAX_CELLS, WALL, only_start, read_map
from envpool.native import Param

Array = np.ndarray[Any, Any]


def cell_of(value: Any) -> Any:
    """Return a value of an option that names a cell; None stands for no cell."""
    return NO_CELL if value is None else value


NO_CELL = (-1, -1)
#: Options of resets: row and column of a cell in the map, from 0.
RESET_OPTIONS = {
    "goal_cell": Param(NO_CELL, -1, MAX_CELLS - 1, text="cell of the goal; by default one is drawn", convert=cell_of),
    "reset_cell": Param(
        NO_CELL, -1, MAX_CELLS - 1, text="cell in which the episode begins; by default one is drawn", convert=cell_of
    ),
}

#: Distance (m) up to which a goal counts as reached.
REACHED = 0.45


def maze_rewards(achieved_goal: Array, desired_goal: Array, config: Any) -> Array:
    """Return the rewards of goals in a maze.

    Parameters
    ----------
    achieved_goal, desired_goal : numpy.ndarray
        Positions (..., 2) in metres, of equal shape.
    config : namedtuple
        The options of the task: ``reward_type``.

    Returns
    -------
    numpy.ndarray
        Rewards (...): float64 if they are sparse, otherwise of the dtype of the goals.
    """
    distance: Array = np.linalg.norm(achieved_goal - desired_goal, axis=-1)
    rewards: Array = np.exp(-distance) if config.reward_type == "dense" else (distance <= REACHED).astype(np.float64)
    return rewards


class MazeEnvDefinition(GoalEnvDefinition):
    """An env definition of a robot that moves to goals in a maze.

    Options
    -------
    maze_map : str or sequence of sequence, optional
        Name of a map, such as "U_MAZE"; or rows of cells: 1 is a wall, 0 is empty, "g" a cell for goals, "r" one in
        which episodes begin, "c" one for both. By default "U_MAZE".
    reward_type : str
        "sparse" or "dense".
    continuing_task : bool
        If False, the episode terminates when the goal is reached.
    reset_target : bool
        If True, a goal that is reached moves, provided that episodes do not terminate.
    position_noise_range : float
        Largest distance of goals and starts from the centres of their cells, in cells and along each axis, 0 to 0.45.
    maze_size_scaling : float
        Side of a cell (m), 1 to 100.
    maze_height : float
        Height of the walls, in sides of a cell, 0.01 to 100.
    """

    goal_size = 2
    compute_reward = staticmethod(maze_rewards)
    reset_options = RESET_OPTIONS

    @staticmethod
    def ends_at(achieved_goal: Array, desired_goal: Array, config: Any) -> bool:
        """Return whether the goal is reached in a task that is not continuing."""
        return not config.continuing_task and bool(np.linalg.norm(achieved_goal - desired_goal) <= REACHED)

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate that upstream's metadata name for all mazes, which is not that of real time."""
        return 50

    @staticmethod
    def check_reset_options(config: Any, values: Mapping[str, Any]) -> None:
        """Raise ConfigError unless the cells are in the maze, no walls, and leave a cell for an episode to begin in."""
        maze = read_map(config.maze_map)
        for name, cells in values.items():
            for row, column in cells.tolist():
                if (row, column) == NO_CELL:
                    continue
                if not (0 <= row < len(maze) and 0 <= column < len(maze[0])):
                    raise ConfigError(
                        f"options[{name!r}] must be a cell of the maze, which has {len(maze)} rows and {len(maze[0])} "
                        f"columns, got {row, column}"
                    )
                if maze[row][column] == WALL:
                    raise ConfigError(f"options[{name!r}] must not be a wall, got {row, column}")
        goals, resets = np.broadcast_arrays(values["goal_cell"], values["reset_cell"])
        for goal, reset in zip(goals.tolist(), resets.tolist(), strict=True):
            if tuple(goal) == only_start(maze) and tuple(reset) == NO_CELL:
                raise ConfigError(
                    f"options['goal_cell'] must not be the only cell in which an episode can begin, got {tuple(goal)}: "
                    "choose another cell, or pass options['reset_cell'], too"
                )
