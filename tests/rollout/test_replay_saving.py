"""Saved replay buffers: they continue exactly, and damaged ones change nothing."""

import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from tests.rollout.replay_reference import MOVES, N, Pair
from tests.rollout.test_replay import LIKELY, play
from tests.support import plugin


def assert_same(one, other, draws=20):
    """Compare two buffers: their contents, and what they draw."""
    np.testing.assert_array_equal(one.indices(), other.indices())
    index = one.indices()
    for a, b in ((one.transitions(index), other.transitions(index)), (one.sample(draws), other.sample(draws))):
        for name, x, y in zip(a._fields, a, b, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=name)


@pytest.mark.parametrize("steps", [4, 40])
@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_run_continues_in_another_process(mode, frames, steps, tmp_path):
    """Buffer, pool and generator are restored; the run continues as if it had never stopped."""

    def make():
        return Pair(mode, cartpole, n_step=2, prioritized=True)

    def cartpole(**options):
        return envpool.make_gymnasium("CartPole-v1", max_episode_steps=7, frame_stack=frames, **options)

    def play(pair, steps, seed):
        rng = np.random.default_rng(seed)
        for _ in range(steps):
            pair.step(rng.integers(0, 2, N))

    pair = make()
    pair.reset()
    play(pair, steps, 1)
    pair.buffer.update_priorities(pair.buffer.indices(), np.arange(len(pair.buffer)))
    path = tmp_path / "buffer.npz"
    pair.buffer.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["buffer.npz"]
    state = pair.pool.get_state()

    after = make()
    after.buffer.load(path)
    after.pool.set_state(state)
    after.buffer.begin(pair.obs[""])
    before, pair.buffer, pair.pool = pair.buffer, after.buffer, after.pool
    assert_same(before, after.buffer)
    play(pair, 12, 2)  # the restored buffer beside the plain pool, which was never interrupted
    pair.check()


def test_without_the_states_of_the_environments():
    """After reset(), the trajectories of the loaded contents end like truncated ones."""
    pair = Pair("next_step", n_step=3)
    pair.reset()
    play(pair, 6)
    buffer = envpool.ReplayBuffer(plugin.make(num_envs=N), 30, 3)
    buffer.load_state_dict(pair.buffer.state_dict())
    with pytest.raises(envpool.errors.PoolStateError, match=r"call its reset\(\) or begin\(\) first"):
        buffer.step(np.ones(N))
    buffer.reset()
    pair.reference.cut()
    assert buffer.indices().tolist() == list(pair.reference.transitions())


def test_other_arguments():
    """n_step may differ: which transitions can be sampled follows from the steps."""
    pair = Pair("same_step", n_step=1)
    pair.reset()
    play(pair, 9)
    other = Pair("same_step", n_step=3, pool_options={"seed": 1})
    other.buffer.load_state_dict(pair.buffer.state_dict())
    other.reference.steps = pair.reference.steps
    other.check()


def test_a_state_is_a_copy():
    pair = Pair("same_step")
    pair.reset()
    play(pair, 3)
    state = pair.buffer.state_dict()
    copy = {name: np.array(value) for name, value in state.items()}
    play(pair, 20)
    for name, value in state.items():
        np.testing.assert_array_equal(value, copy[name], err_msg=name)


@pytest.fixture(scope="module")
def saved():
    """A buffer of frames and its state, which has last observations and strays."""
    pair = Pair("same_step", frames_once=3, prioritized=True)
    pair.reset()
    play(pair, 40)
    return pair.buffer, pair.buffer.state_dict()


