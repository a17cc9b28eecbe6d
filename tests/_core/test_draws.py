"""Which calls of an env definition a draw of parameters makes, and what the core writes for each dtype."""

import numpy as np
import pytest

from envpool.errors import ConfigError, EnvIdError, EnvStepError
from envpool.native import Param
from tests.support.checked_pool import TERMINATE
from tests.support.parameters import pool_with_params

#: Follows the seed of an environment in the seed of its draws.
DRAWS = 0x64726177
G = {"gravity": Param(9.8, -50, 50), "wind": Param((1.0, 2.0), -10, 10)}


def stream(seed):
    """Return the generator from which the environment with a seed draws."""
    return np.random.default_rng([seed % 2**32, seed >> 32, DRAWS])


def in_force(pool, name):
    return pool.get_params(in_force=True)[name]


def test_every_dtype():
    randomize = {
        "flag": ("choice", [False, True]),
        "tiny": ("uniform", -100, 100),
        "bytes": ("uniform", 0, 255),
        "count": ("uniform", 0, 2**31 - 1),
        "big": ("uniform", [-(2**63), 5], [2**63 - 1, 5]),
        "single": ("uniform", -1, 1),
        "gravity": ("normal", 0, 30, -50, 50),
        "matrix": ("scale", 0.5, 2),
        "short": ("uniform", [-1000, 0], 1000),
        "word": ("uniform", 0, 2**16 - 1),
        "half": ("choice", [1, 2**32 - 2]),
        "whole": ("uniform", 7, 2**64 - 1),
    }
    with pool_with_params(num_envs=2, seed=2**40, randomize=randomize) as pool:
        generators = [stream(2**40), stream(2**40 + 1)]
        for _ in range(3):
            pool.reset()
            for i, rng in enumerate(generators):
                expected = {
                    "flag": [False, True][rng.integers(2)],
                    "tiny": rng.integers(-100, 101),
                    "bytes": rng.integers(0, 256, (2, 3)),
                    "count": rng.integers(0, 2**31),
                    "big": [rng.integers(-(2**63), 2**63 - 1, endpoint=True), 5],
                    "single": np.float32(-1 + 2 * rng.random()),
                    "gravity": np.clip(30 * rng.standard_normal(), -50, 50),
                    "matrix": np.array([[1, 2], [3, 4]]) * (0.5 + 1.5 * rng.random((2, 2))),
                    "short": [rng.integers(-1000, 1001), rng.integers(0, 1001)],
                    "word": rng.integers(0, 2**16),
                    "half": [1, 2**32 - 2][rng.integers(2)],
                    "whole": rng.integers(7, 2**64 - 1, 2, np.uint64, endpoint=True),
                }
                for name, value in expected.items():
                    assert in_force(pool, name)[i].tolist() == np.asarray(value).tolist(), name


@pytest.mark.parametrize("distribution", ["uniform", "loguniform", "scale", "normal"])
def test_shared_draws_use_one_random_number(distribution):
    entry = (distribution, 1, 3) if distribution != "normal" else (distribution, [1, 2], 0.1, -10, 10)
    with pool_with_params(G, num_envs=1, seed=3, randomize={"wind": (*entry, "shared")}) as pool:
        pool.reset()
        rng = stream(3)
        x = rng.standard_normal() if distribution == "normal" else rng.random()
        expected = {
            "uniform": np.full(2, 1 + 2 * x),
            "loguniform": np.full(2, np.exp(np.log(3) * x)),
            "scale": np.array([1, 2]) * (1 + 2 * x),
            "normal": np.array([1, 2]) + 0.1 * x,
        }
        assert in_force(pool, "wind")[0] == pytest.approx(expected[distribution], rel=1e-15)


def test_only_envs_that_draw_are_read():
    """A reset reads the parameters of envs that draw some, and sets them; other envs cost nothing."""
    with pool_with_params(G, num_envs=4, num_threads=1) as pool:
        pool.reset()
        pool.set_randomize({"gravity": ("uniform", 1, 2)}, [1, 3])
        pool.set_params({"wind": 5 * np.ones(2)}, [2, 3])
        calls = pool.parameters.calls
        calls.clear()
        pool.reset()
        assert calls == [("get", [1]), ("set", [1, 2, 3])]
        calls.clear()
        pool.step(np.ones(4, np.int32))
        assert calls == []
        pool.reset()
        assert calls == [("get", [1, 3]), ("set", [1, 3])]
        pool.set_randomize(None)
        pool.reset()
        calls.clear()
        pool.reset()
        assert calls == []
        assert in_force(pool, "gravity").tolist() == [9.8] * 4
        assert in_force(pool, "wind").tolist() == [[1, 2], [1, 2], [5, 5], [5, 5]]


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("batch_size", [0, 2])
def test_every_auto_reset_mode(mode, batch_size):
    """The values change with the reset: not before, and not an episode later."""
    options = {"num_envs": 4, "batch_size": batch_size, "autoreset_mode": mode, "num_threads": 2, "seed": 11}
    with pool_with_params(G, **options, randomize={"gravity": ("uniform", 8, 12)}) as pool:
        generators = [stream(11 + i) for i in range(4)]
        pool.async_reset()
        ids = np.concatenate([pool.recv()[4]["env_id"] for _ in range(1 if batch_size == 0 else 2)])
        expected = [8 + 4 * rng.random() for rng in generators]
        for action in (1, 1, TERMINATE):
            assert pool.parameters.in_force[0].tolist() == expected
            pool.send(np.full(4, action, np.int32), ids)
            pool.recv(env_id=ids)
        if mode == "next_step":
            assert pool.parameters.in_force[0].tolist() == expected
            pool.send(np.ones(4, np.int32), ids)
            pool.recv(env_id=ids)
        elif mode == "disabled":
            pool._send_reset(ids)
            pool.recv(env_id=ids)
        assert pool.parameters.in_force[0].tolist() == [8 + 4 * rng.random() for rng in generators]


