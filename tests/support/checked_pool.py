"""What a pool of flat synthetic envs must return, in plain Python, one env at a time."""

from dataclasses import dataclass

import numpy as np

from envpool.errors import EnvStepError, PoolStateError, RenderError
from tests.support import plugin

RUNNING, PENDING, REFUSED = range(3)
CODE = 6
TRUNCATE, TERMINATE, FAIL, WAIT = 95, 96, 97, 98
NO_LIMIT = 2**31 - 1
GOLDEN = 0x9E3779B97F4A7C15


@dataclass
class Row:
    """One env's part of a batch."""

    code: tuple
    draws: int
    elapsed: int
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    failed: bool = False
    final: "Row | None" = None


class EnvModel:
    """One env under one auto-reset style."""

    def __init__(self, env_id, seed, mode, options):
        self.id, self.mode, self.options = env_id, mode, options
        self.flag = REFUSED if mode == "disabled" else PENDING
        self.calls = self.step = self.elapsed = 0
        self.action = -1
        self.has_failed_reset = self.is_broken = False
        self.reseed(seed)

    def reseed(self, seed):
        self.seed = self.draws = seed
        self.episode = 0

    def take(self, action):
        """Return the row of one send."""
        row = self._simulate(action)
        if self.mode == "same_step" and self.flag != RUNNING:
            final, row = row, self._simulate(action)
            row.reward, row.terminated, row.truncated = final.reward, final.terminated, final.truncated
            # A failed step is reported with the row of the reset that followed.
            row.failed, row.final = final.failed or row.failed, final
        return row

    def _simulate(self, action):
        row = self._step(action)
        self.is_broken = row.failed
        return row

    def _step(self, action):
        self.calls += 1
        ended = REFUSED if self.mode == "disabled" else PENDING
        if self.flag != RUNNING:
            self.step = self.elapsed = 0
            self.action = -1
            if self.episode == self.options["fail_reset"] and not self.has_failed_reset:
                self.has_failed_reset = True
                self.flag = ended
                return Row((0,) * CODE, 0, 0, truncated=True, failed=True)
            self.episode += 1
            self.flag = RUNNING
            return self._row()
        self.step += 1
        self.elapsed += 1
        self.action = action
        if action == FAIL:
            self.flag = ended
            self.draws += GOLDEN
            return Row((0,) * CODE, 0, self.elapsed, truncated=True, failed=True)
        row = self._row()
        length, own = self.options["episode_length"], self.options["truncate_after"]
        row.reward = self.step + self.id / 1024
        row.terminated = action == TERMINATE or (length > 0 and self.step >= length)
        row.truncated = (
            action == TRUNCATE or (own > 0 and self.step >= own) or self.elapsed >= self.options["max_episode_steps"]
        )
        self.flag = ended if row.terminated or row.truncated else RUNNING
        return row

    def _row(self):
        self.draws += GOLDEN
        return Row(self.code(), (self.draws + 2**63) % 2**64 - 2**63, self.elapsed)

    def code(self):
        """Return the numbers that a row or a frame shows."""
        return (self.id, self.episode, self.step, self.action, self.calls, self.seed)


