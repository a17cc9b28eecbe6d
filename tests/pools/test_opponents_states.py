"""Saved states, copies and pickles of pools with opponents."""

import copy
import pickle

import numpy as np
import pytest

import envpool
from envpool.errors import EnvIdError, PoolStateError, StateError
from envpool.pools.states import EnvStates
from tests.pools.test_opponents_in_flight import NUM_ENVS, TASKS, actions_of, make, rows_of

MODES = ["next_step", "same_step", "disabled"]


def play(pool, task, result, count):
    """Play on and return the rows of each step; environments whose episodes have ended are reset."""
    found = []
    for _ in range(count):
        result = pool.step(actions_of(task, result[0], result[-1]))
        found.append(rows_of(result))
        if pool.spec.config.autoreset_mode == "disabled" and (result[2] | result[3]).any():
            result = pool.reset()
    return found, result


def compare(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.keys() == b.keys()
        for i in a:
            for x, y in zip(a[i], b[i], strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", TASKS)
def test_a_state_continues_exactly(task, mode):
    with make(task, mode) as pool, make(task, mode, seed=9) as other:
        _, result = play(pool, task, pool.reset(), 3)
        for _ in range(8):
            states = EnvStates.from_bytes(bytes(pool.get_state()))
            expected, after = play(pool, task, result, 7)
            other.set_state(states)
            got, _ = play(other, task, result, 7)
            compare(got, expected)
            pool.set_state(states)
            got, _ = play(pool, task, result, 7)
            compare(got, expected)
            result = after


@pytest.mark.parametrize("task", TASKS)
def test_a_copy_continues_as_its_source(task):
    with make(task, "next_step") as pool:
        _, result = play(pool, task, pool.reset(), 5)
        pool.copy_state([1, 1, 3], [0, 2, 4])
        source = [1, 1, 1, 3, 3]
        obs, info = result[0][source], {k: result[-1][k][source] for k in result[-1] if k.startswith(("legal", "curr"))}
        info["elapsed_step"] = result[-1]["elapsed_step"][source]
        rows = rows_of(pool.step(actions_of(task, obs, info)))
        for i in (0, 2):
            for one, other in zip(rows[i][1:], rows[1][1:], strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_rewards_of_opening_moves_are_part_of_a_state(mode):
    """A reset returns no rewards, so the next step has those of the opponents' first moves."""
    with make("Turns-v0", mode, controlled=[2]) as pool:
        result = pool.reset(seed=7)
        states = pool.get_state()
        expected, _ = play(pool, "Turns-v0", result, 1)
        pool.reset(seed=99)
        pool.step(pool.sample_actions(0))
        pool.set_state(states)
        got, _ = play(pool, "Turns-v0", result, 1)
        compare(got, expected)


def test_a_state_knows_which_player_is_the_users():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled="alternate", seed=1) as pool:
        _, info = pool.reset()
        states = pool.get_state()
        pool.set_state(states[[1, 0]])
        assert info["players"]["id"].tolist() == [0, 1]
        pool.opponents = lambda obs, info: np.full(len(obs), 6)
        _, *_, info = pool.step(np.array([0, 1]))
        assert info["players"]["id"].tolist() == [1, 0]


def test_random_opponents_of_a_pickle_make_the_same_moves():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=3, controlled=[1], seed=1) as pool:
        pool.reset()
        for k in range(7):
            pool.step(pool.sample_actions(k))
        with pickle.loads(pickle.dumps(pool)) as other, copy.deepcopy(pool) as third:
            assert other.spec.controlled == (1,) and other.opponents == "random"
            assert type(other) is type(pool)
            for k in range(20):
                expected = pool.step(pool.sample_actions(k))
                for one in (other, third):
                    got = one.step(one.sample_actions(k))
                    np.testing.assert_array_equal(got[0], expected[0])
                    np.testing.assert_array_equal(got[1], expected[1])


def leftmost(obs, info):
    return info["legal_action_mask"].argmax(1)


def test_a_pickle_has_the_present_policy():
    with envpool.make_dm("ConnectFour-v0", num_envs=2, controlled="alternate") as pool:
        pool.reset()
        pool.opponents = leftmost
        with pickle.loads(pickle.dumps(pool)) as other:
            assert other.opponents is leftmost and other.spec.controlled == "alternate"
            moves = np.array([3, 4])
            one, two = pool.step(moves).observation, other.step(moves).observation
            np.testing.assert_array_equal(one.obs, two.obs)
            np.testing.assert_array_equal(one.players.id, two.players.id)
        pool.opponents = lambda obs, info: leftmost(obs, info)
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(pool)


def test_states_of_other_pools_are_refused_and_nothing_changes():
    with make("Turns-v0", "next_step") as pool:
        _, result = play(pool, "Turns-v0", pool.reset(), 3)
        states = pool.get_state()
        expected, _ = play(pool, "Turns-v0", result, 3)
        pool.set_state(states)
        damaged = bytearray(states.states[1])
        damaged[-20] ^= 1
        wrong = [
            (EnvStates([states.states[0][:-8], *states.states[1:]]), "truncated"),
            (EnvStates([states.states[0], bytes(damaged), *states.states[2:]]), r"states\[1\] is corrupt"),
            (states[:2], "2 states cannot be restored to 5 envs"),
        ]
        for options in ({"controlled": [0, 1]}, {"controlled": [1]}, {"controlled": None, "opponents": "random"}):
            with make("Turns-v0", "next_step", **options) as other:
                other.reset()
                wrong.append((other.get_state(), "other options: .* controlled"))
                with pytest.raises(StateError, match="with other options"):
                    other.set_state(states)
        for given, text in wrong:
            with pytest.raises(StateError, match=text):
                pool.set_state(given)
        with pytest.raises(TypeError, match="states must be an EnvStates"):
            pool.set_state(b"")
        with pytest.raises(EnvIdError, match="appears twice"):
            pool.copy_state([0, 1], [2, 2])
        with pytest.raises(EnvIdError, match="2 entries and target_ids has 1"):
            pool.copy_state([0, 1], [2])
        got, _ = play(pool, "Turns-v0", result, 3)
        compare(got, expected)


def test_a_pool_in_flight_is_not_pickled():
    with make("Turns-v0", "next_step") as pool:
        pool.reset()
        pool.send(np.zeros(NUM_ENVS, int))
        with pytest.raises(PoolStateError, match="only while no environment is in flight"):
            pickle.dumps(pool)
        pool.recv()
