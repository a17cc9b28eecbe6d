"""What a rollout must record, put together in Python from the results of a pool."""

import numpy as np


def flat(nest, prefix=""):
    """Return the leaves of nested dicts and named tuples by their keys, joined with dots."""
    if hasattr(nest, "_asdict"):
        nest = nest._asdict()
    if not isinstance(nest, dict):
        return {prefix: nest}
    return {k: v for key, value in nest.items() for k, v in flat(value, f"{prefix}.{key}" if prefix else key).items()}


def parts(style, result):
    """Return copies of the arrays of a result by name, in any API style."""
    if style == "dm":
        state = flat(result.observation) | flat(result._replace(observation=None))
        return {k: np.array(v) for k, v in state.items() if v is not None and k != "players.env_id"}
    info = dict(result[-1])
    found = {
        "obs": result[0],
        "info": {k: v for k, v in info.items() if k not in ("players", "_final_obs", "_final_info")},
    }
    if len(result) == 4:
        found |= {"reward": result[1], "done": result[2], "truncated": info.pop("TimeLimit.truncated")}
    if len(result) == 5:
        found |= {"reward": result[1], "terminated": result[2], "truncated": result[3], "done": result[2] | result[3]}
    return {k: np.array(v) for k, v in flat(found).items()}


def stacked(steps, name):
    """Return an array of each step, stacked: (T, N, ...)."""
    return np.stack([step[name] for step in steps])


def assert_nest_equal(nest, expected):
    """Compare nested dicts of arrays; `expected` has the leaves by their keys, joined with dots."""
    found = flat(nest)
    assert sorted(found) == sorted(expected)
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
