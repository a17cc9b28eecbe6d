"""A policy of multilayer perceptrons: the numbers of torch, and the loop in native code, which is that of Python."""

import copy
import itertools
import pickle
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Normal

import envpool
from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError
from envpool.rollout import MLP, Sampler
from tests.support import plugin
from tests.support.checked_pool import FAIL, WAIT
from tests.support.interrupts import ENDINGS, ending_in

N, T = 6, 5
LARGE = (256, 256)  # layers that are worth several threads
TOLERANCE = {"rtol": 0, "atol": 1e-5}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def network(*sizes, activation=nn.Tanh):
    layers = [part for a, b in itertools.pairwise(sizes) for part in (nn.Linear(a, b), activation())]
    return nn.Sequential(*layers[:-1])


def pair(inputs, outputs, hidden=(64, 64), activation=nn.Tanh):
    return tuple(network(inputs, *hidden, n, activation=activation) for n in (outputs, 1))


def observations(rows, inputs):
    return np.random.default_rng(0).normal(0, 2, (rows, inputs)).astype(np.float32)


def constant(inputs, outputs, action):
    """Return an actor that always chooses the same action."""
    arrays = {"actor.0.weight": np.zeros((outputs, inputs), np.float32), "actor.0.bias": np.zeros(outputs, np.float32)}
    arrays["actor.0.bias"][action] = 200
    return arrays


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "actor",
    [
        network(5, 3),
        network(5, 64, 64, 3),
        network(5, 100, 17, 33, 3, activation=nn.ReLU),
        network(5, 64, 48, 3, activation=lambda: nn.ELU(0.7)),
        nn.Sequential(
            nn.Flatten(), nn.Sequential(nn.Linear(5, 9, bias=False), nn.ELU()), nn.Identity(), nn.Linear(9, 3)
        ),
        nn.Sequential(nn.Linear(5, 300), nn.Tanh(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 3), nn.Tanh()),
        nn.Sequential(nn.Linear(5, 7), *[nn.Tanh(), nn.Linear(7, 7)] * 3, nn.Linear(7, 3)),  # modules that come again
        nn.Sequential(*[nn.Sequential(nn.Linear(5, 5), nn.ReLU())] * 3, nn.Linear(5, 3)),
    ],
)
@pytest.mark.parametrize("rows", [1, 8, 37])
def test_outputs_are_those_of_torch(actor, rows):
    critic = network(5, 64, 1)
    obs = observations(rows, 5)
    action, extras = MLP((actor, critic), rng=0)((obs, {}))
    with torch.no_grad():
        x = torch.from_numpy(obs)
        logits, value = actor(x), critic(x)[:, 0]
    log_prob = Categorical(logits=logits).log_prob(torch.from_numpy(action))
    np.testing.assert_allclose(extras["log_prob"], log_prob, **TOLERANCE)
    np.testing.assert_allclose(extras["value"], value, **TOLERANCE)
    assert (action == Sampler(0).categorical(logits.numpy()).actions).all()
    assert action.dtype == np.int64
    assert {k: v.dtype for k, v in extras.items()} == {"log_prob": np.float32, "value": np.float32}


@pytest.mark.parametrize("log_std", [np.array([-0.5, 0.25], np.float32), nn.Parameter(torch.full((1, 2), -1.0))])
def test_gaussian_numbers_are_those_of_torch(log_std):
    actor, obs = network(5, 64, 2), observations(37, 5)
    action, extras = MLP(actor, log_std=log_std, rng=3)((obs, {}))
    with torch.no_grad():
        mean = actor(torch.from_numpy(obs))
        std = torch.as_tensor(log_std).detach().reshape(-1)
        log_prob = Normal(mean, std.exp()).log_prob(torch.from_numpy(action)).sum(1)
    sample = Sampler(3).gaussian(mean.numpy(), std.numpy())
    np.testing.assert_allclose(action, sample.actions, **TOLERANCE)
    np.testing.assert_allclose(extras["log_prob"], log_prob, **TOLERANCE)
    assert list(extras) == ["log_prob"]
    assert action.dtype == np.float32


