"""The batches in flight between the pool and its actors, and how their parts become one result.

A *part* is the result of one actor for a batch. The batch of a sync pool has parts of several actors, whose ids are
known; the batch of an async pool has one part, and its ids are known when it arrives.

When an actor is lost, a new one takes its place. Parts that it has not answered are answered by the new actor with
failed rows, apart from resets, which it repeats. Environments that were idle have lost their state as well: `lost` has
them until they are sent, and then they fail.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import ray

from envpool._core.inputs import as_ids
from envpool._support.text import shown
from envpool.adapters.ray.fleet import ATTEMPTS, LOSSES, Fleet
from envpool.adapters.ray.rows import acting_players, join, take
from envpool.adapters.ray.shared import Ticket
from envpool.errors import EnvIdError, EnvStepError, PoolStateError


class Part:
    """The answer of one actor.

    Attributes
    ----------
    actor : int
        Number of the actor.
    ids : numpy.ndarray or None
        int32, global ids of the rows, if they are known.
    ref : ObjectRef
        The future answer.
    ticket : Ticket or None
        How to read the answer if it is in the memory of the actor.
    seeds : list or None
        Seeds of a reset.
    is_reset : bool
        If True, the actor resets the environments.
    is_failure : bool
        If True, the actor reports the environments as failed.
    failures : dict of int to str
        Failures that are raised before the rows are returned.
    result : tuple or None
        The answer, once it has arrived.
    """

    def __init__(self, actor: int, ids: Any, *, seeds: Any = None, is_reset: bool = False):
        self.actor, self.ids, self.seeds, self.is_reset = actor, ids, seeds, is_reset
        self.ref: Any = None
        self.ticket: Ticket | None = None
        self.is_failure = False
        self.failures: dict[int, str] = {}
        self.result: Any = None


class Batch:
    """The parts of one batch.

    Attributes
    ----------
    parts : list of Part
        Never empty.
    ids : numpy.ndarray or None
        The ids in the order in which a sync pool returns them.
    """

    def __init__(self, parts: list[Part], ids: Any = None):
        self.parts, self.ids = parts, ids

    def joined(self) -> tuple[Any, np.ndarray[Any, Any]]:
        """Return the rows of all parts, in the order of the ids, and their ids."""
        if len(self.parts) == 1:
            return self.parts[0].result, self.parts[0].ids
        result = join([part.result for part in self.parts], [len(part.ids) for part in self.parts])
        found = np.concatenate([part.ids for part in self.parts])
        if np.array_equal(found, self.ids):
            return result, found
        wanted = self.ids[np.isin(self.ids, found)]
        if not np.array_equal(found, wanted):
            order = np.argsort(found)[np.argsort(np.argsort(wanted))]
            result = take(result, order)
        return result, wanted


class Inbox:
    """The batches in flight.

    Parameters
    ----------
    fleet : Fleet
        The actors.
    batch_size : int
        Rows of a batch of an async pool; 0 in a sync pool.
    restarts : bool
        If True, failures are texts in the infos, else exceptions.
    autoreset_mode : str
        The auto-reset mode of the pool.

    Attributes
    ----------
    busy : numpy.ndarray
        bool (num_envs,): which environments are in flight.
    last_ids : numpy.ndarray
        The environments of the batch that was received last.
    """

    def __init__(self, fleet: Fleet, batch_size: int, restarts: bool, autoreset_mode: str):
        self._fleet, self._batch_size, self._restarts = fleet, batch_size, restarts
        self.autoreset_mode = autoreset_mode
        self.busy = np.zeros(fleet.starts[-1], np.bool_)
        self.last_ids = np.zeros(0, np.int32)
        self._lost = np.zeros(fleet.starts[-1], np.bool_)
        self._reason = [""] * len(fleet.actors)
        self._losses = [0] * len(fleet.actors)
        self._uncovered = [0] * len(fleet.actors)  # rows sent to an async actor that no batch in flight will return
        self._batches: list[Batch] = []
        self._acting: Any = None  # the players that act next in each environment, see acting_players()

    def check_idle(self, env_id: Any) -> np.ndarray[Any, Any]:
        """Return ids as int32, or raise EnvIdError."""
        ids = as_ids(env_id)
        assert ids is not None
        if len(ids) == 0 or ids.min() < 0 or ids.max() >= len(self.busy):
            raise EnvIdError(f"env_id must have ids between 0 and {len(self.busy) - 1}, got {shown(ids.tolist())}")
        firsts = np.unique(ids, return_index=True)[1]
        if len(firsts) != len(ids):
            at = int(np.setdiff1d(np.arange(len(ids)), firsts)[0])
            raise EnvIdError(f"env_id[{at}] is {ids[at]}, which appears twice: pass each id once")
        if self.busy[ids].any():
            at = int(np.argmax(self.busy[ids]))
            raise EnvIdError(f"env_id[{at}] is {ids[at]}, which is still in flight: receive it first")
        return ids.astype(np.int32)

    # ---- sending -----------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget what is in flight, before all environments are reset."""
        self._batches.clear()
        self._fleet.forget_answers()
        self.busy[:] = self._lost[:] = False
        self._uncovered = [0] * len(self._fleet.actors)

    def send_resets(self, ids: Any, seeds: Any) -> None:
        """Reset environments of a sync pool."""
        parts = []
        for actor, rows in self._by_actor(ids):
            own = None if seeds is None else [seeds[row] for row in rows]
            parts.append(Part(actor, ids[rows], seeds=own, is_reset=True))
            self._reset(parts[-1])
        self._lost[ids] = False
        self.busy[ids] = True
        self._batches.insert(0, Batch(parts, ids))  # reset() returns it before what was sent earlier

    def send_async_resets(self) -> None:
        """Start episodes in all environments of a pool."""
        parts = []
        for index, actor in enumerate(self._fleet.actors):
            actor.async_reset.remote()
            if self._batch_size:
                self._uncovered[index] = self._fleet.count(index)
                self._cover(index)
            else:
                parts.append(self._ask(Part(index, self._fleet.ids(index)), "receive", False))
        self._post(parts, np.arange(len(self.busy), dtype=np.int32))

    def send(self, action: Any, ids: Any) -> None:
        """Send actions; environments that were lost while they were idle fail."""
        parts = []
        for actor, rows in self._by_actor(ids):
            own = ids[rows]
            is_lost = self._lost[own]
            if is_lost.any():
                self._lost[own] = False
                parts.append(Part(actor, own[is_lost]))
                self._fail(parts[-1])
                rows, own = rows[~is_lost], own[~is_lost]
            if len(own) and not self._batch_size:
                is_whole = np.array_equal(own, self._fleet.ids(actor))
                parts.append(Part(actor, own))
                self._ask(parts[-1], "exchange", take(action, rows), None if is_whole else self._local(actor, own))
            elif len(own):
                self._uncovered[actor] += len(own)
                sent = take(action, rows), self._local(actor, own)
                if self._uncovered[actor] >= self._batch_size:
                    self._uncovered[actor] -= self._batch_size
                    self._batches.append(Batch([self._ask(Part(actor, None), "exchange", *sent)]))
                else:
                    self._fleet.actors[actor].send.remote(*sent)
                self._cover(actor)
        self._post(parts, ids)

    def _ask(self, part: Part, method: str, *args: Any) -> Part:
        """Ask an actor for a part."""
        part.ticket = self._fleet.ticket(part.actor)
        request = None if part.ticket is None else part.ticket.request
        part.ref = self._fleet.actors[part.actor].answer.remote((method, *args, request))
        return part

    def _reset(self, part: Part) -> None:
        self._ask(part, "reset", self._local(part.actor, part.ids), part.seeds)

    def _fail(self, part: Part) -> None:
        """Let an actor return failed rows for environments whose state was lost."""
        text = self._reason[part.actor]
        part.is_failure = True
        actor = self._fleet.actors[part.actor]
        acting = None if self._acting is None else take(self._acting, part.ids)
        part.ref = actor.fail.remote(self._local(part.actor, part.ids), text if self._restarts else None, acting)
        part.failures = {} if self._restarts else dict.fromkeys(part.ids.tolist(), text)

    def _local(self, actor: int, ids: Any) -> Any:
        return ids - np.int32(self._fleet.starts[actor])

    def _post(self, parts: list[Part], ids: Any) -> None:
        self.busy[ids] = True
        if self._batch_size:
            self._batches += [Batch([part]) for part in parts]
        elif parts:
            self._batches.append(Batch(parts, ids))

    def _cover(self, actor: int) -> None:
        """Ask an actor of an async pool for all batches that it can fill."""
        while self._uncovered[actor] >= self._batch_size:
            self._uncovered[actor] -= self._batch_size
            self._batches.append(Batch([self._ask(Part(actor, None), "receive", False)]))

    def _by_actor(self, ids: Any) -> Iterable[tuple[int, Any]]:
        """Yield each actor that has some of the ids, and the positions of these ids."""
        owners = self._fleet.owner(ids)
        for actor in np.flatnonzero(np.bincount(owners)).tolist():
            yield actor, np.flatnonzero(owners == actor)

    # ---- receiving ---------------------------------------------------------------------------------------------------

    def receive(self) -> Any:
        """Return the next batch: the first one sent (sync pool), or the first one ready (async pool)."""
        batch = self._next()
        while not self._settle(batch):
            batch = self._next()
        self._batches.remove(batch)
        result, self.last_ids = batch.joined()
        self.busy[self.last_ids] = False
        self._note_players(acting_players(result, self.autoreset_mode == "same_step"))
        return result

    def _note_players(self, acting: Any) -> None:
        """Note the players that act next in the environments of a result."""
        if acting is None:
            return
        if self._acting is None:
            self._acting = take(acting, np.zeros(len(self.busy), np.intp))
        if not isinstance(acting, dict):
            self._acting[self.last_ids] = acting
            return
        for group, rows in acting.items():
            self._acting[group][self.last_ids] = rows

    def _next(self) -> Batch:
        if not self._batches:
            raise PoolStateError("recv() would wait forever: no environment is in flight, or too few for a batch")
        if not self._batch_size:
            return self._batches[0]
        by_ref = {}
        for batch in self._batches:
            if batch.parts[0].result is not None:
                return batch
            by_ref[batch.parts[0].ref] = batch
        ready, _ = ray.wait(list(by_ref), num_returns=1)
        return by_ref[ready[0]]

    def _settle(self, batch: Batch) -> bool:
        """Wait for all parts of a batch; raise EnvStepError if any of them has failures that were not raised.

        False: the actor was lost, and other batches have taken the place of this one.
        """
        failures: dict[int, str] = {}
        for part in list(batch.parts):
            while part.result is None and not part.failures:
                self._take(batch, part)
                if batch not in self._batches:
                    return False
            failures |= part.failures
            part.failures = {}
        if failures:
            raise EnvStepError(failures, self.autoreset_mode)
        return True

    def _take(self, batch: Batch, part: Part) -> None:
        try:
            answer = ray.get(part.ref)
        except LOSSES as error:
            self.replace(part.actor, error)
            return
        except ray.exceptions.RayTaskError as error:
            # The actor has done nothing, for instance since it refuses the action; the other parts are still valid.
            if part.ids is None:
                self.replace(part.actor, error)
            else:
                self.busy[part.ids] = False
                batch.parts.remove(part)
                if not batch.parts:
                    self._batches.remove(batch)
            raise error.cause from error
        self._accept(part, answer)

    def _accept(self, part: Part, answer: Any) -> None:
        failures, result = answer
        self._losses[part.actor] = 0
        if failures is not None:
            part.failures = failures
            self._ask(part, "receive", part.is_reset)
            return
        part.result = result if part.ticket is None else part.ticket.read(result)
        if part.ids is None:
            part.ids = part.result[-1]["env_id"]

    # ---- losses ------------------------------------------------------------------------------------------------------

    def replace(self, actor: int, error: Exception) -> None:
        """Start another actor in the place of one that was lost, which answers what is in flight.

        Raises
        ------
        PoolStateError
            The actor was lost several times in a row.
        """
        first, last = self._fleet.starts[actor], self._fleet.starts[actor + 1] - 1
        said = str(error).strip().partition("\n")[0]
        self._reason[actor] = f"actor {actor} with the environments {first} to {last} was lost: {said}"
        self._losses[actor] += 1
        if self._losses[actor] > ATTEMPTS:
            raise PoolStateError(f"{self._losses[actor]} times in a row, {self._reason[actor]}") from error
        mine = [part for batch in self._batches for part in batch.parts if part.actor == actor]
        for part in mine:
            self._rescue(part)
        self._fleet.replace(actor)
        self._uncovered[actor] = 0
        in_flight = np.zeros(len(self.busy), np.bool_)
        in_flight[first : last + 1] = self.busy[first : last + 1]
        self._lost[first : last + 1] = True  # also where rows have arrived that were not handed out
        for part in mine:
            if part.ids is not None:
                in_flight[part.ids] = False
                self._lost[part.ids] = part.result is not None
            if part.result is None and part.is_reset:
                self._reset(part)
            elif part.result is None and part.ids is not None:
                self._fail(part)
        gone = [part for part in mine if part.ids is None]
        self._batches = [batch for batch in self._batches if batch.parts[0] not in gone]
        ids = np.flatnonzero(in_flight).astype(np.int32)
        self._lost[ids] = False
        for start in range(0, len(ids), max(self._batch_size, 1)):
            part = Part(actor, ids[start : start + self._batch_size])
            self._fail(part)
            self._batches.append(Batch([part]))

    def note_answer(self, actor: int) -> None:
        """Note that an actor works."""
        self._losses[actor] = 0

    def forgive(self, actor: int) -> None:
        """Note that all environments of an actor have started new episodes."""
        self._lost[self._fleet.ids(actor)] = False

    def reason(self, actor: int) -> str:
        """Return why an actor was lost."""
        return self._reason[actor]

    def _rescue(self, part: Part) -> None:
        """Take the answer of a part if it has arrived before the actor was lost."""
        if part.result is None and ray.wait([part.ref], timeout=0)[0]:
            with contextlib.suppress(*LOSSES, ray.exceptions.RayTaskError):
                answer = ray.get(part.ref)
                if answer[0] is None:
                    losses = self._losses[part.actor]
                    self._accept(part, answer)
                    self._losses[part.actor] = losses
