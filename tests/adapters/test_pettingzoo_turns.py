"""Turn-based tasks in the forms of PettingZoo: its own connect four has the same moves and results."""

from functools import partial

import numpy as np
import pytest
from pettingzoo.classic import connect_four_v3
from pettingzoo.test import api_test, render_test, seed_test

from envpool.adapters.pettingzoo import aec_env, parallel_env
from envpool.errors import ActionError, ConfigError


def test_connect_four_equals_pettingzoos():
    """Agents are called agent_0 and agent_1 here, and player_0 and player_1 there; the boards are checked elsewhere."""
    ours, theirs = aec_env("ConnectFour-v0"), connect_four_v3.env()
    rng = np.random.default_rng(0)
    for seed in range(20):
        ours.reset(seed=seed), theirs.reset(seed=seed)
        for agent, other in zip(ours.agent_iter(), theirs.agent_iter(), strict=False):
            assert agent.replace("agent", "player") == other
            (obs, *got, _), (expected, *wanted, _) = ours.last(), theirs.last()
            assert got == wanted
            is_over = any(got[1:])
            if not is_over:
                assert obs["action_mask"].dtype == np.int8
                assert np.array_equal(obs["action_mask"], expected["action_mask"])
            move = None if is_over else int(rng.choice(np.flatnonzero(obs["action_mask"])))
            ours.step(move), theirs.step(move)
        assert ours.agents == theirs.agents == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoos_own_tests():
    make = partial(aec_env, "ConnectFour-v0")
    api_test(make(), num_cycles=200)
    seed_test(make, num_cycles=50)
    render_test(make)


def test_masks_and_refusals():
    env = aec_env("ConnectFour-v0")
    env.reset()
    assert env.observe("agent_0")["action_mask"].all() and not env.observe("agent_1")["action_mask"].any()
    for _ in range(6):
        env.step(3)
    with pytest.raises(ActionError):
        env.step(3)
    assert env.agent_selection == "agent_0"
    with pytest.raises(ConfigError, match="move in turn: use aec_env"):
        parallel_env("ConnectFour-v0")
    with pytest.raises(ConfigError, match="controlled is an option of pools"):
        aec_env("ConnectFour-v0", controlled=[0])