def test_draws_do_not_depend_on_threads_or_batches():
    found = []
    for threads, batch in ((1, 600), (2, 600), (3, 7)):
        options = {"num_envs": 600, "num_threads": threads, "batch_size": batch, "seed": 5}
        with pool_with_params(G, **options, randomize={"wind": ("uniform", -10, 10)}) as pool:
            for _ in range(2):
                pool.async_reset()
                pool.recv(min_ready=600)
            found.append(pool.parameters.in_force[1].tobytes())
    assert len(set(found)) == 1


def test_a_seed_starts_the_draws_again():
    with pool_with_params(G, num_envs=2, seed=1, randomize={"gravity": ("uniform", 0, 1)}) as pool:
        pool.reset()
        pool.reset()
        pool.reset(seed=[None, 7])
        first, second = stream(1), stream(7)
        first.random(2)
        assert in_force(pool, "gravity").tolist() == [first.random(), second.random()]


def test_draws_that_begin_later_are_those_of_the_seed():
    with pool_with_params(G, num_envs=1, seed=4) as pool:
        pool.reset()
        pool.reset()
        pool.set_randomize({"gravity": ("uniform", 0, 1)})
        pool.reset()
        rng = stream(4)
        assert in_force(pool, "gravity")[0] == rng.random()
        pool.set_randomize({"gravity": ("uniform", 0, 2)})  # the generator continues
        pool.reset()
        assert in_force(pool, "gravity")[0] == 2 * rng.random()


@pytest.mark.parametrize("call", ["get", "set"])
def test_failures_of_the_env(call):
    """An env whose parameters cannot be read, or that refuses a draw, fails alone; the next reset draws again."""
    with pool_with_params(G, num_envs=3, seed=0, randomize={"gravity": ("uniform", 0, 1)}) as pool:
        pool.reset()
        before = in_force(pool, "gravity").tolist()
        pool.parameters.fails = {call: {1: 5}}
        with pytest.raises(EnvStepError) as caught:
            pool.reset()
        assert list(caught.value.failures) == [1]
        pool.recv()
        pool.parameters.fails = {}
        after = in_force(pool, "gravity").tolist()
        assert after[1] == before[1] and after[0] != before[0] and after[2] != before[2]
        pool.reset()
        rng = stream(1)
        assert in_force(pool, "gravity")[1] == rng.random(3 if call == "set" else 2)[-1]


def test_pending_values_survive_a_refused_draw():
    with pool_with_params(G, num_envs=1, seed=0, randomize={"gravity": ("uniform", 0, 1)}) as pool:
        pool.reset()
        pool.set_params({"wind": [3, 4]})
        pool.parameters.fails = {"set": {0: 5}}
        with pytest.raises(EnvStepError):
            pool.reset()
        pool.recv()
        pool.parameters.fails = {}
        pool.reset()
        assert in_force(pool, "wind")[0].tolist() == [3, 4]


def test_drawn_parameters_cannot_be_set():
    with pool_with_params(G, num_envs=2, randomize={"gravity": ("uniform", 0, 1)}) as pool:
        pool.set_randomize(None, 0)
        pool.set_params({"gravity": 3}, 0)
        with pytest.raises(
            ConfigError, match=r"gravity of env 1 cannot be set, .* set_randomize\(\) without 'gravity'"
        ):
            pool.set_params({"wind": [7, 7], "gravity": 3})
        assert pool.get_params()["wind"].tolist() == [[1, 2]] * 2


def test_parameters_that_are_no_longer_drawn_get_their_nominal_values():
    options = {"gravity": [1.0, 2.0], "wind": [3, 4]}
    randomize = {"gravity": ("uniform", 5, 6), "wind": ("uniform", -10, -9)}
    with pool_with_params(G, num_envs=2, randomize=randomize, **options) as pool:
        assert pool.get_params()["gravity"].tolist() == [1, 2]
        pool.reset()
        pool.set_randomize({"wind": ("scale", 1, 1)}, 1)
        pool.set_randomize({}, 0)
        pool.reset()
        assert in_force(pool, "gravity").tolist() == [1, 2]
        assert in_force(pool, "wind").tolist() == [[3, 4], [3, 4]]
        assert pool.get_randomize() == [{}, {"wind": ("scale", 1, 1)}]


def test_envs_in_flight_are_refused():
    with pool_with_params(G, num_envs=2) as pool:
        pool.reset()
        pool.send(np.ones(1, np.int32), [1])
        with pytest.raises(EnvIdError, match="still in flight"):
            pool.set_randomize({"gravity": ("uniform", 0, 1)})
        pool.set_randomize({"gravity": ("uniform", 0, 1)}, [0])
        assert pool.get_randomize([1, 0]) == [{}, {"gravity": ("uniform", 0, 1)}]
        pool.recv()


def test_tables_outlive_their_replacement_and_the_spec():
    """An env keeps the distributions that it draws from."""
    with pool_with_params(G, num_envs=50, randomize={"gravity": ("choice", list(range(40)))}) as pool:
        for k in range(50):
            pool.set_randomize({"gravity": ("choice", [k + 0.5] * 100)}, k)
        pool.spec.draws = None
        pool.reset()
        assert in_force(pool, "gravity").tolist() == [k + 0.5 for k in range(50)]
