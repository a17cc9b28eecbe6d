"""Cases of Google Research Football for the conformance tests. Exactness: test_exactness.py."""

from __future__ import annotations

from typing import Any

from envpool.gfootball.registration import DURATIONS
from tests.conformance.cases import StateCase, UndisturbedCase

TASKS = {scenario: f"gfootball/{scenario}-v1" for scenario in DURATIONS}
#: Small frames, since states are compared with frames.
SMALL: dict[str, Any] = {"render_resolution_x": 96, "render_resolution_y": 64}
PLAYERS = {"left_agents": 2, "right_agents": 1, "players": "grid", "representation": "raw"}

UNDISTURBED = [UndisturbedCase(TASKS["academy_3_vs_1_with_keeper"], SMALL, steps=20)]

STATES = [
    *(
        StateCase(task_id, SMALL, limit=8, after=16, modes=("same_step",), is_slow=True)
        for scenario, task_id in TASKS.items()
        if scenario != "5_vs_5"
    ),
    StateCase(TASKS["5_vs_5"], {**SMALL, **PLAYERS}, limit=8, after=16, modes=("next_step",), is_slow=True),
]
