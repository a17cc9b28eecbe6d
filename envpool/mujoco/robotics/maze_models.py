"""Mazes of PointMaze and AntMaze: their maps, and the MJCF text of a robot that stands in one.

The maps are those of the installed ``gymnasium_robotics``. The text equals the one that upstream writes to a temporary
file (``gymnasium_robotics.envs.maze.maze_v4.Maze.make_maze``), byte for byte.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from operator import index
from pathlib import Path
from typing import Any

from envpool._support.text import shortened, shown
from envpool.errors import ConfigError
from envpool.mujoco.robotics.model_folder import assets

EMPTY, WALL, GOAL, RESET, BOTH = 0, 1, "g", "r", "c"
CELLS = (EMPTY, WALL, GOAL, RESET, BOTH)
#: The longest side of a map, in cells.
MAX_CELLS = 64

Map = tuple[tuple[int | str, ...], ...]
Point = tuple[float, float]


@cache
def maps() -> Mapping[str, Map]:
    """Return upstream's maps by their names. Their module is loaded by itself, since the package registers its ids."""
    path = assets().parent / "maze" / "maps.py"
    spec = spec_from_file_location("envpool_upstream_maze_maps", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"gymnasium_robotics has no file {path}; run: pip install gymnasium-robotics==1.4.2")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: as_map(cells) for name, cells in vars(module).items() if isinstance(cells, list)}


def as_map(cells: Any) -> Map:
    """Return a map as tuples, or raise TypeError."""
    return tuple(tuple(cell if isinstance(cell, str) else index(cell) for cell in row) for row in cells)


def read_map(maze_map: Any) -> Map:
    """Return the map that option ``maze_map`` stands for: a name, rows of cells, or None for upstream's default.

    Raises
    ------
    ConfigError
        There is no map of this name; or the value is not a rectangle of 1 to 64 by 1 to 64 cells, each of which is 0,
        1, "g", "r" or "c".
    """
    if maze_map is None:
        maze_map = "U_MAZE"
    if isinstance(maze_map, str):
        if maze_map not in maps():
            raise ConfigError(f"maze_map must be rows of cells, or one of {', '.join(maps())}, got {shown(maze_map)}")
        return maps()[maze_map]
    try:
        found = as_map(maze_map)
    except (TypeError, ValueError):
        found = ()
    widths = {len(row) for row in found}
    if len(widths) != 1 or not 1 <= len(found) <= MAX_CELLS or not 1 <= widths.pop() <= MAX_CELLS:
        raise ConfigError(
            f"maze_map must be the name of a map, or a list of 1 to {MAX_CELLS} rows of the same length, 1 to "
            f"{MAX_CELLS} cells each, got {shown(maze_map)}"
        )
    for row in found:
        for cell in row:
            if cell not in CELLS:
                raise ConfigError(f"a cell of maze_map must be one of {', '.join(map(repr, CELLS))}, got {shown(cell)}")
    return found


@dataclass(frozen=True)
class Maze:
    """A map in the coordinates of the simulation.

    Attributes
    ----------
    map : tuple of tuple
        The cells, by row and column.
    scaling : float
        Length of the side of a cell (m).
    height : float
        Height of the walls, in sides of a cell.
    """

    map: Map
    scaling: float
    height: float

    @property
    def source(self) -> str:
        """Name of the model in error texts."""
        rows = "/".join("".join(map(str, row)) for row in self.map)
        return f"the maze {shortened(rows)} (maze_size_scaling={self.scaling}, maze_height={self.height})"

    def centre(self, row: int, column: int) -> Point:
        """Return the centre of a cell (m)."""
        x = (column + 0.5) * self.scaling - len(self.map[0]) / 2 * self.scaling
        return x, len(self.map) / 2 * self.scaling - (row + 0.5) * self.scaling

    def cells(self, kind: int | str) -> list[Point]:
        """Return the centres of all cells of a kind, row by row."""
        size = range(len(self.map)), range(len(self.map[0]))
        return [self.centre(i, j) for i in size[0] for j in size[1] if self.map[i][j] == kind]

    def places(self) -> tuple[list[Point], list[Point]]:
        """Return the centres of the cells in which goals lie, and of those in which episodes begin.

        If the map has no cell of a kind, empty cells take its place.

        Raises
        ------
        ConfigError
            There is no such cell, or an episode could begin only in the cell of its goal.
        """
        goals, resets, both, empty = (self.cells(kind) for kind in (GOAL, RESET, BOTH, EMPTY))
        if not both:
            if not goals and not resets:
                both = empty
            elif not resets:
                resets = empty
            elif not goals:
                goals = empty
        goals, resets = goals + both, resets + both
        if not goals or not resets:
            raise ConfigError(f"{self.source} has no cell for {'an episode to begin in' if goals else 'a goal'}")
        if len(resets) == 1 and resets[0] in goals:
            raise ConfigError(
                f"{self.source} has only one cell in which an episode can begin, and its goal can be there, too; an "
                f"episode must not begin at its goal: mark another cell with 0, 'r' or 'c'"
            )
        return goals, resets

    def xml(self, robot: Path) -> str:
        """Return the MJCF text of a robot with the walls of the maze and the site "target"."""
        try:
            tree = ET.parse(robot)
        except ET.ParseError as error:
            raise ConfigError(f"{robot} is not an XML file: {error}") from error
        world = tree.find(".//worldbody")
        if world is None:
            raise ConfigError(f"{robot} has no element worldbody, to which the walls of a maze could be added")
        half, middle = 0.5 * self.scaling, self.height / 2 * self.scaling
        for i, row in enumerate(self.map):
            for j, cell in enumerate(row):
                if cell != WALL:
                    continue
                x, y = self.centre(i, j)
                box = {"name": f"block_{i}_{j}", "pos": f"{x} {y} {middle}", "size": f"{half} {half} {middle}"}
                look = {"type": "box", "material": "", "contype": "1", "conaffinity": "1", "rgba": "0.7 0.5 0.3 1.0"}
                ET.SubElement(world, "geom", box | look)
        target = {"name": "target", "pos": f"0 0 {middle}", "size": f"{0.2 * self.scaling}"}
        ET.SubElement(world, "site", target | {"rgba": "1 0 0 0.7", "type": "sphere"})
        return str(ET.tostring(tree.getroot(), encoding="us-ascii"), "ascii")


@lru_cache(maxsize=64)
def only_start(cells: Map) -> tuple[int, int] | None:
    """Return row and column of the only cell of a map in which episodes can begin; None if there are several."""
    maze = Maze(cells, 1.0, 1.0)
    starts = maze.places()[1]
    places = [(i, j) for i in range(len(cells)) for j in range(len(cells[0])) if maze.centre(i, j) == starts[0]]
    return places[0] if len(starts) == 1 else None
