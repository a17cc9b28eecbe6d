"""Damaged and forged states: which are refused, and that no bytes make native code misbehave."""

import struct

import numpy as np
import pytest

from envpool.errors import EnvStepError, StateError
from envpool.pools.states import EnvStates
from tests.support.saved import CORE, body_of, core_at, make, play, sealed


@pytest.fixture
def pool():
    with make() as pool:
        pool.reset()
        play(pool)
        yield pool


def refused(pool, states, text):
    """Assert that a state is refused after one that is not, and that nothing changes."""
    before = pool.get_state()
    with pytest.raises(StateError, match=text):
        pool.set_state(before[0] + states, [0, 1])
    assert pool.get_state() == before


@pytest.mark.parametrize(
    ("task_id", "options", "text"),
    [
        ("Acrobot-v1", {}, r"states\[1\] is of the task 'Acrobot-v1' \(Acrobot\), but the pool has 'CartPole-v1'"),
        ("CartPole-v0", {}, r"states\[1\] is of the task 'CartPole-v0' \(CartPole\)"),
        ("CartPole-v1", {"sutton_barto_reward": True}, r"states\[1\] was saved by .* with other options"),
        ("CartPole-v1", {"max_episode_steps": 499}, "with other options"),
        ("CartPole-v1", {"autoreset_mode": "same_step"}, "with other options"),
    ],
)
@pytest.mark.parametrize("is_reset", [False, True])
def test_states_of_other_tasks_and_options(pool, task_id, options, text, is_reset):
    with make(task_id, **options) as other:
        if is_reset:
            other.reset()
        refused(pool, other.get_state(0), text)


def test_options_that_do_not_matter(pool):
    states = pool.get_state()
    options = {"seed": 9, "num_threads": 2, "batch_size": 2}
    with make(num_envs=5, **options) as other:
        other.set_state(states, [4, 0, 2])
        assert other.get_state([4, 0, 2]) == states


def test_every_truncation_is_refused(pool):
    data = bytes(pool.get_state(1))
    for n in range(len(data)):
        text = "truncated" if n else "not a saved state"
        refused(pool, EnvStates([data[:n]]), rf"states\[1\] is {text}")
    refused(
        pool, EnvStates([data + b"\0"]), rf"states\[1\] has {len(data) + 1} bytes, but its header names {len(data)}"
    )