@pytest.mark.parametrize(
    ("kind", "exact"),
    [
        (nn.Tanh(), np.tanh),
        (nn.ReLU(), lambda x: np.maximum(x, 0)),
        (nn.ELU(1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0)))),
    ],
)
def test_activations(kind, exact):
    x = np.concatenate([np.linspace(-100, 100, 4001), *(s * np.logspace(-30, 30, 500) for s in (-1, 1)), [0, 1e38]])
    x = x.astype(np.float32)[:, None]
    identity = nn.Sequential(nn.Linear(1, 1, bias=False), kind)
    nn.init.ones_(identity[0].weight)
    value = MLP((network(1, 2), identity))((x, {}))[1]["value"]
    np.testing.assert_allclose(value, exact(x[:, 0].astype(np.float64)), rtol=8e-7, atol=1e-37)
    assert (np.sign(value) == np.sign(exact(x[:, 0]))).all()
    assert np.abs(value).max() <= 1 or not isinstance(kind, nn.Tanh)


def test_a_row_has_the_same_bits_in_any_batch():
    mlp = MLP(pair(7, 3, (65, 30)), rng=0)
    obs = observations(45, 7)
    values = mlp((obs, {}))[1]["value"]
    for first, last in ((0, 1), (3, 20), (44, 45), (8, 40), (5, 7), (1, 11), (2, 5), (33, 39)):
        assert (mlp((obs[first:last], {}))[1]["value"] == values[first:last]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.bool_])
def test_observations_become_float32(dtype):
    obs = (observations(4, 6) > 0).astype(dtype) * dtype(3 if dtype is not np.bool_ else 1)
    critic = network(6, 8, 1)
    _, extras = MLP((network(6, 2), critic))((obs.reshape(4, 2, 3), {}))
    with torch.no_grad():
        value = critic(torch.from_numpy(obs.astype(np.float32)))[:, 0]
    np.testing.assert_allclose(extras["value"], value, **TOLERANCE)


def test_a_dict_of_arrays():
    actor, critic = pair(4, 2, activation=nn.ReLU)
    arrays = nn.ModuleDict({"actor": actor, "critic": critic}).state_dict()
    obs = observations(9, 4)
    expected = MLP((actor, critic), rng=0)((obs, {}))
    for given in (arrays, {name: value.numpy() for name, value in arrays.items()}):
        action, extras = MLP(given, activation="relu", rng=0)((obs, {}))
        assert (action == expected[0]).all()
        assert (extras["value"] == expected[1]["value"]).all()
    gaussian = MLP(arrays | {"log_std": torch.zeros(2)}, activation="relu", rng=0)
    assert gaussian((obs, {}))[0].shape == (9, 2)


# ---- the loop --------------------------------------------------------------------------------------------------------


def assert_equal(data, other, extras):
    for name in ("obs", "action", "reward", "terminated", "truncated", "first", "valid", *extras):
        assert (getattr(data, name) == getattr(other, name)).all(), name
    for name in extras:
        assert (data.last(name) == other.last(name)).all()


def assert_same_as_the_loop(mlp, again, make, rollouts=4, extras=None, **options):
    """Collect rollouts in native code, and with a function that calls the same policy."""
    first, second = (envpool.Rollout(make(), T, extras or mlp.extras, **options) for _ in range(2))
    result, other = first.reset(), second.reset()
    for _ in range(rollouts):
        data, result = first.collect(mlp, result)
        expected, other = second.collect(lambda x: again(x), other)
        assert_equal(data, expected, first.extras)
        assert type(result) is type(other)
    return data


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_native_loop_does_what_the_loop_does(style, mode):
    nets = pair(4, 2)
    data = assert_same_as_the_loop(
        MLP(nets, rng=1),
        MLP(nets, rng=1),
        lambda: envpool.make("CartPole-v1", style, num_envs=N, seed=3, autoreset_mode=mode, max_episode_steps=4),
    )
    assert data.first.any()
    assert data.valid.all() == (mode == "same_step")


