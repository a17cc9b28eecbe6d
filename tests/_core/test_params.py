"""What the functions of an env definition for parameters may rely on, and which calls of a pool are refused."""

import gc
import os
import re

import numpy as np
import pytest

from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError
from envpool.native import Param
from tests.support.callbacks import CallsBack
from tests.support.checked_pool import TERMINATE
from tests.support.definitions import Definition, pool_of
from tests.support.parameters import ALL_DTYPES, Parameters, pool_with_params

G = {"gravity": Param(9.8, -50, 50)}


def steps(pool, action=1, ids=None):
    n = pool.num_envs if ids is None else len(ids)
    return pool.step(np.full(n, action, np.int32), ids)


# ---- values ----------------------------------------------------------------------------------------------------------


def test_every_dtype():
    values = {
        "flag": [False, True],
        "tiny": [-100, 100],
        "bytes": np.arange(12).reshape(2, 2, 3),
        "count": [0, 2**31 - 1],
        "big": [[2**62, -(2**63)], [0, 2**63 - 1]],
        "single": [-1e30, 1e30],
        "gravity": [-50, 50.0],
        "matrix": [[[0, 1e6], [1, 2]], [[3, 4], [5, 6]]],
        "short": [[-1000, 1000], [0, 257]],
        "word": [0, 2**16 - 1],
        "half": [1, 2**32 - 2],
        "whole": np.array([[7, 2**64 - 1], [2**63 + 1, 2**63 - 1]], np.uint64),
    }
    with pool_with_params() as pool:
        for name, found in pool.get_params().items():
            param = pool.spec.param_spec[name]
            assert (found.dtype, found.shape) == (param.dtype, (2, *param.shape))
            assert np.array_equal(found, [param.default] * 2)
        pool.reset()
        pool.set_params(values)
        pool.reset()
        for name, in_force in zip(ALL_DTYPES, pool.parameters.in_force, strict=True):
            expected = np.asarray(values[name]).astype(in_force.dtype)
            assert np.array_equal(in_force, expected), name
            assert pool.get_params(in_force=True)[name].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("tiny", 101, "tiny must be an integer of at least -100 and at most 100.*, got 101"),
        ("short", [0, -1001], r"short\[1\] must be an integer of at least -1000 and at most 1000.*, got -1001"),
        ("tiny", [1, 300], r"tiny\[1\] must be an integer of at least -100.*, got 300"),
        (
            "bytes",
            [[1, 2, 3], [4, 5, 256]],
            r"bytes\[1, 2\] must be an integer of at least 0 and at most 255, got 256",
        ),
        ("bytes", np.full((2, 2, 3), -1), r"bytes\[0, 0, 0\] must be .*, got -1"),
        ("count", 2**31, "count must be an integer of at least 0 and at most 2.*, got 2147483648"),
        ("big", np.full(2, 2**63, np.uint64), r"big\[0\] must be an integer.*, got 9223372036854775808"),
        ("word", 2**16, "word must be an integer of at least 0 and at most 65535, got 65536"),
        ("half", 2**32 - 1, "half must be an integer of at least 1 and at most .*, got 4294967295"),
        ("whole", [7, -1], r"whole\[1\] must be an integer of at least 7, got -1"),
        ("whole", np.array([6, 2**64 - 1], np.uint64), r"whole\[0\] must be an integer of at least 7, got 6"),
        ("single", 1e39, "single must be a finite number of at most 1e[+]30.*, got 1e[+]39"),
        ("single", float("nan"), "single must be a finite number.*, got nan"),
        ("gravity", [0, float("inf")], r"gravity\[1\] must be a finite number of at least -50.*, got inf"),
        ("flag", 2, "flag must be a boolean.*, got 2"),
        (
            "matrix",
            np.ones((3, 2, 2)),
            r"matrix must have the shape \(2, 2\), or \(2, 2, 2\) for one .*, got \(3, 2, 2\)",
        ),
        (
            "gravity",
            [1, 2, 3],
            r"gravity must have the shape \(\), or \(2,\) for one value per environment, got \(3,\)",
        ),
    ],
)
def test_values_that_are_refused(name, value, text):
    with pool_with_params() as pool:
        with pytest.raises(ConfigError, match=text):
            pool.set_params({"gravity": 1, name: value})
        assert pool.get_params()["gravity"].tolist() == [9.8, 9.8]
        with pytest.raises(ConfigError, match=text):
            pool_with_params(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("count", 1.0), ("gravity", "1"), ("gravity", None), ("gravity", [1, [2]]), ("flag", 0.5), ("big", [2**70, 0])],
)
def test_types_that_are_refused(name, value):
    with pool_with_params() as pool, pytest.raises(TypeError, match=f"{name} must be"):
        pool.set_params({name: value})


# ---- when values are put into force ----------------------------------------------------------------------------------