@pytest.mark.parametrize("task_id", ["CartPole-v1", "Blackjack-v1"])
def test_every_flipped_bit_is_refused(task_id):
    with make(task_id) as pool:
        unseeded = pool.get_state(0)
        pool.reset()
        before = pool.get_state()
        for state in (before[1], unseeded):
            for bit in range(8 * len(bytes(state))):
                data = bytearray(bytes(state))
                data[bit // 8] ^= 1 << bit % 8
                with pytest.raises(StateError, match=r"states\[0\] (is|was|has)"):
                    pool.set_state(EnvStates([bytes(data)]), 1)
        assert pool.get_state() == before


@pytest.mark.parametrize(
    ("offset", "value", "text"),
    [
        (0, b"E", "is not a saved state of an env"),
        (8, struct.pack("<I", 2), "was saved in version 2 of the format, but this envpool reads version 1"),
        (12, struct.pack("<I", 2**32 - 16), "is truncated"),
        (12, struct.pack("<I", 0), "is corrupt"),
        (12, struct.pack("<I", 65), "is corrupt"),
        (16, struct.pack("<q", -1), "is corrupt"),
        (16, struct.pack("<q", 2**63 - 1), "is truncated"),
        (40, struct.pack("<I", 7), "was saved by version 7 of CartPole, but this is version 0"),
        (44, struct.pack("<I", 2**32 - 1), "is of the task"),
        (48, struct.pack("<I", 2**32 - 1), "is of the task|is corrupt"),
    ],
)
def test_forged_headers_are_refused(pool, offset, value, text):
    body = body_of(pool.get_state(1))
    body[offset : offset + len(value)] = value
    refused(pool, sealed(body), rf"states\[1\] ({text})")


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize(
    ("core", "is_valid"),
    [
        ((0, 0, 0, 0), True),
        ((0, 499, 0, 0), True),
        ((0, 500, 0, 0), False),  # the next step would exceed the time limit
        ((0, 500, "ended", 0), True),
        ((0, 501, "ended", 0), False),
        ((0, -1, 0, 0), False),
        ((0, 2**31 - 1, 0, 0), False),
        ((0, 0, "other", 0), False),
        ((0, 0, 3, 0), False),
        ((0, 0, 255, 0), False),
        ((0, 0, 0, 1), False),  # an env that is not seeded has no snapshot
        ((0, 0, "ended", 1), False),
        ((0, 0, 0, 2), False),
    ],
)
def test_forged_values_of_the_core(mode, core, is_valid):
    ended, other = (2, 1) if mode == "disabled" else (1, 2)
    core = [{"ended": ended, "other": other}.get(x, x) for x in core]
    with make(autoreset_mode=mode) as pool:
        pool.reset()
        body = body_of(pool.get_state(1))
        CORE.pack_into(body, core_at(body), *core)
        if is_valid:
            pool.set_state(sealed(body), 1)
            assert bytes(pool.get_state(1)) == bytes(sealed(body))
        else:
            refused(pool, sealed(body), r"states\[1\] has values that get_state\(\) does not return")


def forged(state, offset, value):
    """Return a state with other bytes in the env's snapshot."""
    body = body_of(state)
    at = core_at(state) + CORE.size + offset
    body[at : at + len(value)] = value
    return sealed(body)


RNG = 40  # bytes of a generator
ANGLE = RNG + 15 * 8 + 13 * 8  # of an acrobot, after parameters and what follows from them


@pytest.mark.parametrize(
    ("task_id", "offset", "value"),
    [
        ("CartPole-v1", 24, struct.pack("<Q", 2)),  # an even increment of the generator
        ("CartPole-v1", 36, struct.pack("<I", 2)),
        ("MountainCarContinuous-v0", RNG + 16, b"\2"),
        ("Catch-v0", RNG, struct.pack("<i", 9)),  # the last row, from which the ball would leave the board
        ("Catch-v0", RNG, struct.pack("<i", -1)),
        ("Catch-v0", RNG + 4, struct.pack("<i", 5)),
        ("Catch-v0", RNG + 8, struct.pack("<i", -1)),
        ("NChain-v0", RNG, struct.pack("<i", 5)),
        ("FrozenLake-v1", RNG, struct.pack("<i", 16)),
        ("FrozenLake-v1", RNG + 56, b"\0"),  # no start
        ("FrozenLake-v1", RNG + 57, b"\3"),  # an unknown cell
        ("CliffWalking-v1", RNG, struct.pack("<i", -1)),
        ("Taxi-v3", RNG, struct.pack("<i", 500)),
        ("Taxi-v3", RNG + 9, b"\4"),
        ("Blackjack-v1", RNG, struct.pack("<i", 2**30 + 1)),
        ("Blackjack-v1", RNG + 8, struct.pack("<i", -(2**31))),  # the dealer would draw for ever
        ("Blackjack-v1", RNG + 20, struct.pack("<i", 4)),
        ("Blackjack-v1", RNG + 24, struct.pack("<i", 12)),
    ],
)
def test_forged_values_of_envs(task_id, offset, value):
    with make(task_id) as pool:
        pool.reset()
        refused(pool, forged(pool.get_state(1), offset, value), "it has values that get_state")
        assert play(pool)


@pytest.mark.parametrize(
    ("task_id", "offset", "value"),
    [
        ("Pendulum-v1", RNG, float("inf")),
        ("Pendulum-v1", RNG + 8, 8.5),
        ("MountainCar-v0", RNG, 0.7),
        ("Acrobot-v1", ANGLE, 1e300),  # upstream would wrap this angle forever
        ("Acrobot-v1", ANGLE, float("inf")),
        ("Acrobot-v1", ANGLE + 8, float("nan")),
    ],
)
def test_forged_values_that_do_no_harm(task_id, offset, value):
    """Unusual parameters may lead to these values."""
    with make(task_id, on_error="restart") as pool:
        pool.reset()
        pool.set_state(forged(pool.get_state(1), offset, struct.pack("<d", value)), 1)
        assert play(pool)


def test_a_snapshot_of_another_size_is_refused(pool):
    body = body_of(pool.get_state(1))
    struct.pack_into("<q", body, 16, 128)
    refused(pool, sealed(body[:-8]), "it has values that get_state")


CHEAP = ["CartPole-v1", "Acrobot-v1", "Blackjack-v1", "Catch-v0", "Taxi-v3", "FrozenLake-v1"]
CHEAP += ["MinAtar/Seaquest-v0", "MinAtar/SpaceInvaders-v0"]
SIMULATED = ["InvertedDoublePendulum-v5", "FingerTurnEasy-v1", "LqrLqr21-v1"]
SLOW = ["Ant-v5", "Humanoid-v4", "Pusher-v5", "ManipulatorInsertPeg-v1", "QuadrupedEscape-v1", "DogFetch-v1"]
#: Steps after which they have contacts with the ground, marks on it, and so on.
WORLDS = [
    ("LunarLander-v3", 85),
    ("LunarLanderContinuous-v2", 60),
    ("BipedalWalkerHardcore-v3", 30),
    ("CarRacing-v3", 60),
]


@pytest.mark.parametrize(
    ("task_id", "num_states", "size", "before"),
    [
        *((task_id, 1000, 0, 0) for task_id in CHEAP),
        *((task_id, 300, 16, 3) for task_id in SIMULATED),
        *(pytest.param(task_id, 600, 16, 20, marks=pytest.mark.sweep) for task_id in SLOW),
        *((task_id, 300, 40, before) for task_id, before in WORLDS),
        *(
            pytest.param(task_id, 20000, 40, before, marks=pytest.mark.sweep, id=f"{task_id}-many")
            for task_id, before in WORLDS
        ),
    ],
)
def test_random_bytes_never_crash(task_id, num_states, size, before):
    """Random bytes, and random values with the checksum that belongs to them, of which the env can use some."""
    rng = np.random.default_rng(0)
    options = {"render_mode": "rgb_array", "render_height": size, "render_width": size}
    with make(task_id, num_envs=2, **options) as pool:
        pool.reset()
        play(pool, before)
        genuine = pool.get_state(0)
        start, restored = core_at(genuine) + CORE.size, 0
        for k in range(num_states):
            if k % 2:
                states = EnvStates([rng.bytes(rng.integers(0, 2 * len(bytes(genuine))))])
            else:
                body = body_of(genuine)
                at = int(rng.integers(start, len(body) - 8))
                body[at : at + 4] = rng.bytes(4) if k % 4 else struct.pack("<i", rng.integers(-1, 20))
                states = sealed(body)
            try:
                pool.set_state(states, 0)
            except StateError:
                continue
            restored += 1
            if restored % 50 == 1:
                pool.render([0])
            try:
                play(pool, 2, k)
            except EnvStepError:  # dm_control's physics may have become invalid
                pool.reset()
        assert restored > num_states // 50
