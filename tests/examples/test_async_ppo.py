"""PPO on an async pool learns, and links and weighs its rows by the definition."""

import numpy as np
import pytest
import torch

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def async_ppo():
    return load("async_ppo")


def collect(async_ppo, count=3):
    """Return copies of the rows of some rollouts, one after the other, of a pool with 6 environments, 2 at a time."""
    args = async_ppo.Args(num_envs=6, num_steps=16)
    torch.manual_seed(args.seed)
    rollouts = []
    with envpool.make_gymnasium(args.task, num_envs=6, batch_size=2, seed=args.seed) as env:
        agent = async_ppo.ppo.Agent(env, 8)
        data = async_ppo.Stream(args, agent, env)
        returns = async_ppo.ppo.Returns(6, args.gamma)
        env.async_reset()
        for _ in range(count):
            data.collect(args, env, agent, returns, 0)
            data.estimate_advantages(args.gamma, args.gae_lambda)
            names = ("rewards", "values", "advantages", "terminated", "done", "following", "is_usable", "is_transition")
            rollouts.append({n: getattr(data, n)[: data.count].clone() for n in names} | {"last": data.last.copy()})
    return args, rollouts


def test_solves_cartpole(async_ppo, capsys):
    async_ppo.ppo.main(["--target", "475"], args_class=async_ppo.Args, train=async_ppo.train)
    assert "CartPole-v1: mean return " in capsys.readouterr().out


def test_advantages_equal_the_definition(async_ppo):
    """Along the links: the sum of (gamma lambda)^k delta up to the end of the episode or of the rows."""
    args, rollouts = collect(async_ppo)
    for rows in rollouts:
        open_rows = set(rows["last"].tolist())
        for start in range(len(rows["values"])):
            row, expected, weight = start, 0.0, 1.0
            while row not in open_rows:
                following = int(rows["following"][row])
                assert following > row
                bootstrap = 0.0 if rows["terminated"][row] else args.gamma * float(rows["values"][following])
                expected += weight * (float(rows["rewards"][row]) + bootstrap - float(rows["values"][row]))
                weight *= args.gamma * args.gae_lambda
                if rows["done"][row]:
                    break
                row = following
            assert float(rows["advantages"][start]) == pytest.approx(expected, abs=1e-4)


def test_every_row_is_learnt_from_once_or_kept(async_ppo):
    _, rollouts = collect(async_ppo)
    for rows in rollouts:
        is_open = np.isin(np.arange(len(rows["values"])), rows["last"])
        assert is_open.sum() == 6
        assert rows["is_usable"].tolist() == (rows["is_transition"].numpy() & ~is_open).tolist()
        assert rows["is_usable"].sum() > 60


def test_rows_after_an_end_only_start_an_episode(async_ppo):
    _, rollouts = collect(async_ppo, 6)
    for rows in rollouts:
        ended = torch.nonzero(rows["done"]).ravel()
        complete = ended[~torch.from_numpy(np.isin(ended.numpy(), rows["last"]))]
        assert not rows["is_transition"][rows["following"][complete]].any()
    assert any(rows["done"].any() for rows in rollouts)
