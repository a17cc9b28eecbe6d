"""Pools whose construction failed: they can be closed, and every other use raises an error of this package."""

import gc

import pytest

import envpool
from envpool.errors import EnvCreateError, PoolStateError
from envpool.python_envs.python_pool import PythonPool

STYLES = ["gymnasium", "gym", "dm"]

USES = {
    "spec": lambda pool: pool.spec,
    "num_envs": lambda pool: pool.num_envs,
    "all_env_ids": lambda pool: pool.all_env_ids,
    "config": lambda pool: pool.config,
    "is_async": lambda pool: pool.is_async,
    "len": len,
    "render": lambda pool: pool.render(),
    "reset": lambda pool: pool.reset(),
    "async_reset": lambda pool: pool.async_reset(),
    "step": lambda pool: pool.step([0, 0]),
    "stats": lambda pool: pool.stats(),
    "sample_actions": lambda pool: pool.sample_actions(),
    "get_state": lambda pool: pool.get_state(),
}


def blank_pool(style):
    """Return a pool whose ``__init__`` never ran."""
    with envpool.make("CartPole-v1", style, num_envs=2) as pool:
        return type(pool).__new__(type(pool))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("use", USES)
def test_uses_of_a_pool_that_was_never_initialized(use, style):
    with pytest.raises(PoolStateError, match="the pool was never initialized"):
        USES[use](blank_pool(style))


@pytest.mark.parametrize("style", STYLES)
def test_a_pool_that_was_never_initialized_can_be_closed(style):
    pool = blank_pool(style)
    assert "never initialized" in repr(pool)
    pool.close()
    pool.close()


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_destructor_that_closes(monkeypatch):
    """The vector environments of some versions of gymnasium close themselves in their destructor."""
    closed = []

    def destroy(self):
        self.close()
        closed.append(type(self))

    def fail():
        raise OSError("no display here")

    gc.collect()  # pools of other tests
    monkeypatch.setattr(PythonPool, "__del__", destroy)
    made = []

    def env_fn():
        import gymnasium

        made.append(gymnasium.make("CartPole-v1") if not made else fail())
        return made[-1]

    with pytest.raises(EnvCreateError, match="no display here"):
        envpool.make_python(env_fn, 2)
    gc.collect()
    assert len(closed) == 1