def test_torch_and_a_sampler_choose_the_same_actions():
    actor, critic = pair(4, 2)
    sampler = Sampler(5)
    native, usual = (
        envpool.Rollout(envpool.make_gymnasium("CartPole-v1", num_envs=8, seed=1), 64, MLP((actor, critic)).extras)
        for _ in range(2)
    )

    @torch.no_grad()
    def act(result):
        obs = torch.from_numpy(result[0])
        sample = sampler.categorical(actor(obs).numpy())
        return sample.actions, {"log_prob": sample.log_probs, "value": critic(obs)[:, 0].numpy()}

    mlp, result, other = MLP((actor, critic), rng=5), native.reset(), usual.reset()
    for _ in range(4):
        data, result = native.collect(mlp, result)
        expected, other = usual.collect(act, other)
        assert (data.action == expected.action).all()
        np.testing.assert_allclose(data.log_prob, expected.log_prob, **TOLERANCE)
        np.testing.assert_allclose(data.value, expected.value, **TOLERANCE)
        np.testing.assert_allclose(data.last("value"), expected.last("value"), **TOLERANCE)


@pytest.mark.parametrize(
    ("task", "options", "inputs", "outputs"),
    [
        ("Pendulum-v1", {"clip_action": True, "normalize_obs": True}, 3, 1),
        ("HalfCheetah-v5", {}, 17, 6),  # float64 observations and actions
        ("MinAtar/Breakout-v1", {}, 400, 3),
        ("MiniGrid-Empty-5x5-v0", {"observation": "flat", "mission_bytes": 1}, 175, 7),
    ],
)
def test_kinds_of_observations_and_actions(task, options, inputs, outputs):
    nets = pair(inputs, outputs, (16,))
    log_std = np.full(outputs, 1.5, np.float32) if inputs in (3, 17) else None
    policies = (MLP(nets, log_std=log_std, rng=1) for _ in range(2))
    make = lambda: envpool.make_gymnasium(task, num_envs=N, seed=2, **options)  # noqa: E731
    data = assert_same_as_the_loop(*policies, make, rollouts=2)
    if task == "Pendulum-v1":
        assert np.abs(data.action).max() > 2  # as it was drawn


def test_networks_that_are_computed_without_the_gil():
    nets = pair(4, 2, (256, 256))
    make = lambda: envpool.make_gymnasium("CartPole-v1", num_envs=40, seed=2)  # noqa: E731
    assert_same_as_the_loop(MLP(nets, rng=1), MLP(nets, rng=1), make, rollouts=2)


def test_rollouts_of_one_step(monkeypatch):
    monkeypatch.setitem(globals(), "T", 1)
    nets = pair(4, 2)
    make = lambda: envpool.make_gymnasium("CartPole-v1", num_envs=N, seed=2)  # noqa: E731
    assert_same_as_the_loop(MLP(nets, rng=1), MLP(nets, rng=1), make)


def test_extras_may_have_another_dtype():
    make = lambda: envpool.make_gymnasium("CartPole-v1", num_envs=N, seed=2)  # noqa: E731
    actor = network(4, 2)
    data = assert_same_as_the_loop(MLP(actor, rng=1), MLP(actor, rng=1), make, extras={"log_prob": np.float64})
    assert data.log_prob.dtype == np.float64


@pytest.mark.parametrize("num_threads", [1, 2, 4])
@pytest.mark.parametrize(("task", "inputs", "outputs"), [("CartPole-v1", 4, 2), ("HalfCheetah-v5", 17, 6)])
def test_threads_that_step_environments_compute_what_the_policy_answers(task, inputs, outputs, num_threads):
    nets, log_std = pair(inputs, outputs, LARGE), None if outputs == 2 else np.zeros(outputs, np.float32)
    mlp, again = (MLP(nets, log_std=log_std, rng=1) for _ in range(2))
    make = lambda threads: envpool.make_gymnasium(task, num_envs=11, num_threads=threads, seed=2)  # noqa: E731
    first, second = envpool.Rollout(make(num_threads), T, mlp.extras), envpool.Rollout(make(1), T, mlp.extras)
    result, other = first.reset(), second.reset()
    for _ in range(3):
        data, result = first.collect(mlp, result)
        expected, other = second.collect(lambda x: again(x), other)
        assert_equal(data, expected, first.extras)
    assert first._num_ahead == 3 * T
    assert second._num_ahead == 0


