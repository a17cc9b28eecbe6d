"""EnvStates: an immutable sequence of byte strings, and the digest of the options that belong to a state."""

import copy
import pickle

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates, options_digest


@pytest.fixture(scope="module")
def states():
    with envpool.make_gymnasium("CartPole-v1", num_envs=4) as pool:
        pool.reset([1, 2])
        return pool.get_state()


def test_a_sequence(states):
    assert len(states) == 4
    assert [len(state) for state in states] == [1] * 4
    assert states[0] + states[1] + states[2:] == states
    assert states[-1] == states[3]
    assert states[np.int64(2)] == states[np.array(2)] == states[2]
    assert states[[3, 0, 0]] == states[3] + states[0] + states[0]
    assert states[np.array([True, False, False, True])] == states[[0, 3]]
    assert states[::-1][::-1] == states
    assert list(reversed(states)) == list(states[::-1])
    assert states[1] in states
    assert states.index(states[2]) == 2
    for i in (4, -5, [4]):
        with pytest.raises(IndexError):
            states[i]


def test_equality_and_hash(states):
    same = EnvStates(states.states)
    assert same == states
    assert hash(same) == hash(states)
    assert states != states[:3]
    assert states != states.states
    with pytest.raises(TypeError):
        states + states.states


def test_bytes(states):
    data = bytes(states)
    assert len(data) == states.nbytes == sum(map(len, states.states))
    assert EnvStates.from_bytes(data) == states
    assert EnvStates.from_bytes(bytearray(data)) == states
    assert EnvStates.from_bytes(memoryview(data)) == states
    assert len(EnvStates.from_bytes(b"")) == 0
    with pytest.raises(TypeError, match="data must be bytes, got str"):
        EnvStates.from_bytes("x")
    assert repr(states) == f"EnvStates(num_envs=4, nbytes={len(data)})"


def test_byte_strings_that_are_refused(states):
    data = bytes(states)
    first = len(bytes(states[0]))
    for n in range(1, len(data)):
        if n not in np.cumsum([len(s) for s in states.states]):
            with pytest.raises(StateError, match=r"states\[\d\] is truncated after \d+ bytes"):
                EnvStates.from_bytes(data[:n])
    with pytest.raises(StateError, match=r"states\[1\] is not a saved state"):
        EnvStates.from_bytes(data[:first] + b"x" + data[first:])
    with pytest.raises(TypeError):
        EnvStates.from_bytes("text")
    for wrong in (["text"], [bytearray(data)], [None]):
        with pytest.raises(TypeError, match=r"states\[0\] must be bytes"):
            EnvStates(wrong)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(states, protocol):
    assert pickle.loads(pickle.dumps(states, protocol)) == states
    assert copy.deepcopy(states) == copy.copy(states) == states


def test_immutable(states):
    for change in (lambda: setattr(states, "states", ()), lambda: setattr(states, "other", 1)):
        with pytest.raises(AttributeError, match="EnvStates cannot be changed"):
            change()
    with pytest.raises(TypeError):
        states[0] = states[1]


def digest(task_id="FrozenLake-v1", **options):
    spec = envpool.make_spec(task_id, **options)
    return options_digest(spec.config, spec.param_spec, spec.transforms.options)


def test_the_digest_depends_on_relevant_options_only():
    plain = digest()
    assert len(plain) == 16
    for options in (
        {"num_envs": 3},
        {"seed": 1},
        {"num_threads": 2},
        {"env_seed": [4]},
        {"numa": True},
        {"success_rate": 0.3},
        {"float32_obs": True},
        {"reward_clip": 1},
    ):
        assert digest(**options) == plain
    others = [{"is_slippery": False}, {"max_episode_steps": 9}, {"autoreset_mode": "same_step"}, {"size": 8}]
    others.append({"frame_stack": 2})
    assert len({plain, *(digest(**options) for options in others)}) == 6


def test_equal_options_have_equal_digests():
    rows = ["SFF", "FHG"]
    for same in (tuple(rows), [np.str_(row) for row in rows]):
        assert digest(desc=same) == digest(desc=rows)
    assert digest(reward_schedule=(1, 0, 0)) == digest(reward_schedule=[np.int64(1), 0, 0]) == digest()
    assert digest(desc=rows) == digest(desc=rows[::-1])  # the values of parameters are part of a state
    assert digest(desc=rows) != digest(desc=["SF", "FH", "FG"])
