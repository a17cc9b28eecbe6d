"""Pools that are pickled, copied and sent to other processes continue exactly."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.classic_control import CartPoleGymnasiumEnvPool
from envpool.errors import PoolStateError, StateError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.pools.env_pool import _open_pools
from envpool.registration import registry
from tests.support import plugin

N = 4
STYLES = [
    ("gymnasium", {}),
    ("gym", {"gym_api": "gymnasium"}),
    ("gym", {"gym_api": "legacy"}),
    ("dm", {}),
]
BATCHES = [pytest.param({}, id="sync"), pytest.param({"batch_size": 2, "num_threads": 2}, id="async")]


def leaves(nest: Any) -> Iterator[bytes]:
    """Yield the bytes of each array of a result."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (tuple, list)):
        for item in nest:
            yield from leaves(item)
    elif nest is not None:
        yield np.asarray(nest).tobytes()


def play(pool: Any, steps: int = 60, seed: int = 0) -> list[list[bytes]]:
    """Return the results of random steps of all envs, in their order."""
    rng = np.random.default_rng(seed)
    results = []
    for _ in range(steps):
        pool.send(rng.integers(0, 2, N).astype(np.int32), np.arange(N))
        results.append(list(leaves(pool.recv(env_id=range(N)))))
    return results


def pickled(pool: Any) -> Any:
    return pickle.loads(pickle.dumps(pool))


def make(env_type: str = "gymnasium", task_id: str = "CartPole-v1", **options: Any) -> Any:
    return envpool.make(task_id, env_type, **{"num_envs": N, "seed": 3, "max_episode_steps": 25, **options})


def start(pool: Any) -> None:
    """Reset all envs, receive everything, and leave each in another step."""
    pool.async_reset()
    pool.recv(env_id=range(N))
    for i in range(N):
        pool.send(np.ones(i, np.int32), np.arange(i))
        pool.recv(env_id=range(i))


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(("env_type", "options"), STYLES)
def test_copies_continue_exactly(env_type: str, options: dict[str, Any], batch: dict[str, int], copied: Any) -> None:
    with make(env_type, **options, **batch) as pool:
        start(pool)
        play(pool, 7)
        with copied(pool) as again:
            assert again is not pool
            assert type(again) is type(pool)
            assert again.spec == pool.spec
            assert again.config == pool.config
            for name in ("task_id", "style", "follows_gym"):
                assert getattr(again.spec, name) == getattr(pool.spec, name)
            assert again.get_state() == pool.get_state()
            assert play(again) == play(pool)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_protocols(protocol: int) -> None:
    with make() as pool, pickle.loads(pickle.dumps(pool, protocol)) as again:  # never reset: their seeds are pending
        for each in (pool, again):
            each.reset()
        assert play(again, 3) == play(pool, 3)


def in_child(pool: Any) -> tuple[str, Any]:
    """Play a pool that came from another process."""
    with pool:
        return type(pool).__name__, play(pool)


@pytest.mark.parametrize("batch", BATCHES)
def test_spawned_processes(batch: dict[str, int]) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        for env_type, options in STYLES:
            with make(env_type, **options, **batch) as pool:
                start(pool)
                name, results = executor.submit(in_child, pool).result()
                assert name == type(pool).__name__
                assert results == play(pool)


def test_rendering() -> None:
    options = {"render_mode": "rgb_array", "render_width": 90, "render_env_id": 2}
    for task_id in ("CartPole-v1", "Pong-v5"):
        with make(task_id=task_id, **options) as pool:
            start(pool)
            with pickled(pool) as again:
                assert again.render_mode == "rgb_array"
                assert again.metadata == pool.metadata
                assert np.array_equal(again.render(), pool.render())
                assert np.array_equal(again.render(range(N)), pool.render(range(N)))


def test_vector_envs() -> None:
    """The classes of gymnasium.make_vec own a pool, and are pickled with it."""
    with closing(EnvPoolVectorEnv("CartPole-v1", N)) as envs:
        envs.reset(seed=1)
        actions = np.ones(N, np.int64)
        envs.step(actions)
        with closing(pickled(envs)) as again:
            assert list(leaves(again.step(actions))) == list(leaves(envs.step(actions)))


def test_settings_of_the_machine() -> None:
    """They are the options that were passed: a default is chosen anew, a number is kept."""
    for options in ({"num_threads": 0}, {"num_threads": 3}, {"thread_affinity_offset": 0}, {"numa": True}):
        with make(**options) as pool, pickled(pool) as again:
            assert {name: getattr(again.spec.config, name) for name in options} == options


