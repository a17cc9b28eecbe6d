"""The models of mazes equal those that upstream generates."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envpool.mujoco.gym.options import model_path
from envpool.mujoco.robotics.maze_models import Maze, maps, read_map
from envpool.mujoco.robotics.model_folder import assets
from envpool.mujoco.robotics.upstream import load_robotics

ROBOTS = {"point": (assets() / "point" / "point.xml", 1, 0.4), "ant": (model_path("ant.xml"), 4, 0.5)}


def upstream_maze(robot: Path, cells: Any, scaling: float, height: float) -> tuple[Any, str]:
    """Return upstream's maze and the text of its model."""
    load_robotics()
    from gymnasium_robotics.envs.maze.maze_v4 import Maze as Upstream

    maze, path = Upstream.make_maze(str(robot), cells, scaling, height)
    text = Path(path).read_text()
    Path(path).unlink()
    return maze, text


@pytest.mark.parametrize("robot", ROBOTS)
def test_models_and_places_equal_upstreams(robot: str) -> None:
    path, scaling, height = ROBOTS[robot]
    mazes = dict(maps()) | {"one kind": (("r", 0, 0),), "goals only": (("g", 0, 1),), "mixed": (("r", "g", "c", 0),)}
    assert len(mazes) > 10
    for cells in mazes.values():
        upstream, text = upstream_maze(path, cells, scaling, height)
        maze = Maze(read_map(cells), float(scaling), height)
        assert maze.xml(path) == text
        goals, resets = maze.places()
        assert goals == [tuple(place) for place in upstream.unique_goal_locations]
        assert resets == [tuple(place) for place in upstream.unique_reset_locations]


def test_maps_are_read_without_registering_upstreams_ids() -> None:
    code = "import sys; from envpool.mujoco.robotics import maze_models as m; m.maps(); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "envpool.mujoco.robotics.maze_models" in found
    assert "gymnasium_robotics" not in found
