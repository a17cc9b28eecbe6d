"""What a pool of crowds must return, in plain Python, one env at a time: the rules are those of synthetic/crowd.c."""

from dataclasses import dataclass, field

import numpy as np

from tests.support import plugin
from tests.support.checked_pool import PENDING, REFUSED, RUNNING, CheckedPool

DIE, CUT, END, FAIL = range(11, 15)
NO_LIMIT = 2**31 - 1
OBS = 8
WORD = 2**64 - 1


def mix(seed, episode, step, player):
    """Return the number that decides what a player does in a step."""
    z = seed * 0x9E3779B97F4A7C15 + episode * 0xBF58476D1CE4E5B9 + step * 0x94D049BB133111EB
    z = (z + player * 0xD6E8FEB86659FD93) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


@dataclass
class Row:
    """One env's part of a batch; arrays have a place for each player."""

    present: np.ndarray
    obs: np.ndarray
    token: np.ndarray
    elapsed: int
    reward: np.ndarray
    ended: np.ndarray
    cut: np.ndarray
    num_present: int = 0
    mode: int = 0
    terminated: bool = False
    truncated: bool = False
    failed: bool = False
    final: "Row | None" = None
    acts: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))


def empty_row(places):
    """Return a row without players."""
    flags = [np.zeros(places, bool) for _ in range(3)]
    return Row(
        flags[0],
        np.zeros((places, OBS), np.int64),
        np.zeros(places, np.int64),
        0,
        np.zeros(places, np.float32),
        *flags[1:],
        acts=np.zeros(places, bool),
    )


class EnvModel:
    """One env under one auto-reset mode."""

    def __init__(self, env_id, seed, mode, options):
        self.id, self.seed, self.mode, self.options = env_id, seed, mode, options
        self.places = options["places"]
        self.flag = REFUSED if mode == "disabled" else PENDING
        self.episode = self.step = self.elapsed = 0
        self.has_failed_reset = False
        self.rows = np.zeros(self.places, bool)  # which players have a row in the last result
        self.acts = np.zeros(self.places, bool)  # who acts next, in the pool's eyes
        self.own_acts = np.zeros(self.places, bool)  # and in those of the env

    def take(self, action, team_mode=-1, push=None):
        """Return the row of one send; `action` has a place for each player."""
        row = self._simulate(action, team_mode, push)
        if self.mode == "same_step" and self.flag != RUNNING:
            final, row = row, self._simulate(None, -1, None)
            row.present = row.present | final.present
            row.reward, row.ended, row.cut = final.reward, final.ended, final.cut
            row.terminated, row.truncated = final.terminated, final.truncated
            row.failed, row.final = final.failed or row.failed, final
        self.rows, self.acts = row.present, row.acts
        return row

    def _show(self, row, present, actions, mode):
        row.present = present.copy()
        row.num_present, row.mode = int(present.sum()), mode
        for p in np.flatnonzero(present):
            row.obs[p] = [self.id, p, self.episode, self.step, actions[p], self.seed, row.num_present, 1]
            row.token[p] = mix(self.seed, self.episode, self.step, int(p)) >> 1

    def _simulate(self, action, team_mode, push):
        row = empty_row(self.places)
        ended = REFUSED if self.mode == "disabled" else PENDING
        constant = self.options["constant"]
        if self.flag != RUNNING:
            self.elapsed = 0
            if self.episode == self.options["fail_reset"] and not self.has_failed_reset:
                self.has_failed_reset = True
                self.flag = ended
                row.truncated = row.failed = True
                self.acts = row.acts
                return row
            self.episode += 1
            self.step = 0
            self.flag = RUNNING
            present = np.array(
                [constant or p < 2 or mix(self.seed, self.episode, 0, p) % 2 == 1 for p in range(self.places)]
            )
            self._show(row, present, [-1] * self.places, -1)
            self.own_acts = present.copy()
            row.acts = self.acts = present.copy()
            return row
        self.step += 1
        self.elapsed += 1
        row.elapsed = self.elapsed
        acted = self.acts.copy()
        present, shown, fails = np.zeros(self.places, bool), [-1] * self.places, False
        for p in range(self.places):
            number = mix(self.seed, self.episode, self.step, p)
            if self.own_acts[p]:
                a = int(action[p])
                present[p], shown[p] = True, a
                row.reward[p] = np.float32(a) + np.float32(p / 8) + (0 if push is None else push[p])
                row.ended[p] = a == DIE or (not constant and p > 1 and number % 8 == 0)
                row.cut[p] = a == CUT
                row.terminated |= a == END
                fails |= a == FAIL
                self.own_acts[p] = not (row.ended[p] or row.cut[p])
            else:
                present[p] = self.own_acts[p] = not constant and number % 4 == 0
        length = self.options["episode_length"]
        row.terminated |= not self.own_acts.any() or (length > 0 and self.step >= length)
        if fails:
            row = empty_row(self.places)
            row.elapsed, row.truncated, row.failed = self.elapsed, True, True
            row.present, row.cut = acted, acted.copy()
            self.flag, self.acts = ended, row.acts
            return row
        row.truncated = self.elapsed >= self.options["max_episode_steps"]
        self._show(row, present, shown, team_mode)
        row.ended |= present & row.terminated
        row.cut |= present & row.truncated
        row.acts = self.acts = present & ~row.ended & ~row.cut
        self.flag = ended if row.terminated or row.truncated else RUNNING
        return row


