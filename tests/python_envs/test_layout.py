"""How the values of a space travel: names of fields."""

from gymnasium import spaces

from envpool.python_envs.layout import Layout


def test_names_are_unique():
    """Characters that a name cannot contain are replaced, which must not make two names equal."""
    keys = ["a b", "a b 2", "a.b", "a:b", "a_b_3"]
    layout = Layout(spaces.Dict({key: spaces.Discrete(2) for key in keys}), "obs", ":")
    assert sorted(leaf.path[0] for leaf in layout.leaves) == sorted(keys)
    assert len({leaf.name for leaf in layout.leaves}) == len(keys)
