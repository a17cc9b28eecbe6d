"""Envs that cannot be seeded: they are not stepped, their rows are those of a failed reset, and they recover."""

import ctypes

import numpy as np
import pytest

import envpool
from envpool.cli.bench.kernel_loop import KernelLoop
from envpool.errors import EnvCreateError, EnvIdError, EnvStepError, RenderError
from tests.support import plugin
from tests.support.definitions import Definition, pool_of

NUM_ENVS = 4
#: The option `fail_seed` of the synthetic env, and the envs that fail the first time.
FAILING = {"odd_envs": [1, 3], "silent_status": [1, 3], "all_envs": [0, 1, 2, 3]}
POOLS = {
    "sync": {},
    "fused": {"fused": True},
    "one thread": {"num_threads": 1},
    "async": {"batch_size": 2},
    "disabled": {"autoreset_mode": "disabled"},
}


@pytest.fixture(autouse=True)
def no_env_is_stepped_without_a_seed():
    native = plugin.load().native
    before = native.num_violations()
    yield
    assert native.num_violations() == before


def make(fail_seed, **options):
    return plugin.make(num_envs=NUM_ENVS, seed=7, fail_seed=fail_seed, episode_length=0, **options)


def receive_all(pool, receive):
    """Receive a row of every env; return the failures and (obs, truncated, elapsed_step) by env id."""
    failures, rows = {}, {}
    while len(rows) < NUM_ENVS:
        try:
            obs, *rest, info = receive()
        except EnvStepError as error:
            failures |= error.failures
            obs, *rest, info = pool.recv()
        truncated = rest[2] if rest else np.zeros(len(obs), bool)
        for k, env_id in enumerate(info["env_id"]):
            rows[int(env_id)] = (obs[k].tolist(), bool(truncated[k]), int(info["elapsed_step"][k]))
        receive = pool.recv
    return failures, rows


@pytest.mark.parametrize("options", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize("fail_seed", FAILING)
def test_rows_of_envs_that_cannot_be_seeded(fail_seed, options):
    failing = FAILING[fail_seed]
    with make(fail_seed, **options) as pool:
        pool.async_reset()
        failures, rows = receive_all(pool, pool.recv)
        assert sorted(failures) == failing
        assert all(text.startswith("could not be seeded at") for text in failures.values())
        for i in range(NUM_ENVS):
            if i in failing:
                assert rows[i] == ([0] * 6, True, 0)
            else:
                assert rows[i] == ([i, 1, 0, -1, 1, 7 + i], False, 0)


@pytest.mark.parametrize("options", [{}, {"fused": True}, {"num_threads": 1}])
@pytest.mark.parametrize("fail_seed", FAILING)
def test_the_next_step_seeds_again_with_the_same_seed(fail_seed, options):
    failing = FAILING[fail_seed]
    with make(fail_seed, **options) as pool:
        with pytest.raises(EnvStepError):
            pool.reset()
        pool.recv()
        obs, _, terminated, truncated, info = pool.step(np.full(NUM_ENVS, 5))
        assert not terminated.any()
        assert not truncated.any()
        for i in range(NUM_ENVS):
            assert obs[i].tolist() == ([i, 1, 0, -1, 1, 7 + i] if i in failing else [i, 1, 1, 5, 2, 7 + i])
            assert info["elapsed_step"][i] == (i not in failing)
        draws = info["draws"]
    with make("none") as pool:
        assert draws[failing].tolist() == pool.reset()[1]["draws"][failing].tolist()


@pytest.mark.parametrize("fused", [False, True])
def test_envs_of_the_same_call_are_stepped(fused):
    with make("odd_envs", num_threads=1, fused=fused) as pool:
        pool.reset(env_id=[0, 2])
        with pytest.raises(EnvStepError) as caught:
            pool.step(np.full(NUM_ENVS, 5))
        assert sorted(caught.value.failures) == [1, 3]
        obs, reward, terminated, truncated, info = pool.recv()
        assert obs.tolist() == [[0, 1, 1, 5, 2, 7], [0] * 6, [2, 1, 1, 5, 2, 9], [0] * 6]
        assert reward.tolist() == [1, 0, 1 + 2 / 1024, 0]
        assert not terminated.any()
        assert truncated.tolist() == [False, True, False, True]
        assert info["elapsed_step"].tolist() == [1, 0, 1, 0]
        assert info["draws"].astype(bool).tolist() == [True, False, True, False]


def test_a_later_seed_replaces_the_one_that_failed():
    with make("odd_envs") as pool:
        with pytest.raises(EnvStepError):
            pool.reset()
        pool.recv()
        assert pool.reset(seed=[1, 2, 3, 4])[0][:, 5].tolist() == [1, 2, 3, 4]


def test_same_step_resets_again_at_once():
    with make("odd_envs", autoreset_mode="same_step") as pool:
        with pytest.raises(EnvStepError) as caught:
            pool.reset()
        assert sorted(caught.value.failures) == [1, 3]
        assert pool.recv(reset=True)[0].tolist() == [[i, 1, 0, -1, 1, 7 + i] for i in range(NUM_ENVS)]
        assert pool.step(np.full(NUM_ENVS, 5))[0].tolist() == [[i, 1, 1, 5, 2, 7 + i] for i in range(NUM_ENVS)]


def test_disabled_waits_for_a_reset():
    with make("odd_envs", autoreset_mode="disabled") as pool:
        with pytest.raises(EnvStepError):
            pool.reset()
        pool.recv()
        with pytest.raises(EnvIdError):
            pool.step(np.zeros(NUM_ENVS, int))
        assert pool.reset(env_id=[1, 3])[0].tolist() == [[i, 1, 0, -1, 1, 7 + i] for i in (1, 3)]


def test_an_env_without_a_seed_has_no_frame():
    with make("odd_envs", render_mode="rgb_array") as pool:
        with pytest.raises(EnvStepError):
            pool.reset()
        pool.recv()
        with pytest.raises(RenderError, match="its last step failed"):
            pool.render([1])
        assert pool.render([0]).any()


@pytest.mark.parametrize("flags", [0, 1])
def test_discounts(flags):
    """A failed row is truncated, so its discount is that of a truncated step."""
    definition = Definition()
    definition.env.flags = flags
    seed_many = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda state, seeds: 6)
    definition.env.seed_many = ctypes.cast(seed_many, ctypes.c_void_p)
    definition.env.error_text = None
    with pool_of(definition.capsule(), "dm", num_envs=2) as pool:
        with pytest.raises(EnvStepError, match="env 0: error code 6; env 1: error code 6"):
            pool.reset()
        step = pool.recv()
        assert step.discount.tolist() == [flags] * 2
        assert step.step_type.tolist() == [2, 2]


def test_the_kernel_loop_reports_it():
    plugin.load()
    spec = envpool.make_spec("Synthetic-v0", num_envs=NUM_ENVS, fail_seed="all_envs")
    actions = {"action": np.zeros((1, NUM_ENVS), np.int32)}
    with pytest.raises(RuntimeError, match="env 0 failed in the kernel loop: could not be seeded"):
        KernelLoop(spec.capsule, NUM_ENVS, range(NUM_ENVS), 10, actions)


def test_the_kernel_loop_reports_an_env_that_cannot_be_created():
    plugin.load()
    spec = envpool.make_spec("Synthetic-v0", num_envs=NUM_ENVS, fail_create=7)
    actions = {"action": np.zeros((1, NUM_ENVS), np.int32)}
    with pytest.raises(EnvCreateError, match="asked for 4 envs by version 2"):
        KernelLoop(spec.capsule, NUM_ENVS, range(NUM_ENVS), 10, actions)
