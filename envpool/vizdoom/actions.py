"""The combined actions of use_combined_action: EnvPool's list of button combinations, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from envpool.errors import ConfigError
from envpool.vizdoom.names import BUTTONS, FIRST_DELTA_BUTTON

#: Groups of buttons that cancel each other, so that at most one of a group is pressed.
PAIRS = tuple(
    (BUTTONS.index(a), BUTTONS.index(b))
    for a, b in (
        ("MOVE_RIGHT", "MOVE_LEFT"),
        ("MOVE_BACKWARD", "MOVE_FORWARD"),
        ("TURN_RIGHT", "TURN_LEFT"),
        ("LOOK_UP", "LOOK_DOWN"),
        ("MOVE_UP", "MOVE_DOWN"),
        ("SELECT_NEXT_WEAPON", "SELECT_PREV_WEAPON"),
        ("SELECT_NEXT_ITEM", "SELECT_PREV_ITEM"),
    )
)
WEAPONS = tuple(i for i, name in enumerate(BUTTONS) if name.startswith("SELECT_WEAPON"))
MAX_ACTIONS = 1_000_000


def combined_actions(
    buttons: Sequence[str], force_speed: bool, delta_buttons: Mapping[str, tuple[int, float, float]]
) -> np.ndarray:
    """Return the table of combined actions, float64 (num_actions, num_buttons).

    Parameters
    ----------
    buttons : sequence of str
        Names of the available buttons, in the order of the columns.
    force_speed : bool
        If True, SPEED is pressed in all actions.
    delta_buttons : mapping of str to tuple
        Number of values, smallest and largest value of buttons that take a number. Others are always 0.
    """
    available = {BUTTONS.index(name): column for column, name in enumerate(buttons)}
    choices = list(groups(available, force_speed, delta_buttons))
    count = int(np.prod([len(c) for c in choices], dtype=np.float64)) if choices else 1
    if count > MAX_ACTIONS:
        raise ConfigError(
            f"use_combined_action=True makes {count} actions of the {len(buttons)} available buttons, and at most "
            f"{MAX_ACTIONS} are allowed; use use_combined_action=False or a configuration file with fewer buttons"
        )
    table = np.zeros((count, len(buttons)))
    period = count
    for group in choices:  # the first group varies slowest
        period //= len(group)
        index = np.arange(count) // period % len(group)
        for column in {column for option in group for column in option}:
            table[:, column] = np.array([option.get(column, 0.0) for option in group])[index]
    return table


def groups(
    available: Mapping[int, int], force_speed: bool, delta_buttons: Mapping[str, tuple[int, float, float]]
) -> Iterator[list[dict[int, float]]]:
    """Yield the alternatives of each group of buttons that are chosen together: values by column."""
    partner = dict(PAIRS)
    done: set[int] = set()
    for button, name in enumerate(BUTTONS):
        if button in done:
            continue
        if button in WEAPONS:
            done |= set(WEAPONS)
            yield [{}, *({available[w]: 1.0} for w in WEAPONS if w in available)]
        elif button >= FIRST_DELTA_BUTTON:
            count, low, high = delta_buttons.get(name, (0, 0.0, 0.0))
            if count > 1 and button in available:
                yield [{available[button]: v} for v in steps(int(count), low, high)]
        elif partner.get(button, -1) in available and button in available:
            done.add(partner[button])
            yield [{}, {available[button]: 1.0}, {available[partner[button]]: 1.0}]
        elif button in available:
            pressed = {available[button]: 1.0}
            yield [pressed] if name == "SPEED" and force_speed else [{}, pressed]


def steps(count: int, low: float, high: float) -> list[float]:
    """Return evenly spaced values, added up in single precision as in EnvPool."""
    value, delta = np.float32(low), (np.float32(high) - np.float32(low)) / np.float32(count - 1)
    values = []
    for _ in range(count):
        values.append(float(value))
        value = np.float32(value + delta)
    return values
