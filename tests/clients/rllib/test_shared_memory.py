"""The memory in which an actor of a `RayPool` hands its results to a driver on the same machine."""

import gc
import os
import time

import numpy as np
import pytest
import ray

from envpool.adapters.ray import RayPool, shared
from envpool.adapters.ray.shared import Address, Reader, Shared, Writer
from tests.support.process import PATIENCE
from tests.support.python_envs import same


def result_of(value, **infos):
    obs = {"image": np.full((4, 64, 64), value, np.uint8), "pair": (np.arange(3.0) + value, np.zeros((0, 2), bool))}
    return obs, np.float32([value]), infos


class Pair:
    """An actor's memory and a driver's, in one process."""

    def __init__(self):
        self.writer = Writer()
        self.reader = Reader(self.writer.address())

    def ask(self, result):
        """Return the driver's ticket for a result, and the actor's answer."""
        ticket = self.reader.ticket()
        self.writer.note(ticket.request)
        return ticket, self.writer.write(result, ticket.request)

    def exchange(self, result):
        ticket, answer = self.ask(result)
        assert isinstance(answer, Shared)
        return ticket.read(answer)


def test_values_and_types():
    pair = Pair()
    objects = np.array(["left", None], object)
    for value, infos in enumerate([{}, {}, {"names": objects}, {"count": np.int32([3])}, {"count": np.int32([4])}]):
        found = pair.exchange(result_of(value, **infos))
        same(found, result_of(value, **infos))
        assert not found[0]["image"].flags.writeable and not found[1].flags.owndata


def test_small_results_are_part_of_the_answer():
    pair = Pair()
    result = np.zeros(10), {}
    assert pair.ask(result)[1] is result


def test_slots_are_used_again_when_no_array_shows_them():
    pair = Pair()
    view = pair.exchange(result_of(1))[0]["image"][1:, ::2][..., 5:]
    held = [pair.exchange(result_of(k)) for k in range(2, 5)]
    for k in range(5, 9):
        pair.exchange(result_of(k))
    assert (view == 1).all() and [result[1][0] for result in held] == [2, 3, 4]
    assert pair.writer._count == 5
    del view, held
    gc.collect()
    assert len({pair.ask(result_of(9))[1].slot for _ in range(5)}) == 5 == pair.writer._count


def test_answers_that_are_read_in_another_order():
    pair = Pair()
    asked = [pair.ask(result_of(k, **({"extra": np.int32([k])} if k % 2 else {}))) for k in range(4)]
    for k in (2, 0, 3, 1):
        ticket, answer = asked[k]
        assert ticket.read(answer)[1][0] == k
    ticket, answer = pair.ask(result_of(8))
    assert answer.plan is not None  # the last plan is another one
    same(ticket.read(answer), result_of(8))
    first, second = pair.ask(result_of(9)), pair.ask(result_of(10, extra=np.int32([1])))
    assert first[1].plan is None
    same(second[0].read(second[1]), result_of(10, extra=np.int32([1])))
    same(first[0].read(first[1]), result_of(9))


def test_slots_of_answers_that_are_never_read():
    pair = Pair()
    held = pair.exchange(result_of(1))
    for _ in range(3):
        pair.ask(result_of(2))
        pair.reader.forget()
    assert pair.writer._count == 2
    pair.exchange(result_of(3))
    assert pair.writer._count == 2 and (held[0]["image"] == 1).all()


def test_results_that_find_no_slot(monkeypatch):
    monkeypatch.setattr(shared, "MOST", 2 * 20480)
    pair = Pair()
    held = [pair.exchange(result_of(k)) for k in range(2)]
    for result in (result_of(2), (np.zeros((100, 1000)), {})):
        ticket, answer = pair.ask(result)
        assert answer is result and ticket.read(answer) is result
    del held[0]
    pair.exchange(result_of(3))


def test_arrays_outlive_the_actor():
    pair = Pair()
    result = pair.exchange(result_of(7))
    os.close(pair.writer._fd)
    del pair
    gc.collect()
    same(result, result_of(7))


def test_only_the_memory_of_the_actor_is_opened(tmp_path):
    writer = Writer()
    path, name = writer.address()
    for address in (Address(path, name.replace("envpool-", "envpool-0")), Address(path + "0" * 9, name)):
        with pytest.raises(OSError):
            Reader(address)


@pytest.fixture
def cluster():
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}], ids=["sync", "async"])
def test_results_of_a_pool_stay_as_they_are(cluster, options):
    def slots(actor):
        return actor._memory._count

    with RayPool("Pong-v5", 8, 2, num_threads=1, num_cpus=0, seed=3, **options) as pool:
        deadline = time.monotonic() + PATIENCE
        while not all(pool._fleet._reader(k) for k in range(2)):
            assert time.monotonic() < deadline
        held = []
        for _ in range(3):
            pool.async_reset()
            for _ in range(12):
                result = pool.recv()
                held = [*held[-5:], (result, [np.array(x) for x in result[:4]])]
                pool.send(np.zeros(len(result[0]), int), result[-1]["env_id"])
        for result, copies in held:
            same(list(result[:4]), copies)
        assert max(ray.get([actor.__ray_call__.remote(slots) for actor in pool._fleet.actors])) in range(1, 16)