@pytest.mark.parametrize(
    ("options", "ahead"),
    [
        ({"normalize_reward": True}, True),
        ({"autoreset_mode": "same_step", "max_episode_steps": 3}, True),
        ({"normalize_obs": True}, False),  # the moments of the whole batch change every row
        ({"clip_obs": 0.01}, False),
        ({"batch_size": 3}, False),
    ],
)
def test_observations_that_are_complete_only_with_the_batch_are_answered_by_the_caller(options, ahead):
    nets = pair(4, 2, LARGE)
    mlp, pool = MLP(nets, rng=1), envpool.make_gymnasium("CartPole-v1", num_envs=N, num_threads=2, seed=2, **options)
    rollout = envpool.Rollout(pool, T, mlp.extras)
    data, _ = rollout.collect(mlp, rollout.reset())
    assert rollout._num_ahead == (T if ahead else 0)
    for i in range(N):
        obs = data.obs[: data.lengths[i], i]
        expected = MLP(nets, rng=1)((obs, {}))[1]["value"]
        np.testing.assert_array_equal(data.value[: data.lengths[i], i], expected)


def test_a_step_after_collecting_computes_nothing_ahead():
    mlp = MLP(pair(4, 2, LARGE), rng=1)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=N, num_threads=2, seed=2)
    rollout = envpool.Rollout(pool, T, mlp.extras)
    _, result = rollout.collect(mlp, rollout.reset())
    for _ in range(T):
        action, extras = mlp(result)
        result = rollout.step(action, **extras)
    values = rollout.finish().value
    assert rollout._num_ahead == T
    assert (values[-1] != 0).all()
    del mlp, rollout
    pool.reset()
    pool.step(np.zeros(N, np.int64))


@pytest.mark.parametrize("num_threads", [1, 3])
def test_outputs_of_a_thread_that_are_no_distribution(num_threads):
    sizes = (4, *LARGE, 2)
    arrays = {f"actor.{k}.weight": np.zeros((sizes[k + 1], sizes[k]), np.float32) for k in range(3)}
    arrays["actor.0.weight"][0, 1] = arrays["actor.1.weight"][0, 0] = 1  # the velocity of a cart that moves right
    arrays["actor.2.weight"][1, 0] = 3e38  # pushes it on, and overflows when the cart is fast
    mlp = MLP(arrays, activation="relu", rng=0)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=9, num_threads=num_threads, seed=2)
    rollout = envpool.Rollout(pool, 20, mlp.extras)
    match = r"not a valid distribution in row \d of the batch: \[ *0\. +inf\].*the observation is \["
    with pytest.raises(ConfigError, match=match) as error:
        rollout.collect(mlp, rollout.reset())
    assert rollout._num_ahead == rollout.recorded // 9 > 3
    row = int(str(error.value).split("in row ")[1].split()[0])
    mlp.update({"actor.0.weight": np.zeros((2, 4), np.float32)})
    data, _ = rollout.collect(mlp)  # the rollout continues with the observations that it has
    assert (data.obs[:, row, 1] > 1.13).any()


@pytest.mark.parametrize("style", ["gymnasium", "dm"])
def test_async(style):
    actor, critic = pair(4, 2)
    mlp = MLP((actor, critic), rng=1)
    pool = envpool.make("CartPole-v1", style, num_envs=N, batch_size=2, num_threads=2, seed=1)
    rollout = envpool.Rollout(pool, T, mlp.extras)
    result = rollout.reset()
    for _ in range(4):
        data, result = rollout.collect(mlp, result)
        assert result is None
        assert data.lengths.sum() >= T * N
        received = np.arange(data.num_steps)[:, None] < data.lengths  # no row of an environment that was too slow
        obs, action = (torch.from_numpy(rows[received]) for rows in (data.obs, data.action))
        with torch.no_grad():
            np.testing.assert_allclose(data.value[received], critic(obs)[:, 0], **TOLERANCE)
            expected = Categorical(logits=actor(obs)).log_prob(action)
        np.testing.assert_allclose(data.log_prob[received], expected, **TOLERANCE)


