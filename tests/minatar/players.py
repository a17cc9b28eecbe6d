"""Players of MinAtar that get far: they have a wish in each situation, and avoid what would end the episode soon."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import envpool
from tests.support.oracles.gymnasium_oracle import Upstream, reference
from tests.support.oracles.trajectory import Trajectory

STAY, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
#: Steps for which a player looks ahead.
AHEAD = 4
#: Probability of a random action.
WHIM = 0.02


def towards(dx: int, dy: int) -> int:
    """Return the action that brings a player nearer to something."""
    if dy:
        return DOWN if dy > 0 else UP
    return RIGHT if dx > 0 else LEFT if dx < 0 else STAY


def nearest(places: list[Any], x: int, y: int) -> tuple[int, int] | None:
    """Return the distance of the nearest place in columns and rows, None if there is no place."""
    found = [(place[0] - x, place[1] - y) for place in places]
    return min(found, key=lambda d: abs(d[0]) + abs(d[1]), default=None)


def wish_in_asterix(game: Any) -> int:
    """Return the way to the nearest gold."""
    gold = [thing for thing in game.entities if thing is not None and thing[3]]
    return towards(*(nearest(gold, game.player_x, game.player_y) or (0, 0)))


def wish_in_breakout(game: Any) -> int:
    """Return the way to where the ball comes down."""
    ahead = copy.deepcopy(game)
    for _ in range(30):
        if ahead.ball_y == 8 and ahead.ball_dir in (2, 3):
            break
        ahead.act(STAY)
    return towards(ahead.ball_x - game.pos, 0)


def wish_in_freeway(game: Any) -> int:
    """Go on."""
    return UP


def wish_in_seaquest(game: Any) -> int:
    """Rescue divers; go up and down while their number is negative, as each arrival makes the game harder."""
    divers, enemies = game.diver_count, game.e_fish + game.e_subs
    if game.sub_y == 0:
        return DOWN
    if divers < 0 or divers == 6 or (divers and game.oxygen < 40):
        return UP
    if game.shot_timer == 0 and any(e[1] == game.sub_y and (e[0] > game.sub_x) == game.sub_or for e in enemies):
        return FIRE
    return towards(*(nearest(game.divers, game.sub_x, game.sub_y) or nearest(enemies, game.sub_x, 4) or (0, 0)))


def wish_in_space_invaders(game: Any) -> int:
    """Shoot, or go under the nearest aliens."""
    columns = np.flatnonzero(game.alien_map.any(axis=0))
    if game.pos in columns and game.shot_timer == 0:
        return FIRE
    return towards(min(columns - game.pos, key=abs), 0)


WISHES: dict[str, Callable[[Any], int]] = {
    "asterix": wish_in_asterix,
    "breakout": wish_in_breakout,
    "freeway": wish_in_freeway,
    "seaquest": wish_in_seaquest,
    "space_invaders": wish_in_space_invaders,
}


def survival(game: Any, action: int) -> int:
    """Return for how many steps a game continues after an action, at most AHEAD."""
    ahead = copy.deepcopy(game)
    for k in range(AHEAD):
        if ahead.act(action if k == 0 else STAY)[1]:
            return k
    return AHEAD


def choose(env: Any, rng: np.random.Generator) -> int:
    """Return the number of an action of the task."""
    inner = env.unwrapped
    allowed: list[int] = inner.action_set
    if rng.random() < WHIM:
        return int(rng.integers(len(allowed)))
    game = inner.game.env
    wish = WISHES[inner.game.env_name](game)
    best, longest = wish, survival(game, wish)
    for action in rng.permutation(allowed):
        if longest == AHEAD:
            break
        if (steps := survival(game, action)) > longest:
            best, longest = action, steps
    return allowed.index(best)


@dataclass(frozen=True)
class PlayedUpstream(Upstream):
    """An upstream environment with a player."""

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        seeds = case.seeds
        count = envpool.make_spec(case.task_id, **case.options).action_space.n
        actions = np.zeros((case.steps, case.num_envs), np.int32)
        for i, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            player = self.start(seed)
            player.record(None)
            for t in range(case.steps):
                actions[t, i] = choose(player.env, rng) if not player.is_done else rng.integers(count)
                player.record(actions[t, i])
            player.close()
        return actions, seeds, reference(self, actions, seeds)

    def actions_of(self, case: Any) -> None:
        """Return None: a player acts on what upstream returns."""