def test_the_calls_of_a_reset():
    with pool_with_params(G, num_envs=1100, num_threads=1) as pool:
        pool.reset()
        pool.set_params({"gravity": np.linspace(-5, 5, 1100)})
        pool.set_params({"gravity": 7}, [3])
        calls = pool.parameters.calls
        assert {name for name, _ in calls} == {"get"}
        calls.clear()
        steps(pool)
        assert calls == []
        pool.reset(np.arange(50, 1100))
        assert sorted(i for _, ids in calls for i in ids) == list(range(50, 1100))
        pool.reset([3])
        assert calls[-1] == ("set", [3])
        calls.clear()
        pool.reset([3])
        assert calls == []
        in_force = pool.get_params(in_force=True)["gravity"]
        assert in_force[3] == 7 and np.array_equal(in_force[50:], np.linspace(-5, 5, 1100)[50:])
        assert (np.delete(in_force[:50], 3) == 9.8).all()
        assert pool.get_params([0])["gravity"][0] == -5


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("batch_size", [0, 2])
def test_every_auto_reset_mode(mode, batch_size):
    """New values take effect with the next episode, never before."""
    with pool_with_params(G, num_envs=4, batch_size=batch_size, autoreset_mode=mode, num_threads=2) as pool:
        in_force = pool.parameters.in_force[0]
        pool.async_reset()
        ids = np.concatenate([pool.recv()[4]["env_id"] for _ in range(1 if batch_size == 0 else 2)])
        pool.set_params({"gravity": 1.5}, [0, 3])
        for _ in range(3):
            pool.send(np.ones(4, np.int32), ids)
            pool.recv(env_id=ids)
        assert in_force.tolist() == [9.8] * 4
        pool.send(np.full(4, TERMINATE, np.int32), ids)
        pool.recv(env_id=ids)
        if mode == "next_step":
            assert in_force.tolist() == [9.8] * 4
            pool.send(np.ones(4, np.int32), ids)
            pool.recv(env_id=ids)
        elif mode == "disabled":
            pool._send_reset(ids)
            pool.recv(env_id=ids)
        assert in_force.tolist() == [1.5, 9.8, 9.8, 1.5]


def test_values_of_make_are_in_force_from_the_first_episode():
    with pool_with_params(G, num_envs=3, gravity=[1.0, 2.0, 3.0]) as pool:
        assert pool.get_params()["gravity"].tolist() == [1, 2, 3]
        assert pool.get_params(in_force=True)["gravity"].tolist() == [9.8] * 3
        steps(pool)
        assert pool.parameters.in_force[0].tolist() == [1, 2, 3]


# ---- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_refused_by_the_env(mode):
    with pool_with_params(G, num_envs=4, autoreset_mode=mode, num_threads=2) as pool:
        pool.reset()
        pool.set_params({"gravity": [1, 2, 3, 4]})
        pool.parameters.fails = {"set": {1: 5, 2: 5}}
        with pytest.raises(EnvStepError) as caught:
            pool.reset()
        assert sorted(caught.value.failures) == [1, 2]
        pool.recv()
        assert pool.get_params(in_force=True)["gravity"].tolist() == [1, 9.8, 9.8, 4]
        assert pool.get_params()["gravity"].tolist() == [1, 2, 3, 4]
        pool.parameters.fails = {"set": {2: 5}}
        with pytest.raises(EnvStepError) as caught:
            pool.reset()
        assert sorted(caught.value.failures) == [2]
        pool.recv()
        pool.set_params({"gravity": 30}, 2)
        pool.parameters.fails = {}
        pool.reset()
        assert pool.parameters.in_force[0].tolist() == [1, 2, 30, 4]


def test_a_status_without_errors_means_all_envs():
    with pool_with_params(G, num_envs=3, num_threads=1) as pool:
        pool.reset()
        pool.set_params({"gravity": 1})
        pool.parameters.fails = {"set": 9}
        with pytest.raises(EnvStepError) as caught:
            pool.reset()
        assert sorted(caught.value.failures) == [0, 1, 2]
        pool.recv()
        pool.parameters.fails = {}
        pool.reset()
        assert pool.parameters.in_force[0].tolist() == [1, 1, 1]


def test_on_error_restart():
    with pool_with_params(G, num_envs=2, on_error="restart") as pool:
        pool.reset()
        pool.set_params({"gravity": 1})
        pool.parameters.fails = {"set": {1: 5}}
        info = pool.reset()[1]
        assert info["error"][0] in ("", None) and info["error"][1]


@pytest.mark.parametrize("fails", [{1: 4}, 4])
def test_values_that_cannot_be_read(fails):
    with pool_with_params(num_envs=3) as pool:
        pool.reset()
        pool.parameters.fails = {"get": fails}
        with pytest.raises(RuntimeError, match=r"the parameters of env [01] could not be read: "):
            pool.get_params()
        with pytest.raises(RuntimeError, match=r"the parameters of env [01] could not be read: "):
            pool.set_params({"gravity": 1})
        pool.parameters.fails = {}
        assert pool.get_params()["gravity"].tolist() == [9.8] * 3
        calls = len(pool.parameters.calls)
        pool.reset()
        assert len(pool.parameters.calls) == calls


# ---- calls that are refused ------------------------------------------------------------------------------------------


