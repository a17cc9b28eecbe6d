"""Turn-based tasks as an EnvBase: masks of who moves and of legal moves, and torchrl's policies and collectors."""

import numpy as np
import pytest
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor

import envpool
from envpool.adapters.torchrl import PlayersEnv
from envpool.errors import ConfigError
from tests.support import plugin


@pytest.fixture
def make():
    made = []

    def make_one(task="ConnectFour-v0", num_envs=3, **options):
        plugin.load()
        made.append(PlayersEnv(task, num_envs=num_envs, **options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("ConnectFour-v0", {}),
        ("ConnectFour-v0", {"controlled": [1]}),
        ("Turns-v0", {"masks": "players", "on_error": "restart"}),
        ("Turns-v0", {"masks": "mover", "on_error": "restart"}),
        ("Turns-v0", {"masks": "none", "on_error": "restart"}),
    ],
)
def test_specs(make, task, options):
    check_env_specs(make(task, **options))


def test_random_moves_are_legal_and_values_are_those_of_the_pool(make):
    env = make()
    env.set_seed(3)
    data = env.rollout(60, break_when_any_done=False)
    masks = data["agents", "mask"]
    assert ((masks.sum(-1) == 1) | data["done"].squeeze(-1)).all()
    legal = data["agents", "action_mask"]
    assert legal[~masks].all() and not legal.all()
    actions = data["agents", "action"]
    assert legal.gather(-1, actions[..., None]).all()
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=3, players="grid", autoreset_mode="disabled") as pool:
        obs, info = pool.reset(seed=3)
        for t in range(60):
            np.testing.assert_array_equal(data["agents", "observation"][:, t], obs)
            turn = info["current_player"]
            obs, reward, terminated, truncated, info = pool.step(actions[range(3), t, turn].numpy())
            np.testing.assert_array_equal(data["next", "agents", "reward"][:, t, :, 0], reward)
            np.testing.assert_array_equal(data["next", "done"][:, t, 0], terminated | truncated)
            ended = np.flatnonzero(terminated | truncated)
            if len(ended):
                first, more = pool.reset(ended)
                obs[ended], info["current_player"][ended] = first, more["current_player"]


@pytest.mark.parametrize("task", ["ConnectFour-v0", "Turns-v0"])
def test_a_masked_policy_plays(make, task):
    env = make(task, on_error="restart", max_episode_steps=9)
    group = next(iter(env.group_map))
    moves = env.observation_spec[group, "action_mask"].shape[-1]
    actor = ProbabilisticActor(
        TensorDictModule(
            lambda obs: torch.zeros(*obs.shape[:2], moves),
            in_keys=[(group, "observation")],
            out_keys=[(group, "logits")],
        ),
        in_keys={"logits": (group, "logits"), "mask": (group, "action_mask")},
        out_keys=[(group, "action")],
        distribution_class=MaskedCategorical,
    )
    data = env.rollout(40, actor, break_when_any_done=False)
    assert data[group, "action_mask"].gather(-1, data[group, "action"][..., None]).all()
    assert data["next", "done"].any()
    collector = Collector(env, actor, frames_per_batch=60, total_frames=60)
    assert next(iter(collector))[group, "action"].shape[:2] == (3, 20)


def test_rewards_of_one_controlled_player(make):
    env = make(controlled=[0], seed=1)
    data = env.rollout(40, break_when_any_done=False)
    assert data["agents", "action"].shape == (3, 40, 1)
    ended = data["next", "done"].squeeze(-1)
    assert ended.any() and (data["next", "agents", "reward"].squeeze()[~ended] == 0).all()


def test_observe_current_is_refused():
    with pytest.raises(ConfigError, match="observe must be 'all' for torchrl, got 'current'"):
        PlayersEnv("ConnectFour-v0", num_envs=2, observe="current")
