"""What a pool of games with turns must return, in plain Python, one env at a time: the rules of synthetic/turns.c."""

from dataclasses import dataclass

import numpy as np

from tests.support.checked_pool import PENDING, REFUSED, RUNNING
from tests.support.crowd import CheckedPlayers, exact

OUT, END, FAIL = 4, 5, 6
MOVES = 7
WORD = 2**64 - 1


@dataclass
class Row:
    """One env's part of a batch; arrays have a place for each player."""

    present: np.ndarray
    obs: np.ndarray
    masks: np.ndarray
    turn: int
    elapsed: int
    reward: np.ndarray
    ended: np.ndarray
    cut: np.ndarray
    terminated: bool = False
    truncated: bool = False
    failed: bool = False
    final: "Row | None" = None


class GameModel:
    """One env under one auto-reset mode."""

    def __init__(self, env_id, seed, options):
        self.id, self.seed, self.options = env_id, seed, options
        self.places = options["places"]
        self.flag = REFUSED if options["mode"] == "disabled" else PENDING
        self.episode = self.step = self.elapsed = 0
        self.mover, self.turn = 0, -1
        self.alive = np.ones(self.places, bool)
        self.owed = np.zeros(self.places, np.float32)
        self.rows = np.zeros(self.places, bool)  # which players have a row in the last result
        self.failed = False

    def mix(self, what):
        z = self.seed * 0x9E3779B97F4A7C15 + self.episode * 0xBF58476D1CE4E5B9 + self.step * 0x94D049BB133111EB
        z = (z + what * 0xD6E8FEB86659FD93) & WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def is_legal(self, player, move):
        return move == 0 or self.mix(100 + 10 * player + move) % 4 != 0

    def legal_moves(self):
        """Return the moves that the pool accepts now."""
        if self.flag != RUNNING or self.options["masks"] == "none":
            return list(range(MOVES))
        return [m for m in range(MOVES) if self.is_legal(self.mover, m)]

    def take(self, move):
        """Return the row of one send."""
        row = self._simulate(move)
        self.failed = row.failed
        if self.options["mode"] == "same_step" and self.flag != RUNNING:
            final, row = row, self._simulate(None)
            row.present = row.present | final.present
            row.reward, row.ended, row.cut = final.reward, final.ended, final.cut
            row.terminated, row.truncated, row.failed = final.terminated, final.truncated, final.failed
            row.final, self.failed = final, False
        self.rows = row.present
        return row

    def _simulate(self, move):
        ended = REFUSED if self.options["mode"] == "disabled" else PENDING
        none = [np.zeros(self.places, bool) for _ in range(3)]
        reward = np.zeros(self.places, np.float32)
        if self.flag != RUNNING:
            self.episode += 1
            self.step = self.elapsed = 0
            self.alive = np.ones(self.places, bool)
            self.owed[:] = 0
            self.mover = self.mix(0) % self.places
            self.flag = RUNNING
            return self._row(np.ones(self.places, bool), reward, *none[:2])
        self.elapsed += 1
        if move == FAIL:
            self.flag, self.turn = ended, -1
            everybody = np.ones(self.places, bool)
            row = Row(
                everybody,
                np.zeros((self.places, 4), np.int64),
                np.zeros((self.places, MOVES), bool),
                -1,
                self.elapsed,
                reward,
                none[0],
                everybody.copy(),
                truncated=True,
                failed=True,
            )
            return row
        present, out, over = self.alive.copy(), none[0], move == END
        reward[present] = [np.float32(self.mix(20 + p) % 8) / 8 for p in np.flatnonzero(present).tolist()]
        if self.options["masks"] != "none" and not self.is_legal(self.mover, move):
            reward[self.mover] = -9
            over = True
        self.step += 1
        if move == OUT:
            out[self.mover] = True
            self.alive[self.mover] = False
        over |= self.alive.sum() < 2
        truncated = self.elapsed >= self.options["max_episode_steps"]
        self.mover = (self.mover + 1) % self.places
        while self.alive.any() and not self.alive[self.mover]:
            self.mover = (self.mover + 1) % self.places
        row = self._row(present, reward, (out | over) & present, present & truncated, over or truncated)
        row.terminated, row.truncated = bool(over), truncated
        if over or truncated:
            self.flag = ended
        return row

    def _row(self, present, reward, ended, cut, is_over=False):
        self.turn = -1 if is_over else self.mover
        if self.options["observe"] == "current":
            waits = present & ~ended & ~cut
            waits[self.mover] &= is_over
            self.owed[waits] += reward[waits]
            present = present & ~waits
        reward = np.where(present, reward + self.owed, np.float32(0)).astype(np.float32)
        self.owed[present] = 0
        obs = np.array([[self.id, p, self.episode, self.step] for p in range(self.places)]) * present[:, None]
        masks = np.array([[self.is_legal(p, m) for m in range(MOVES)] for p in range(self.places)])
        self.mask = masks[self.mover]
        return Row(present, obs, masks & present[:, None], self.turn, self.elapsed, reward, ended, cut)


