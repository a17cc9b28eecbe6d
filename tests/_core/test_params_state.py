"""Parameters that wait for a reset, as a part of saved states."""

import numpy as np

from tests.support.parameters import ALL_DTYPES, pool_with_params
from tests.support.snapshots import Snapshots


def with_snapshots(**options):
    """Return a pool whose snapshots mean nothing: only what the core keeps of parameters is restored."""
    return pool_with_params(num_envs=3, prepare=Snapshots().install, **options)


def test_pending_parameters_are_part_of_a_state():
    with with_snapshots() as pool, with_snapshots() as other:
        pool.reset()
        other.reset()
        plain = pool.get_state()
        pool.set_params({"gravity": [1, 2, 3], "tiny": -5, "matrix": np.ones((2, 2))})
        states = pool.get_state()
        row = sum(p.dtype.itemsize * int(np.prod(p.shape)) for p in ALL_DTYPES.values())
        assert len(bytes(states[0])) - len(bytes(plain[0])) == -(-row // 16) * 16
        other.set_state(states[[2, 0]], [0, 1])
        assert other.get_params()["gravity"].tolist() == [3, 1, 9.8]
        other.reset()
        assert other.parameters.in_force[6].tolist() == [3, 1, 9.8]
        assert other.parameters.in_force[1].tolist() == [-5, -5, -3]
        assert other.parameters.in_force[7][0].tolist() == [[1, 1], [1, 1]]
        pool.set_state(plain)
        assert pool.get_params()["gravity"].tolist() == [9.8] * 3
        calls = len(pool.parameters.calls)
        pool.reset()
        assert len(pool.parameters.calls) == calls


def test_copies_have_the_pending_parameters_of_their_source():
    with with_snapshots() as pool:
        pool.reset()
        pool.set_params({"gravity": 4}, 0)
        pool.set_params({"gravity": 5}, 2)
        pool.copy_state(0, 1)
        assert pool.get_params()["gravity"].tolist() == [4, 4, 5]
        pool.reset()
        assert pool.parameters.in_force[6].tolist() == [4, 4, 5]


def test_envs_that_were_never_reset():
    with with_snapshots(gravity=[1, 2, 3]) as pool, with_snapshots() as other:
        other.set_state(pool.get_state())
        other.reset()
        assert other.parameters.in_force[6].tolist() == [1, 2, 3]
