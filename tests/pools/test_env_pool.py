"""Making pools; those whose construction failed can be closed, and every other use raises an error of this package."""

import gc

import pytest

import envpool
from envpool.errors import EnvCreateError, PoolStateError
from envpool.pools.classes import pool_class
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


def test_specs_of_other_tasks_are_refused():
    cls = type(envpool.make_spec("CartPole-v1"))
    pool_cls = pool_class(cls, "gymnasium")
    pong = envpool.make_spec("Pong-v5")
    for make, argument, text in (
        (cls, {"num_envs": 2}, r"config must be made by CartPoleEnvSpec.gen_config\(.*got {'num_envs': 2}"),
        (cls, pong.config, "config must be made by CartPoleEnvSpec.gen_config"),
        (pool_cls, None, "spec must be a CartPoleEnvSpec, got None"),
        (pool_cls, pong, "spec must be a CartPoleEnvSpec, got AtariEnvSpec"),
    ):
        with pytest.raises(TypeError, match=text):
            make(argument)
    with pytest.raises(TypeError, match="CartPoleEnvSpec has no option 'nu'; did you mean"):
        cls.gen_config(nu=3)


def test_pools_have_no_generator_of_gymnasium():
    with envpool.make_gymnasium("CartPole-v1", seed=3) as pool:
        assert not hasattr(pool, "np_random") and not hasattr(pool, "np_random_seed")
