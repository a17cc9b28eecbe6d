"""The results of the functions of xla(), in each API style, sync and async, under each of JAX's transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import envpool
from tests.support import plugin
from tests.xla.pools import assert_same, both_widths, refuses, rollout, twins

STYLES = {"gym": {}, "gymnasium": {}, "dm": {}, "legacy": {"gym_api": "legacy"}}


def make(style, task="CartPole-v1", **options):
    return envpool.make(task, "gym" if style == "legacy" else style, **STYLES[style], **options)


def alternating(num_envs, steps):
    return np.arange(steps * num_envs, dtype=np.int32).reshape(steps, num_envs) % 2


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("style", STYLES)
def test_every_style(style, mode):
    inside, outside = (make(style, num_envs=3, seed=1, autoreset_mode=mode) for _ in range(2))
    with inside, outside:
        handle, _, _, step = inside.xla()
        step = jax.jit(step)
        for action in alternating(3, 60):
            handle, got = step(handle, action)
            expected = outside.step(action)
            assert type(got).__name__ == type(expected).__name__
            assert_same(got, expected)


def test_the_form_is_the_pool_s_own():
    with make("dm", num_envs=2) as pool:
        handle, _, _, step = pool.xla()
        _, got = step(handle, np.zeros(2, np.int32))
        assert jax.tree.structure(got) == jax.tree.structure(pool.step(np.zeros(2, np.int32)))


@pytest.mark.parametrize("style", STYLES)
def test_send_and_recv(style):
    inside, outside = (make(style, num_envs=3, seed=1) for _ in range(2))
    with inside, outside:
        handle, recv, send, _ = inside.xla()

        @jax.jit
        def send_and_recv(handle, action):
            return recv(send(handle, action))

        inside.async_reset()
        outside.async_reset()
        handle, got = jax.jit(recv)(handle)
        assert_same(got, outside.recv())
        for action in alternating(3, 30):
            handle, got = send_and_recv(handle, action)
            outside.send(action)
            assert_same(got, outside.recv())


def test_async():
    """Each batch continues the episodes of its envs, whichever envs come first."""
    with plugin.make(num_envs=6, batch_size=2, num_threads=2, episode_length=0, cost_ns=5e3) as pool:
        pool.async_reset()
        handle, recv, _, step = pool.xla()
        handle, (_, _, _, _, info) = recv(handle)

        def body(state, k):
            handle, env_id = state
            handle, (obs, _, _, _, info) = step(handle, jnp.full(2, k % 90), env_id)
            return (handle, info["env_id"]), (info["env_id"], obs, info["elapsed_step"])

        _, (ids, obs, elapsed) = jax.jit(lambda *s: lax.scan(body, s, jnp.arange(500)))(handle, info["env_id"])
        np.testing.assert_array_equal(obs[:, :, 0], ids)
        for i in range(6):
            steps = np.asarray(elapsed)[np.asarray(ids) == i]
            np.testing.assert_array_equal(steps, steps[0] + np.arange(len(steps)))
        assert pool.num_outstanding == 4


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.int16])
def test_some_envs(dtype):
    inside, outside = twins("CartPole-v1", num_envs=5, seed=2)
    with inside, outside, jax.enable_x64(True):
        handle, _, _, step = inside.xla()
        for ids in ([0, 1, 2, 3, 4], [3, 1], [4], [0, 2, 4], []):
            env_id, action = np.array(ids, dtype), np.ones(len(ids), np.int32)
            handle, got = jax.jit(step)(handle, action, env_id)
            assert_same(got, outside.step(action, env_id))


def rich_action(ids, k):
    n = len(ids)
    return {
        "move": np.full(n, k % 5, np.int32),
        "push": np.linspace(-1, 1, 2 * n, dtype=np.float32).reshape(n, 2) / (k + 1),
        "mode": np.tile(np.array([0, 1, -k % 5], np.int8), (n, 1)),
        "count": np.arange(n) + 10 * k,
    }


@both_widths
@pytest.mark.parametrize("where", ["argument", "action", "both, nested"])
def test_dicts_of_actions_and_observations(where, x64):
    options = {"layout": "rich", "items": 5, "num_envs": 4, "seed": 3}
    with plugin.make(**options) as inside, plugin.make(**options) as outside, jax.enable_x64(x64):
        handle, _, _, step = inside.xla()
        for k in range(12):
            ids = np.array([2, 0, 3])
            flat = {f"action.{name}": value for name, value in rich_action(ids, k).items()}
            expected = outside.step(flat, ids)
            if where == "argument":
                handle, got = jax.jit(step)(handle, flat, ids)
            elif where == "action":
                handle, got = jax.jit(step)(handle, flat | {"env_id": ids, "players.env_id": ids})
            else:
                nested = {"action": rich_action(ids, k), "env_id": np.array([1, 1, 1])}
                handle, got = jax.jit(step)(handle, nested, ids)
            assert set(got[0]) == {"a", "b"}
            assert_same(got, expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "uint32", "uint64", "int64", "float16", "float32", "float64"]
)
def test_an_array_is_cast_as_in_python(dtype):
    inside, outside = twins("CartPole-v1", num_envs=2)
    with inside, outside, jax.enable_x64(True):
        handle, _, _, step = inside.xla()
        for action in alternating(2, 20).astype(dtype):
            handle, got = jax.jit(step)(handle, jnp.asarray(action))
            assert_same(got, outside.step(action))


# ---- transformations -------------------------------------------------------------------------------------------------


@pytest.fixture
def counter():
    """Yield a pool of one env whose observation counts its steps, and its functions."""
    with plugin.make(num_envs=1, episode_length=0) as pool:
        pool.reset()
        yield pool, *pool.xla()


def step_of(batch):
    return batch[0][0, 2]


def test_fori_loop(counter):
    _, handle, _, _, step = counter
    loop = jax.jit(lambda h: lax.fori_loop(0, 100, lambda _, h: step(h, jnp.zeros(1, int))[0], h))
    assert step_of(step(loop(handle), np.zeros(1, int))[1]) == 101


def test_while_loop(counter):
    """A while loop steps the pool as often as the results of the pool demand."""
    _, handle, _, _, step = counter

    def body(state):
        handle, batch = step(state[0], jnp.zeros(1, int))
        return handle, step_of(batch)

    _, last = jax.jit(lambda h: lax.while_loop(lambda s: s[1] < 30, body, (h, 0)))(handle)
    assert last == 30


def test_cond(counter):
    """Only the taken branch steps the pool."""
    _, handle, _, _, step = counter

    @jax.jit
    def maybe(handle, pick):
        return lax.cond(pick, lambda h: step(h, jnp.zeros(1, int))[0], lambda h: h, handle)

    for pick in (True, False, False, True, False):
        handle = maybe(handle, pick)
    assert step_of(step(handle, np.zeros(1, int))[1]) == 3


def test_vmap_steps_one_after_the_other(counter):
    _, handle, _, _, step = counter
    _, batches = jax.jit(jax.vmap(step, in_axes=(None, 0)))(handle, jnp.arange(5)[:, None])
    np.testing.assert_array_equal(batches[0][:, 0, 2], np.arange(1, 6))
    np.testing.assert_array_equal(batches[0][:, 0, 3], np.arange(5))


def test_vmap_over_pools():
    pools = [plugin.make(num_envs=1, seed=seed, episode_length=0) for seed in (7, 11)]
    _, _, _, step = pools[0].xla()
    handles = np.stack([pool.xla()[0] for pool in pools])
    handles, _ = jax.vmap(step)(handles, np.zeros((2, 1), int))
    _, batches = jax.vmap(step)(handles, np.zeros((2, 1), int))
    assert batches[0][:, 0, 5].tolist() == [7, 11]
    for pool in pools:
        pool.close()


def test_without_jit(counter):
    _, handle, _, _, step = counter
    with jax.disable_jit():
        for k in range(3):
            handle, batch = step(handle, [k])
    assert step_of(batch) == 3


def test_the_handle_orders_calls(counter):
    """Independent computations do not interfere, and no step is omitted when its results are unused."""
    _, handle, _, _, step = counter

    @jax.jit
    def several(handle, x):
        numbers = []
        for k in range(20):
            handle, batch = step(handle, jnp.full(1, k))
            x = jnp.sin(x @ x.T) if k % 3 else x
            numbers.append(batch[0][0, 3])
        handle, _ = step(handle, jnp.zeros(1, int))
        return handle, jnp.stack(numbers), x.sum()

    handle, numbers, _ = several(handle, jnp.ones((50, 50)))
    np.testing.assert_array_equal(numbers, np.arange(20))
    assert step_of(step(handle, np.zeros(1, int))[1]) == 22


def test_one_compiled_function_for_several_pools():
    """The handle identifies the pool, so code that was compiled with one pool works for another."""
    pools = [plugin.make(num_envs=2, seed=seed, episode_length=0) for seed in (7, 11)]
    step = jax.jit(pools[0].xla()[3])
    for pool, seed in zip(pools, (7, 11), strict=True):
        handle = pool.xla()[0]
        for _ in range(2):
            handle, batch = step(handle, np.zeros(2, int))
        assert batch[0][:, 5].tolist() == [seed, seed + 1]
        pool.close()


def test_mixed_with_calls_from_python():
    """Both sides use the same pool: either may receive what the other sent, and batches keep their order."""
    inside, outside = twins("CartPole-v1", num_envs=3, seed=4)
    with inside, outside:
        handle, recv, send, step = inside.xla()
        inside.reset(), outside.reset()
        for k, action in enumerate(alternating(3, 60)):
            if k % 4 == 0:
                assert_same(inside.step(action), outside.step(action))
            elif k % 4 == 1:
                handle, got = jax.jit(step)(handle, action)
                assert_same(got, outside.step(action))
            elif k % 4 == 2:
                inside.send(action)
                handle, got = jax.jit(recv)(handle)
                assert_same(got, outside.step(action))
            else:
                handle = jax.jit(send)(handle, action).block_until_ready()
                assert_same(inside.recv(), outside.step(action))
            if k == 30:
                assert_same(inside.reset(seed=9), outside.reset(seed=9))


def test_some_received_from_python_in_between():
    """Calls from JAX also find the rows of partial batches, which are stored elsewhere."""
    with plugin.make(num_envs=4, episode_length=0) as pool:
        handle, recv, _, step = pool.xla()
        handle, _ = step(handle, np.zeros(4, int))
        pool.send(np.arange(4))
        assert pool.recv(env_id=[2])[0][:, 3].tolist() == [2]
        pool.send(np.array([7]), [2])
        handle, batch = recv(handle)
        assert sorted(batch[0][:, 3].tolist()) == [0, 1, 3, 7]
        _, batch = rollout(step, np.zeros((5, 4), int), handle)
        assert batch[0][-1, :, 2].tolist() == [6, 6, 7, 6]


def test_results_are_copies():
    """The pool's blocks are recycled immediately, as no result refers to them."""
    with plugin.make(num_envs=2, episode_length=0) as pool:
        handle, _, _, step = pool.xla()
        held = []
        for k in range(30):
            handle, batch = step(handle, np.full(2, k))
            held.append(batch[0])
        assert [int(obs[0, 3]) for obs in held[1:]] == list(range(1, 30))
        assert pool._blocks_allocated <= 2


