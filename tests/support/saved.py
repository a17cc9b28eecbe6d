"""The bytes of saved states, written down a second time, and pools to save."""

import struct

import numpy as np

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates
from tests.support.results import leaves

HEADER = struct.Struct("<8sIIq16sIIII")  # magic, format, prefix, env bytes, options, state version, two lengths, zero
CORE = struct.Struct("<QiBB18x")  # seed, elapsed steps, reset, pending seed
MASK = 2**64 - 1
ODD = 0x9E3779B97F4A7C15


def checksum(data):
    """Return the checksum of a state, as state.pyx computes it."""
    lanes = [1, 2, 3, 4]
    for i, (word,) in enumerate(struct.iter_unpack("<Q", data)):
        h = (lanes[i % 4] ^ word) * ODD & MASK
        lanes[i % 4] = h ^ h >> 29
    total = len(data)
    for lane in lanes:
        total = (total ^ lane) * ODD & MASK
        total ^= total >> 32
    return total


def sealed(body):
    """Return a state of these bytes, with the checksum that belongs to them."""
    return EnvStates([bytes(body) + struct.pack("<Q", checksum(bytes(body)))])


def body_of(state):
    """Return the bytes of one state before its checksum."""
    return bytearray(bytes(state)[:-8])


def core_at(state):
    """Return the offset of what the core keeps."""
    return HEADER.unpack_from(bytes(state))[2]


def snapshot_at(state):
    """Return the offset of the env's own snapshot in a state without pending parameters and statistics."""
    return core_at(state) + CORE.size


def forged(state, offset, value):
    """Return a state with other bytes at an offset from its snapshot, and the checksum that belongs to them."""
    body = body_of(state)
    at = snapshot_at(state) + offset
    body[at : at + len(value)] = value
    return sealed(body)


def refused(pool, state, text="it has values that get_state"):
    """Assert that a pool refuses a state with this text, and that its envs stay as they were."""
    import pytest  # sanitizers run without it

    before = pool.get_state()
    with pytest.raises(StateError, match=text):
        pool.set_state(state)
    assert pool.get_state() == before


def make(task_id="CartPole-v1", num_envs=3, **options):
    return envpool.make_gymnasium(task_id, num_envs=num_envs, **options)


def play(pool, steps=20, seed=0):
    """Return the observations of random steps of all envs."""
    rng = np.random.default_rng(seed)
    space = pool.spec.action_space
    if pool.spec.num_players:  # the rows of the next step are not known yet
        actions = (pool.sample_actions(rng) for _ in range(steps))
    elif hasattr(space, "n"):
        actions = rng.integers(0, space.n, (steps, pool.num_envs)).astype(space.dtype)
    else:
        actions = rng.uniform(space.low, space.high, (steps, pool.num_envs, *space.shape)).astype(space.dtype)
    results = (dict(leaves(pool.step(a)[0])) for a in actions)
    return [
        {path: array.tolist() for path, array in obs.items()} if "" not in obs else obs[""].tolist() for obs in results
    ]