def changed(state, name, where, value):
    array = state[name].copy()
    array[where] = value
    return {name: array}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: {"version": 2}, "must have version 1, got 2"),
        (lambda s: {"num_envs": 4}, "has num_envs=4, but this one has 3"),
        (lambda s: {"capacity": 33}, "has capacity=33, but this one has 30"),
        (lambda s: {"head": "x"}, "is damaged"),
        (lambda s: {"highest": np.nan}, "is damaged"),
        (lambda s: {"highest": None}, "is damaged"),
        (lambda s: {"has_obs": 2**63 - 1}, "has_obs is 9223372036854775807"),
        (lambda s: {"live": 11}, "it has 11 of 40 steps"),
        (lambda s: {"live": 2**70}, f"it has {2**70} of 40 steps"),
        (lambda s: {"live": -1}, "it has -1 of 40 steps"),
        (lambda s: {"live": 41}, "it has 41 of 40 steps"),
        (lambda s: {"head": 2**70}, f"it has 10 of {2**70} steps"),
        (lambda s: {"head": np.inf}, "is damaged: OverflowError"),
        (lambda s: {"highest": 10**400}, "is damaged: OverflowError"),
        (lambda s: {"live": -1}, "it has -1 of 40 steps"),
        (lambda s: {"head": -1, "live": 0}, "it has 0 of -1 steps"),
        (lambda s: {"head": 2**62}, "it has 10 of 4611686018427387904 steps"),
        (lambda s: {"generator": s["generator"][:-1]}, "the generator of the saved replay buffer is damaged"),
        (lambda s: {"generator": np.zeros(40, np.uint8)}, "the generator of the saved replay buffer is damaged"),
        (lambda s: {"array:reward": s["array:reward"][:, :2]}, "array reward of the saved replay buffer must have"),
        (lambda s: {"array:reward": s["array:reward"].astype(float)}, "array reward .* got float64"),
        (lambda s: {"array:reward": None}, "array reward .* got NoneType"),
        (lambda s: {"array:other": s["array:reward"]}, "has arrays that this one does not have: array:other"),
        (lambda s: changed(s, "array:numbers", ..., 10**6), "it names frame 1000000"),
        (lambda s: changed(s, "array:numbers", ..., -(10**6)), "it names frame -1000000"),
        (lambda s: changed(s, "array:lasts", ..., 10**6), "it names last observation 1000000"),
        (lambda s: changed(s, "array:lasts", ..., -1), "it names last observation -1"),
        (lambda s: changed(s, "array:lasts", ..., 1), "it names last observation 1"),
        (lambda s: changed(s, "last", ..., 127), "it names frame 2139062143"),
        (lambda s: changed(s, "array:priorities", ..., -1), "is damaged: it has the priority -1.0"),
        (lambda s: changed(s, "array:priorities", ..., 1e308), r"is damaged: it has the priority 1e\+308"),
        (lambda s: changed(s, "array:flags", ..., 16), "a step has the flags 16"),
        (lambda s: {"last": s["last"][:, :-1]}, "rows of the saved replay buffer must have 12 bytes"),
        (lambda s: {"last": None}, "rows of the saved replay buffer must have 12 bytes"),
        (lambda s: {"strays": s["strays"][:0]}, "it names frame -"),
    ],
)
def test_damaged_states_change_nothing(saved, change, text):
    buffer, state = saved
    before = buffer.state_dict()
    with pytest.raises(StateError, match=text):
        buffer.load_state_dict(state | change(state))
    for name, value in buffer.state_dict().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


def test_damaged_files_change_nothing(saved, tmp_path):
    """Whichever bit of a file changes, it is refused, or holds what was saved."""
    buffer, _ = saved
    path, rng = tmp_path / "buffer.npz", np.random.default_rng(1)
    buffer.save(path)
    content, before = path.read_bytes(), buffer.state_dict()
    refused = 0
    for bit in rng.choice(8 * len(content), 400, replace=False):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            buffer.load(path)
        except StateError:
            refused += 1
        for name, value in buffer.state_dict().items():
            np.testing.assert_array_equal(value, before[name], err_msg=name)
    assert refused > 200


@pytest.mark.parametrize(("text", "at"), [(b"'shape': (", 9), (b"'descr'", 1), (b"PK\x01\x02", 6)])
def test_a_damaged_header_names_the_file(saved, text, at, tmp_path):
    """NumPy, tokenize and zipfile each have exceptions of their own for these."""
    buffer, _ = saved
    path = tmp_path / "buffer.npz"
    buffer.save(path)
    content = bytearray(path.read_bytes())
    content[content.find(text) + at] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(StateError, match=f"{path} is"):
        buffer.load(path)


def test_forged_numbers_crash_nothing(saved):
    """Numbers that are in range are accepted, whatever they are: all calls still work on such a buffer."""
    _, state = saved
    rng = np.random.default_rng(1)
    for _ in range(30):
        pair = Pair("same_step", frames_once=3, prioritized=True)
        forged = dict(state)
        for name in ("array:flags", "array:numbers", "array:lasts", "array:priorities"):
            array = state[name].copy()
            places = rng.random(array.shape) < 0.1
            array[places] = rng.permutation(array[places])
            forged[name] = array
        forged["array:flags"] = rng.integers(0, 16, state["array:flags"].shape).astype(np.uint8)
        try:
            pair.buffer.load_state_dict(forged)
        except StateError:
            continue
        pair.buffer.reset()
        for _ in range(15):
            pair.buffer.step(rng.choice(MOVES, N, p=LIKELY).astype(np.int32))
        assert len(pair.buffer.sample(50).index) == 50


def test_files(tmp_path, saved):
    buffer, _ = saved
    path = tmp_path / "x.npz"
    with pytest.raises(FileNotFoundError):
        buffer.load(path)
    buffer.save(path)
    content = path.read_bytes()
    for damaged in (b"", b"nonsense", content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(StateError, match="is not a saved replay buffer, or is damaged"):
            buffer.load(path)
    np.savez_compressed(path, version=np.ones(10))
    with pytest.raises(StateError, match="is compressed"):
        buffer.load(path)
    np.savez(path, version=np.array([object()]))
    with pytest.raises(StateError, match="dtype object"):
        buffer.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]