def test_a_call_that_was_made_for_another_number_of_rows():
    with plugin.make(num_envs=4, episode_length=0) as pool:
        handle, recv, send, step = pool.xla()
        pool.reset()
        send(handle, np.zeros(2, int), np.array([0, 1])).block_until_ready()
        with refuses("this call expects a batch of 4 rows, but the next batch has 2"):
            jax.block_until_ready(recv(handle))
        with refuses("this call expects a batch of 2 rows, but the next batch has 4"):
            jax.block_until_ready(step(handle, np.zeros(2, int), np.array([2, 3])))
        assert pool.recv()[0][:, 2].tolist() == [1, 1]


def test_statistics_are_in_every_batch():
    """Shapes of compiled code are fixed, so the entries of episodes are there in batches in which none has ended."""
    inside, outside = (make("gymnasium", num_envs=3, seed=1, episode_statistics=True) for _ in range(2))
    num_ended = 0
    with inside, outside:
        handle, _, _, step = inside.xla()
        for action in alternating(3, 60) * 0:
            handle, got = step(handle, action)
            expected = outside.step(action)
            mask = expected[2] | expected[3]
            num_ended += mask.sum()
            assert got[4]["_episode"].tolist() == mask.tolist()
            for part in "rl":
                values = expected[4]["episode"][part] if mask.any() else np.zeros(3)
                assert got[4]["episode"][part].tolist() == values.tolist()
    assert num_ended > 5