class CheckedPool:
    """A pool of flat synthetic envs beside its model: every batch that comes back is compared in full.

    Parameters
    ----------
    **options
        As for ``plugin.make``; env_type is "gymnasium".
    """

    end_of_texts = "(env {})"  # of envs that failed

    def __init__(self, num_envs, batch_size=0, autoreset_mode="next_step", seed=42, **options):
        self.mode, self.num_envs, self.batch_size = autoreset_mode, num_envs, batch_size or num_envs
        self.pool = plugin.make(
            num_envs=num_envs,
            batch_size=batch_size,
            autoreset_mode=autoreset_mode,
            seed=seed,
            **{"render_mode": "rgb_array"} | options,
        )
        known = {"episode_length": 5, "truncate_after": 0, "fail_reset": -1, "max_episode_steps": NO_LIMIT}
        known |= {k: v for k, v in options.items() if k in known}
        self.envs = [EnvModel(i, seed + i, autoreset_mode, known) for i in range(num_envs)]
        self.restarts = self.pool.config["on_error"] == "restart"
        self.in_flight = {}  # env id -> Row, in the order of sending

    @property
    def is_sync(self):
        return self.batch_size == self.num_envs

    def idle(self):
        """Return the ids of the envs that may be sent to."""
        return [e.id for e in self.envs if e.id not in self.in_flight]

    def steppable(self):
        """Return the ids of the idle envs that the caller need not reset first."""
        return [i for i in self.idle() if self.envs[i].flag != REFUSED]

    def sent(self, ids, actions):
        """Note that actions were sent."""
        for i, a in zip(ids, actions, strict=True):
            self.in_flight[int(i)] = self.envs[i].take(int(a))

    def sent_reset(self, ids=None, seeds=None):
        """Note that resets were sent; None stands for all envs, after dropping what was in flight."""
        if ids is None:
            self.in_flight.clear()
            ids = range(self.num_envs)
        for k, i in enumerate(ids):
            self.envs[i].flag = PENDING
            if seeds is not None and seeds[k] is not None:
                self.envs[i].reseed(seeds[k])
            self.in_flight[int(i)] = self.envs[i].take(0)

    def can_receive(self):
        return bool(self.in_flight) if self.is_sync else len(self.in_flight) >= self.batch_size

    def received(self, batch, may_be_part=False, wish=None):
        """Compare a batch (of step or reset form) with the model, and return it.

        may_be_part: sync, a batch may lack what was sent last, since another thread received meanwhile.
        wish: the arguments of recv() that ask for some envs only.
        """
        info = batch[-1]
        ids = info["env_id"].tolist()
        assert len(set(ids)) == len(ids), "an env twice in one batch"
        assert set(ids) <= set(self.in_flight), "an env that was not sent to"
        if wish:
            self._check_wish(ids, **wish)
        elif self.is_sync:
            assert ids == list(self.in_flight)[: len(ids) if may_be_part else None], "rows out of order"
        else:
            assert len(ids) == self.batch_size
        rows = [self.in_flight.pop(i) for i in ids]
        same(info["players"]["env_id"], ids, np.int32)
        same(batch[0], np.reshape([r.code for r in rows], (-1, CODE)), np.int64)
        same(info["draws"], [r.draws for r in rows], np.int64)
        same(info["elapsed_step"], [0 if r.final else r.elapsed for r in rows], np.int32)
        if len(batch) == 5:
            same(batch[1], [r.reward for r in rows], np.float32)
            same(batch[2], [r.terminated for r in rows], np.bool_)
            same(batch[3], [r.truncated for r in rows], np.bool_)
        if self.mode == "same_step":
            same(info["_final_obs"], [r.final is not None for r in rows], np.bool_)
            none = Row((0,) * CODE, 0, 0)
            finals = [r.final or none for r in rows]
            same(info["final_obs"], np.reshape([r.code for r in finals], (-1, CODE)), np.int64)
            same(info["final_info"]["draws"], [r.draws for r in finals], np.int64)
            same(info["final_info"]["elapsed_step"], [r.elapsed for r in finals], np.int32)
        return batch

    def _check_wish(self, ids, min_ready=None, timeout=None, env_id=None):
        """Check which envs were received."""
        may_be_few = timeout is not None and timeout < 1
        if env_id is not None:
            assert ids == [i for i in env_id if i in ids], "rows that were not asked for, or out of order"
            least = len(env_id)
        else:
            if self.is_sync:
                assert ids == [i for i in self.in_flight if i in ids], "rows out of order"
            least = len(self.in_flight) if self.is_sync else min(self.batch_size, len(self.in_flight))
            assert len(ids) <= least or min_ready is not None, "more than a batch"
        assert len(ids) >= (least if min_ready is None else min_ready) or may_be_few, "too few"

    def reset(self, ids=None, seeds=None):
        """Reset all envs, or exactly these, and compare."""
        self.sent_reset(ids, seeds)
        if ids is None:
            return self.deliver(self.pool.reset)
        wish = {"env_id": list(ids)}
        return self.deliver(
            lambda: self.pool.reset(np.array(ids, np.int32), seed=seeds),
            lambda: self.pool.recv(reset=True, **wish),
            wish,
        )

    def send(self, ids, actions):
        """Send actions to envs."""
        self.pool.send(np.asarray(actions), np.asarray(ids))
        self.sent(ids, actions)

    def recv(self):
        """Receive and compare."""
        return self.deliver(self.pool.recv)

    def recv_batches(self):
        """Receive and compare everything in flight, or as much of it as fills whole batches."""
        while self.can_receive():
            self.recv()

    def start(self):
        """Reset all envs and receive; return self. All envs are idle if they fill whole batches."""
        self.sent_reset()
        self.pool.async_reset()
        self.recv_batches()
        return self

    def reset_ended(self):
        """Send resets to the idle envs that need one by the caller."""
        ended = [i for i in self.idle() if i not in self.steppable()]
        if ended:
            self.pool._send_reset(np.asarray(ended))
            self.sent_reset(ended)

    def recv_some(self, **wish):
        """Receive some envs and compare; timeouts shorter than a second may expire, longer ones must not."""

        def call():
            return self.pool.recv(**wish)

        return self.deliver(call, call, wish)

    def render(self, ids):
        """Render and compare; envs that cannot be drawn must be refused."""
        is_new = any(self.envs[i].calls == 0 for i in ids)
        is_broken = any(self.envs[i].is_broken for i in ids)
        try:
            frames = self.pool.render(np.asarray(ids, np.int32))
        except (PoolStateError, RenderError) as error:
            assert is_broken if isinstance(error, RenderError) else is_new
            return
        assert not is_broken and not is_new
        same(codes(frames), np.reshape([self.envs[i].code() for i in ids], (-1, CODE)), np.int64)

    def deliver(self, call, again=None, wish=None):
        """Make a call that returns a batch, compare, and return it; an EnvStepError must name the failed envs in it.

        If the pool restarts failed envs, their texts must be in the batch instead.

        again: returns that batch after an error; by default recv(). wish: see received().
        """
        reported, batch = set(), None
        while batch is None:
            try:
                batch = call()
            except EnvStepError as error:
                assert error.failures and not reported & set(error.failures) and not self.restarts
                reported |= set(error.failures)
                call = again or self.pool.recv
        failed = {i for i in batch[-1]["env_id"].tolist() if self.in_flight[i].failed}
        assert (self.texts_of(batch) if self.restarts else reported) == failed
        return self.received(batch, wish=wish)

    def texts_of(self, batch):
        """Return the ids of the failed envs whose texts are in a batch; compare the form with gymnasium's."""
        info = batch[-1]
        assert ("error" in info) == ("_error" in info)
        if "error" not in info:
            return set()
        assert info["_error"].any(), "neither key is there if no env has failed"
        assert info["_error"].dtype == np.bool_ and info["error"].dtype == object
        assert [type(text) is str and bool(text) for text in info["error"]] == info["_error"].tolist()
        for i, text in zip(info["env_id"], info["error"], strict=True):
            assert text is None or text.endswith(self.end_of_texts.format(i))
        return set(info["env_id"][info["_error"]].tolist())

    def assert_works(self, rounds=3):
        """Step idle envs a few times: no row may show what happened before."""
        for k in range(rounds):
            self.reset_ended()
            ids = self.steppable()
            self.send(ids, [k] * len(ids))
            self.recv_batches()

    def close(self):
        self.pool.close()


def codes(frames):
    """Return what frames show of the envs, int64 (n, CODE)."""
    return np.ascontiguousarray(
        frames.reshape(len(frames), frames[0].size if len(frames) else 8 * CODE)[:, : 8 * CODE]
    ).view(np.int64)


def same(got, expected, dtype):
    """Assert equality of values, shape and dtype."""
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.asarray(expected, dtype))
