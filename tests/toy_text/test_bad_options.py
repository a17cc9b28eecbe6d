"""Every bad option is an error that names the option, the value, what is allowed and, where there is one, a way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError

NAN = float("nan")
INF = float("inf")


@pytest.mark.parametrize(
    ("task_id", "option", "value", "parts"),
    [
        ("Catch-v0", "height", 0, ["height", "0", "between 2 and 4096"]),
        ("Catch-v0", "height", 1, ["height", "1", "between 2 and 4096"]),
        ("Catch-v0", "height", -3, ["height", "-3", "between 2 and 4096"]),
        ("Catch-v0", "height", 2**40, ["height", str(2**40), "between 2 and 4096"]),
        ("Catch-v0", "width", 0, ["width", "0", "between 1 and 4096"]),
        ("Catch-v0", "width", 4097, ["width", "4097", "between 1 and 4096"]),
        ("NChain-v0", "n", 0, ["n must be", "between 1 and 2147483647"]),
        ("NChain-v0", "n", 2**31, ["got 2147483648", "between 1 and 2147483647"]),
        ("NChain-v0", "slip", -0.1, ["slip", "-0.1", "0 to 1"]),
        ("NChain-v0", "slip", NAN, ["slip", "nan", "0 to 1"]),
        ("NChain-v0", "small", INF, ["small", "inf", "finite"]),
        ("NChain-v0", "large", 1e39, ["large", "1e+39", "float32"]),
        ("Taxi-v4", "rainy_probability", 1.5, ["rainy_probability", "1.5", "0 to 1"]),
        ("Taxi-v4", "fickle_probability", -1.0, ["fickle_probability", "-1.0", "0 to 1"]),
        ("FrozenLake-v1", "success_rate", 1.0000001, ["success_rate", "1.0000001", "0 to 1"]),
        ("FrozenLake-v1", "success_rate", NAN, ["success_rate", "nan", "0 to 1"]),
        ("FrozenLake-v1", "size", 5, ["size", "5", "4 and 8", "desc"]),
        ("FrozenLake-v1", "size", -1, ["size", "-1", "4 and 8", "desc"]),
        ("FrozenLake-v1", "map_name", "16x16", ["map_name", "'16x16'", "'4x4' and '8x8'", "desc"]),
        ("FrozenLake-v1", "map_name", ["4x4"], ["map_name", "['4x4']", "'4x4' and '8x8'"]),
        ("FrozenLake-v1", "map_name", 4, ["map_name", "4", "'4x4' and '8x8'"]),
        ("FrozenLake-v1", "reward_schedule", (1, 0), ["reward_schedule", "(1, 0)", "goal, hole, frozen"]),
        ("FrozenLake-v1", "reward_schedule", 1, ["reward_schedule", "1", "3 numbers"]),
        ("FrozenLake-v1", "reward_schedule", np.ones(3), ["reward_schedule", "tuple of 3 numbers"]),
        ("FrozenLake-v1", "reward_schedule", (1, "a", 0), ["reward_schedule[1] (hole)", "'a'", "finite"]),
        ("FrozenLake-v1", "reward_schedule", (1, "2", 0), ["reward_schedule[1] (hole)", "'2'", "finite"]),
        ("FrozenLake-v1", "reward_schedule", (1, 0, NAN), ["reward_schedule[2] (frozen)", "nan", "finite"]),
        ("FrozenLake-v1", "reward_schedule", (None, 0, 0), ["reward_schedule[0] (goal)", "None", "finite"]),
        ("FrozenLake-v1", "reward_schedule", (10**400, 0, 0), ["reward_schedule[0] (goal)", "finite"]),
        ("FrozenLake-v1", "desc", [], ["desc is []", "list of strings"]),
        ("FrozenLake-v1", "desc", [""], ["desc is ['']", "list of strings"]),
        ("FrozenLake-v1", "desc", "SFFG", ["desc is 'SFFG'", "list of strings"]),
        ("FrozenLake-v1", "desc", 5, ["desc is 5", "list of strings"]),
        ("FrozenLake-v1", "desc", [1, 2], ["desc is [1, 2]", "list of strings"]),
        ("FrozenLake-v1", "desc", [b"SF", b"FG"], ["desc is [b'SF', b'FG']", "list of strings"]),
        ("FrozenLake-v1", "desc", np.array([["S", "G"]]), ["desc is array", "list of strings"]),
        ("FrozenLake-v1", "desc", ["SFF", "FG"], ["desc[1]", "'FG'", "2 cells", "desc[0] has 3"]),
        ("FrozenLake-v1", "desc", ["SFF", ""], ["desc[1]", "''", "0 cells"]),
        ("FrozenLake-v1", "desc", ["SFX", "FFG"], ["desc[0]", "'X'", "'S' (start)", "'G' (goal)"]),
        ("FrozenLake-v1", "desc", ["SFs", "FFG"], ["desc[0]", "'s'", "'S' (start)"]),
        ("FrozenLake-v1", "desc", ["SF\u00e9\0", "FFFG"], ["desc[0]", "'S' (start)"]),
        ("FrozenLake-v1", "desc", ["FFF", "FFG"], ["desc has no 'S'", "at least one"]),
        ("FrozenLake-v1", "desc", ["S" * 1025] * 1024, ["1024 x 1025 cells", "1048576", "smaller"]),
    ],
)
def test_config_error(task_id: str, option: str, value: Any, parts: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        envpool.make_spec(task_id, **{option: value})
    assert all(part in str(caught.value) for part in parts), str(caught.value)
    with pytest.raises(ConfigError):
        envpool.make_gymnasium(task_id, **{option: value})


@pytest.mark.parametrize(
    ("task_id", "option", "value"),
    [
        ("Catch-v0", "height", 2.5),
        ("Catch-v0", "width", "5"),
        ("NChain-v0", "n", None),
        ("NChain-v0", "slip", "often"),
        ("Taxi-v4", "is_rainy", 2),
        ("Taxi-v4", "fickle_passenger", "yes"),
        ("FrozenLake-v1", "is_slippery", None),
        ("FrozenLake-v1", "success_rate", None),
        ("FrozenLake-v1", "size", "4x4"),
        ("CliffWalking-v1", "is_slippery", "no"),
        ("Blackjack-v1", "natural", None),
        ("Blackjack-v1", "sab", 1.5),
    ],
)
def test_type_error(task_id: str, option: str, value: Any) -> None:
    with pytest.raises(TypeError, match=option):
        envpool.make_spec(task_id, **{option: value})


def test_unknown_option_names_the_near_one() -> None:
    with pytest.raises(TypeError, match="is_slippery"):
        envpool.make_spec("FrozenLake-v1", slippery=True)


@pytest.mark.parametrize(
    "task_id", ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1", "NChain-v0", "Catch-v0"]
)
def test_bad_action_leaves_the_pool_usable(task_id: str) -> None:
    """A refused action stays in its slot; a reset, which does not look at actions, must not trip over it."""
    with envpool.make_gymnasium(task_id, num_envs=4) as pool:
        pool.reset(seed=3)
        expected = pool.step(np.zeros(4, np.int32))[0]
        for action in (-1, 2**31 - 1, -(2**31), int(pool.action_space.n)):
            pool.reset()
            with pytest.raises(ActionError):
                pool.step(np.full(4, action, np.int64))
            pool.reset(seed=3)
            assert np.array_equal(pool.step(np.zeros(4, np.int32))[0], expected)


def test_largest_map() -> None:
    """A million states, a quarter of them starts."""
    row = "SFFF" * 256
    with envpool.make_gymnasium("FrozenLake-v1", num_envs=8, desc=[row] * 1024, is_slippery=False) as pool:
        obs, _ = pool.reset(seed=1)
        assert (obs % 4 == 0).all()
        assert pool.observation_space.n == 2**20
        moved = pool.step(np.full(8, 2, np.int32))[0]
        assert np.array_equal(moved, obs + 1)