def test_an_async_rollout_that_begins_with_given_observations():
    mlp = MLP(pair(4, 2), rng=1)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=4, batch_size=2, seed=1)
    rollout = envpool.Rollout(pool, T, mlp.extras)
    rollout.reset()
    rollout.recv()
    obs = observations(4, 4)
    rollout.begin(obs)
    data, _ = rollout.collect(mlp, ())
    assert (data.obs[0] == obs).all()
    np.testing.assert_array_equal(data.value[0], mlp((obs, {}))[1]["value"])


def test_ids_that_were_overwritten():
    mlp = MLP(pair(4, 2), rng=1)
    rollout = envpool.Rollout(envpool.make_gymnasium("CartPole-v1", num_envs=4, batch_size=2), T, mlp.extras)
    result = rollout.reset()
    for value in (-1, 4, 2**31 - 1):
        rollout.received[1] = value
        with pytest.raises(EnvIdError, match=rf"received\[1\] must be the id of an env, got {value}"):
            rollout.collect(mlp, result)
    rollout.received.dtype = np.int8
    with pytest.raises(EnvIdError, match="received must be the ids of envs as they were received"):
        rollout.collect(mlp, result)


def test_a_run_continues_with_the_state_of_its_sampler():
    nets = pair(4, 2)
    pools = [envpool.make_gymnasium("CartPole-v1", num_envs=N, seed=1) for _ in range(2)]
    mlp = MLP(nets, rng=1)
    rollout = envpool.Rollout(pools[0], T, mlp.extras)
    _, result = rollout.collect(mlp, rollout.reset())
    state, sampler = pools[0].get_state(), pickle.dumps(mlp.sampler)
    data, _ = rollout.collect(mlp, result)
    again, other = MLP(nets, rng=pickle.loads(sampler)), envpool.Rollout(pools[1], T, mlp.extras)
    pools[1].reset()
    pools[1].set_state(state)
    other.begin(result[0])
    # The policy has drawn actions for the last observations, of which it keeps the value only, in both runs.
    expected, _ = other.collect(again)
    assert (data.action == expected.action).all()
    assert (data.obs == expected.obs).all()


# ---- new weights -----------------------------------------------------------------------------------------------------


def test_update():
    actor, critic = pair(4, 2)
    log_std = nn.Parameter(torch.zeros(2))
    mlp = MLP((actor, critic), log_std=log_std, rng=0)
    obs = observations(5, 4)
    before = mlp((obs, {}))[1]["value"]
    with torch.no_grad():
        for parameter in (*critic.parameters(), log_std):
            parameter.add_(0.1)
    assert (mlp((obs, {}))[1]["value"] == before).all()  # the weights are copies
    mlp.update()
    fresh = MLP((actor, critic), log_std=log_std, rng=0)
    assert (mlp((obs, {}))[1]["value"] == fresh((obs, {}))[1]["value"]).all()
    assert (mlp.policy.log_std == np.float32(0.1)).all()
    mlp.update(pair(4, 2, (8,)), log_std=np.ones(2, np.float32))  # other hidden layers
    assert (mlp.policy.log_std == 1).all()


def test_an_update_that_is_refused_changes_nothing():
    nets = pair(4, 2)
    mlp = MLP(nets, rng=0)
    policy = mlp.policy
    for network_, text in (
        (pair(5, 2), "the actor must have 4 inputs and 2 outputs as before, got 5 inputs and 2 outputs"),
        (nets[0], "the policy must have a critic as before, got no critic"),
    ):
        with pytest.raises(ConfigError, match=text):
            mlp.update(network_)
    with pytest.raises(ConfigError, match="got a critic and log_std: make a new MLP"):
        mlp.update(log_std=np.zeros(2, np.float32))
    with torch.no_grad():
        nets[1][2].bias[3] = float("nan")
    with pytest.raises(ConfigError, match="the bias of layer 1 of the critic must be finite"):
        mlp.update()
    assert mlp.policy is policy


