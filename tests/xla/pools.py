"""Helpers for the tests of calls from JAX."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import JaxRuntimeError

import envpool

#: The widths that a test runs with: JAX limited to 32 bits, which is its default, and not limited.
both_widths = pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])


def leaves(nest):
    """Return the arrays in what a step returned, in a fixed order; named tuples of two pools are two types."""
    return jax.tree.leaves(nest)


def assert_same(got, expected):
    """Compare a result of JAX with one of the pool; 64-bit arrays may have become 32-bit ones."""
    got, expected = leaves(got), leaves(expected)
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        a = np.asarray(a)
        assert a.dtype == jax.dtypes.canonicalize_dtype(b.dtype)
        np.testing.assert_array_equal(a, b.astype(a.dtype), strict=True)


def refuses(text):
    """Return a context in which a call must fail with this text of the pool."""
    return pytest.raises(JaxRuntimeError, match=text)


def rollout(step, actions, handle, keep=lambda batch: batch):
    """Step once for each row of `actions`; return the handle, and the kept parts of all batches, stacked."""

    def body(handle, action):
        handle, batch = step(handle, action)
        return handle, keep(batch)

    return jax.jit(partial(jax.lax.scan, body))(handle, jnp.asarray(actions))


def twins(task, env_type="gymnasium", **options):
    """Return two pools of the same task with the same seeds."""
    return envpool.make(task, env_type, **options), envpool.make(task, env_type, **options)