def test_pools_that_are_not_idle() -> None:
    text = r"only while no environment is in flight .*: receive all results first, .* is 1, which is still in flight"
    with make() as pool:
        pool.reset()
        pool.send(np.zeros(2, np.int32), [1, 3])
        for copied in (pickle.dumps, copy.deepcopy):
            with pytest.raises(PoolStateError, match=text):
                copied(pool)
        pool.recv(min_ready=2)
        with pickled(pool) as again:
            assert again.get_state() == pool.get_state()
    with pytest.raises(PoolStateError, match="closed"):
        pickle.dumps(pool)


def test_a_pool_whose_states_are_refused_is_closed() -> None:
    with make() as pool:
        restore, (recipe, states, *_) = pool.__reduce__()
        before = set(_open_pools)
        with pytest.raises(StateError, match="4 envs"):
            restore(recipe, states[:3])
        assert set(_open_pools) <= before


# ---- classes and tasks of others -------------------------------------------------------------------------------------


class MyPool(CartPoleGymnasiumEnvPool):
    """A pool class that somebody derives."""


def test_derived_pool_classes() -> None:
    spec = envpool.make_spec("CartPole-v1", num_envs=N)
    with MyPool(spec) as pool, pickled(pool) as again:
        assert type(again) is MyPool

    class Local(CartPoleGymnasiumEnvPool):
        """A class that cannot be imported."""

    with Local(spec) as pool, pytest.raises(pickle.PicklingError, match="Local is not found in the module"):
        pickle.dumps(pool)


def test_pool_classes_without_a_task_id() -> None:
    spec = type(envpool.make_spec("CartPole-v1"))
    with CartPoleGymnasiumEnvPool(spec(spec.gen_config(num_envs=N))) as pool, pickled(pool) as again:
        assert again.spec.task_id is None
        assert again.get_state() == pool.get_state()


def local_env() -> type:
    class Local:
        """An environment that cannot be imported by its name."""

        options: dict[str, Any] = {}

        @staticmethod
        def build(config: Any) -> Any:
            return envpool.make_spec("CartPole-v1").capsule

    return Local


def test_environments_that_only_a_task_id_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "registered_env", local_env(), raising=False)
    envpool.register("Local-v0", __name__, env="registered_env")
    try:
        with make(task_id="Local-v0") as pool:
            data = pickle.dumps(pool)
            with pickle.loads(data) as again:
                assert again.get_state() == pool.get_state()
    finally:
        del registry.tasks["Local-v0"]
    pickle.loads(data).close()  # the pickle has the row of the task table
    monkeypatch.delattr(sys.modules[__name__], "registered_env")
    with pytest.raises(ImportError, match="a pool of the task 'Local-v0' cannot be unpickled, since its environment"):
        pickle.loads(data)
    spec_cls = type(pool.spec)
    with (
        type(pool)(spec_cls(spec_cls.gen_config(num_envs=1))) as pool,
        pytest.raises(pickle.PicklingError, match="Local"),
    ):
        pickle.dumps(pool)


MODULE = """
    import envpool

    class Theirs:
        options = {}

        @staticmethod
        def build(config):
            return envpool.make_spec("CartPole-v1").capsule

    envpool.register("Theirs-v0", __name__, env="Theirs")
"""
LOAD = "import pickle, sys; pool = pickle.load(sys.stdin.buffer); print(pool.spec.task_id, len(pool.get_state()))"


def test_tasks_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    import theirs  # type: ignore[import-not-found]

    try:
        with make(task_id="Theirs-v0") as pool:
            data = pickle.dumps(pool)
    finally:
        del registry.tasks["Theirs-v0"], sys.modules[theirs.__name__]
    root = Path(__file__).parents[1]
    for paths, text in ((f"{root}:{tmp_path}", "Theirs-v0 4"), (f"{root}", "theirs.Theirs cannot be imported")):
        done = subprocess.run(
            [sys.executable, "-c", LOAD], input=data, capture_output=True, env={"PYTHONPATH": paths}, check=False
        )
        assert text in (done.stdout + done.stderr).decode()


def test_tasks_without_states() -> None:
    with plugin.make(num_envs=2) as pool:
        pool.reset()
        for copied in (pickle.dumps, copy.deepcopy):
            with pytest.raises(StateError, match="'Synthetic-v0' cannot be saved, restored or copied"):
                copied(pool)
