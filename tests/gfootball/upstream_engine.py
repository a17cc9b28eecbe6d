"""Prints the digests of test_engine.py with upstream's own library.

Run it with an interpreter that has gfootball 2.10.2: ``python tests/gfootball/upstream_engine.py``.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import gfootball_engine  # noqa: F401  (finds the data of the library)
from gfootball_engine import _gameplayfootball as lib

TITLES = "GK CB LB RB DM CM LM RM AM CF"
ROLES = [getattr(lib.e_PlayerRole, f"e_PlayerRole_{name}") for name in TITLES.split()]
NAMES = "idle left top_left top top_right right bottom_right bottom bottom_left long_pass high_pass short_pass shot"
NAMES += " keeper_rush sliding pressure team_pressure switch sprint dribble"
ACTIONS = [int(getattr(lib.e_BackendAction, name)) for name in NAMES.split()]
STICKY = [*ACTIONS[1:9], *ACTIONS[18:20], ACTIONS[13], *ACTIONS[15:17]]
TEAM = 11

GK, CB, LB, RB, DM, CM, LM, RM, AM, CF = range(10)
ELEVEN = [(-1.0, 0.0, GK), (0.0, 0.02, RM), (0.0, -0.02, CF), (-0.422, -0.19576, LB), (-0.5, -0.06356, CB)]
ELEVEN += [(-0.5, 0.063559, CB), (-0.422, 0.19576, RB), (-0.184212, -0.10568, CM), (-0.267574, 0.0, CM)]
ELEVEN += [(-0.184212, 0.10568, CM), (-0.01, -0.2161, LM)]
FEW = [(-1.0, 0.0, GK), (0.6, 0.0, CM), (0.7, 0.2, CM), (0.7, -0.2, CM)], [(-1.0, 0.0, GK), (-0.75, 0.0, CB)]


def scenario(left: list[Any], right: list[Any], ball: float, seed: int) -> Any:
    config = lib.ScenarioConfig.make()
    config.game_engine_random_seed, config.reverse_team_processing = seed, bool(seed % 2)
    config.ball_position[0] = ball
    for team, players in ((config.left_team, left), (config.right_team, right)):
        for x, y, role in players:
            team.append(lib.FormationEntry(x, y, ROLES[role], False, True))
    return config


def known(game: Any) -> tuple[bytes, bool]:
    """Return what is known of a game, in the layout of football_info, and whether it is in play."""
    info = game.get_info()
    places = (info.ball_position, info.ball_direction, info.ball_rotation)
    data = b"".join(struct.pack("<3f", *(place[i] for i in range(3))) for place in places)
    data += struct.pack("<4i", info.ball_owned_team, info.ball_owned_player, info.left_goals, info.right_goals)
    data += struct.pack("<3iB", int(info.game_mode), info.step, 0, info.is_in_play)
    sticky = bytes(game.sticky_action_state(action, True, 0) for action in STICKY)
    data += sticky + bytes((2 * TEAM - 1) * len(STICKY) + 1)  # nobody else is an agent; a byte that aligns what follows
    data += struct.pack("<22i", info.left_controllers[0].controlled_player, *[-1] * 21)
    data += struct.pack("<2i", len(info.left_team), len(info.right_team))
    for team in (info.left_team, info.right_team):
        for p in list(team):
            data += struct.pack("<4f", p.position[0], p.position[1], p.direction[0], p.direction[1])
            data += struct.pack("<fi4B", p.tired_factor, int(p.role), p.is_active, p.has_card, p.designated_player, 0)
        data += bytes((TEAM - len(team)) * 28)
    return data, info.is_in_play


def stepped(game: Any) -> bytes:
    """Step a game until it is in play, and return what is known of it."""
    while True:
        data, in_play = known(game)
        if in_play:
            return data
        game.step()


def played(game: Any, left: list[Any], right: list[Any], ball: float, seed: int, steps: int) -> str:
    game.reset(scenario(left, right, ball, seed), False)
    digest = hashlib.sha256(stepped(game))
    state = (seed * 2654435761 + 1) % 2**32
    for _ in range(steps):
        state = (state * 1664525 + 1013904223) % 2**32
        game.perform_action(ACTIONS[(state >> 16) % 20], True, 0)
        game.step()
        digest.update(stepped(game))
    return digest.hexdigest()[:16]


def main() -> None:
    game = lib.GameEnv()
    game.start_game()
    for left, right, ball in ((ELEVEN, ELEVEN, 0.0), (*FEW, 0.62)):
        for seed in (1, 2):
            print(seed, played(game, left, right, ball, seed, 100))


if __name__ == "__main__":
    main()
