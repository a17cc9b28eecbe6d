"""The upstream environments of MiniGrid and BabyAI, and players that solve their levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from minigrid.utils.baby_ai_bot import BabyAIBot

from envpool.minigrid import upstream
from envpool.minigrid.upstream import MiniGridOracle
from envpool.verify.gymnasium_oracle import GymnasiumOracle
from tests.minigrid.explorer import choose
from tests.minigrid.solver import next_action
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.trajectory import Trajectory


class Explorer:
    """Plays one episode: goes to random things and uses them."""

    def __init__(self, env: Any, rng: np.random.Generator):
        self.env, self.rng = env, rng
        self.plan: list[int] = []

    def act(self) -> int:
        """Return the next action."""
        if not self.plan:
            self.plan = choose(self.env, self.rng)
        return self.plan.pop(0)


class PatientBot(BabyAIBot):
    """Upstream's bot, faster, and with an exception where it would look for a way forever."""

    def replan(self, action_taken: int | None = None) -> Any:
        """Return the next action."""
        self.searches = 0
        return super().replan(action_taken)

    def _shortest_path(self, *args: Any, **kwargs: Any) -> Any:
        self.searches += 1
        if self.searches > 100:
            raise RuntimeError("the bot goes round in circles")
        return super()._shortest_path(*args, **kwargs)

    def _breadth_first_search(self, initial_states: Any, *args: Any, **kwargs: Any) -> Any:
        states = [tuple(int(v) for v in state) for state in initial_states]  # NumPy's integers are slow
        return super()._breadth_first_search(states, *args, **kwargs)

    def _process_obs(self) -> None:
        """Note which cells are seen; upstream's does the same, with a loop over the cells."""
        env = self.mission.unwrapped
        across, ahead = np.nonzero(env.gen_obs_grid()[1])
        size = env.agent_view_size
        corner = env.agent_pos + env.dir_vec * (size - 1) - env.right_vec * (size // 2)
        cells = corner - ahead[:, None] * env.dir_vec + across[:, None] * env.right_vec
        inside = ((cells >= 0) & (cells < self.vis_mask.shape)).all(axis=1)
        self.vis_mask[tuple(cells[inside].T)] = True


class Solver(Explorer):
    """Plays one episode: follows upstream's bot, with some random actions, and explores once the bot gives up."""

    def __init__(self, env: Any, rng: np.random.Generator):
        super().__init__(env, rng)
        self.bot: Any = PatientBot(env)
        self.last: int | None = None

    def act(self) -> int:
        """Return the next action."""
        if self.bot is not None:
            try:
                self.last = int(self.bot.replan(self.last))
            except Exception:  # the bot's assertions: there are situations that it does not expect
                self.bot = None
            else:
                if self.rng.random() < 0.02:
                    self.last = int(self.rng.integers(6))
                return self.last
        return super().act()


class Guided(Explorer):
    """Plays one episode: solves a level with locked doors, with some random actions, and explores without a way."""

    def act(self) -> int:
        """Return the next action."""
        action = None if self.rng.random() < 0.02 else next_action(self.env)
        return super().act() if action is None else action


PLAYERS: dict[str, Callable[[Any, np.random.Generator], Explorer]] = {
    "explored": Explorer,
    "solved": Solver,
    "guided": Guided,
}


@dataclass(frozen=True)
class MiniGridUpstream(Upstream):
    """An upstream environment. The cases' actions "explored", "solved" and "guided" are those of players.

    Attributes
    ----------
    wrapper : callable, optional
        Makes a wrapper of an environment.
    """

    wrapper: Callable[[Any], Any] | None = None
    start = MiniGridOracle.start

    def make(self) -> Any:
        """Return a new environment."""
        env = super().make()
        return env if self.wrapper is None else self.wrapper(env)

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        if case.actions not in PLAYERS:
            return super().play(case)
        seeds = case.seeds
        actions = np.zeros((case.steps, case.num_envs), np.int32)
        out = Trajectory(case.steps + 1, case.num_envs)
        for i, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            env = self.start(seed)
            player = None
            for t in range(out.records):
                if env.is_done:
                    action, player = 0, None
                else:
                    player = player or PLAYERS[case.actions](env.env.unwrapped, rng)
                    action = player.act()
                if t:
                    actions[t - 1, i] = action
                for name, value in env.record(action).items():
                    put = out.put_known if name.startswith("info:") else out.put
                    put(name, (t, i), value)
            env.close()
        return actions, seeds, out

    def actions_of(self, case: Any) -> Any:
        """Return the actions of a case, or None for those of a player."""
        return None if case.actions in PLAYERS else super().actions_of(case)


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None, **changes: Any) -> MiniGridUpstream:
    """Return the oracle of a task, with arguments of ``gymnasium.make``, and with fields replaced."""
    oracle = upstream.upstream_of(task_id)
    values = {f.name: getattr(oracle, f.name) for f in fields(GymnasiumOracle)}
    return MiniGridUpstream(**values | {"kwargs": kwargs or {}} | changes)