def test_ids():
    with pool_with_params(G, num_envs=3) as pool:
        pool.set_params({"gravity": [1, 2]}, [2, 0])
        assert pool.get_params([1, 0, 2])["gravity"].tolist() == [9.8, 2, 1]
        assert pool.get_params(2)["gravity"].tolist() == [1]
        assert pool.get_params([])["gravity"].shape == (0,)
        pool.set_params({"gravity": np.empty(0)}, [])
        pool.set_params({})
        for ids in ([3], [-1], [0, 0]):
            with pytest.raises(EnvIdError):
                pool.set_params({"gravity": 5}, ids)
            with pytest.raises(EnvIdError):
                pool.get_params(ids)
        assert pool.get_params()["gravity"].tolist() == [2, 9.8, 1]


def test_envs_in_flight():
    with pool_with_params(G, num_envs=4, batch_size=2, num_threads=1) as pool:
        pool.async_reset()
        ready = pool.recv()[4]["env_id"]
        busy = np.setdiff1d(np.arange(4), ready)
        for call in (lambda ids: pool.set_params({"gravity": 1}, ids), pool.get_params):
            call(ready)
            for ids in (busy, None):
                with pytest.raises(EnvIdError, match="in flight"):
                    call(ids)
        pool.recv()
        assert pool.get_params(busy)["gravity"].tolist() == [9.8, 9.8]


def test_closed_pools():
    pool = pool_with_params(G)
    pool.close()
    for call in (pool.get_params, lambda: pool.set_params({"gravity": 1}), lambda: pool.set_params({})):
        with pytest.raises(PoolStateError, match="closed"):
            call()


def test_forked_pools():
    with pool_with_params(G, num_threads=1) as pool:
        pool.reset()
        child = os.fork()
        if child == 0:
            refused = 0
            for call in (pool.get_params, lambda: pool.set_params({"gravity": 1})):
                try:
                    call()
                except PoolStateError as error:
                    refused += "forked" in str(error)
            os._exit(40 + refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


@pytest.mark.parametrize("call", ["set_params", "get_params"])
def test_arguments_that_use_the_pool(call):
    """Ids and values may run any code when they are converted; the pool may be closed or busy after that."""
    for use, error in ((lambda: pool.close(), PoolStateError), (lambda: pool.send(np.ones(2, np.int32)), EnvIdError)):
        with pool_with_params(G) as pool:
            pool.reset()
            ids = CallsBack([0, 1], use)
            with pytest.raises(error):
                pool.get_params(ids) if call == "get_params" else pool.set_params({"gravity": 1}, ids)


def test_from_a_destructor():
    with pool_with_params(G) as pool:
        pool.reset()
        found = []

        class Dies:
            def __init__(self):
                self.cycle = self

            def __del__(self):
                pool.set_params({"gravity": 2})
                found.append(pool.get_params()["gravity"].tolist())

        Dies()
        gc.collect()
        assert found == [[2, 2]]


# ---- definitions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["params", "get_params", "set_params"])
def test_a_definition_has_all_members_or_none(missing):
    def remove(definition):
        setattr(definition.env, missing, type(definition.env.params)() if missing == "params" else None)

    with pytest.raises(ValueError, match="params, get_params and set_params are required, but at least one is NULL"):
        pool_with_params(G, prepare=remove)


def test_the_class_has_the_parameters_of_the_definition():
    definition = Definition()
    parameters = Parameters(G, 1)
    parameters.install(definition)
    for declared in (
        {"g": G["gravity"]},
        {"gravity": Param(9)},
        {"gravity": Param((9.8,))},
        G | {"more": Param(1)},
    ):
        with pytest.raises(ValueError, match=re.escape("define(params=param_fields(...))")):
            pool_of(definition.capsule(), parameters=declared)
    pool_of(definition.capsule(), parameters=G).close()


def test_a_class_may_offer_no_parameters():
    definition = Definition()
    parameters = Parameters(G, 1)
    parameters.install(definition)
    with pool_of(definition.capsule()) as pool:
        pool.reset()
        assert pool.get_params() == {}
        with pytest.raises(ConfigError, match="has no parameters"):
            pool.set_params({"gravity": 1})


def test_a_table_that_is_not_allowed():
    def repeat(definition):
        definition.env.params[1].name = definition.env.params[0].name

    def players(definition):
        definition.env.params[0].ndim = 1
        definition.env.params[0].shape[0] = -1

    def count(definition):
        definition.env.num_params = 65

    for prepare, text in ((repeat, "must differ"), (players, "player dimension"), (count, "between 0 and 64")):
        with pytest.raises(ValueError, match=text):
            pool_with_params({"a": Param(1.0), "b": Param(2.0)}, prepare=prepare)


def test_a_pool_without_parameters():
    definition = Definition()
    with pool_of(definition.capsule()) as pool:
        assert pool.get_params() == {} == pool.spec.param_spec
        pool.set_params({})
        with pytest.raises(ConfigError, match="has no parameters, but 'gravity' was given"):
            pool.set_params({"gravity": 1})
