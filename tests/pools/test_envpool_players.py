"""Tasks with players have the keys, shapes and dtypes of EnvPool's: envpool_players.json, which the program beside it
has recorded with EnvPool 1.2.5."""

import json
import struct
import sys
import types
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.native import Field, define
from tests.pools.envpool_players import NUM_ENVS, arrays, forms
from tests.support import plugin

RECORDED = json.loads(Path(__file__).with_name("envpool_players.json").read_text())
#: What the core of a pool declares; the other arrays are an environment's own.
CORE = {"elapsed_step", "done", "reward", "discount", "step_type", "trunc"}
CORE |= {"info:env_id", "info:players.env_id", "info:players.id", "env_id", "players.env_id"}
#: What tasks with players have here in addition.
ADDED = {"player_terminated", "player_truncated"}
#: EnvPool's dm style has a discount for each player, of which it writes only the first one of each environment.
DISCOUNT = ["float32", [NUM_ENVS]]
each_task = pytest.mark.parametrize("task", RECORDED)


class Recorded:
    """An environment with the fields of a recorded task, which writes nothing."""

    options = types.MappingProxyType({})
    table = None  # of a subclass: what `define` takes

    @classmethod
    def build(cls, config):
        """Return the capsule of this environment definition."""
        fields, actions, options, count = cls.table
        template = sys.modules["_envpool_synthetic"].silent_definition()
        return define(template, fields, actions, options, max_num_players=count)


@pytest.fixture(scope="module")
def tasks():
    """Register an environment with the fields of each recorded task, which writes nothing."""
    plugin.load()
    module = types.ModuleType("recorded_tasks")
    for name, about in RECORDED.items():
        fields = [Field(k, np.dtype(d), tuple(s)) for k, (d, s) in about["state"].items() if k not in CORE]
        actions = [Field(k, np.dtype(d), tuple(s), 0, 9) for k, (d, s) in about["action"].items() if k not in CORE]
        options = struct.pack("6i", about["max_num_players"], 0, -1, 1, 0, 0)
        table = fields, actions, options, about["max_num_players"]

        class_name = name.partition("-")[0]
        setattr(module, class_name, type(class_name, (Recorded,), {"table": table}))
        envpool.register(f"Recorded/{name}", module.__name__, env=class_name)
    sys.modules[module.__name__] = module
    yield
    for name in RECORDED:
        envpool.registration.registry.tasks.pop(f"Recorded/{name}")
        gymnasium.registry.pop(f"envpool/Recorded-{name}")
    del sys.modules[module.__name__]


def assert_has(got, expected, added=frozenset()):
    """Compare arrays by name; `added` are the names that may be there in addition."""
    assert {k: got.get(k) for k in expected} == expected
    assert {k for k in got.keys() - expected.keys() if k.rpartition(".")[2].rpartition(":")[2] not in added} == set()


@each_task
def test_specs(task, tasks):
    spec = envpool.make_spec(f"Recorded/{task}")
    assert spec.config.max_num_players == RECORDED[task]["max_num_players"]
    assert_has(arrays(spec.state_array_spec), RECORDED[task]["state"], ADDED | {"id"})
    assert_has(arrays(spec.action_array_spec), RECORDED[task]["action"], {"id"})


@each_task
def test_results(task, tasks):
    with envpool.make_gymnasium(f"Recorded/{task}", num_envs=NUM_ENVS) as pool:
        obs, info = pool.reset()
        assert_has(forms({"obs": obs, "info": info}), RECORDED[task]["reset"], {"id"})
        assert info["players"]["env_id"].tolist() == [0, 0, 1, 1, 2, 2]
        names = ("obs", "reward", "terminated", "truncated", "info")
        result = dict(zip(names, pool.step(np.zeros(2 * NUM_ENVS, np.int32)), strict=True))
        assert_has(forms(result), RECORDED[task]["step"], ADDED | {"id"})


@each_task
def test_time_steps(task, tasks):
    with envpool.make_dm(f"Recorded/{task}", num_envs=NUM_ENVS) as pool:
        got = forms(pool.reset())
        assert got["discount"] == DISCOUNT
        expected = RECORDED[task]["dm"] | {"discount": DISCOUNT}
        assert_has(got, expected, ADDED | {"id", "elapsed_step"})


@each_task
@pytest.mark.parametrize("players", ["grid", "dict"])
def test_spaces_describe_the_other_views(task, players, tasks):
    with envpool.make_gymnasium(f"Recorded/{task}", num_envs=NUM_ENVS, players=players) as pool:
        obs, _ = pool.reset()
        first = first_of(obs)
        assert pool.observation_space.contains(first), (pool.observation_space, first)
        actions = pool.sample_actions()
        assert pool.action_space.contains(first_of(actions))
        pool.step(actions)


def first_of(nest):
    """Return the part of the first environment."""
    return {k: first_of(v) for k, v in nest.items()} if isinstance(nest, dict) else nest[0]


def test_players_and_arrays_of_one_name_are_merged(tasks):
    """EnvPool calls arrays of players ``players.x``; the numbers of the rows stand there, too."""
    with envpool.make_gymnasium("Recorded/IntersectionMultiAgent-v1", num_envs=2) as pool:
        _, info = pool.reset()
        assert list(info["players"]) == ["env_id", "id", "speed", "crashed"]
    with envpool.make_dm("Recorded/IntersectionMultiAgent-v1", num_envs=2) as pool:
        assert pool.reset().observation.players._fields == ("env_id", "id", "obs", "speed", "crashed")
