"""How the values of a space travel: names of fields, and spaces that actions cannot have."""

import numpy as np
import pytest
from gymnasium import spaces

from envpool.errors import ConfigError
from envpool.python_envs.layout import Layout


def test_names_are_unique():
    """Characters that a name cannot contain are replaced, which must not make two names equal."""
    keys = ["a b", "a b 2", "a.b", "a:b", "a_b_3"]
    layout = Layout(spaces.Dict({key: spaces.Discrete(2) for key in keys}), "obs", ":")
    assert sorted(leaf.path[0] for leaf in layout.leaves) == sorted(keys)
    assert len({leaf.name for leaf in layout.leaves}) == len(keys)


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (spaces.Text(3), "its values are not arrays of a fixed shape"),
        (spaces.Box(0, 1, (2,), np.float16), "its dtype is not one of bool, int8"),
        (spaces.Tuple([spaces.Box(0, 1, (1,) * 7)]), "it has more than 6 dimensions"),
        (spaces.Box(0, 1, (0,)), "it has no elements"),
        (spaces.Dict(env_id=spaces.Discrete(4)), "not have the key 'env_id'"),
        (spaces.Dict(x=spaces.Discrete(2), players=spaces.Discrete(2)), "not have the key 'players'"),
    ],
)
def test_spaces_of_actions(space, text):
    with pytest.raises(ConfigError, match=f"the action space must .*{text}.*: wrap the environment"):
        Layout(space, "action", ".").check_actions()