class CheckedTurns(CheckedPlayers):
    """A pool of games beside its model: every batch that comes back is compared in full, in each view."""

    def __init__(self, num_envs, batch_size=0, autoreset_mode="next_step", players="rows", seed=42, **options):
        known = {"places": 3, "masks": "mover", "observe": "all", "max_episode_steps": 2**31 - 1}
        known |= {k: v for k, v in options.items() if k in known} | {"mode": autoreset_mode}
        self.places, self.masks = known["places"], known["masks"]

        def model(env_id, seed):
            return GameModel(env_id, seed, known)

        super().__init__("Turns-v0", model, num_envs, batch_size, autoreset_mode, players, seed, options)

    def form(self, ids, moves, rng, form):
        """Return moves (n,) in a form that the pool accepts; what belongs to nobody's turn is random."""
        n = len(ids)
        grid = rng.integers(-3, 99, (n, self.places))
        turns = np.array([self.envs[i].turn for i in ids], int)
        grid[np.arange(n), turns] = moves
        rows = np.array([self.envs[i].rows for i in ids], bool).reshape(n, self.places)
        if form == "moves" or (form == "rows" and rows.sum() == n):
            return np.asarray(moves)
        if form == "grid":
            return grid
        if form == "dict":
            return {g.name: grid[:, list(g.players)] for g in self.groups}
        if form == "rows":
            return grid[rows]
        envs, players = np.nonzero(rows)
        order = rng.permutation(len(envs))
        ids = np.asarray(ids, np.int32)
        own = {"env_id": ids[envs][order], "id": players[order].astype(np.int32)}
        return {"action": grid[rows][order].astype(np.int32), "env_id": ids, "players": own}

    def send(self, ids, moves, rng, form="moves"):
        self.pool.send(self.form(ids, moves, rng, form), np.asarray(ids, np.int32))
        for i, move in zip(ids, moves, strict=True):
            self.in_flight[int(i)] = self.envs[i].take(move)

    def received(self, batch, wish=None):
        """Compare a batch with the model, and return it."""
        obs, reward, terminated, truncated, info = batch
        rows = [self.in_flight.pop(i) for i in info["env_id"].tolist()]
        if not rows:
            return batch
        mask = np.array([r.present for r in rows])
        if self.view == "rows":
            exact(info["players"]["id"], np.nonzero(mask)[1], np.int32)
        else:
            self.same_players(info["player_mask"], mask, mask, np.bool_)
        self.same_players(obs, np.array([r.obs for r in rows]), mask, np.int64)
        self.same_players(reward, np.array([r.reward for r in rows]), mask, np.float32)
        exact(terminated, [r.terminated for r in rows], np.bool_)
        exact(truncated, [r.truncated for r in rows], np.bool_)
        self.same_players(info["player_terminated"], np.array([r.ended for r in rows]), mask, np.bool_)
        self.same_players(info["player_truncated"], np.array([r.cut for r in rows]), mask, np.bool_)
        exact(info["current_player"], [r.turn for r in rows], np.int32)
        exact(info["elapsed_step"], [0 if r.final else r.elapsed for r in rows], np.int32)
        if self.masks == "players":
            if self.view == "dict":
                got = {g.name: info[g.name]["legal_action_mask"] for g in self.groups}
            else:
                got = info["legal_action_mask"]
            self.same_players(got, np.array([r.masks for r in rows]), mask, np.bool_)
        elif self.masks == "mover":
            legal = [self.envs[i].mask if r.turn >= 0 else None for i, r in zip(info["env_id"], rows, strict=True)]
            for got, expected in zip(info["legal_action_mask"], legal, strict=True):
                if expected is not None:
                    exact(got, expected, np.bool_)
        if self.mode == "same_step":
            finals = [r.final for r in rows]
            exact(info["_final_obs"], [f is not None for f in finals], np.bool_)
            zero = np.zeros_like(rows[0].obs)
            self.same_players(
                info["final_obs"], np.array([zero if f is None else f.obs for f in finals]), mask, np.int64
            )
            exact(info["final_info"]["current_player"], [0 if f is None else -1 for f in finals], np.int32)
        return batch
