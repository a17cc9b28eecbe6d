"""A player of MiniGrid that goes to random things and uses them, which solves most levels sooner or later."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
#: Probability of a random action.
WHIM = 0.05


def way_to(env: Any, target: tuple[int, int]) -> list[int] | None:
    """Return the actions after which the agent faces a cell, None if it cannot get there."""
    start = (*(int(v) for v in env.agent_pos), int(env.agent_dir))
    before: dict[tuple[int, int, int], tuple[Any, int]] = {start: (None, -1)}
    queue = deque([start])
    while queue:
        x, y, direction = queue.popleft()
        dx, dy = STEPS[direction]
        if (x + dx, y + dy) == target:
            actions, at = [], (x, y, direction)
            while before[at][0] is not None:
                at, action = before[at]
                actions.append(action)
            return actions[::-1]
        moves = [(LEFT, (x, y, (direction - 1) % 4)), (RIGHT, (x, y, (direction + 1) % 4))]
        cell = env.grid.get(x + dx, y + dy)
        if cell is None or (cell.can_overlap() and cell.type not in ("lava", "goal")):
            moves.append((FORWARD, (x + dx, y + dy, direction)))
        for action, place in moves:
            if place not in before:
                before[place] = ((x, y, direction), action)
                queue.append(place)
    return None


def uses_of(thing: Any, env: Any, rng: np.random.Generator) -> list[int]:
    """Return what to do in front of a thing."""
    if thing is None:
        return [DROP]
    if thing.type in ("goal", "lava"):
        return [FORWARD]
    if thing.type == "door":
        return [[TOGGLE, FORWARD], [TOGGLE, FORWARD], [DONE], [TOGGLE]][rng.integers(4)]
    if thing.type == "box":
        return [[PICKUP], [TOGGLE], [DONE]][rng.integers(3)]
    return [[PICKUP], [PICKUP], [PICKUP], [DONE]][rng.integers(4)]


def choose(env: Any, rng: np.random.Generator) -> list[int]:
    """Return the next actions: the way to a random thing, or to a free cell to drop something, and its use."""
    count = int(env.action_space.n)
    if rng.random() < WHIM:
        return [int(rng.integers(count))]
    cells = [(x, y) for x in range(env.grid.width) for y in range(env.grid.height)]
    things = [(x, y) for x, y in cells if env.grid.get(x, y) is not None and env.grid.get(x, y).type != "wall"]
    keys = [(x, y) for x, y in things if env.grid.get(x, y).type in ("key", "goal")]
    if keys and env.carrying is None and rng.random() < 0.5:
        things = keys
    if env.carrying is not None:
        doors = [(x, y) for x, y in things if env.grid.get(x, y).type == "door" and not env.grid.get(x, y).is_open]
        is_key = env.carrying.type == "key" and doors and rng.random() < 0.8
        things = doors if is_key else [(x, y) for x, y in cells if env.grid.get(x, y) is None]
    for at in rng.permutation(len(things))[:12]:
        target = things[at]
        way = way_to(env, target)
        if way is not None:
            plan = way + uses_of(env.grid.get(*target), env, rng)
            return [action if action < count else FORWARD for action in plan]
    return [int(rng.integers(count))]