# ---- interruptions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "action"), [("interrupt", WAIT), ("timeout", WAIT), ("failure", FAIL)])
def test_a_step_that_does_not_end_well_is_received_by_the_next_call(ending, action):
    pool = plugin.make(num_envs=N, num_threads=2, normalize_obs=True, **ENDINGS[ending][2])
    mlp = MLP(constant(6, 100, 1), activation="relu")
    rollout = envpool.Rollout(pool, T, mlp.extras)
    data, _ = rollout.collect(mlp, rollout.reset())
    assert data.valid.all()
    mlp.update(constant(6, 100, action))
    with ending_in(ending):
        rollout.collect(mlp)
    mlp.update(constant(6, 100, 2))
    data, result = rollout.collect(mlp)
    assert set(np.unique(data.action)) == {2, action}
    assert (data.action == action).sum() % N == 0
    assert data.valid[data.action == FAIL].sum() == 0
    assert (result[0] == data.last_obs).all()


def test_an_async_rollout_continues_after_a_failure():
    pool = plugin.make(num_envs=N, batch_size=N // 2, normalize_obs=True)
    mlp = MLP(constant(6, 100, FAIL), activation="relu")
    rollout = envpool.Rollout(pool, T, mlp.extras)
    with pytest.raises(EnvStepError):
        rollout.collect(mlp, rollout.reset())
    mlp.update(constant(6, 100, 2))
    with pytest.raises(EnvStepError):  # of the other half, which was in flight
        rollout.collect(mlp)
    data, _ = rollout.collect(mlp)
    assert data.lengths.sum() >= T * N
    assert (data.action == FAIL).any()
    assert not (data.valid & (data.action == FAIL)).any()


def test_an_async_rollout_continues_after_outputs_that_are_no_distribution():
    faster = {"actor.0.weight": np.float32([[0, 1, 0, 0]]), "actor.1.weight": np.float32([[0], [3e38]])}
    faster |= {f"actor.{k}.bias": np.zeros(k + 1, np.float32) for k in range(2)}
    mlp = MLP(faster, activation="relu", rng=0)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=4, batch_size=2, seed=2)
    rollout = envpool.Rollout(pool, 20, mlp.extras)
    with pytest.raises(ConfigError, match="not a valid distribution"):
        rollout.collect(mlp, rollout.reset())
    mlp.update({**faster, "actor.0.weight": np.zeros((1, 4), np.float32)})
    data, _ = rollout.collect(mlp)
    assert data.lengths.sum() >= 4 * 20


def test_any_policy_continues_a_rollout_whose_step_failed():
    pool = plugin.make(num_envs=N, num_threads=2)
    rollout = envpool.Rollout(pool, T)
    result = rollout.reset()
    moves = iter([1, FAIL, 2, 2, 2, 2])
    with pytest.raises(EnvStepError):
        rollout.collect(lambda _: (np.full(N, next(moves)), {}), result)
    data, _ = rollout.collect(lambda _: (np.full(N, next(moves)), {}))
    assert data.action[:, 0].tolist() == [1, FAIL, 2, 2, 2]
    assert data.valid[:, 0].tolist() == [True, False, False, True, True]


def test_failures_of_a_pool_that_restarts_environments():
    pool = plugin.make(num_envs=N, normalize_obs=True, on_error="restart")
    mlp = MLP(constant(6, 100, FAIL), activation="relu")
    rollout = envpool.Rollout(pool, T, mlp.extras)
    data, result = rollout.collect(mlp, rollout.reset())
    assert not data.valid.any()
    assert len(result) == 5


# ---- mistakes --------------------------------------------------------------------------------------------------------

WAY_OUT = re.escape(r"pass collect() a function act(result) instead")


class OwnTanh(nn.Module):
    def forward(self, x):
        return x.tanh()


def hooked():
    module = network(4, 2)
    module[0].register_forward_hook(lambda *_: None)
    return module


