"""Results as torch tensors: they share memory with the result, and are never overwritten."""

import numpy as np
import pytest
import torch

import envpool

TASKS = ["CartPole-v1", "HalfCheetah-v4", "Pong-v5", "CheetahRun-v1"]


def leaves(nest, prefix=""):
    """Yield name and array of every leaf of nested dicts and tuples."""
    items = nest.items() if isinstance(nest, dict) else enumerate(nest)
    for name, value in items:
        if isinstance(value, (dict, tuple)):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("task", TASKS)
def test_no_copy(task):
    """torch.from_numpy, torch.from_dlpack and np.from_dlpack share the memory of the result."""
    with envpool.make_gymnasium(task, num_envs=2) as pool:
        results = pool.reset(), pool.step(np.stack([pool.action_space.sample() for _ in range(2)]))
    for name, array in leaves(results):
        for tensor in torch.from_numpy(array), torch.from_dlpack(array):
            assert tensor.data_ptr() == array.ctypes.data, name
            assert tensor.shape == array.shape and tensor.stride() == tuple(s // array.itemsize for s in array.strides)
        assert np.shares_memory(np.from_dlpack(array), array), name
        tensor.zero_()
        assert not array.any(), name


@pytest.mark.parametrize("batch_size", [8, 3])
@pytest.mark.parametrize("task", ["CartPole-v1", "Pong-v5"])
def test_held_tensors_are_never_overwritten(task, batch_size):
    """Hundreds of results are held at once, some of them only through their tensors."""
    count = 400 if task == "CartPole-v1" else 150
    held = []
    rng = np.random.default_rng(0)
    with envpool.make_gymnasium(task, num_envs=8, batch_size=batch_size) as pool:
        pool.async_reset()
        for _ in range(count):
            result = pool.recv()
            pairs = [(torch.from_numpy(a), a.copy()) for _, a in leaves(result)]
            held.append((pairs, result if rng.random() < 0.5 else None))
            pool.send(rng.integers(0, pool.action_space.n, len(result[1])), result[-1]["env_id"])
            if rng.random() < 0.2:
                held.pop(rng.integers(len(held)))
        for pairs, _ in held:
            assert all(np.array_equal(t.numpy(), copy) for t, copy in pairs)
    starts = {pairs[0][0].data_ptr() for pairs, _ in held}
    assert len(starts) == len(held) > count / 2
    for pairs, _ in held:
        assert all(np.array_equal(t.numpy(), copy) for t, copy in pairs)
