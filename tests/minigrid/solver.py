"""A player that solves levels with a goal or an object to pick up behind doors: with keys, boxes and things in the way.

It sees the whole grid, and decides anew in each step, so that it continues after random actions.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.minigrid.explorer import DROP, FORWARD, LEFT, PICKUP, RIGHT, STEPS, TOGGLE

Cell = tuple[int, int]
#: What it costs to move a thing out of the way, or to open a locked door, in steps.
COST_OF_THING, COST_OF_LOCK = 20, 40


def cells_of(env: Any) -> Iterator[tuple[Cell, Any]]:
    """Yield the cells of the grid with what is in them."""
    for x in range(env.grid.width):
        for y in range(env.grid.height):
            yield (x, y), env.grid.get(x, y)


def around(cell: Cell) -> list[Cell]:
    """Return the four neighbours of a cell."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS]


def is_free(thing: Any) -> bool:
    """Return whether the agent can walk through a cell, perhaps after it has opened a door."""
    return thing is None or thing.type in ("floor", "goal") or (thing.type == "door" and not thing.is_locked)


def cost_of(thing: Any) -> int | None:
    """Return what it costs to walk through a cell, None if nothing helps."""
    if is_free(thing):
        return 1
    if thing.type in ("ball", "box", "key"):
        return COST_OF_THING
    return COST_OF_LOCK if thing.type == "door" else None


def cheapest_path(env: Any, is_target: Callable[[Cell], bool], only_free: bool = False) -> list[Cell]:
    """Return the cells from the agent's, exclusively, to a target; empty if there is no way."""
    start = tuple(int(v) for v in env.agent_pos)
    before: dict[Cell, Cell] = {}
    costs, queue = {start: 0}, [(0, start)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if cell != start and is_target(cell):
            path = [cell]
            while before[path[-1]] != start:
                path.append(before[path[-1]])
            return path[::-1]
        if cost > costs[cell]:
            continue
        for following in around(cell):
            thing = env.grid.get(*following)
            more = 1 if is_target(following) else cost_of(thing)
            if more is None or (only_free and not is_target(following) and not is_free(thing)):
                continue
            if cost + more < costs.get(following, 10**6):
                costs[following] = cost + more
                before[following] = cell
                heapq.heappush(queue, (cost + more, following))
    return []


def towards(env: Any, path: Sequence[Cell], use: int) -> int:
    """Return the next action on a path, at whose end the agent faces the last cell and does `use`."""
    x, y = (int(v) for v in env.agent_pos)
    wanted = STEPS.index((path[0][0] - x, path[0][1] - y))
    turn = (wanted - int(env.agent_dir)) % 4
    if turn:
        return LEFT if turn == 3 else RIGHT
    if len(path) == 1:
        return use
    thing = env.grid.get(*path[0])
    return TOGGLE if thing is not None and thing.type == "door" and not thing.is_open else FORWARD


def put_down(env: Any, kept: Sequence[Cell]) -> int | None:
    """Return the next action to drop what the agent carries, not into a cell to be kept free, nor next to a door."""

    def is_good(cell: Cell) -> bool:
        if env.grid.get(*cell) is not None or cell in kept:
            return False
        near = [env.grid.get(*other) for other in around(cell)]
        return all(thing is None or thing.type != "door" for thing in near)

    path = cheapest_path(env, is_good, only_free=True)
    return towards(env, path, DROP) if path else None


def holder_of(env: Any, colour: str) -> Cell | None:
    """Return where a key is, or a box that contains it; None if there is none."""
    for cell, thing in cells_of(env):
        inner = thing.contains if thing is not None and thing.type == "box" else thing
        if inner is not None and inner.type == "key" and inner.color == colour:
            return cell
    return None


def approach(env: Any, target: Cell, use: int, depth: int = 0) -> int | None:
    """Return the next action to get to a cell and use it, with what is in the way; None if there is no way."""
    path = cheapest_path(env, lambda cell: cell == target)
    if not path or depth > 8:
        return None
    blocked = next((i for i, cell in enumerate(path[:-1]) if not is_free(env.grid.get(*cell))), len(path) - 1)
    thing = env.grid.get(*path[blocked])
    carried = env.carrying
    if blocked == len(path) - 1:
        if carried is not None and use == PICKUP:
            return put_down(env, path)
        return towards(env, path, use)
    path_to_it = path[: blocked + 1]
    if thing.type != "door":
        return towards(env, path_to_it, PICKUP) if carried is None else put_down(env, path)
    if carried is not None and carried.type == "key" and carried.color == thing.color:
        return towards(env, path_to_it, TOGGLE)
    if carried is not None:
        return put_down(env, path)
    holder = holder_of(env, thing.color)
    if holder is None:
        return None
    return approach(env, holder, TOGGLE if env.grid.get(*holder).type == "box" else PICKUP, depth + 1)


def next_action(env: Any) -> int | None:
    """Return the next action to the goal, or to the object that is to be picked up; None if there is no way."""
    for cell, thing in cells_of(env):
        if thing is not None and thing.type == "goal":
            return approach(env, cell, FORWARD)
    for cell, thing in cells_of(env):
        if thing is not None and thing is env.obj:
            return approach(env, cell, PICKUP)
    return None
