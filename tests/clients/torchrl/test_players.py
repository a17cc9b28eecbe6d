"""Tasks with players as an EnvBase: specs, the values of torchrl's PettingZooWrapper, resets, and collectors."""

import warnings

import numpy as np
import pytest
import torch
from mpe2 import simple_spread_v3, simple_tag_v3
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.envs import PettingZooWrapper, RewardSum, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MultiAgentMLP, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss, ValueEstimators

import envpool
from envpool.adapters.torchrl import PlayersEnv
from envpool.errors import ActionError, ConfigError
from tests.support import plugin
from tests.support.crowd import CUT, DIE, END

SPREAD, TAG = "MPE/simple_spread-v3", "MPE/simple_tag-v3"
MPE = sorted(task for task in envpool.list_all_envs() if task.startswith("MPE/"))
ENDS = ("done", "terminated", "truncated")


@pytest.fixture
def make():
    made = []

    def make_one(task=SPREAD, num_envs=3, **options):
        plugin.load()
        made.append(PlayersEnv(task, num_envs=num_envs, **options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


def same(one, other):
    """Whether two tensordicts have the same entries with the same values, bit for bit."""
    keys = set(one.keys(True, True))
    assert keys == set(other.keys(True, True))
    return all(torch.equal(one[key], other[key]) for key in keys)


@pytest.mark.parametrize("task", MPE)
@pytest.mark.parametrize("is_continuous", [False, True])
def test_specs(make, task, is_continuous):
    env = make(task, continuous_actions=is_continuous)
    check_env_specs(env)
    sizes = {name: len(players) for name, players in env.group_map.items()}
    assert sizes == {group.name: len(group.players) for group in env.pool.spec.groups}


@pytest.mark.parametrize(
    "options",
    [
        {"episode_statistics": True, "finished_episodes": True},
        {"normalize_obs": True, "clip_obs": 5.0, "normalize_reward": True},
        {"scale_reward": 0.1, "continuous_actions": True, "rescale_action": True},
    ],
)
def test_specs_with_options_of_pools(make, options):
    env = make(TAG, **options)
    check_env_specs(env)
    env.rollout(30, break_when_any_done=False)
    assert env.pool.stats().episodes == (3 if "episode_statistics" in options else None)


def test_groups_against_opponents(make):
    """The controlled group has the values that it has if the policy of torchrl also plays the opponents."""
    env = make(TAG, controlled="adversary", opponents=lambda obs, info: np.zeros(len(obs), int))
    check_env_specs(env)
    assert list(env.group_map) == ["adversary"]
    whole, found = make(TAG), []
    for one in (env, whole):
        one.set_seed(3)
        step = one.reset()
        for name in one.group_map:
            step[name, "action"] = one.action_spec.zero()[name, "action"]
        found.append(one.step(step)["next", "adversary"])
    for key in ("observation", "reward", "done"):
        assert torch.equal(found[0][key], found[1][key])


@pytest.mark.parametrize("options", [{}, {"layout": "floats"}, {"groups": True}])
def test_specs_of_players_that_come_and_go(make, options):
    env = make("Crowd-v0", places=5, episode_length=9, on_error="restart", **options)
    check_env_specs(env)
    check_env_specs(TransformedEnv(env, RewardSum()))
    if "groups" in options:
        assert env.observation_spec["prey", "observation"].shape == (3, 1, 6)
        assert env.action_spec["prey", "action"].n == 11
        assert env.observation_spec["info", "num_present"].shape == (3,)


@pytest.mark.parametrize(("task", "module"), [(SPREAD, simple_spread_v3), (TAG, simple_tag_v3)])
def test_the_values_of_torchrl(make, task, module):
    """From the same seed, the tensordicts are those of torchrl's wrapper around mpe2, with its groups and masks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of another version of PettingZoo than it was tested with
        theirs = PettingZooWrapper(module.parallel_env(), use_mask=True)
    ours = make(task, num_envs=1)
    ours.set_seed(3)
    assert ours.group_map == theirs.group_map
    one, other = ours.reset(), theirs.reset(seed=3)
    assert same(one[0], other)
    torch.manual_seed(0)
    for _ in range(25):
        other = theirs.rand_action(other)
        for name in ours.group_map:
            one[name, "action"] = other[name, "action"][None]
        one, other = ours.step(one), theirs.step(other)
        assert same(one[0]["next"], other["next"])
        one, other = one["next"].clone(), other["next"].clone()
    assert one["done"].all() and not one["terminated"].any()


def test_players_that_come_and_go(make):
    """Against the arrays of a pool: who acts next, and who is gone."""
    options = {"num_envs": 4, "places": 4, "episode_length": 12, "groups": True}
    env = make("Crowd-v0", **options)
    pool = plugin.make_task("Crowd-v0", players="dict", autoreset_mode="disabled", **options)
    td, (obs, info) = env.reset(), pool.reset()
    rng, gone = np.random.default_rng(0), 0
    for _ in range(80):
        for name, players in env.group_map.items():
            assert np.array_equal(td[name, "observation"].numpy(), obs[name])
            assert np.array_equal(td[name, "info", "token"].numpy(), info[name]["token"])
            drawn = rng.choice([0, 1, DIE % 11, END % 11, CUT % 11], (4, len(players)))
            td[name, "action"] = torch.from_numpy(drawn)
            if name == "hunters":
                kinds = rng.choice([0, DIE, CUT, END], drawn.shape, p=[0.8, 0.1, 0.05, 0.05])
                td[name, "action"] = torch.from_numpy(kinds)
        sent = {name: td[name, "action"].numpy() for name in env.group_map}
        td, then = env.step_and_maybe_reset(td)
        obs, reward, terminated, truncated, info = pool.step(sent)
        after, present = td["next"], info["player_mask"]
        assert np.array_equal(after["info", "num_present"].numpy(), info["num_present"])
        for name in env.group_map:
            ends = info["player_terminated"][name] | ~present[name], info["player_truncated"][name]
            got = [after[name, end].squeeze(-1).numpy() for end in ENDS]
            assert all(np.array_equal(*pair) for pair in zip(got, (ends[0] | ends[1], *ends), strict=True))
            assert np.array_equal(after[name, "mask"].numpy(), ~got[0])
            assert np.array_equal(after[name, "reward"].squeeze(-1).numpy(), reward[name])
            gone += (~present[name]).sum()
        assert np.array_equal(after["terminated"].squeeze(-1).numpy(), terminated)
        assert np.array_equal(after["truncated"].squeeze(-1).numpy(), truncated)
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            first, first_info = pool.reset(ended)
            for name in env.group_map:
                obs[name][ended] = first[name]
                info[name]["token"][ended] = first_info[name]["token"]
                assert np.array_equal(then[name, "mask"][ended].numpy(), first_info["player_mask"][name])
        td = then
    assert gone > 50
    pool.close()


def test_partial_resets_and_seeds(make):
    env, other = make(), make()
    for one in (env, other):
        one.set_seed(5)
    assert same(env.reset(), other.reset())
    torch.manual_seed(1)
    td = env.rand_step(env.reset())["next"]
    before = td.clone()
    td["_reset"] = torch.tensor([[True], [False], [True]])
    td = env.reset(td)
    assert torch.equal(td["agent", "observation"][1], before["agent", "observation"][1])
    assert (td["agent", "observation"][[0, 2]] != before["agent", "observation"][[0, 2]]).any(-1).all()
    assert not td["done"].any()
    for seed in (-1, 1.5, [1, 2, 3], 2**64 - 1):
        with pytest.raises((TypeError, ConfigError), match="seed must be"):
            env.set_seed(seed)
    env.reset()


def test_actions_that_are_not_allowed(make):
    env = make()
    td = env.reset()
    with pytest.raises(ActionError, match=r"must have an 'action' of each group, got none of \['agent'\]"):
        env.step(td)
    td["agent", "action"] = torch.full((3, 3), 5)
    with pytest.raises(ActionError):
        env.step(td)
    td["agent", "action"] = torch.zeros((3, 3), dtype=torch.int64)
    assert env.step(td)["next", "agent", "reward"].shape == (3, 3, 1)


def test_ppo(make):
    """torchrl's collector, multi-agent network and loss: as in its tutorial on multi-agent PPO."""
    torch.manual_seed(0)
    env = TransformedEnv(make(num_envs=4), RewardSum([("agent", "reward")], [("agent", "episode_reward")]))
    shared = {"n_agents": 3, "share_params": True, "depth": 1, "num_cells": 16, "n_agent_inputs": 18}
    logits = TensorDictModule(
        MultiAgentMLP(n_agent_outputs=5, centralized=False, **shared), [("agent", "observation")], [("agent", "logits")]
    )
    policy = ProbabilisticActor(
        TensorDictSequential(logits), spec=env.full_action_spec["agent", "action"], in_keys=[("agent", "logits")],
        out_keys=[("agent", "action")], distribution_class=torch.distributions.Categorical, return_log_prob=True,
        log_prob_key=("agent", "sample_log_prob"),
    )  # fmt: skip
    critic = TensorDictModule(
        MultiAgentMLP(n_agent_outputs=1, centralized=True, **shared), [("agent", "observation")],
        [("agent", "state_value")],
    )  # fmt: skip
    loss = ClipPPOLoss(policy, critic, normalize_advantage=False)
    loss.set_keys(
        reward=("agent", "reward"), action=("agent", "action"), sample_log_prob=("agent", "sample_log_prob"),
        value=("agent", "state_value"), done=("agent", "done"), terminated=("agent", "terminated"),
        advantage=("agent", "advantage"), value_target=("agent", "value_target"),
    )  # fmt: skip
    loss.make_value_estimator(ValueEstimators.GAE, gamma=0.9, lmbda=0.9)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-2)
    collector = Collector(env, policy, frames_per_batch=200, total_frames=400)
    weights = [p.clone() for p in loss.parameters()]
    for batch in collector:
        assert batch.shape == (4, 50) and batch["next", "done"].sum() == 8
        assert batch["agent", "mask"].all() and batch["next", "agent", "episode_reward"].shape == (4, 50, 3, 1)
        loss.value_estimator(batch, params=loss.critic_network_params, target_params=loss.target_critic_network_params)
        buffer = ReplayBuffer(storage=LazyTensorStorage(200), batch_size=50)
        buffer.extend(batch.reshape(-1))
        values = loss(buffer.sample())
        (values["loss_objective"] + values["loss_critic"] + values["loss_entropy"]).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert any((p != old).any() for p, old in zip(loss.parameters(), weights, strict=True))
    collector.shutdown()


def test_a_pool_and_mistakes(make):
    pool = envpool.make_gymnasium(TAG, num_envs=2, players="dict", autoreset_mode="disabled")
    env = PlayersEnv(pool)
    assert env.pool is pool and env.rollout(3).shape == (2, 3)
    env.close()
    assert env.is_closed
    with pytest.raises(ConfigError, match=r"CartPole-v1 has no players, .*: use MultiThreadedEnvWrapper"):
        PlayersEnv("CartPole-v1")
    with pytest.raises(ConfigError, match="players must be 'dict' for torchrl, got 'grid'"):
        PlayersEnv(SPREAD, players="grid")
    with pytest.raises(ConfigError, match="'next_step'"):
        PlayersEnv(SPREAD, autoreset_mode="same_step")
    with pytest.raises(ConfigError, match=r"torchrl needs actions of players, and action\.mode of Crowd-v0"):
        make("Crowd-v0", layout="rich")
