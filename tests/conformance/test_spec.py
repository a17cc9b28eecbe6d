"""Specs of tasks: the ids, options and defaults of EnvPool, the spaces of upstream, and errors for bad options."""

from __future__ import annotations

import re
from itertools import groupby

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.tasks.spec import PLAYER_STATE
from tests.conformance.cases import BadOption, SpacesCase, SpecCase, table
from tests.support.oracles.spaces import assert_same_space

SPECS = table("SPECS")
COMMON_OPTIONS = set(envpool.make_spec("CartPole-v1").config._fields) - {"sutton_barto_reward", "reward_threshold"}
COMMON_ARRAYS = {*envpool.make_spec("CartPole-v1").state_array_spec, *PLAYER_STATE} - {"obs"}
FAMILIES = [
    pytest.param([row.values[0].task_id for row in rows], id=family)
    for family, rows in groupby(SPECS, lambda row: str(row.id).partition("-")[0])
]


@pytest.mark.parametrize("task_ids", FAMILIES)
def test_tasks_come_in_this_order(task_ids: list[str]) -> None:
    assert [task_id for task_id in envpool.list_all_envs() if task_id in task_ids] == task_ids


@pytest.mark.parametrize("case", SPECS)
def test_time_limit_and_reward_threshold(case: SpecCase) -> None:
    spec = envpool.make_spec(case.task_id)
    assert spec.config.max_episode_steps == case.max_episode_steps
    assert spec.reward_threshold == case.reward_threshold
    assert ("reward_threshold" in spec.config._fields) == (case.reward_threshold is not None)
    if case.upstream_id is not None:
        upstream = gymnasium.spec(case.upstream_id)
        assert case.max_episode_steps == upstream.max_episode_steps
        assert case.reward_threshold == upstream.reward_threshold


@pytest.mark.parametrize("case", [row for row in SPECS if row.values[0].options is not None])
def test_options_and_their_defaults(case: SpecCase) -> None:
    assert case.options is not None
    config = envpool.make_spec(case.task_id).config._asdict()
    found = {name: config[name] for name in case.options}
    assert found == case.options
    assert {name: type(v) for name, v in found.items()} == {name: type(v) for name, v in case.options.items()}
    if not case.has_more_options:
        assert set(config) - COMMON_OPTIONS - {"reward_threshold"} <= set(case.options)


@pytest.mark.parametrize("case", [row for row in SPECS if row.values[0].state is not None])
def test_arrays(case: SpecCase) -> None:
    assert case.state is not None
    spec = envpool.make_spec(case.task_id)
    state = {name: (a.dtype, a.shape) for name, a in spec.state_array_spec.items() if name not in COMMON_ARRAYS}
    assert state == {name: (np.dtype(dtype), list(shape)) for name, (dtype, shape) in case.state.items()}
    if case.action is not None:
        dtype, shape = case.action
        action = spec.action_array_spec["action"]
        assert (action.dtype, action.shape) == (dtype, list(shape))


@pytest.mark.parametrize("case", table("SPACES"))
@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_spaces(case: SpacesCase) -> None:
    spec = envpool.make_spec(case.task_id, **case.options)
    expected = case.spaces()
    if expected.observation_space is not None:
        assert_same_space(spec.observation_space, expected.observation_space)
    if expected.action_space is not None:
        assert_same_space(spec.action_space, expected.action_space)


@pytest.mark.parametrize("case", table("BAD_OPTIONS"))
def test_bad_options(case: BadOption) -> None:
    """An error names the option, its value and what is allowed, whether a spec or a pool is made."""
    for make in (envpool.make_spec, envpool.make_gymnasium):
        with pytest.raises(case.error) as caught:
            make(case.task_id, **case.options)
        for part in case.parts:
            assert re.search(part, str(caught.value)), f"{part!r} is not in {str(caught.value)!r}"