def replaced():
    module = network(4, 2)
    module.forward = lambda x: x
    return module


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)), rf"actor\.1 must be .*, got GELU.*{WAY_OUT}"),
        (
            nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2)),
            rf"actor\.1 must be .*, got Dropout.*{WAY_OUT}",
        ),
        (nn.Sequential(nn.Conv1d(1, 1, 1)), rf"actor\.0 must be .*, got Conv1d.*{WAY_OUT}"),
        (nn.Sequential(nn.Tanh(), nn.Linear(4, 2)), r"actor\.0 must be .*, got Tanh"),
        (nn.Sequential(nn.Linear(4, 2), nn.Tanh(), nn.ReLU()), r"actor\.2 must be .*, got ReLU"),
        (nn.Sequential(nn.Linear(4, 2), nn.Flatten()), r"actor\.1 must be .*, got Flatten"),
        (
            nn.Sequential(nn.Linear(4, 8), OwnTanh(), nn.Linear(8, 2)),
            rf"actor\.1 must be of .*OwnTanh.*{WAY_OUT}",
        ),
        (OwnTanh(), r"actor must be of a class .*OwnTanh"),
        ("network", r"actor must be of a class .*, got builtins\.str"),
        (hooked(), r"actor\.0 must not have forward hooks"),
        (replaced(), r"actor must not have .* a forward of its own"),
        (nn.Sequential(nn.Linear(4, 2), nn.ELU(float("nan"))), r"actor\.1\.alpha must be a finite number, got nan"),
        (nn.utils.parametrizations.weight_norm(nn.Linear(4, 2)), r"actor must be of a class .*Parametrized"),
        (nn.Sequential(), "the actor must have at least one torch.nn.Linear"),
        (
            network(4, 2).double(),
            r"layer 0 of the actor must have the dtype float32, got float64.*use \.astype\(np\.float32\)",
        ),
        (
            nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)),
            r"layer 1 of the actor must have the shape \(outputs, 8\), got \(2, 9\)",
        ),
        ((network(4, 2), network(5, 1)), "the critic must have the 4 inputs of the actor and one output, got 5 and 1"),
        ((network(4, 2), network(4, 2)), "the critic must have the 4 inputs of the actor and one output, got 4 and 2"),
        ((network(4, 2),) * 3, r"a pair \(actor, critic\), got 3 networks"),
    ],
)
def test_networks_that_are_refused(module, text):
    with pytest.raises(ConfigError, match=text):
        MLP(module)


def test_weights_without_data_are_refused():
    with pytest.raises(TypeError, match=r"actor\.weight must convert to a NumPy array"):
        MLP(nn.Linear(4, 2, device="meta"))


@pytest.mark.parametrize(
    ("changes", "options", "text"),
    [
        ({}, {}, "activation must be 'tanh', 'relu' or 'elu' for a dict of arrays, got None"),
        ({}, {"activation": "gelu"}, "activation must be .*, got 'gelu'"),
        ({"head.weight": 1}, {"activation": "tanh"}, "network must have .*, got 'head.weight'"),
        (
            {"critic.1.bias": np.zeros(1, np.float32)},
            {"activation": "tanh"},
            "'critic.1.weight', got only",
        ),
        ({"actor.0.bias": np.zeros(3, np.float32)}, {"activation": "tanh"}, r"must have the shape \(2,\), got \(3,\)"),
        (
            {"actor.0.weight": np.zeros((2, 0), np.float32)},
            {"activation": "tanh"},
            r"at least .*, got shape \(2, 0\)",
        ),
        (
            {"log_std": np.zeros(3, np.float32)},
            {"activation": "tanh"},
            r"log_std must have the shape \(2,\), got \(3,\)",
        ),
        ({"log_std": np.zeros(2)}, {"activation": "tanh"}, "log_std must have the dtype float32, got float64"),
        (
            {"log_std": np.zeros(2, np.float32)},
            {"activation": "tanh", "log_std": np.zeros(2, np.float32)},
            "log_std was passed twice",
        ),
    ],
)
def test_dicts_that_are_refused(changes, options, text):
    with pytest.raises(ConfigError, match=text):
        MLP(constant(4, 2, 0) | changes, **options)
    with pytest.raises(ConfigError, match="must have the arrays of an actor"):
        MLP({"log_std": np.zeros(1, np.float32)}, activation="tanh")
    with pytest.raises(ConfigError, match="activation is for a dict of arrays"):
        MLP(network(4, 2), activation="tanh")