class CheckedPlayers(CheckedPool):
    """A pool with players beside its model. Subclasses have `places`, the places for players in each env."""

    end_of_texts = ""

    def __init__(self, task_id, make_model, num_envs, batch_size, autoreset_mode, players, seed, options):
        self.mode, self.num_envs, self.batch_size, self.view = autoreset_mode, num_envs, batch_size or num_envs, players
        self.pool = plugin.make_task(
            task_id,
            num_envs=num_envs,
            batch_size=batch_size,
            autoreset_mode=autoreset_mode,
            players=players,
            seed=seed,
            **options,
        )
        self.groups = self.pool.spec.groups
        self.envs = [make_model(i, seed + i) for i in range(num_envs)]
        self.restarts = options.get("on_error") == "restart"
        self.in_flight = {}  # env id -> Row, in the order of sending

    def sent_reset(self, ids=None):
        """Note that resets were sent; None stands for all envs, after dropping what was in flight."""
        if ids is None:
            self.in_flight.clear()
        for i in range(self.num_envs) if ids is None else ids:
            self.envs[i].flag = PENDING
            self.in_flight[int(i)] = self.envs[i].take(None)

    def recv(self, **wish):
        """Receive and compare."""

        def call():
            return self.pool.recv(**wish)

        return self.deliver(call, call, wish)

    def same_players(self, got, expected, mask, dtype, name=""):
        """Compare an array of players in the form of the view."""
        if expected is None:
            return
        if self.view == "rows":
            exact(got, expected[mask], dtype)
        elif self.view == "grid":
            exact(got, expected, dtype)
        else:
            assert list(got) == [g.name for g in self.groups]
            for g in self.groups:
                shape = g.shapes.get(name, expected.shape[2:])
                exact(got[g.name], expected[(slice(None), list(g.players), *map(slice, shape))], dtype)