@pytest.mark.parametrize(
    ("task", "options", "arguments", "text"),
    [
        ("CartPole-v1", {}, (network(5, 2),), "an input for each of the 4 elements .* of 'CartPole-v1', got 5 inputs"),
        (
            "CartPole-v1",
            {},
            (network(4, 3),),
            r"must have 2 outputs for the actions of 'CartPole-v1', Discrete\(2\), got 3",
        ),
        ("CartPole-v1", {}, (network(4, 2), [0, 0]), f"leave log_std out for Discrete ones, or {WAY_OUT}"),
        ("Pendulum-v1", {}, (network(3, 1),), f"pass log_std for continuous ones, or {WAY_OUT}"),
        ("FrozenLake-v1", {}, (network(16, 4),), f"observations from one Box of float32.*has Discrete.*{WAY_OUT}"),
        ("PointMaze_UMaze-v3", {}, (network(4, 2), [0, 0]), f"observations from one Box .*has Dict.*{WAY_OUT}"),
        ("MPE/simple_spread-v3", {"players": "grid"}, (network(18, 5),), f"has players: {WAY_OUT}"),
    ],
)
def test_tasks_that_are_refused(task, options, arguments, text):
    actor, *log_std = arguments
    mlp = MLP(actor, log_std=np.array(log_std[0], np.float32) if log_std else None)
    rollout = envpool.Rollout(envpool.make_gymnasium(task, num_envs=2, **options), T, mlp.extras)
    result = rollout.reset()
    with pytest.raises(ConfigError, match=text):
        rollout.collect(mlp, result)
    assert rollout.recorded == 0


def test_frames_that_are_stored_once_are_refused():
    mlp = MLP(network(8, 2))
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=2, frame_stack=2)
    rollout = envpool.Rollout(pool, T, mlp.extras, frames_once=True)
    result = rollout.reset()
    with pytest.raises(ConfigError, match=f"frames_once=True: {WAY_OUT}"):
        rollout.collect(mlp, result)


def test_extras_that_were_not_declared():
    mlp = MLP(pair(4, 2))
    rollout = envpool.Rollout(envpool.make_gymnasium("CartPole-v1", num_envs=2), T, {"value": np.float32})
    with pytest.raises(PoolStateError, match="call its reset"):
        rollout.collect(mlp)
    result = rollout.reset()
    with pytest.raises(ConfigError, match=r"unknown are \['log_prob'\]"):
        rollout.collect(mlp, result)


def test_observations_that_are_not_finite():
    mlp = MLP(pair(4, 2), rng=0)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=1)
    rollout = envpool.Rollout(pool, T, mlp.extras)
    _, result = rollout.collect(mlp, rollout.reset())
    state, kept = pickle.dumps(mlp.sampler), result[0].copy()
    result[0][1, 2] = np.nan  # a slot of the rollout
    with pytest.raises(ConfigError, match=r"outputs are not a valid distribution in row 1 of the batch: .*nan"):
        rollout.collect(mlp, result)
    assert pickle.dumps(mlp.sampler) == state
    result[0][:] = kept
    data, _ = rollout.collect(mlp, result)
    assert data.valid[0].all()


def test_calls_that_are_refused():
    mlp = MLP(network(4, 2))
    for result in ((np.zeros((3, 5), np.float32), {}), (np.zeros((3, 4), np.int64), {}), ({"a": 1}, {}), [1]):
        with pytest.raises(
            ConfigError, match=r"one array of float32, float64, uint8 or bool, \(B, ...\) with .* 4 inputs"
        ):
            mlp(result)
    with pytest.raises(TypeError, match="an MLP cannot be pickled or copied"):
        copy.deepcopy(mlp)
    assert repr(mlp) == "MLP(categorical, 4 inputs, 2 outputs)"