class CheckedCrowd(CheckedPlayers):
    """A pool of crowds beside its model: every batch that comes back is compared in full, in each view.

    Parameters
    ----------
    **options
        As for ``envpool.make_gymnasium``.
    """

    def __init__(self, num_envs, batch_size=0, autoreset_mode="next_step", players="rows", seed=42, **options):
        known = {"episode_length": 12, "fail_reset": -1, "max_episode_steps": NO_LIMIT, "places": 8, "constant": False}
        known |= {k: v for k, v in options.items() if k in known}
        self.places = known["places"]

        def model(env_id, seed):
            return EnvModel(env_id, seed, autoreset_mode, known)

        super().__init__("Crowd-v0", model, num_envs, batch_size, autoreset_mode, players, seed, options)

    def form(self, ids, actions, form=None):
        """Return actions (n, places) in a form that the pool accepts; `form` overrides that of the view."""
        mask = np.array([self.envs[i].rows for i in ids], bool).reshape(len(ids), self.places)
        form = form or self.view
        if form == "grid":
            return actions
        if form == "dict":
            return {g.name: actions[:, list(g.players)] for g in self.groups}
        if form == "rows":
            return actions[mask]
        rows, players = np.nonzero(mask)
        return {
            "action": actions[mask].astype(np.int32),
            "env_id": np.asarray(ids, np.int32),
            "players": {"env_id": np.asarray(ids, np.int32)[rows], "id": players.astype(np.int32)},
        }

    def send(self, ids, actions, form=None):
        """Send actions, (n, places) of which only those of players that act count."""
        action = self.form(ids, np.asarray(actions), form)
        self.pool.send(action, np.asarray(ids, np.int32))
        for i, own in zip(ids, actions, strict=True):
            self.in_flight[int(i)] = self.envs[i].take(own)

    def reset(self, ids=None):
        """Reset all envs, or these, and compare."""
        self.sent_reset(ids)
        return self.deliver(lambda: self.pool.reset(ids), wish={} if ids is None else {"env_id": ids})

    def received(self, batch, wish=None):
        """Compare a batch with the model, and return it."""
        info = batch[-1]
        ids = info["env_id"].tolist()
        assert len(set(ids)) == len(ids) and set(ids) <= set(self.in_flight)
        if wish and "env_id" in wish:
            assert ids == [int(i) for i in wish["env_id"]]
        elif self.is_sync and not wish:
            assert ids == list(self.in_flight)
        elif self.is_sync:
            assert ids == [i for i in self.in_flight if i in ids]
        rows = [self.in_flight.pop(i) for i in ids]
        mask = self.mask_of(ids, rows, info)
        none = empty_row(self.places)
        self.same_players(batch[0], self.stacked([r.obs for r in rows]), mask, np.int64, "obs")
        self.same_info(info, "token", self.stacked([r.token for r in rows]), mask, np.int64)
        exact(info["num_present"], [r.num_present for r in rows], np.int32)
        exact(info["elapsed_step"], [0 if r.final else r.elapsed for r in rows], np.int32)
        if len(batch) == 5:
            self.same_players(batch[1], self.stacked([r.reward for r in rows]), mask, np.float32)
            exact(batch[2], [r.terminated for r in rows], np.bool_)
            exact(batch[3], [r.truncated for r in rows], np.bool_)
            self.same_players(info["player_terminated"], self.stacked([r.ended for r in rows]), mask, np.bool_)
            self.same_players(info["player_truncated"], self.stacked([r.cut for r in rows]), mask, np.bool_)
        if self.mode == "same_step":
            finals = [r.final or none for r in rows]
            exact(info["_final_obs"], [r.final is not None for r in rows], np.bool_)
            self.same_players(info["final_obs"], self.stacked([r.obs for r in finals]), mask, np.int64, "obs")
            self.same_info(info["final_info"], "token", self.stacked([r.token for r in finals]), mask, np.int64)
            exact(info["final_info"]["num_present"], [r.num_present for r in finals], np.int32)
        assert ("error" in info) == (self.restarts and any(r.failed for r in rows))
        return batch

    def stacked(self, parts):
        return np.array(parts).reshape(len(parts), self.places, *np.shape(parts[0])[1:]) if parts else None

    def mask_of(self, ids, rows, info):
        """Compare who is present, and return it: bool (B, places)."""
        mask = np.array([r.present for r in rows], bool).reshape(len(rows), self.places)
        if self.view == "rows":
            envs, players = np.nonzero(mask)
            exact(info["players"]["env_id"], np.asarray(ids, np.int32)[envs], np.int32)
            exact(info["players"]["id"], players, np.int32)
        else:
            self.same_players(info["player_mask"], mask, mask, np.bool_)
        return mask

    def same_info(self, info, name, expected, mask, dtype):
        """Compare an info array of players."""
        got = {g.name: info[g.name][name] for g in self.groups} if self.view == "dict" else info[name]
        self.same_players(got, expected, mask, dtype, f"info:{name}")


def exact(got, expected, dtype):
    """Assert equality of values, shape and dtype."""
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.asarray(expected, dtype), strict=True)
